"""The paper's probe in Python: nine functions of camp.paper in a block, at a rate.

    probe.py MODULE_PATH RATE SECONDS

The nine are those of `camp probe`. Prints {"pid"} when it is ready, and at the end {"cpu_percent",
"block_us", "achieved_rate"}, by its own clocks. Each block has a fixed start, so that a slow one does
not change the rate.
"""

import json
import os
import sys
import time

sys.path.insert(0, sys.argv[1])

from camp import paper  # noqa: E402


def subjects():
    interface = max(paper.EnumNetworkInterfaces(), key=paper.GetNetBytesRecvd)
    disk = max(paper.EnumPhysicalDisks(), key=paper.GetNumReads_Disk)
    return interface, disk, paper.GetProcessIdentifier(os.getpid())


def run_block(interface, disk, process):
    paper.GetPercentProcessorTime(None, 0)
    paper.GetFreePhysicalMemory()
    paper.GetNetBytesSent(interface)
    paper.GetNetBytesRecvd(interface)
    paper.GetNumReads_Disk(disk)
    paper.GetNumWrites_Disk(disk)
    paper.GetNumPageFaults(process)
    paper.GetCPUtime_Total(process, 0)
    paper.GetWorkingSetKb(process)


def main():
    rate, seconds = float(sys.argv[2]), float(sys.argv[3])
    about = subjects()
    run_block(*about)
    print(json.dumps({"pid": os.getpid()}), flush=True)
    blocks, in_blocks = 0, 0
    begin, cpu = time.monotonic(), time.process_time()
    while blocks / rate < seconds:
        time.sleep(max(0.0, begin + blocks / rate - time.monotonic()))
        before = time.process_time_ns()
        run_block(*about)
        in_blocks += time.process_time_ns() - before
        blocks += 1
    time.sleep(max(0.0, begin + blocks / rate - time.monotonic()))  # the last one's period
    elapsed = time.monotonic() - begin
    print(json.dumps({"cpu_percent": 100 * (time.process_time() - cpu) / elapsed,
                      "block_us": in_blocks / blocks / 1e3, "achieved_rate": blocks / elapsed}))


if __name__ == "__main__":
    main()
