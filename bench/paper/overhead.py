"""Figure 8: CAMP on CAMP. A probe of nine functions a block at rising rates, in C (`camp probe`) and in
Python (probe.py), watched by another instance from outside, and by its own clock.

The watcher's CPU times are the mean of 20 samples over 10 s, as in the paper: GetCPUtime_Total of the
probe, and GetPercentProcessorTime of all CPUs, which includes all other programs. 20 samples of 100 ms
miss most blocks of a low rate, so the watcher also has one sample as long as all of them, which must
agree with the probe's own clock.
"""

import concurrent.futures
import json
import subprocess
import time

import estimates
from setting import child

PAPER = ("On Linux little overhead at all measured rates (nine functions a block); on Windows and Solaris "
         "up to 10 blocks a second. No memory or thread leaks. CPU values are means of 20 samples over "
         "10 s.")
LITTLE_PERCENT = 5.0  # of one CPU, at 100 blocks a second: what is called little here
SAMPLES = 20
BATCH_KB = 256  # 64 pages: what a working set may be off by, see Table 1
ROOM_PERCENT, ROOM_SHARE = 0.2, 0.05  # of a CPU, and of it: the probe runs a moment before and after


def commands(setting, rate, seconds):
    return {"C": [setting.camp, "probe", "--rate", str(rate), "--duration", f"{seconds}s", "--format",
                  "json"],
            "Python": setting.python("probe.py", setting.module_path, rate, seconds)}


def own_word(who, line):
    told = json.loads(line)
    return told["rates"][0] if who == "C" else told


def watch(paper, process, seconds):
    """Returns what another instance measures of the probe."""
    seen = {"process": [], "machine": [], "threads": [], "working set": []}
    begin = time.monotonic()
    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        whole = pool.submit(paper.GetCPUtime_Total, process, 1000 * seconds)
        for number in range(SAMPLES):
            time.sleep(max(0, begin + seconds * number / SAMPLES - time.monotonic()))
            seen["process"].append(paper.GetCPUtime_Total(process))
            seen["machine"].append(paper.GetPercentProcessorTime())
            seen["threads"].append(paper.GetThreadCount(process))
            seen["working set"].append(paper.GetWorkingSetKb(process))
        return seen | {"whole": whole.result()}


def run_probe(setting, paper, who, rate, seconds):
    command = commands(setting, rate, seconds + 1)[who]
    with child(command, stdout=subprocess.PIPE) as probe:
        if who == "Python":
            probe.stdout.readline()
        time.sleep(0.3)
        seen = watch(paper, paper.GetProcessIdentifier(probe.pid), seconds)
        word = own_word(who, probe.stdout.read())
    return {"who": who, "rate": rate, "own": word["cpu_percent"], "block_us": word["block_us"],
            "achieved": word["achieved_rate"], "whole": seen["whole"],
            "seen": estimates.mean(seen["process"]),
            "machine": estimates.mean(seen["machine"]),
            "threads": seen["threads"][-1] - seen["threads"][0],
            "growth_kb": seen["working set"][-1] - seen["working set"][0]}


def judge(runs):
    verdicts = []
    for who in ("C", "Python"):
        of = [one for one in runs if one["who"] == who]
        at = next(one for one in of if one["rate"] == 100)
        verdicts.append({
            "what": f"{who}: little overhead at 100 blocks a second (below {LITTLE_PERCENT:g} % of a CPU)",
            "met": at["own"] < LITTLE_PERCENT,
            "found": f"{at['own']:.2f} %, {at['block_us'] / 9:.1f} us a function"})
        apart = [one for one in of
                 if abs(one["whole"] - one["own"]) > ROOM_PERCENT + ROOM_SHARE * one["own"]]
        verdicts.append({
            "what": f"{who}: the watcher sees what the probe's own clock says, at each rate",
            "met": not apart,
            "found": ", ".join(f"{one['rate']}/s: {one['whole']:.2f} % seen, own clock {one['own']:.2f} %"
                               for one in apart or of[-1:])})
        leaks = max(one["threads"] for one in of), max(one["growth_kb"] for one in of)
        verdicts.append({"what": f"{who}: no thread more at the end, and no memory beyond the {BATCH_KB} KB "
                         "that the kernel counts at once",
                         "met": leaks[0] == 0 and leaks[1] <= BATCH_KB,
                         "found": f"{leaks[0]:+d} threads, at most {leaks[1]:+d} KB"})
    return verdicts


def points(runs, who, pick):
    return [pick(one) | {"x": one["rate"]} for one in runs if one["who"] == who]


def all_series(runs):
    def seen(one):
        return {"at": one["seen"]["mean"], "low": one["seen"]["low"], "high": one["seen"]["high"]}

    return [{"name": f"{who}, {how}", "points": points(runs, who, pick)} for who in ("C", "Python")
            for how, pick in (("own clock", lambda one: {"at": one["own"]}), ("watched in 20 samples", seen))]


def measure(setting):
    paper = setting.paper()
    rates = (1, 10, 100) if setting.quick else (1, 2, 5, 10, 20, 50, 100, 200, 500)
    seconds = 5 if setting.quick else 10
    runs = [run_probe(setting, paper, who, rate, seconds) for who in ("C", "Python")
            for rate in rates]
    return {
        "setting": f"each rate {seconds} s, {SAMPLES} samples of 100 ms by another instance; the probe's "
                   "nine are one of each kind in Figure 3, as the paper does not name its own",
        "verdicts": judge(runs),
        "tables": [{
            "caption": "the probe, by itself and by another instance; all CPUs have everybody's load",
            "columns": ["probe", "blocks/s", "achieved", "own clock, %", "watched, %", "in samples, %",
                        "95 % from", "to", "us/block", "all CPUs, %", "working set, KB"],
            "rows": [[one["who"], one["rate"], one["achieved"], one["own"], one["whole"],
                      one["seen"]["mean"], one["seen"]["low"], one["seen"]["high"], one["block_us"],
                      one["machine"]["mean"], one["growth_kb"]] for one in runs]}],
        "plots": [{"kind": "lines", "title": "CPU time of a probe at rising rates",
                   "x": {"label": "blocks of nine functions a second", "log": True},
                   "y": {"label": "of one CPU", "unit": "%", "from": 0},
                   "series": all_series(runs)}],
    }
