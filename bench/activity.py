"""The cost of threads that do nothing: snapshots, `camp top`, `camp record`, `camp view` and a scrape of `camp export`,
with many threads of which a known number wakes up in each interval.

Two lines: the number of threads grows while as many wake up, and more wake up of as many threads. A snapshot is
measured beside an empty iterator of the kernel, in turn. camp top, camp record and camp view have intervals of a
second; their CPU time is that of their processes between two wakings. camp view has one page that reads. Of its frames
each 64th has all threads again, which the four intervals measured do not contain. Then there are as many processes of
one thread each: the views have a row for each of them. Memory is what the machine has less while camp top runs, the
kernel's part included.
"""

import contextlib
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time

from export import Exporter
from states import Attached, cpu_ms, most_resident_bytes
from table import BENCH, Failed

sys.path.insert(0, f"{BENCH}/paper")
sys.path.append(f"{BENCH}/../tests/commands")
import plot  # noqa: E402
import stream_client  # noqa: E402

THREADS = (1000, 3000, 10000, 30000, 100000)  # of which CHANGED wake up
CHANGED = 500
CHANGES = (10, 100, 500, 1000, 3000, 10000)  # of CROWD threads
CROWD = 10000
FEW = 0.01  # of 100,000 threads: the case with a target
SNAPSHOTS = 20
INTERVALS = 4
SCRAPES = 6
PID_MAX = 400000
THREAD, PROCESS = "threads", "processes"  # that sleep: threads of few processes, or processes of one thread each
LIMITS = {  # in ms, by the kind of sleepers, their number, and how many wake up
    (THREAD, 10000, 500): {"snapshot": 0.15, "top": 2.0, "scrape": 1.5},
    (THREAD, 10000, 10000): {"snapshot": 0.6},
    (THREAD, 100000, 1000): {"top": 4.0, "record": 4.0, "scrape": 4.0},
    (PROCESS, 10000, 500): {"top": 2.0},
}
LIMIT_BYTES = {(THREAD, 10000, 500): ("resident_bytes", 24e6), (THREAD, 100000, 1000): ("machine_bytes", 120e6)}
WHAT = {"snapshot": "a snapshot", "floor": "floor: an empty iterator", "top": "camp top, an interval",
        "record": "camp record, an interval", "view": "camp view, an interval", "scrape": "camp export, a scrape"}


class Crowd:
    """A number of sleeping threads or processes, of which wake() wakes some once."""

    def __init__(self, build, kind, count):
        options = ["-t"] if kind == THREAD else []
        self.process = subprocess.Popen([f"{build}/bench/crowd", *options, str(count)], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, bufsize=0)
        if int(self.process.stdout.readline() or 0) != count:
            self.__exit__()
            raise Failed(f"{count} {kind} could not be started")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.stdin.close()
        self.process.wait()

    def wake(self, count):
        self.process.stdin.write(b"%d\n" % count)
        if not self.process.stdout.readline():
            raise Failed("the crowd ended")


@contextlib.contextmanager
def room_for_threads():
    """Raises the machine's largest number of threads, and sets it back."""
    path = "/proc/sys/kernel/pid_max"
    with open(path, encoding="ascii") as file:
        before = file.read()
    try:
        if int(before) < PID_MAX:
            with open(path, "w", encoding="ascii") as file:
                file.write(str(PID_MAX))
        yield
    finally:
        with open(path, "w", encoding="ascii") as file:
            file.write(before)


def snapshots(build, crowd, who, changed):
    output, source = crowd.process.stdin.fileno(), crowd.process.stdout.fileno()
    done = subprocess.run([f"{build}/bench/snapshot", who, str(SNAPSHOTS), str(changed), str(output), str(source)],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False, timeout=300,
                          pass_fds=(output, source))
    if done.returncode != 0:
        raise Failed(done.stderr.strip() or f"snapshot {who} failed")
    return statistics.median(json.loads(done.stdout)["ms"])


def available_bytes():
    with open("/proc/meminfo", encoding="ascii") as file:
        line = next(line for line in file if line.startswith("MemAvailable:"))
    return int(line.split()[1]) * 1024


def intervals(crowd, changed, pid):
    """Returns the CPU time of an interval of a second of a process, in ms. The threads wake up in its middle."""
    begin = time.monotonic() + 1.3  # its first interval, with all threads, has ended then
    stamps = []
    for number in range(INTERVALS + 1):
        time.sleep(max(0, begin + number - time.monotonic()))
        stamps.append(cpu_ms(pid))
        crowd.wake(changed)
    return statistics.median(after - before for before, after in zip(stamps, stamps[1:]))


