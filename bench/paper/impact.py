"""Figure 9: does watching a machine slow its web server? Measured by the server's clients alone.

nginx serves a document at a fixed rate of connections, as with httperf in the paper (client.c). Blocks
of that load with a watcher (B) alternate with blocks without one (A): A B B A, A B B A, ... Each B is
compared with the neighbouring A, so that a drift cancels, and the median of the ratios has an interval.
Server, client and watcher have the same priority, above the other programs of the machine (with root), so
that they compete only with each other.
"""

import contextlib
import json
import os
import statistics
import subprocess
import threading
import time
import urllib.request

import estimates
import web_servers
from setting import Missing, child, run, until

PAPER = ("A measurable impact on the Windows server only; the Linux and Solaris servers were not affected "
         "at the probe's rates. httperf: 1,400 connections at 40 a second, which is a load of 15 % on "
         "Linux; Apache 2.0.53.")

CLIENTS, EACH = 40, 25  # connections a second: their product
SETTLE_S = 0.5
SHARES = ("p50", "p95", "p99")
PRIORITY = -15  # as nice(1) has it
AUTOGROUP = "/proc/self/autogroup"
WIDE = 1.25  # an interval that goes beyond this is too wide to say that there is no impact


def probe_in_c(setting, rate, seconds):
    return child([setting.camp, "probe", "--rate", str(rate), "--duration", f"{seconds}s"],
                 stdout=subprocess.DEVNULL)


def probe_in_python(setting, rate, seconds):
    return child(setting.python("probe.py", setting.module_path, rate, seconds),
                 stdout=subprocess.DEVNULL)


