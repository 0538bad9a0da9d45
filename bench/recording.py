"""The cost of writing and reading a recording: bench/recording.c with synthetic frames, `camp record` of many
sleeping processes, and `camp record` of waking and of sleeping processes, without and with --why.

For synthetic frames only the recorder's own CPU time counts, not that of making the frames. It is shown as
the median of the intervals and, from their sum, as percent of a core at one interval a second. The processes
are real: 10,000, recorded once a second; for these, the size of the file counts.
"""

import json
import os
import shutil
import sqlite3
import statistics
import subprocess
import tempfile

from table import Crowd, Failed, cost

THREADS = 10000
INTERVALS = {100: 60, 5: 600}  # by the percentage of active threads; the first one, with all names, takes 20 ms
HOUR = (1000, 3600)  # threads, intervals
CROWD_INTERVALS = 10
# Processes; whether they wake ten times a second; the interval; and two numbers of intervals: the cost of an interval is
# that of the second number less that of the first. camp has read why 10,000 processes sleep after 154 intervals.
WHY_CROWDS = ((1000, True, "1s", (2, 12)), (10000, False, "100ms", (160, 240)))
WHY_ROUNDS = 5  # without and with --why in turn; the median counts, because opening a session varies by some ms
LIMIT_PERCENT = {100: 0.8, 5: 0.08}  # of a core, at one interval a second; active threads
LIMIT_ROW_BYTES = 50.0
LIMIT_READ_MS = 2000.0


def program(build, *arguments):
    done = subprocess.run([f"{build}/bench/recording", *map(str, arguments)], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True, check=False, timeout=300)
    if done.returncode != 0:
        raise Failed(f"recording {arguments[0]}: {done.stderr.strip()}")
    return json.loads(done.stdout)


def written(build, folder, threads, intervals, active):
    path = f"{folder}/{threads}-{active}.camp"
    result = program(build, "write", path, threads, intervals, active)
    size = os.path.getsize(path)
    return path, {"part": "recording", "what": "write", "threads": threads, "active": active,
                  "intervals": intervals, "ms": result["ms"], "ms_mean": result["ms_mean"],
                  "percent": result["ms_mean"] / 10, "row_bytes": size / result["rows"],
                  "written_bytes": size / result["written"], "hour_bytes": size * 3600 / intervals}


def write_record(build, folder, active):
    record = written(build, folder, THREADS, INTERVALS[active], active)[1]
    record["limit_percent"] = LIMIT_PERCENT[active]
    record["limit_row_bytes"] = LIMIT_ROW_BYTES
    return record


def read_record(build, folder, active):
    path, record = written(build, folder, *HOUR, active)
    result = program(build, "read", path)
    return {"part": "recording", "what": "read", "threads": HOUR[0], "intervals": HOUR[1],
            "active": active, "ms": result["ms"], "open_ms": result["open_ms"],
            "rows": result["rows"], "file_bytes": record["hour_bytes"], "limit_ms": LIMIT_READ_MS}


def crowd_record(build, folder):
    """Returns the bytes of a row in a recording of 10,000 real, sleeping threads."""
    path = f"{folder}/crowd.camp"
    with Crowd(build, THREADS, False) as crowd:
        done = subprocess.run([f"{build}/src/camp", "record", "--output", path, "--count",
                               str(CROWD_INTERVALS)], stdout=subprocess.DEVNULL,
                              stderr=subprocess.PIPE, text=True, check=False, timeout=120)
        if done.returncode != 0:
            raise Failed(f"camp record: {done.stderr.strip()}")
    file = sqlite3.connect(path)
    first = file.execute("SELECT row_count FROM tick WHERE tick = 1").fetchone()[0]
    later = file.execute("SELECT sum(row_count) FROM tick WHERE tick > 1").fetchone()[0]
    file.close()
    return {"part": "recording", "what": "crowd", "threads": crowd.count,
            "intervals": CROWD_INTERVALS, "first_rows": first,
            "later_rows": later / (CROWD_INTERVALS - 1),
            "row_bytes": os.path.getsize(path) / (first * CROWD_INTERVALS)}


def recorded(build, path, why, interval, counts):
    """Returns the CPU milliseconds of camp and the bytes of the file, of an interval."""
    results = []
    for count in counts:
        command = [f"{build}/src/camp", "record", "--force", "--output", path, "--count", str(count),
                   "--interval", interval]
        spent = cost(build, command + ["--why"] * why)
        results.append((spent["cpu_ms"], os.path.getsize(path)))
    (few_ms, few_bytes), (many_ms, many_bytes) = results
    more = counts[1] - counts[0]
    return (many_ms - few_ms) / more, (many_bytes - few_bytes) / more


def why_record(build, folder, threads, waking, *intervals):
    """Returns what the causes of waits add to a recording of real processes."""
    path = f"{folder}/why.camp"
    with Crowd(build, threads, waking) as crowd:
        rounds = [[recorded(build, path, why, *intervals) for why in (False, True)] for _ in range(WHY_ROUNDS)]
    (without_ms, without_bytes), (with_ms, with_bytes) = (
        [statistics.median(values) for values in zip(*side)] for side in zip(*rounds))
    file = sqlite3.connect(path)
    causes, ticks = file.execute("SELECT count(*), max(tick) - 1 FROM cause WHERE tick > 1").fetchone()
    file.close()
    return {"part": "recording", "what": "why", "threads": crowd.count, "waking": waking, "without_ms": without_ms,
            "with_ms": with_ms, "without_bytes": without_bytes, "with_bytes": with_bytes,
            "causes": causes / ticks}


def measure(build, quick):
    """Returns the records, and the failures."""
    if not os.path.exists(f"{build}/bench/recording"):
        return [{"part": "peer", "who": "recordings (libsqlite3)", "present": False}], []
    folder = tempfile.mkdtemp(prefix="camp-bench-")
    parts = [lambda: write_record(build, folder, 100), lambda: write_record(build, folder, 5),
             lambda: read_record(build, folder, 5)]
    if not quick:
        parts.append(lambda: read_record(build, folder, 100))
    if os.geteuid() == 0 and os.path.exists(f"{build}/bench/attach"):
        parts.append(lambda: crowd_record(build, folder))
        for crowd in WHY_CROWDS[:1] if quick else WHY_CROWDS:
            parts.append(lambda crowd=crowd: why_record(build, folder, *crowd))
    records, failures = [], []
    for part in parts:
        try:
            records.append(part())
        except (Failed, OSError, subprocess.TimeoutExpired) as error:
            failures.append(f"recording: {error}")
    shutil.rmtree(folder)
    return records, failures
