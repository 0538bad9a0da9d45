"""The Python module compared with psutil, in one process: one line of JSON for each comparison.

python_calls.py PID ROUNDS: functions that read one process (PID), in turn with psutil.
python_calls.py table ROUNDS: functions that read the whole process table; and the time of an import.

Times are CPU time of this thread; a ratio compares two times of one round. PYTHONPATH selects the camp module.
"""

import json
import resource
import statistics
import subprocess
import sys
import time

import camp
import psutil


def block_ns(call, repetitions):
    start = time.thread_time_ns()
    for _ in range(repetitions):
        call()
    return (time.thread_time_ns() - start) / repetitions


def compare(peer, calls, rounds, repetitions):
    """Prints the time of each of calls {name: function} relative to the peer, all in turn in each round."""
    every = {"psutil": peer, **calls}
    for call in every.values():
        call()  # the first fills caches: psutil makes an object of each process
    results = {name: [] for name in every}
    for number in range(rounds):
        for name in list(every) if number % 2 == 0 else reversed(list(every)):
            results[name].append(block_ns(every[name], repetitions))
    for name in calls:
        ratios = sorted(own / other for own, other in zip(results[name], results["psutil"]))
        print(json.dumps({
            "who": name, "us": statistics.median(results[name]) / 1e3,
            "psutil_us": statistics.median(results["psutil"]) / 1e3,
            "ratio": statistics.median(ratios), "ratio_min": ratios[0], "ratio_max": ratios[-1]}),
            flush=True)


def one_process(pid, rounds):
    process = camp.process(pid)
    compare(psutil.Process(pid).cpu_times, {
        "pid_cpu_ns(pid)": lambda: camp.pid_cpu_ns(pid),
        "Process.cpu_ns(), which notices a reused pid": process.cpu_ns,
        "Process.read('cpu_ns', 'minor_faults', 'resident_bytes')":
            lambda: process.read("cpu_ns", "minor_faults", "resident_bytes"),
    }, rounds, 200)


def psutil_table():
    return [(process.info["pid"], process.info["name"], process.info["cpu_times"])
            for process in psutil.process_iter(["pid", "name", "cpu_times"])]


def rows(block):
    return list(zip(block.ids, block.names, block["cpu_ns"]))


def each_process():
    """Reads each process as a user of psutil might: without state between two readings."""
    found = []
    for process in camp.processes():
        try:
            task = process.read("name", "cpu_ns")
        except camp.Gone:
            continue
        found.append((process.pid, task.name, task.cpu_ns))
    return found


def whole_table(rounds):
    table = camp.process_table()
    calls = {"process_table(), a list of tuples": lambda: rows(table.read()),
             "process_table(), columns": table.read,
             "processes(), each read by itself": each_process}
    try:
        frames = camp.frames("processes", interval=0)
        states = camp.microstates()
        calls.update({
            "frames('processes'), 16 states, a list of tuples": lambda: rows(frames.read()),
            "frames('processes'), 16 states, columns": frames.read,
            "microstates().threads(), 16 states, columns": states.threads})
    except camp.Error as error:
        print(json.dumps({"missing": str(error)}))
    compare(psutil_table, calls, rounds, 1)


def imports():
    """Prints the CPU time of a new interpreter with an import, less that of an empty one."""
    def cost_ms(script):
        times = []
        for _ in range(7):
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            subprocess.run([sys.executable, "-c", script], check=True)
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            times.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
        return 1e3 * min(times)
    empty = cost_ms("pass")
    print(json.dumps({"imports_ms": {name: cost_ms(f"import {name}") - empty
                                     for name in ("camp", "psutil", "typing")}}))


if __name__ == "__main__":
    if sys.argv[1] == "table":
        whole_table(int(sys.argv[2]))
        imports()
    else:
        one_process(int(sys.argv[1]), int(sys.argv[2]))
