"""The cost of microstates: a context switch and a system call with each of several programs attached to
the kernel, a snapshot of all threads and `camp top`, compared with tools that scan /proc; and the age
of a running thread's CPU time in a snapshot.

An attached program slows every process of the machine, so the programs run in turn: one is attached,
pingpong.c runs, and it is detached; before and after it pingpong.c runs with nothing attached. The cost
is the block's time less the mean of these two neighbours. Only the half of the blocks whose neighbours
differ least counts (other tools may attach to the kernel meanwhile), and their median is shown.
"""

import glob
import json
import os
import shutil
import signal
import statistics
import subprocess
import tempfile
import time

from table import BENCH, PYTHON, Crowd, Failed, ratios_to, repeated, run_rounds, scans

ROUNDS = 16
PEERS_EVERY = 3  # their blocks are long: they run in each third round
ROUND_TRIPS = 3000  # in each of seven runs
CALLS = 30000
CROWDS = ((1000, False), (1000, True), (10000, False))  # of which the second wakes all the time
SNAPSHOT_ROUNDS = {1000: 5, 10000: 3}
SNAPSHOTS = 20
TOP_INTERVALS = {1000: 8, 10000: 3}  # of a second
AGES = 200

CAMP = "camp, all states"
CAMP_NO_CALLS = "camp, --no-syscalls"
CAMP_CAUSES = "camp, causes"
CAMP_STACKS_OF_NONE = "camp, causes and stacks, of no sleep"
CAMP_STACKS = "camp, causes and the stacks of each sleep"
EMPTY_SWITCH = "floor: empty sched_switch, sched_wakeup"
# Of a variant: the most that it may add, and to which floor, if not to nothing.
LIMIT_NS = {(CAMP_NO_CALLS, "switch_ns"): (210.0, EMPTY_SWITCH), (CAMP, "call_ns"): (180.0, None),
            (CAMP_CAUSES, "switch_ns"): (350.0, CAMP),
            (CAMP_STACKS_OF_NONE, "switch_ns"): (250.0, CAMP_CAUSES),
            # A switch has one sleep: 0.5 % of a CPU at 1,000 sleeps a second.
            (CAMP_STACKS, "switch_ns"): (5000.0, CAMP_CAUSES),
            (CAMP_NO_CALLS, "call_ns"): (5.0, None)}  # none, as well as it can be measured
LIMIT_MS = {1000: 0.45, 10000: 4.0}
LIMIT_OPEN_MS = 80.0
STEADY = 8  # tests in a row, 20 ms apart
LIMIT_RESIDENT_BYTES = 24 * 1000 * 1000  # with 10,000 threads
LIMIT_TOP_PERCENT = 0.5  # of a core; with 1,000 threads
LIMIT_AGE_US = 10.0
BACKENDS_ROUNDS = 15
BACKENDS_SWITCHES = 20000  # a second, of the machine
LIMIT_BACKENDS_PERCENT = 1.5  # of it


class Attached:
    """A program that is attached to the kernel during the `with`."""

    def __init__(self, command):
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL,
                                        stderr=subprocess.DEVNULL)

    def links(self):
        """Returns the number of the program's descriptors of attached programs."""
        names = []
        for path in glob.glob(f"/proc/{self.process.pid}/fd/*"):
            try:
                names.append(os.readlink(path))
            except OSError:
                pass  # closed meanwhile
        return sum("bpf_link" in name or "perf_event" in name for name in names)

    def __enter__(self):
        """Waits until the program has all its links: until their number stays the same for a while."""
        counts = [0] * STEADY
        deadline = time.monotonic() + 20
        while counts[-1] == 0 or len(set(counts[-STEADY:])) > 1:
            if self.process.poll() is not None or time.monotonic() > deadline:
                self.__exit__()
                raise Failed("it does not attach here")
            time.sleep(0.02)
            counts.append(self.links())
        return self

    def __exit__(self, *_):
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()
        self.process.stdin.close()
        time.sleep(0.03)  # the kernel detaches programs a moment later


def find(program):
    return shutil.which(program, path=f"{os.environ.get('PATH', '')}:/usr/sbin")


def own(build):
    """Returns name -> the command that attaches it, for the floors and camp."""
    attach = f"{build}/bench/attach"
    return {
        "floor: empty sched_switch": [attach, "floor", "sched_switch"],
        EMPTY_SWITCH: [attach, "floor", "sched_switch", "sched_wakeup"],
        "floor: empty sys_enter, sys_exit": [attach, "floor", "sys_enter", "sys_exit"],
        CAMP_NO_CALLS: [attach, "states", "no-syscalls"],
        CAMP: [attach, "states"],
        CAMP_CAUSES: [attach, "states", "causes"],
        CAMP_STACKS_OF_NONE: [attach, "states", "stacks", "1000000000"],
        CAMP_STACKS: [attach, "states", "stacks", "0"],
        "camp record --when, its ring alone": [attach, "switches"],
    }


