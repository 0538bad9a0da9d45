"""Adds synthetic causes of waits to a recording, as camp record --why writes them (docs/recording.md).

    add_causes.py RECORDING [NAMES]

NAMES names of processes come one after the other (20), six in each interval, and a process "db" that waits for them, for a
device and for its quota, and of which system calls are known. The same recording gets the same causes in each run.
"""

import json
import random
import sqlite3
import sys

STATES = ["user", "system", "run_queue", "throttled", "lock", "disk", "pipe", "timer"]
KINDS = ["group", "idle_cpu", "interrupts", "real_time", "timer", "device", "signal", "other_interrupt", "unknown",
         "not_ended", "quota", "on_cpu"]
OF_QUEUE = ["group", "idle_cpu", "interrupts", "real_time", "unknown"]
OF_SLEEP = ["group", "timer", "device", "signal", "other_interrupt", "unknown", "not_ended"]
OTHER, KERNEL, NAME, PROCESS = 0, 1, 3, 4
FIRST_STATE, FIRST_KIND = 40, 60  # the numbers of the words are those of the file
DB_PID = 77
AT_A_TIME = 6

TABLES = """
CREATE TABLE cause_word(word TEXT, number INTEGER, name TEXT, PRIMARY KEY(word, number)) STRICT, WITHOUT ROWID;
CREATE TABLE cause_group(number INTEGER, since_tick INTEGER, kind INTEGER, pid INTEGER, name TEXT,
    PRIMARY KEY(number, since_tick)) STRICT, WITHOUT ROWID;
CREATE TABLE cause_threads(since_tick INTEGER, number INTEGER, threads INTEGER, reduced_ns INTEGER,
    PRIMARY KEY(since_tick, number)) STRICT, WITHOUT ROWID;
CREATE TABLE cause(tick INTEGER, number INTEGER, state INTEGER, kind INTEGER, who INTEGER, time_ns INTEGER,
    PRIMARY KEY(tick, number, state, kind, who)) STRICT, WITHOUT ROWID;
CREATE TABLE cause_lengths(tick INTEGER, number INTEGER, state INTEGER, longest_ns INTEGER, longest_tid INTEGER,
    longest_wall_clock_ns INTEGER, counts TEXT, PRIMARY KEY(tick, number, state)) STRICT, WITHOUT ROWID;
CREATE TABLE cause_device(number INTEGER PRIMARY KEY, name TEXT) STRICT;
CREATE TABLE cause_object(object INTEGER PRIMARY KEY, call TEXT, name TEXT) STRICT;
CREATE TABLE cause_call(tick INTEGER, pid INTEGER, state INTEGER, object INTEGER, sleep_ns INTEGER, count INTEGER,
    PRIMARY KEY(tick, pid, state, object)) STRICT, WITHOUT ROWID;
"""


class Writer:
    """Writes the causes of one interval after the other."""

    def __init__(self, database, names):
        self.database = database
        self.names = names
        self.random = random.Random(7)
        self.shares = {}
        database.executescript(TABLES)
        self.insert("cause_word", *[("state", FIRST_STATE + i, name) for i, name in enumerate(STATES)],
                    *[("kind", FIRST_KIND + i, name) for i, name in enumerate(KINDS)])
        self.insert("cause_device", (36, "virtio1-req.0 (irq 36)"), (41, "eth0 (irq 41)"))
        self.insert("cause_object", *[(i, call, name) for i, (call, name) in enumerate(
            [("read", "pipe:[12]"), ("read", "socket:[34]"), ("futex", "futex 0x7f00"), ("fsync", "/var/lib/db/wal")])])

    def insert(self, table, *rows):
        for row in rows:
            self.database.execute(f"INSERT INTO {table} VALUES({', '.join('?' * len(row))})", row)

    def groups(self, at):
        """The groups of an interval by number: (kind, pid, name)."""
        first = at * 3 % max(1, self.names - AT_A_TIME + 1)
        found = {0: (OTHER, 0, ""), 1: (KERNEL, 0, ""), 2: (PROCESS, DB_PID, "db")}
        for i in range(AT_A_TIME):
            found[3 + i] = (NAME, 0, f"batch-{first + i}")
        return found

    def cause(self, tick, number, state, kind, who, part):
        time_ns = self.random.randrange(1, part)
        self.database.execute("INSERT INTO cause VALUES(?, ?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET time_ns = time_ns + "
                              "excluded.time_ns", (tick, number, FIRST_STATE + STATES.index(state),
                                                   FIRST_KIND + KINDS.index(kind), who, time_ns))

    def lengths(self, tick, number, state, wall_clock_ns):
        counts = {bucket: self.random.randrange(1, 50) for bucket in self.random.sample(range(12, 27), 4)}
        longest = self.random.randrange(2 ** max(counts), 2 ** (max(counts) + 1))
        self.insert("cause_lengths", (tick, number, FIRST_STATE + STATES.index(state), longest, 4000 + number,
                                      wall_clock_ns, json.dumps(counts, separators=(",", ":"))))

    def interval(self, at, tick, wall_clock_ns):
        groups = self.groups(at)
        for number, group in groups.items():
            self.insert("cause_group", (number, tick, *group))
            self.insert("cause_threads", (tick, number, self.random.randrange(1, 9), self.random.randrange(0, 2000000)))
            for state in STATES:
                self.state(tick, number, state, list(groups))
                if state not in ("user", "system", "throttled"):
                    self.lengths(tick, number, state, wall_clock_ns)
        for i in range(4):
            self.insert("cause_call", (tick, DB_PID, FIRST_STATE + STATES.index("pipe"), i,
                                       self.random.randrange(1, 50000000), self.random.randrange(1, 99)))

    def state(self, tick, number, state, groups):
        if state in ("user", "system"):
            self.cause(tick, number, state, "on_cpu", 0, 300000000)
        elif state == "throttled":
            self.cause(tick, number, state, "quota", 0, 90000000)
        else:
            for kind in OF_QUEUE if state == "run_queue" else OF_SLEEP:
                whos = groups if kind == "group" else [36, 41] if kind == "device" else [0]
                for who in whos:
                    self.cause(tick, number, state, kind, who, 60000000)


def main(path, names=20, only=""):
    """`only`: "first" half of the intervals has causes, the others have none."""
    database = sqlite3.connect(path)
    writer = Writer(database, int(names))
    ticks = database.execute("SELECT tick, wall_clock_ns FROM tick ORDER BY tick").fetchall()
    for at, (tick, wall_clock_ns) in enumerate(ticks):
        if only != "first" or at < len(ticks) / 2:
            writer.interval(at, tick, wall_clock_ns)
    database.commit()


main(*sys.argv[1:])
