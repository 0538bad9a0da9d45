"""How long functions take in Python: camp.paper's, psutil's, and native utilities run as children.

    functions_python.py WHO MODULE_PATH PID INTERFACE DISK PARTITION NAME CALLS RUNS SECONDS

WHO: paper, psutil or native. Prints lines like functions.c: RUNS runs of CALLS calls, or as many as fit
into SECONDS; CPU time includes the children. Unavailable functions have no line.
"""

import json
import resource
import subprocess
import sys
import time


def paper_functions(pid, interface, disk, partition, name):
    from camp import paper
    process = paper.GetProcessIdentifier(pid)
    functions = [
        ("CPU", "GetPercentProcessorTime", lambda: paper.GetPercentProcessorTime(None, 0)),
        ("memory", "GetFreePhysicalMemory", paper.GetFreePhysicalMemory),
        ("network", "GetNetBytesSent", lambda: paper.GetNetBytesSent(interface)),
        ("disk", "GetNumReads_Disk", lambda: paper.GetNumReads_Disk(disk)),
        ("process", "GetNumPageFaults", lambda: paper.GetNumPageFaults(process)),
        ("process", "GetWorkingSetKb", lambda: paper.GetWorkingSetKb(process)),
        ("process", "GetThreadCount", lambda: paper.GetThreadCount(process)),
        ("process CPU", "GetCPUtime_Total", lambda: paper.GetCPUtime_Total(process, 0)),
        ("enumeration", "EnumDiskPartitions", paper.EnumDiskPartitions),
        ("enumeration", "EnumPhysicalDisks", paper.EnumPhysicalDisks),
        ("enumeration", "EnumNetworkInterfaces", paper.EnumNetworkInterfaces),
        ("enumeration", "GetCPUCount", paper.GetCPUCount),
        ("enumeration", "GetProcessIdentifier", lambda: paper.GetProcessIdentifier(pid)),
        ("processes by name", "GetProcessIdentifiers", lambda: paper.GetProcessIdentifiers(name)),
    ]
    if partition:
        functions.append(("disk", "GetNumReads_Partition",
                          lambda: paper.GetNumReads_Partition(partition)))
    return functions


def psutil_functions(pid, interface, disk, _partition, name):
    import psutil
    process = psutil.Process(pid)
    return [
        ("CPU", "cpu_times, twice", lambda: (psutil.cpu_times(), psutil.cpu_times())),
        ("memory", "virtual_memory", lambda: psutil.virtual_memory().free),
        ("network", "net_io_counters", lambda: psutil.net_io_counters(pernic=True)[interface]),
        ("disk", "disk_io_counters", lambda: psutil.disk_io_counters(perdisk=True)[disk]),
        ("process", "Process.memory_info", lambda: process.memory_info().rss),
        ("process", "Process.num_threads", process.num_threads),
        ("process CPU", "Process.cpu_times, twice",
         lambda: (process.cpu_times(), process.cpu_times())),
        ("enumeration", "net_if_stats", psutil.net_if_stats),
        ("enumeration", "cpu_count", psutil.cpu_count),
        ("enumeration", "Process", lambda: psutil.Process(pid)),
        ("processes by name", "process_iter",
         lambda: [one for one in psutil.process_iter(["name"]) if one.info["name"] == name]),
    ]


def native_functions(pid, interface, _disk, _partition, name):
    commands = [("CPU", ["vmstat"]), ("memory", ["free"]),
                ("network", ["ip", "-s", "link", "show", interface]), ("disk", ["vmstat", "-d"]),
                ("process", ["ps", "-f"]), ("process", ["ps", "-o", "rss=", "-p", str(pid)]),
                ("process CPU", ["ps", "-o", "time=", "-p", str(pid)]), ("enumeration", ["nproc"]),
                ("enumeration", ["lsblk", "-n"]), ("processes by name", ["pgrep", "-x", name])]

    def collect(command):
        return subprocess.run(command, stdout=subprocess.PIPE, check=False).stdout

    return [(group, " ".join(command), lambda c=command: collect(c)) for group, command in commands]


def clocks_us():
    """Returns CPU time, including that of children, and wall time."""
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return ((time.process_time() + children.ru_utime + children.ru_stime) * 1e6,
            time.perf_counter() * 1e6)


def time_calls(call, calls):
    """Returns CPU time and wall time of a call, in us."""
    cpu, wall = clocks_us()
    for _ in range(calls):
        call()
    cpu_end, wall_end = clocks_us()
    return (cpu_end - cpu) / calls, (wall_end - wall) / calls


def main():
    who, path, pid, interface, disk, partition, name, calls, runs, seconds = sys.argv[1:]
    sys.path.insert(0, path)
    of = {"paper": paper_functions, "psutil": psutil_functions, "native": native_functions}[who]
    for group, function, call in of(int(pid), interface, disk, partition, name):
        try:
            fitting = int(float(seconds) * 1e6 / time_calls(call, 3)[1])
        except (OSError, KeyError):
            continue  # the utility or the disk is not there
        count = max(1, min(int(calls), fitting))
        taken = [time_calls(call, count) for _ in range(int(runs))]
        print(json.dumps({"group": group, "function": function, "calls": count,
                          "cpu_us": [cpu for cpu, _ in taken], "wall_us": [wall for _, wall in taken]}))


if __name__ == "__main__":
    main()
