"""The Python module compared with psutil: CPU time of a process, and the whole process table (pid, name, CPU
time) of 1,000 and 10,000 sleeping processes. python_calls.py takes the blocks in turn."""

import json
import os
import subprocess

import table

BENCH = os.path.dirname(os.path.abspath(__file__))
LIMIT_RATIO = 0.1
ROUNDS = {1000: 7, 10000: 3}

# Only comparisons with a complete answer to psutil's question have a target.
TARGETS = ("pid_cpu_ns(pid)", "Process.cpu_ns(), which notices a reused pid", "process_table(), a list of tuples",
           "frames('processes'), 16 states, a list of tuples")


def calls(build, *words):
    """Returns the lines of python_calls.py, and the failures."""
    done = subprocess.run([table.PYTHON, f"{BENCH}/python_calls.py", *map(str, words)],
                          stdout=subprocess.PIPE, text=True, check=False, timeout=300,
                          env={**os.environ, "PYTHONPATH": f"{build}/python"})
    failed = [] if done.returncode == 0 else [f"python: {words[0]}: it ended in {done.returncode}"]
    return [json.loads(line) for line in done.stdout.splitlines()], failed


def record(what, lines):
    against = [line for line in lines if "who" in line]
    for line in against:
        if line["who"] in TARGETS:
            line["limit_ratio"] = LIMIT_RATIO
    return {"part": "python", "what": what, "against": against,
            "missing": {"microstates": line["missing"] for line in lines if "missing" in line},
            "imports_ms": next((line["imports_ms"] for line in lines if "imports_ms" in line), {})}


def measure(build, quick):
    """Returns the records, and the failures."""
    with table.Crowd(build, 1, False) as crowd:
        lines, failures = calls(build, crowd.process.pid, 20 if quick else 100)
    records = [record("CPU time of a process", lines)]
    for count in (1000,) if quick else (1000, 10000):
        with table.Crowd(build, count, False):
            lines, failed = calls(build, "table", 3 if quick else ROUNDS[count])
        records.append(record(f"the table of {count:,} processes", lines))
        failures += failed
    return records, failures