def peers(directory):
    """Returns name -> the command that attaches it, for other tools; name -> why it is missing."""
    tools = {
        "libbpf-tools runqlat": ["runqlat"],
        "libbpf-tools offcputime": ["offcputime"],
        "libbpf-tools syscount": ["syscount"],
        "perf sched record": ["perf", "sched", "record", "-o", f"{directory}/perf.data"],
    }
    missing = {who: f"no {command[0]}" for who, command in tools.items() if not find(command[0])}
    return {who: [find(command[0])] + command[1:] for who, command in tools.items()
            if who not in missing}, missing


def block(build):
    done = subprocess.run([f"{build}/bench/pingpong", str(max(os.sched_getaffinity(0))),
                           str(ROUND_TRIPS), str(CALLS)],
                          stdout=subprocess.PIPE, text=True, check=False, timeout=60)
    if done.returncode != 0:
        raise Failed("pingpong failed")
    return json.loads(done.stdout)


def run_blocks(build, rounds, directory):
    """Returns name -> its blocks, each with the blocks before and after it, in which nothing is attached; and
    the missing programs."""
    mine = own(build)
    others, missing = peers(directory)
    blocks = {who: [] for who in [*mine, *others]}
    before = block(build)
    for number in range(rounds):
        commands = {**mine, **(others if number % PEERS_EVERY == 0 else {})}
        for who in commands if number % 2 == 0 else reversed(commands):
            if who in missing:
                continue
            try:
                with Attached(commands[who]):
                    during = block(build)
            except Failed as error:
                missing[who] = str(error)
                continue
            after = block(build)
            blocks[who].append((before, during, after))
            before = after
    return {who: rows for who, rows in blocks.items() if who not in missing}, missing


