"""The errors and the cost of the tiers of PostgreSQL sessions: pgbench (TPC-B, 8 clients) on two
CPUs, with a separate server (tests/servers/lib.bash).

- errors: all tiers measure the same intervals at the same time (bench/tiers.c); for each state the root
  mean square of the sessions' errors against the bpf tier, in ms a second of a session's time.
- speed: pgbench's transactions a second while `camp record` runs, against the mean of the blocks just
  before and just after, without it: the geometric mean of the ratios of paired rounds, with its 95 % interval.
- why: CPU time of the backends for a transaction, while `camp record --tier bpf` runs with and without --why.
- cost: CPU time of camp and of its backend with 100 sessions, which are nearly idle.
- size: bytes of a recording of 100 sessions for each interval after the first ones, with three loads.
"""

import collections
import contextlib
import json
import math
import os
import re
import statistics
import subprocess
import tempfile
import time

import states
from servers import Servers
from table import Failed

TIERS = ("bpf", "schedstat+memory", "schedstat+SQL", "SQL")
STATES = ("cpu", "run_queue", "contention", "wait", "idle", "unaccounted")
CLIENTS = 8
CPUS = 2
OPENING_S = 2.5  # of a tier; it learns from four connections
INTERVALS = 20  # of 1 s
ROUNDS, BLOCK_S = 10, 3
STUDENT_95 = {1: math.nan, 10: 2.262}  # by rounds: the quantile of Student's distribution
SESSIONS = 100
LIMIT_PERCENT = {"schedstat+SQL": 1.0}  # of one CPU
LOADS = {  # of the recordings whose size is measured
    "a fifth of a transaction a second each, only reading": ("-S", "-R", "20"),
    "two transactions a second each": ("-N", "-R", "200"),
    "all wait for the locks of rows": (),
}
LIMIT_HOUR_MB = {"two transactions a second each": 15.0}
SERVER = """
start_postgres max_connections=200
"$POSTGRES_BIN/pgbench" -h "$PG_FOLDER" -U camp_super -i -q postgres >"$SERVERS/init.log" 2>&1
echo "$PG_FOLDER" "$POSTGRES_BIN"
"""


def pin():
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:CPUS])


def cpu_ns(pid):
    """Returns the CPU time of all threads of a process, by its CPU clock: clock_getcpuclockid(3)."""
    return time.clock_gettime_ns(~pid << 3 | 2)


class Server(Servers):
    """A PostgreSQL server for this run."""

    def __init__(self):
        super().__init__(SERVER, preexec_fn=pin)
        self.folder, self.programs = self.said.split()
        with open(f"{self.folder}/postmaster.pid", encoding="ascii") as pid:
            self.postmaster = int(pid.readline())
        self.conninfo = f"host={self.folder} dbname=postgres user=camp_super"

    def pgbench(self, clients, seconds, *options):
        return subprocess.Popen(
            [f"{self.programs}/pgbench", "-n", "-h", self.folder, "-U", "camp_super", "-c", str(clients),
             "-T", str(seconds), *options, "postgres"], preexec_fn=pin, text=True,
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)

    def pids_of_camp(self):
        done = subprocess.run(
            [f"{self.programs}/psql", "-XqAt", self.conninfo, "-c",
             "select pid from pg_stat_activity where application_name = 'camp'"],
            stdout=subprocess.PIPE, text=True, check=True, timeout=30)
        return [int(pid) for pid in done.stdout.split()]

    @contextlib.contextmanager
    def load(self, clients, *options):
        pgbench = self.pgbench(clients, 600, *options)
        try:
            time.sleep(1)
            yield
        finally:
            pgbench.terminate()
            pgbench.wait()


# ------------------------------------------------------------------------------- errors --


