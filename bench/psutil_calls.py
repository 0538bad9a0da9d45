"""psutil's part of the benchmarks: runs loops on request, and reports their CPU time.

Started by psutil.c with a pid. Reads lines "LOOP REPETITIONS" and answers each with nanoseconds of
this thread's CPU time (0: it failed), so that its blocks lie between those of the others.
"""

import sys
import time

import psutil

process = psutil.Process(int(sys.argv[1]))

CALLS = {
    "cpus": lambda: psutil.cpu_times(percpu=True),
    "cpu": psutil.cpu_times,
    "memory": psutil.virtual_memory,
    "networks": lambda: psutil.net_io_counters(pernic=True, nowrap=False),
    "disks": lambda: psutil.disk_io_counters(perdisk=True, nowrap=False),
    "process": process.cpu_times,
    "pids": psutil.pids,
    "table": lambda: [p.info for p in psutil.process_iter(["cpu_times"])],
}


def block(name, repetitions):
    call = CALLS[name]
    start = time.thread_time_ns()
    for _ in range(repetitions):
        call()
    return max(1, time.thread_time_ns() - start)


print("ready", flush=True)
for line in sys.stdin:
    name, repetitions = line.split()
    try:
        ns = block(name, int(repetitions))
    except Exception as error:  # it is reported as failed, whatever it was
        print(f"psutil {name}: {error}", file=sys.stderr)
        ns = 0
    print(ns, flush=True)
