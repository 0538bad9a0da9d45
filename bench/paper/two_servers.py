"""Figure 10: two servers under the same load, measured by CAMP over time.

In the paper, the servers were Apache 2.0 on Windows and on Linux. Here they are Apache's prefork and event
on this machine, one after the other, each in a separate network namespace, so that its interface counts no
other bytes. Every half second, monitor.py reads (by camp.paper) the bytes and the working set of all the
server's processes, and `camp top` their page faults and CPU time, including processes that exited in between.
"""

import contextlib
import datetime
import json
import signal
import subprocess
import tempfile
import time

import web_servers
from setting import Missing, child, need_program, need_root
from tables import two_namespaces

PAPER = ("Apache on Windows (default MPM) and on Linux (worker), 300 threads each; 250 clients, in groups "
         "of 10 at intervals of 1 s. Both sent and received the same; neither taxed the CPU. Linux: a much "
         "smaller footprint, its working set rose a little at the load's beginning and remained steady, "
         "without a large increase of page faults. Windows took 20 s to a steady state, faulting "
         "constantly.")
SERVERS = {
    "prefork": ["StartServers 5", "MinSpareServers 5", "MaxSpareServers 10", "ServerLimit 300",
                "MaxRequestWorkers 300"],
    "event": ["StartServers 12", "ServerLimit 12", "ThreadsPerChild 25", "MinSpareThreads 25",
              "MaxSpareThreads 300", "MaxRequestWorkers 300"],
}
PORT = 8080
REQUESTS_EACH = 1  # a second, of each client
SAME_LOAD = 0.05  # of the bytes: how far the two may be apart


class Load:
    """The durations of the phases of the load, in s, and the number of clients."""

    def __init__(self, quick):
        self.clients, self.group, self.group_s = (100, 20, 1) if quick else (250, 10, 1)
        self.quiet_s = 3 if quick else 5
        self.loaded_s = self.clients / self.group * self.group_s + (4 if quick else 15)


def exact_kb(folder_line):
    """Returns the Pss of all processes whose command line contains `folder_line`: shared pages are counted
    once."""
    total = 0
    for pid in subprocess.run(["pgrep", "-f", folder_line], stdout=subprocess.PIPE, text=True,
                              check=False).stdout.split():
        with contextlib.suppress(OSError, StopIteration):
            with open(f"/proc/{pid}/smaps_rollup", encoding="ascii") as file:
                total += next(int(line.split()[1]) for line in file if line.startswith("Pss:"))
    return total


@contextlib.contextmanager
def camp_top(setting, folder):
    """Runs `camp top` of one workload (the processes whose command line contains `folder`), with its output
    in a file."""
    with tempfile.NamedTemporaryFile("w", suffix=".rules") as rules, \
            tempfile.TemporaryFile("w+") as frames:
        rules.write(f"apache line={folder}/conf\n")
        rules.flush()
        with child([setting.camp, "top", "--workload", rules.name, "--interval", "500ms", "--format",
                    "json"], signal.SIGINT, stdout=frames, stderr=subprocess.DEVNULL):
            yield frames


def frames_of(file):
    file.seek(0)
    lines = file.read().splitlines()
    return [json.loads(line) for line in lines if line.endswith("}")]


def run_server(setting, mpm, load):
    """Returns all measurements of one server: {"looks", "frames", "begin", "client", ...}."""
    with contextlib.ExitStack() as stack:
        (near, _), (far, (interface, address)) = stack.enter_context(two_namespaces("www")).items()
        within = ["ip", "netns", "exec", far]
        process, folder = stack.enter_context(
            web_servers.apache(mpm, SERVERS[mpm], address, PORT, within))
        frames = stack.enter_context(camp_top(setting, folder))
        looks = stack.enter_context(tempfile.TemporaryFile("w+"))
        stack.enter_context(child(
            [*within, *setting.python("monitor.py", setting.module_path, interface, "apache2",
                                      process.pid)], stdout=looks))
        time.sleep(load.quiet_s)
        seen = {"pss_before_kb": exact_kb(f"{folder}/conf"), "begin": time.time()}
        with child(["ip", "netns", "exec", near, setting.client, address, str(PORT), "/index.html",
                    str(load.clients), str(REQUESTS_EACH), str(load.group), str(load.group_s),
                    str(load.loaded_s), "keep"], stdout=subprocess.PIPE) as client:
            time.sleep(load.loaded_s - 1)
            seen["pss_loaded_kb"] = exact_kb(f"{folder}/conf")
            seen["client"] = json.loads(client.stdout.read() or "{}")
        time.sleep(load.quiet_s)
        seen["frames"] = frames_of(frames)
        seen["looks"] = frames_of(looks)
    if not seen["client"].get("requests"):
        raise Missing(f"Apache with {mpm} answers nothing")
    return seen