def begin_tier(build, server, tier, begin_ns, intervals):
    return subprocess.Popen([f"{build}/bench/tiers", f"postgres:{server.conninfo}", tier, str(begin_ns),
                             str(intervals), "1000"], preexec_fn=pin, text=True,
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def rows_of(tier, process):
    """Returns (interval, pid) -> its row; and the CPU time of the process in ns."""
    out, wrong = process.communicate(timeout=120)
    if process.returncode != 0:
        raise Failed(f"tier {tier}: {wrong.strip()}")
    *rows, total = [json.loads(line) for line in out.splitlines()]
    return {(row["interval"], row["pid"]): row for row in rows}, total["cpu"]


def part_of(row, state):
    return 1000 * row[state] / row["elapsed"]


def tier_errors(rows, truth, both):
    """Returns for each state its share in percent, and its RMS error in ms a second of a session."""
    elapsed = sum(rows[key]["elapsed"] for key in both)
    return {state: {"percent": 100 * sum(rows[key][state] for key in both) / elapsed,
                    "rms_ms": statistics.mean((part_of(rows[key], state) - part_of(truth[key], state)) ** 2
                                              for key in both) ** 0.5}
            for state in STATES}


def errors_record(build, server, intervals):
    stolen = states_stolen_s()
    with server.load(CLIENTS):
        begin_ns = time.monotonic_ns() + int(OPENING_S * 1e9)
        running = {tier: begin_tier(build, server, tier, begin_ns, intervals) for tier in TIERS}
        rows = {tier: rows_of(tier, process)[0] for tier, process in running.items()}
    # Only rows that all tiers have are compared; camp's own session is in no row.
    both = set.intersection(*(set(of) for of in rows.values()))
    busy = {key for key in both if rows["bpf"][key]["cpu"] > 0.001 * rows["bpf"][key]["elapsed"]}
    if not busy:
        raise Failed("errors: no session was seen by all tiers")
    return {"part": "tier_errors", "intervals": intervals, "sessions": len(busy) / intervals,
            "stolen_percent": 100 * (states_stolen_s() - stolen) / (intervals + OPENING_S),
            "load": os.getloadavg()[0],
            "tiers": {tier: tier_errors(rows[tier], rows["bpf"], busy) for tier in TIERS}}


def states_stolen_s():
    """Returns the stolen time of all CPUs since boot."""
    with open("/proc/stat", encoding="ascii") as stat:
        return int(stat.readline().split()[8]) / os.sysconf("SC_CLK_TCK")


# -------------------------------------------------------------------------------- speed --


def transactions(server):
    """Returns the transactions a second in one block."""
    out, _ = server.pgbench(CLIENTS, BLOCK_S).communicate(timeout=60)
    found = re.search(r"^tps = ([0-9.]+)", out, re.MULTILINE)
    if found is None:
        raise Failed("pgbench does not report its speed")
    return float(found.group(1))


@contextlib.contextmanager
def recording(build, server, tier, *options):
    with tempfile.TemporaryDirectory() as folder:
        camp = subprocess.Popen([f"{build}/src/camp", "record", "--from", f"postgres:{server.conninfo}",
                                 "--tier", tier, *options, "--output", f"{folder}/run.camp"], preexec_fn=pin,
                                stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        time.sleep(OPENING_S)
        if camp.poll() is not None:
            raise Failed(f"tier {tier}: {camp.stderr.read().strip()}")
        try:
            yield
        finally:
            camp.terminate()
            camp.communicate()


def speed_record(build, server, rounds):
    ratios = collections.defaultdict(list)
    without = [transactions(server)]
    for number in range(rounds):
        for tier in TIERS if number % 2 == 0 else reversed(TIERS):
            with recording(build, server, tier):
                during = transactions(server)
            without.append(transactions(server))
            ratios[tier].append(during / statistics.mean(without[-2:]))
    return {"part": "tier_speed", "rounds": rounds, "transactions": statistics.median(without),
            "load": os.getloadavg()[0], "ratios": {tier: interval_of(of) for tier, of in ratios.items()}}


def interval_of(ratios):
    """Returns the geometric mean of ratios, and the ends of its 95 % interval."""
    logs = [math.log(ratio) for ratio in ratios]
    middle = statistics.mean(logs)
    error = STUDENT_95[len(logs)] * (statistics.stdev(logs) if len(logs) > 1 else 0) / math.sqrt(len(logs))
    return [math.exp(middle), math.exp(middle - error), math.exp(middle + error)]


def backends_cpu_us(server):
    """Returns the CPU time of the backends for a transaction of one block, by the times of the children that the
    postmaster has waited for: proc(5)."""
    def children_s():
        with open(f"/proc/{server.postmaster}/stat", encoding="ascii") as stat:
            return sum(map(int, stat.read().rpartition(") ")[2].split()[13:15])) / os.sysconf("SC_CLK_TCK")
    before = children_s()
    out, _ = server.pgbench(CLIENTS, BLOCK_S).communicate(timeout=60)
    found = re.search(r"^number of transactions actually processed: ([0-9]+)", out, re.MULTILINE)
    if found is None:
        raise Failed("pgbench does not report its transactions")
    time.sleep(0.5)  # until the postmaster has waited for the backends
    return 1e6 * (children_s() - before) / int(found.group(1))


def why_record(build, server, rounds):
    ratios = collections.defaultdict(list)
    without = [backends_cpu_us(server)]
    for number in range(rounds):
        ways = {"bpf": (), "bpf --why": ("--why",)}
        for what in ways if number % 2 == 0 else reversed(ways):
            with recording(build, server, "bpf", *ways[what]):
                during = backends_cpu_us(server)
            without.append(backends_cpu_us(server))
            ratios[what].append(during / statistics.mean(without[-2:]))
    return {"part": "tier_why", "rounds": rounds, "cpu_us": statistics.median(without), "load": os.getloadavg()[0],
            "ratios": {what: [statistics.median(of), min(of), max(of)] for what, of in ratios.items()}}


# --------------------------------------------------------------------------------- cost --


def cost_record(build, server, tier, intervals):
    """Returns the CPU time of camp and of its backend, in percent of one CPU."""
    begin_ns = time.monotonic_ns() + int(OPENING_S * 1e9)
    process = begin_tier(build, server, tier, begin_ns, intervals)
    time.sleep(max(0, (begin_ns - time.monotonic_ns()) / 1e9))
    pids = server.pids_of_camp()
    before = sum(map(cpu_ns, pids))
    time.sleep(intervals - 1)
    backend = sum(map(cpu_ns, pids)) - before
    _, own = rows_of(tier, process)
    record = {"part": "tier_cost", "tier": tier, "sessions": SESSIONS,
              "own_percent": own / intervals / 1e7, "backend_percent": backend / (intervals - 1) / 1e7}
    if tier in LIMIT_PERCENT:
        record["limit_percent"] = LIMIT_PERCENT[tier]
    return record


# --------------------------------------------------------------------------------- size --


def bytes_of_recording(build, server, intervals):
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([f"{build}/src/camp", "record", "--from", f"postgres:{server.conninfo}", "--count", str(intervals),
                        "--interval", "1s", "--output", f"{folder}/run.camp"], check=True, timeout=intervals + 60,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        return os.path.getsize(f"{folder}/run.camp")


def size_record(build, server, load, options, intervals):
    first = max(1, intervals // 5)
    with server.load(SESSIONS, *options):
        least, most = bytes_of_recording(build, server, first), bytes_of_recording(build, server, intervals)
    each = (most - least) / (intervals - first)
    record = {"part": "sessions_size", "sessions": SESSIONS, "load": load, "interval_bytes": each,
              "hour_mb": (least + (3600 - first) * each) / 1e6}
    if load in LIMIT_HOUR_MB:
        record["limit_mb"] = LIMIT_HOUR_MB[load]
    return record


def measure(build, quick):
    """Returns the lines of this part, and the failures."""
    if not os.path.exists(f"{build}/bench/tiers"):
        return [{"part": "peer", "who": "PostgreSQL's tiers (libpq)", "present": False}], []
    if os.geteuid() != 0 or not os.path.exists(f"{build}/bench/backends"):
        return [{"part": "peer", "who": "PostgreSQL's tiers (root, microstates)", "present": False}], []
    records = []
    try:
        with Server() as server:
            records.append(errors_record(build, server, 5 if quick else INTERVALS))
            records.append(speed_record(build, server, 1 if quick else ROUNDS))
            records.append(why_record(build, server, 1 if quick else ROUNDS))
            with server.load(SESSIONS, "-S", "-R", "20"):
                records += [cost_record(build, server, tier, 4 if quick else 10) for tier in TIERS]
            records += [size_record(build, server, load, options, 10 if quick else 50) for load, options in LOADS.items()]
        records.append(states.backends_record(build, 3 if quick else states.BACKENDS_ROUNDS))
    except (Failed, OSError, subprocess.SubprocessError) as error:
        return records, [f"postgres: {error}"]
    return records, []
