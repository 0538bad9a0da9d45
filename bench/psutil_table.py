"""psutil's scan of the process table, as its users write it. Prints the CPU time of each scan in ms, on one line.

psutil_table.py COUNT
"""

import sys
import time

import psutil


def scan():
    start = time.thread_time_ns()
    for process in psutil.process_iter(["cpu_times"]):
        process.info["cpu_times"]
    return (time.thread_time_ns() - start) / 1e6


scan()  # the first makes an object of each process
print(*(f"{scan():.4f}" for _ in range(int(sys.argv[1]))))
