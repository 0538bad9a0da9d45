"""The measured programs: python3 subjects.py waste PERCENT CPU | hold [THREADS].

waste: the paper's Figure 4, on one CPU. For each line of its input it prints its CPU time so far, by its
own clock; it ends with its input.
hold: for each line of its input it allocates what the line names, and answers: `memory BYTES` (an array that
it writes to), `thread` (one more), `nothing`.
"""

import json
import mmap
import os
import pathlib
import sys
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tests/python"))
import printed

FIGURE_4 = printed.load("figure4.py")
FIGURE_4["_INTERVAL"] = 0.01


def say(answer):
    print(json.dumps(answer), flush=True)


def run_waste(amount, cpu):
    os.sched_setaffinity(0, {cpu})
    # The load has a separate thread: this thread wakes only when a line of input comes.
    threading.Thread(target=FIGURE_4["waste"], args=(amount,), daemon=True).start()
    say({})
    for _ in sys.stdin:
        say({"cpu_s": time.process_time(), "time_s": time.monotonic()})


def take_memory(size):
    """An array as the paper's: a separate mapping, so that the process grows by its size and nothing else."""
    held = mmap.mmap(-1, size, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    for page in range(0, size, mmap.PAGESIZE):
        held[page] = 1
    return held


def run_hold(threads):
    kept = []
    waiting = threading.Event()
    for _ in range(threads):
        threading.Thread(target=waiting.wait, daemon=True).start()
    say({})
    for line in sys.stdin:
        words = line.split()
        if words[0] == "memory":
            kept.append(take_memory(int(words[1])))
        elif words[0] == "thread":
            threading.Thread(target=waiting.wait, daemon=True).start()
        say({})


if __name__ == "__main__":
    if sys.argv[1] == "waste":
        run_waste(float(sys.argv[2]), int(sys.argv[3]))
    else:
        run_hold(int(sys.argv[2]) if len(sys.argv) > 2 else 0)