def top(build, crowd, changed):
    before = available_bytes()
    with Attached([f"{build}/src/camp", "top", "--interval", "1s"]) as attached:
        ms = intervals(crowd, changed, attached.process.pid)
        machine = before - available_bytes()
        return ms, most_resident_bytes(attached.process.pid), machine


def recorded(build, crowd, changed):
    with tempfile.TemporaryDirectory(prefix="camp-bench-") as folder:
        with Attached([f"{build}/src/camp", "record", "--interval", "1s", "--output", f"{folder}/file.camp"]) as attached:
            return intervals(crowd, changed, attached.process.pid)


def viewed(build, crowd, changed):
    server = stream_client.Server(f"{build}/src/camp", ["--interval", "1s"])
    try:
        page = stream_client.started(server)
        ms = intervals(crowd, changed, server.process.pid)
        if page.problem or len(page.ends) < INTERVALS:
            raise Failed(f"camp view sent {len(page.ends)} intervals to its page: {page.problem}")
        page.close()
        return ms
    finally:
        server.stop()


def scraped(build, crowd, changed):
    with Exporter([f"{build}/src/camp-exporter", "--port", "{port}"]) as exporter:
        costs = []
        for _ in range(SCRAPES):
            crowd.wake(changed)
            costs.append(exporter.cost_ms())
        return statistics.median(costs)


def record_of(build, crowd, kind, count, changed):
    ms = {who: snapshots(build, crowd, name, changed) for who, name in (("snapshot", "visit"), ("floor", "floor"))}
    ms["top"], resident, machine = top(build, crowd, changed)
    ms["record"] = recorded(build, crowd, changed)
    ms["view"] = viewed(build, crowd, changed)
    ms["scrape"] = scraped(build, crowd, changed)
    record = {"part": "activity", "kind": kind, "count": count, "changed": changed, "ms": ms,
              "limits": LIMITS.get((kind, count, changed), {}), "resident_bytes": resident, "machine_bytes": machine}
    if (kind, count, changed) in LIMIT_BYTES:
        record["limit_bytes"] = LIMIT_BYTES[kind, count, changed]
    return record


def points(quick):
    """Returns for each kind and number of sleepers how many of them wake up: a list, one measurement each."""
    wanted = {(THREAD, count): [CHANGED] for count in (THREADS[:3] if quick else THREADS)}
    wanted[THREAD, CROWD] += [changed for changed in ((CROWD,) if quick else CHANGES) if changed != CHANGED]
    if not quick:
        wanted[THREAD, max(THREADS)].append(round(max(THREADS) * FEW))
    wanted[PROCESS, CROWD] = [CHANGED]
    return wanted


def line_of(records, what, x, chosen):
    ordered = sorted((record for record in records if record["kind"] == THREAD and chosen(record)),
                     key=lambda record: record[x])
    return {"name": WHAT[what], "points": [{"x": record[x], "at": record["ms"][what]} for record in ordered]}


def pictures(records):
    """Returns the names and the SVG of the two pictures in docs/cost.md."""
    views = {
        "cost-threads": ("count", f"CPU time while {CHANGED} of the threads wake up",
                         "threads", lambda record: record["changed"] == CHANGED),
        "cost-changed": ("changed", f"CPU time while some of {CROWD:,} threads wake up",
                         "threads that woke up", lambda record: record["count"] == CROWD),
    }
    return {name: plot.picture({
        "kind": "lines", "title": title, "x": {"label": label, "log": True},
        "y": {"label": "CPU time", "unit": "ms", "log": True},
        "series": [line_of(records, what, x, chosen) for what in WHAT],
    }) for name, (x, title, label, chosen) in views.items()}


def measure(build, quick, folder=None):
    """Returns the records, and the failures. Writes the pictures to `folder`."""
    if not os.path.exists(f"{build}/bench/attach") or os.geteuid() != 0:
        return [{"part": "peer", "who": "microstates, for the cost of activity (root)", "present": False}], []
    records, failures = [], []
    with room_for_threads():
        for (kind, count), changes in sorted(points(quick).items()):
            try:
                with Crowd(build, kind, count) as crowd:
                    records += [record_of(build, crowd, kind, count, changed) for changed in sorted(changes)]
            except (Failed, OSError, subprocess.TimeoutExpired) as error:
                failures.append(f"activity: {count} {kind}: {error}")
    if folder is not None and not failures:
        for name, svg in pictures(records).items():
            with open(f"{folder}/{name}.svg", "w", encoding="utf-8") as file:
                file.write(svg + "\n")
    return records, failures
