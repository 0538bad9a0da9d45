"""The whole process table: one interval of `camp check`, compared with the peers that scan it.

Many processes are started, asleep or (-w) waking ten times a second. Then, round by round, each peer in turn reads
the table, and the CPU time of the whole command counts (wait4, so nothing of it is missed). For a command that
repeats, an interval costs (cost of many - cost of one) / (many - 1), without its start. For ps, which does not
repeat, the cost of a start for one pid (-q, which does not scan) is subtracted. The ratios are within one round,
and their median is shown.
"""

import json
import os
import shutil
import statistics
import subprocess

BENCH = os.path.dirname(os.path.abspath(__file__))
PYTHON = "/usr/bin/python3"
ROUNDS = {1000: 3, 10000: 2}
INTERVALS = 10

LIMIT_MS = {"taskstats": 6.0, "schedstat": 12.0}  # with 1,000 processes
LIMIT_GROWTH = 12.0  # 10,000 against 1,000
LIMIT_RESIDENT_BYTES = 16 * 1000 * 1000


class Failed(Exception):
    """A command failed."""


class Crowd:
    """A number of processes, which sleep all the time or wake ten times a second."""

    def __init__(self, build, count, waking):
        self.process = subprocess.Popen([f"{build}/bench/crowd"] + ["-w"] * waking + [str(count)],
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.count = int(self.process.stdout.readline() or 0)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.stdin.close()
        self.process.wait()


def cost(build, command, ordinary=False):
    """Returns {"cpu_ms", "resident_bytes"} of one run of a command."""
    program = [f"{build}/bench/cost"] + (["-u"] if ordinary else [])
    done = subprocess.run(program + command, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          text=True, check=False, timeout=120)
    result = json.loads(done.stdout) if done.returncode == 0 else {"status": 1}
    if result["status"] != 0:
        raise Failed(f"{' '.join(command)}: exit status {result['status']} {done.stderr.strip()}")
    return result


def repeated(build, command, few, many, ordinary=False):
    """Returns the cost of one interval; `command` gets the number of intervals."""
    start = cost(build, command(few), ordinary)
    whole = cost(build, command(many), ordinary)
    return {"ms": (whole["cpu_ms"] - start["cpu_ms"]) / (many - few), "start_ms": start["cpu_ms"],
            "resident_bytes": whole["resident_bytes"]}


def scans(command):
    """Returns the median of the milliseconds that a program measured itself and printed on one line."""
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          check=False, timeout=120)
    if done.returncode != 0:
        raise Failed(f"{' '.join(command)}: {done.stderr.strip()}")
    return {"ms": statistics.median(float(word) for word in done.stdout.split())}


def ps(build, program):
    start = cost(build, [program, "-o", "pid,time", "-q", "1"])
    whole = cost(build, [program, "-e", "-o", "pid,time"])
    return {"ms": whole["cpu_ms"] - start["cpu_ms"], "start_ms": start["cpu_ms"]}


def check(build, tier, ordinary):
    camp = f"{build}/src/camp"
    return repeated(build, lambda n: [camp, "check", "--interval", "200ms", "--count", str(n),
                                      "--tier", tier], 1, 1 + INTERVALS, ordinary)


def participants(build):
    """Returns name -> function, or None where it is not installed."""
    root = os.geteuid() == 0
    programs = {name: shutil.which(name) for name in ("ps", "top", "pidstat", "atop")}
    peers = {
        "camp check, taskstats": (lambda: check(build, "taskstats", False)) if root else None,
        "camp check, schedstat": lambda: check(build, "schedstat", root),
        "floor: stat of each": lambda: scans([f"{build}/bench/scan", "floor", "5"]),
        "libproc2": lambda: scans([f"{build}/bench/scan", "libproc2", "5"]),
        "libstatgrab": lambda: scans([f"{build}/bench/scan", "libstatgrab", "5"]),
        "psutil": lambda: scans([PYTHON, f"{BENCH}/psutil_table.py", "5"]),
        "ps": lambda: ps(build, programs["ps"]),
        "top": lambda: repeated(build, lambda n: [programs["top"], "-b", "-d", "0.2", "-n", str(n)],
                                1, 5),
        "pidstat": lambda: repeated(build, lambda n: [programs["pidstat"], "1", str(n)], 1, 3),
        "atop": lambda: repeated(build, lambda n: [programs["atop"], "1", str(n)], 2, 4),
    }
    return {name: None if programs.get(name, "") is None else run for name, run in peers.items()}