def cost_of(rows, what):
    """Returns median, minimum and maximum of the additional time of a block compared with the blocks before
    and after it."""
    rows = sorted(rows, key=lambda row: abs(row[0][what] - row[2][what]))
    costs = [during[what] - (before[what] + after[what]) / 2
             for before, during, after in rows[:(len(rows) + 1) // 2]]
    return [statistics.median(costs), min(costs), max(costs)]


def attach_record(build, rounds):
    with tempfile.TemporaryDirectory() as directory:
        blocks, missing = run_blocks(build, rounds, directory)
    kinds = ("switch_ns", "call_ns")
    nothing = {what: statistics.median(before[what] for rows in blocks.values()
                                       for before, _, _ in rows) for what in kinds}
    variants = [{"who": who, **{what: cost_of(rows, what) for what in kinds},
                 "limits": {what: LIMIT_NS[who, what] for what in kinds if (who, what) in LIMIT_NS}}
                for who, rows in blocks.items()]
    return {"part": "attach", "rounds": rounds, "nothing": nothing, "variants": variants,
            "missing": missing}


def result_of(command):
    """Returns the output of one of the bench's programs: an object of JSON."""
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          check=False, timeout=60)
    if done.returncode != 0:
        raise Failed(done.stderr.strip())
    return json.loads(done.stdout)


def age_record(build, count):
    result = result_of([f"{build}/bench/age", str(count)])
    record = {"part": "age", "limit_us": LIMIT_AGE_US}
    for who in ("states_us", "clock_us"):
        ages = sorted(result[who])
        record[who] = [statistics.median(ages), ages[len(ages) * 95 // 100]]
    return record


def backends_record(build, rounds):
    """Uses the least disturbed half of the rows, as cost_of() does."""
    result = result_of([f"{build}/bench/backends", str(max(os.sched_getaffinity(0))),
                        str(ROUND_TRIPS), str(rounds)])
    rows = sorted(result["rows"], key=lambda row: row["nothing"])[:(rounds + 1) // 2]
    medians = {f"{name}_ns": statistics.median(row[name] for row in rows) for name in rows[0]}
    return {"part": "backends", **medians, "open_ms": result["open_ms"], "switches": BACKENDS_SWITCHES,
            "percent": medians["by_blocker_ns"] * BACKENDS_SWITCHES / os.cpu_count() / 1e7,
            "limit_percent": LIMIT_BACKENDS_PERCENT}


def snapshots(build, who):
    result = result_of([f"{build}/bench/snapshot", who, str(SNAPSHOTS)])
    return {**result, "ms": statistics.median(result["ms"])}


def snapshot_record(build, count, rounds):
    participants = {
        "camp": lambda: snapshots(build, "camp"),
        "floor: an empty iterator": lambda: snapshots(build, "floor"),
        "libproc2": lambda: scans([f"{build}/bench/scan", "libproc2", "3"]),
        "psutil": lambda: scans([PYTHON, f"{BENCH}/psutil_table.py", "3"]),
    }
    results, missing = run_rounds(participants, rounds)
    if "camp" not in results:
        raise Failed(missing["camp"])
    mine = results.pop("camp")
    record = {"part": "snapshot", "crowd": count, "threads": mine[-1]["threads"],
              **{key: statistics.median(row[key] for row in mine)
                 for key in ("ms", "open_ms", "open_wall_ms")},
              "resident_bytes": max(row["resident_bytes"] for row in mine),
              "limit_ms": LIMIT_MS[count], "limit_open_ms": LIMIT_OPEN_MS, "against": ratios_to(mine, results),
              "missing": missing}
    if count == max(LIMIT_MS):
        record["limit_resident_bytes"] = LIMIT_RESIDENT_BYTES
    return record


def cpu_ms(pid):
    """Returns the CPU time of all threads of a process, by its CPU clock: clock_getcpuclockid(3)."""
    return time.clock_gettime_ns(~pid << 3 | 2) / 1e6


def most_resident_bytes(pid):
    with open(f"/proc/{pid}/status", encoding="utf-8") as status:
        line = next(line for line in status if line.startswith("VmHWM:"))
    return int(line.split()[1]) * 1024


def watched_top(build, intervals):
    """Returns the CPU time of an interval of camp top, and its peak resident memory."""
    with Attached([f"{build}/src/camp", "top", "--interval", "1s"]) as top:
        pid = top.process.pid
        # camp attached just now, and its first interval ends a second after that, at about 0.8 s from here.
        begin = time.monotonic() + 1.3
        stamps = []
        for i in range(intervals + 1):
            time.sleep(max(0, begin + i - time.monotonic()))
            stamps.append(cpu_ms(pid))
        costs = sorted(after - before for before, after in zip(stamps, stamps[1:]))
        return {"ms": statistics.median(costs), "ms_min": costs[0], "ms_max": costs[-1],
                "resident_bytes": most_resident_bytes(pid)}


def top_peers(build, quick):
    """Returns the other tools, which read the processes once a second; for libraries one reading counts."""
    many = 2 if quick else 4
    tools = {
        "top -b -d 1": lambda n: [find("top"), "-b", "-d", "1", "-n", str(n)],
        "pidstat 1": lambda n: [find("pidstat"), "1", str(n)],
    }
    return {
        **{who: (lambda command=command: repeated(build, command, 1, many))
           if find(who.split()[0]) else None for who, command in tools.items()},
        "libproc2": lambda: scans([f"{build}/bench/scan", "libproc2", "3"]),
        "psutil": lambda: scans([PYTHON, f"{BENCH}/psutil_table.py", "3"]),
    }


def top_record(build, count, waking, quick):
    intervals = 3 if quick else TOP_INTERVALS[count]
    small = count == min(TOP_INTERVALS)
    mine = watched_top(build, intervals)
    results, missing = run_rounds(top_peers(build, quick), 1) if small else ({}, {})
    record = {"part": "top", "crowd": count, "waking": waking, "intervals": intervals, **mine,
              "percent": mine["ms"] / 10,  # an interval is a second
              "against": ratios_to([mine], results), "missing": missing}
    if small:
        record["limit_percent"] = LIMIT_TOP_PERCENT
    else:
        record["limit_resident_bytes"] = LIMIT_RESIDENT_BYTES
    return record


def crowd_records(build, count, waking, quick):
    """Measures everything with the same processes, in turn; snapshots need sleeping processes."""
    with Crowd(build, count, waking) as crowd:
        if crowd.count != count:
            raise Failed(f"only {crowd.count} of {count} processes could be made")
        if not waking:
            yield snapshot_record(build, count, 1 if quick else SNAPSHOT_ROUNDS[count])
        yield top_record(build, count, waking, quick)


def measure(build, quick):
    """Returns the records, and the failures."""
    if not os.path.exists(f"{build}/bench/attach"):
        return [{"part": "peer", "who": "microstates (clang, bpftool, libbpf)", "present": False}], []
    if os.geteuid() != 0:
        return [{"part": "peer", "who": "microstates (root)", "present": False}], []
    records = [attach_record(build, 3 if quick else ROUNDS)]
    failures = [f"states: {who}: {why}" for who, why in records[0]["missing"].items()
                if who in own(build)]
    parts = [lambda: [age_record(build, AGES // 4 if quick else AGES)],
             lambda: [backends_record(build, 3 if quick else BACKENDS_ROUNDS)]]
    for crowd in CROWDS[:1] if quick else CROWDS:
        parts.append(lambda crowd=crowd: crowd_records(build, *crowd, quick))
    for part in parts:
        try:
            for record in part():
                records.append(record)
        except (Failed, OSError, subprocess.TimeoutExpired) as error:
            failures.append(f"states: {error}")
    return records, failures
