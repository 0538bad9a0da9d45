"""The paper's script for its Figure 10: each half second a line about a server and its network interface.

    monitor.py MODULE_PATH INTERFACE EXECUTABLE SESSION

It covers the processes of an executable in one session (the server's). Processes come and go: one that
exits during a reading is left out.
"""

import json
import os
import sys
import time

sys.path.insert(0, sys.argv[1])

import camp  # noqa: E402
from camp import paper  # noqa: E402

INTERVAL_S = 0.5


def members(executable, session):
    for process in paper.GetProcessIdentifiers(executable):
        try:
            if os.getsid(process) == session:
                yield process
        except ProcessLookupError:
            pass


def look(interface, executable, session):
    seen = {"time": time.time(), "sent": paper.GetNetBytesSent(interface),
            "received": paper.GetNetBytesRecvd(interface), "processes": 0, "threads": 0,
            "working_set_kb": 0}
    for process in members(executable, session):
        try:
            working_set, threads = paper.GetWorkingSetKb(process), paper.GetThreadCount(process)
        except camp.Gone:
            continue
        seen["processes"] += 1
        seen["threads"] += threads
        seen["working_set_kb"] += working_set
    return seen


def main():
    interface, executable, session = sys.argv[2], sys.argv[3], int(sys.argv[4])
    begin, number = time.monotonic(), 0
    while True:
        print(json.dumps(look(interface, executable, session)), flush=True)
        number += 1
        time.sleep(max(0, begin + number * INTERVAL_S - time.monotonic()))


if __name__ == "__main__":
    main()