def run_rounds(peers, rounds):
    """Returns name -> the results of its rounds; name -> why it is missing."""
    results = {name: [] for name, run in peers.items() if run}
    missing = {name: "not installed, or needs root" for name, run in peers.items() if not run}
    for number in range(rounds):
        names = list(results)
        for name in names if number % 2 == 0 else reversed(names):
            if name in missing:
                continue
            try:
                results[name].append(peers[name]())
            except (Failed, OSError, subprocess.TimeoutExpired) as error:
                missing[name] = str(error)
    return {name: rows for name, rows in results.items() if name not in missing}, missing


def ratios_to(own, peers):
    """Returns the cost of each peer, and the ratio of camp's cost to it, round by round."""
    against = []
    for name, rows in peers.items():
        ratios = sorted(a["ms"] / b["ms"] for a, b in zip(own, rows))
        against.append({"who": name, "ms": statistics.median(row["ms"] for row in rows),
                        "ratio": statistics.median(ratios), "ratio_min": ratios[0],
                        "ratio_max": ratios[-1]})
    return against


def one_tier(tier, results, processes):
    """Returns the record of one tier: its cost, and its ratio to each peer, round by round."""
    own = results[f"camp check, {tier}"]
    ms = statistics.median(row["ms"] for row in own)
    peers = {name: rows for name, rows in results.items() if not name.startswith("camp check")}
    return {"part": "table", "tier": tier, "processes": processes, "ms": ms,
            "ms_min": min(row["ms"] for row in own), "ms_max": max(row["ms"] for row in own),
            "start_ms": statistics.median(row["start_ms"] for row in own),
            "resident_bytes": max(row["resident_bytes"] for row in own),
            "against": ratios_to(own, peers)}


def measure_crowd(build, count, waking, rounds):
    with Crowd(build, count, waking) as crowd:
        results, missing = run_rounds(participants(build), rounds)
        processes = sum(name.isdigit() for name in os.listdir("/proc"))
    failures = [f"table: only {crowd.count} of {count} processes could be started"]
    records = [one_tier(tier, results, processes) for tier in LIMIT_MS
               if f"camp check, {tier}" in results]
    for record in records:
        record["crowd"] = count
        record["waking"] = waking
        record["missing"] = missing
    failed = [f"table: {name}: {why}" for name, why in missing.items()
              if name.startswith("camp") and os.geteuid() == 0]
    return records, failed + (failures if crowd.count != count else [])


def set_limits(record, base_ms):
    """Sets the targets of a record: for 1,000 processes in ms, for 10,000 relative to 1,000 and in memory."""
    if record["crowd"] == 1000:
        record["limit_ms"] = LIMIT_MS[record["tier"]]
        return
    record["growth"] = record["ms"] / base_ms[record["tier"]]
    record["limit_growth"] = LIMIT_GROWTH
    record["limit_resident_bytes"] = LIMIT_RESIDENT_BYTES


def measure(build, quick):
    """Returns the records for each number of processes, with their targets, and the failures."""
    records, failures = [], []
    crowds = ((1000, False), (1000, True)) if quick else ((1000, False), (1000, True),
                                                          (10000, False))
    for count, waking in crowds:
        more, failed = measure_crowd(build, count, waking, 1 if quick else ROUNDS[count])
        records += more
        failures += failed
    base_ms = {record["tier"]: record["ms"] for record in records
               if record["crowd"] == 1000 and not record["waking"]}
    for record in records:
        set_limits(record, base_ms)
    return records, failures