# --------------------------------------------------------------------- Results --


def of_frame(frame):
    """Returns what all of the server's processes, living and exited, did in a frame: CPU and run queue in %
    of a CPU, and faults a second; and how long the frame was."""
    rows = [row for row in frame["entities"] if row["name"] == "apache"]
    ns = frame["interval_s"] * 1e9

    def total(kind, name):
        return sum(row[kind][name] for row in rows)

    return {"cpu": 100 * total("counters", "cpu_ns") / ns,
            "run_queue": 100 * total("states", "run_queue_ns") / ns,
            "faults": (total("counters", "minor_faults") + total("counters", "major_faults"))
            / frame["interval_s"],
            "seconds": frame["interval_s"]}


def seconds_since(begin, frame):
    return datetime.datetime.fromisoformat(frame["time"]).timestamp() - begin


def over_time(seen):
    """Returns name -> points: time since the load started, and the value."""
    looks, begin = seen["looks"], seen["begin"]
    series = {"working_set": [{"x": look["time"] - begin, "at": look["working_set_kb"] / 1024}
                              for look in looks],
              "processes": [{"x": look["time"] - begin, "at": look["processes"]} for look in looks]}
    for name in ("sent", "received"):
        series[name] = [
            {"x": after["time"] - begin,
             "at": (after[name] - before[name]) / (after["time"] - before["time"]) / 1024}
            for before, after in zip(looks, looks[1:])]
    # The first frame does not count: it includes what the processes did before it.
    booked = [(seconds_since(begin, frame), of_frame(frame)) for frame in seen["frames"][1:]]
    for name in ("cpu", "run_queue", "faults"):
        series[name] = [{"x": x, "at": values[name]} for x, values in booked]
    return series


