"""Figures 6 and 7: the time of each function, compared with a native utility as a child.

There are three runs of 10,000 calls, as in the paper, with fewer calls of slow functions. The
plots show CPU time: for a call that never waits, this is its wall time without the time of other tasks. A
table shows both. A group is the mean of functions of one implementation; its bar extends from the best to
the worst of the runs.
"""

import importlib.util
import json
import os
import statistics

from setting import Missing, Subject, run

PAPER = ("The slowest function still allows over 100 invocations a second; those of Linux are an order "
         "of magnitude faster than those of Windows and Solaris; and native access is much faster than "
         "running `ps -f` and collecting its output. Three runs of 10,000 calls each.")

CALLS, RUNS = 10000, 3
WHO = ("camp in C", "camp.paper", "psutil", "utility as a child")
GROUPS = ("CPU", "memory", "network", "disk", "process", "process CPU", "enumeration",
          "processes by name")
PEER = "ps -f"


def has_psutil():
    return importlib.util.find_spec("psutil") is not None


def process_count():
    return sum(name.isdigit() for name in os.listdir("/proc"))


def busiest(names, count):
    """Returns the name with the largest count."""
    return max(names, key=count, default="")


def subjects_of(paper, subject):
    """Returns the arguments: the process, interface, disk and partition that the functions read."""
    interface = busiest(paper.EnumNetworkInterfaces(), paper.GetNetBytesRecvd)
    disk = busiest(paper.EnumPhysicalDisks(), paper.GetNumReads_Disk)
    partition = busiest(paper.EnumDiskPartitions(), paper.GetNumReads_Partition)
    if not disk:
        raise Missing("no disk here to ask about")
    return [str(subject.pid), interface, disk, partition, "python3"]


def add_run(lines, command, seconds):
    """Runs all functions once, and adds the results to the lines of earlier runs."""
    told = run(command + [str(CALLS), "1", str(seconds)], timeout=600)
    for line in map(json.loads, told.splitlines()):
        known = lines.setdefault((line["group"], line["function"]), line)
        if known is not line:
            known["cpu_us"] += line["cpu_us"]
            known["wall_us"] += line["wall_us"]


def measure_all(setting, paper):
    """Returns name -> lines of functions.c. There are three runs, so that a temporary disturbance is in one
    of them only."""
    seconds = 0.1 if setting.quick else 1.5
    of = {who: {} for who in WHO}
    with Subject(setting, "hold") as subject:
        about = subjects_of(paper, subject)
        commands = [[setting.functions, *about]]
        commands += [[*setting.python("functions_python.py", name, setting.module_path), *about]
                     for name in ("paper", "psutil", "native")]
        for number in range(RUNS):
            turns = list(zip(WHO, commands))
            for who, command in turns if number % 2 == 0 else reversed(turns):
                if who != "psutil" or has_psutil():
                    add_run(of[who], command, seconds)
    return {who: list(lines.values()) for who, lines in of.items()}


def of_group(lines, group, scale=1.0):
    """Returns the group's mean as a point of a plot, in us of CPU time divided by `scale`."""
    lines = [line["cpu_us"] for line in lines if line["group"] == group]
    if not lines:
        return None
    runs = [statistics.fmean(of_run) / scale for of_run in zip(*lines)]
    return {"at": statistics.median(runs), "low": min(runs), "high": max(runs)}


def series(of, scale=1.0):
    return [{"name": who, "points": [of_group(of[who], group, scale) for group in GROUPS]}
            for who in WHO if of[who]]


def judge(of, peer_us):
    verdicts = []
    for who in WHO[:2]:
        slowest = max(of[who], key=lambda line: statistics.median(line["wall_us"]))
        us = statistics.median(slowest["wall_us"])
        verdicts.append({"what": f"{who}: the slowest function over 100 times a second",
                         "met": us < 1e4, "found": f"{slowest['function']}: {1e6 / us:,.0f} a second"})
        worst = max((of_group(of[who], group)["at"] / peer_us, group) for group in GROUPS)
        verdicts.append({"what": f"{who}: all groups at least 10 times faster than {PEER} as a child",
                         "met": worst[0] <= 0.1, "found": f"{worst[1]}: {1 / worst[0]:,.0f} times"})
    if of["psutil"]:
        worst = max((of_group(of["camp.paper"], group)["at"] / of_group(of["psutil"], group)["at"], group)
                    for group in GROUPS)
        verdicts.append({"what": "camp.paper: no group slower than psutil", "met": worst[0] <= 1,
                         "found": f"closest is {worst[1]}: {worst[0]:.2f} of psutil's"})
    return verdicts


def rows(of):
    return [[line["group"], who, line["function"], line["calls"],
             statistics.median(line["cpu_us"]), min(line["cpu_us"]), max(line["cpu_us"]),
             statistics.median(line["wall_us"])]
            for group in GROUPS for who in WHO for line in of[who] if line["group"] == group]


def measure(setting):
    of = measure_all(setting, setting.paper())
    peer = next((line for line in of[WHO[-1]] if line["function"] == PEER), None)
    if peer is None:
        raise Missing(f"{PEER} does not run: apt-get install procps")
    peer_us = statistics.median(peer["cpu_us"])
    return {
        "setting": f"{RUNS} runs, in turn, of {CALLS:,} calls, or as many as fit into "
                   f"{0.1 if setting.quick else 1.5} s (the table says how many); sample interval 0; "
                   f"{process_count():,} processes, all of which are read to find a name",
        "verdicts": judge(of, peer_us),
        "tables": [{"caption": "us a call: the median of the runs, the best and the worst",
                    "columns": ["group", "who", "function", "calls", "CPU", "best", "worst", "wall"],
                    "rows": rows(of)}],
        "plots": [
            {"kind": "dots", "title": "Execution time (Figure 6)", "categories": GROUPS,
             "x": {"label": "CPU time of a call", "unit": "us", "log": True}, "series": series(of)},
            {"kind": "dots", "title": f"Compared with running {PEER} and collecting its output (Figure 7)",
             "categories": GROUPS, "line": 1,
             "x": {"label": f"CPU time of a call / of {PEER} as a child", "log": True},
             "series": series(of, peer_us)}],
    }