def microstates(setting, _rate, _seconds):
    return child([setting.camp, "top", "--from", "threads", "--group", "process", "--interval", "1s",
                  "--format", "csv"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


@contextlib.contextmanager
def exporter(setting, rate, _seconds):
    """Runs camp export, scraped `rate` times a second."""
    port = web_servers.free_port()
    over = threading.Event()

    def scrape():
        with contextlib.suppress(OSError):
            return urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=5).read()
        return b""

    def keep_scraping():
        while not over.wait(1 / rate):
            scrape()

    with child([setting.camp, "export", "--port", str(port)], stdout=subprocess.DEVNULL,
               stderr=subprocess.DEVNULL) as process:
        until(scrape, "camp export answers")
        asking = threading.Thread(target=keep_scraping)
        asking.start()
        try:
            yield process
        finally:
            over.set()
            asking.join()


def has_command(setting, *words):
    return subprocess.run([setting.camp, *words], stdout=subprocess.DEVNULL,
                          stderr=subprocess.DEVNULL, check=False, timeout=20).returncode == 0


def conditions(setting):
    """Returns [(name, what runs meanwhile, its rate)] and why others are missing."""
    rates = (10, 100) if setting.quick else (1, 10, 100)
    found = [(f"probe in C, {rate}/s", probe_in_c, rate) for rate in rates]
    found += [(f"camp.paper, {rate}/s", probe_in_python, rate) for rate in rates[-1:]]
    missing = []
    if has_command(setting, "top", "--count", "1", "--interval", "50ms", "--format", "csv"):
        found.append(("camp top, 1/s", microstates, 1))
    else:
        missing.append("camp top: no microstates here (camp doctor says why)")
    if has_command(setting, "export", "--help"):
        found.append(("camp export, 1 scrape/s", exporter, 1))
    else:
        missing.append("camp export: not in this build")
    return found, missing


def ask(setting, address, port, seconds):
    """Runs one block of load, and returns what the client measured."""
    told = json.loads(run([setting.client, address, str(port), "/index.html", str(CLIENTS), str(EACH),
                           str(CLIENTS), "0", str(seconds), "close"]))
    if not told["requests"]:
        raise Missing("nginx answers nothing")
    return told


def pairs_of(blocks):
    """Returns [(with, without)] of neighbouring blocks in the order A B B A A B B A."""
    return [(blocks[at + (1 if at % 4 == 0 else 0)], blocks[at + (0 if at % 4 == 0 else 1)])
            for at in range(0, len(blocks), 2)]


def run_condition(setting, of, seconds, rounds, where):
    """Returns the blocks of one condition, in order."""
    name, runs, rate = of
    blocks = []
    for _ in range(rounds):
        blocks.append(ask(setting, *where, seconds))
        with runs(setting, rate, 2 * seconds + 2 * SETTLE_S + 5) as watcher:
            time.sleep(SETTLE_S)  # opening a session with the kernel is not what it costs
            blocks += [ask(setting, *where, seconds) for _ in range(2)]
            if watcher.poll() is not None:
                raise Missing(f"{name}: it exited early, with {watcher.returncode}")
        time.sleep(SETTLE_S / 2)
        blocks.append(ask(setting, *where, seconds))
    return blocks


def compare(blocks):
    """Compares the client's times with and without the watcher: the ratios, and the times themselves."""
    pairs = pairs_of(blocks)
    found = {share: estimates.ratio([(b[f"{share}_us"], a[f"{share}_us"]) for b, a in pairs])
             for share in SHARES}
    found["rate"] = estimates.ratio([(b["requests"] / b["seconds"], a["requests"] / a["seconds"])
                                     for b, a in pairs])
    found["failures"] = sum(one["failures"] for one in blocks)
    found["base_us"] = {share: statistics.median(a[f"{share}_us"] for _, a in pairs)
                        for share in SHARES}
    found["with_us"] = {share: statistics.median(b[f"{share}_us"] for b, _ in pairs)
                        for share in SHARES}
    return found


def interval_text(one):
    return f"x {one['median']:.3f} [{one['low']:.3f} to {one['high']:.3f}]"


def judge(name, found):
    """An impact is measurable when its interval is above 1; it is not judged when the interval is too wide."""
    p50 = found["p50"]
    met = False if p50["low"] > 1 else True if p50["high"] <= WIDE else None
    return {"what": f"{name}: no measurable impact on response times (p50)", "met": met,
            "found": f"p50 {interval_text(p50)}, p95 {interval_text(found['p95'])}, p99 "
                     f"{interval_text(found['p99'])}; rate {interval_text(found['rate'])}"}


def busy_percent(paper, process):
    """Returns the CPU time of nginx's worker under the load, in percent of one CPU."""
    worker = paper.GetProcessIdentifier(web_servers.children_of(process.pid)[0])
    return paper.GetCPUtime_Total(worker, 1000)


def priorities():
    """Returns the priority of this process, and that of its session if the session has one."""
    with contextlib.suppress(OSError), open(AUTOGROUP, encoding="ascii") as file:
        return os.getpriority(os.PRIO_PROCESS, 0), int(file.read().split()[-1])
    return os.getpriority(os.PRIO_PROCESS, 0), None


def set_priorities(process, session):
    os.setpriority(os.PRIO_PROCESS, 0, process)
    if session is not None:
        with open(AUTOGROUP, "w", encoding="ascii") as file:
            file.write(str(session))


@contextlib.contextmanager
def before_others():
    """Raises the priority of all programs started meanwhile, where permitted. Where sessions share the CPUs
    (autogroup, sched(7)) the session's priority is raised too, because that of a process counts only within
    its session."""
    process, session = priorities()
    allowed = os.geteuid() == 0
    if allowed:
        set_priorities(PRIORITY, None if session is None else PRIORITY)
    try:
        yield f"nice {PRIORITY}" if allowed else "no priority over others (needs root)"
    finally:
        if allowed:
            set_priorities(process, session)


def warm_up(setting, paper, process, where):
    """Runs a block that does not count, and returns the worker's CPU time in it."""
    with child([setting.client, where[0], str(where[1]), "/index.html", str(CLIENTS), str(EACH),
                str(CLIENTS), "0", "2", "close"], stdout=subprocess.DEVNULL):
        time.sleep(0.5)
        return busy_percent(paper, process)


def table(found):
    rows = []
    for name, one in found.items():
        rows.append([name, *[one["base_us"][share] for share in SHARES],
                     *[one["with_us"][share] for share in SHARES], one["p50"]["count"],
                     one["failures"]])
    return {"caption": "response times of the clients, us: the median of the blocks without and with",
            "columns": ["watcher", *[f"{share} without" for share in SHARES],
                        *[f"{share} with" for share in SHARES], "pairs", "failures"], "rows": rows}


def measure(setting):
    paper = setting.paper()
    watchers, missing = conditions(setting)
    seconds, rounds = (0.6, 3) if setting.quick else (1, 10)
    with before_others() as priority, web_servers.nginx() as (process, *where):
        busy = warm_up(setting, paper, process, where)
        found = {of[0]: compare(run_condition(setting, of, seconds, rounds, where))
                 for of in watchers}
    verdicts = [judge(name, one) for name, one in found.items()]
    verdicts += [{"what": words, "met": None, "found": "missing"} for words in missing]
    series = [{"name": share, "points": [{"at": one[share]["median"], "low": one[share]["low"],
                                          "high": one[share]["high"]} for one in found.values()]}
              for share in SHARES]
    return {
        "setting": f"nginx with one worker, {CLIENTS * EACH:,} connections a second for a document of "
                   f"{web_servers.DOCUMENT_BYTES} bytes ({busy:.0f} % of a CPU), in blocks of {seconds} "
                   f"s; {2 * rounds} pairs for each watcher; {priority}",
        "verdicts": verdicts,
        "tables": [table(found)],
        "plots": [{"kind": "dots", "title": "Response times with a watcher / without, and the interval "
                   "of 95 %", "x": {"label": "ratio of response times", "log": True}, "line": 1,
                   "categories": list(found), "series": series}],
    }