def summary(seen, load):
    """Returns one server in numbers: before the load, and during it."""
    looks, begin = seen["looks"], seen["begin"]
    before = [look for look in looks if look["time"] < begin]
    loaded = [look for look in looks if begin < look["time"] < begin + load.loaded_s]
    booked = [of_frame(frame) for frame in seen["frames"][1:]
              if 0 < seconds_since(begin, frame) < load.loaded_s]
    steady, late = booked[-6:], loaded[-(len(loaded) // 3):]
    return {
        "sent_kb": (looks[-1]["sent"] - before[-1]["sent"]) / 1024,
        "received_kb": (looks[-1]["received"] - before[-1]["received"]) / 1024,
        "before_mb": before[-1]["working_set_kb"] / 1024,
        "most_mb": max(look["working_set_kb"] for look in loaded) / 1024,
        "late_growth": late[-1]["working_set_kb"] / late[0]["working_set_kb"] - 1,
        "pss_before_mb": seen["pss_before_kb"] / 1024, "pss_mb": seen["pss_loaded_kb"] / 1024,
        "processes": max(look["processes"] for look in loaded),
        "threads": max(look["threads"] for look in loaded),
        "cpu": sum(one["cpu"] for one in booked) / len(booked),
        "faults": sum(one["faults"] * one["seconds"] for one in booked),
        "steady_faults": sum(one["faults"] for one in steady) / len(steady),
        "requests": seen["client"]["requests"], "failures": seen["client"]["failures"],
        "p50_us": seen["client"]["p50_us"], "p99_us": seen["client"]["p99_us"],
    }


def verdict(what, met, found):
    return {"what": what, "met": met, "found": found}


def judge(of):
    prefork, event = of["prefork"], of["event"]
    apart = {name: abs(prefork[name] / event[name] - 1) for name in ("sent_kb", "received_kb")}
    return [
        verdict("both servers sent and received the same, within 5 %", max(apart.values()) <= SAME_LOAD,
                f"sent {apart['sent_kb']:.1%} apart, received {apart['received_kb']:.1%}"),
        verdict("neither taxed the CPU (below 30 % of one)", max(prefork["cpu"], event["cpu"]) < 30,
                f"prefork {prefork['cpu']:.1f} %, event {event['cpu']:.1f} %"),
        verdict("threads: the working set rises a little (below a half), and remains steady within 5 %",
                event["most_mb"] < 1.5 * event["before_mb"] and event["late_growth"] < 0.05,
                f"event {event['before_mb']:.0f} MB to {event['most_mb']:.0f} MB, in the last third "
                f"{event['late_growth']:.1%} more"),
        verdict("threads: the smaller footprint under load", event["most_mb"] < prefork["most_mb"],
                f"event {event['most_mb']:.0f} MB, prefork {prefork['most_mb']:.0f} MB"),
        verdict("the same, with shared pages counted once", event["pss_mb"] < prefork["pss_mb"],
                f"event {event['pss_mb']:.0f} MB, prefork {prefork['pss_mb']:.0f} MB: a sum of working "
                "sets counts each shared page in every process"),
        verdict("processes: the load makes them fault, and threads not nearly so much",
                event["faults"] < prefork["faults"] / 2,
                f"event {event['faults']:,.0f} faults, prefork {prefork['faults']:,.0f}"),
    ]


def plots(of, load):
    marks = [{"x": 0, "label": "load begins"},
             {"x": load.clients / load.group * load.group_s, "label": "all clients"},
             {"x": load.loaded_s, "label": "ends"}]
    panels = (("sent", "Bytes sent", "sent", "KB/s"), ("received", "Bytes received", "received", "KB/s"),
              ("working_set", "Working set of all processes, added up", "working set", "MB"),
              ("processes", "Processes", "processes", ""),
              ("faults", "Page faults of all processes, exited ones included", "faults", "1/s"),
              ("cpu", "CPU time of all processes, exited ones included", "of one CPU", "%"),
              ("run_queue", "Ready to run, and waiting for a CPU (the paper could not see it)",
               "of one CPU", "%"))
    series = {mpm: over_time(seen) for mpm, seen in of.items()}
    return [{"kind": "lines", "title": title, "marks": marks,
             "x": {"label": "since the load began", "unit": "s"},
             "y": {"label": label, "unit": unit, "from": 0},
             "series": [{"name": mpm, "points": points[name]} for mpm, points in series.items()]}
            for name, title, label, unit in panels]


def table(of):
    columns = {"sent_kb": "sent, KB", "received_kb": "received, KB", "before_mb": "working set before, MB",
               "most_mb": "most, MB", "pss_before_mb": "shared once: before, MB", "pss_mb": "loaded, MB",
               "processes": "processes", "threads": "threads", "cpu": "CPU, %", "faults": "faults",
               "steady_faults": "faults/s at its end", "requests": "requests", "failures": "failures",
               "p50_us": "p50, us", "p99_us": "p99, us"}
    return {"caption": "while the load lasted", "columns": ["", *of],
            "rows": [[text, *[one[name] for one in of.values()]] for name, text in columns.items()]}


def measure(setting):
    setting.paper()
    need_root("network namespaces and microstates")
    need_program("apache2", "apache2-bin")
    load = Load(setting.quick)
    seen = {mpm: run_server(setting, mpm, load) for mpm in SERVERS}
    of = {mpm: summary(one, load) for mpm, one in seen.items()}
    return {
        "setting": f"{load.clients} clients with a connection each, {load.group} more every "
                   f"{load.group_s} s, each asks {REQUESTS_EACH} time a second for "
                   f"{web_servers.DOCUMENT_BYTES} bytes; prefork begins with 5 processes, event with 300 "
                   "threads, both may have 300",
        "verdicts": judge(of), "tables": [table(of)], "plots": plots(seen, load),
    }
