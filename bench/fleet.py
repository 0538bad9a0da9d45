"""A fleet: camp's cost of a frame of `--from prometheus:` with 1,000 hosts, compared with a program that
only sends the same request and reads the JSON (the floor: python3's json, which is C). The cost of the
server's evaluation is shown separately, and so is Prometheus' cost to scrape the hosts.

The hosts are one process (tests/servers/simulated_hosts.py), the server is Debian's Prometheus, both
on this machine. CPU times are the processes' own.
"""

import json
import os
import shutil
import signal
import subprocess
import tempfile
import time
import urllib.error
import urllib.parse
import urllib.request

from servers import TREE
from table import PYTHON, Failed

LIMIT_MS = 100.0  # of camp's CPU time a frame, at 1,000 hosts
FRAMES = 10
PORT = 19391
SETTLE_S = 20
TICK = os.sysconf("SC_CLK_TCK")

# The request that camp sends, without the marks in it.
QUESTION = ('sum without(mode)(camp_cpu_seconds_total{mode!~"idle|iowait"})'
            ' or {__name__=~"camp_cpu_measured_seconds_total|camp_cpus|camp_clock_seconds_total"}')


def cpu_s(pid):
    """CPU time of a process so far."""
    with open(f"/proc/{pid}/stat", encoding="ascii") as stat:
        fields = stat.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / TICK


def resident_bytes(pid):
    with open(f"/proc/{pid}/statm", encoding="ascii") as statm:
        return int(statm.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def ask(question):
    body = urllib.parse.urlencode({"query": question}).encode()
    with urllib.request.urlopen(f"http://127.0.0.1:{PORT}/api/v1/query", body, 30) as answer:
        return answer.read()


class Fleet:
    """Simulated hosts and a Prometheus that scrapes them."""

    def __init__(self, hosts, groups, interval):
        self.folder = tempfile.mkdtemp(prefix="camp-fleet-")
        self.hosts = subprocess.Popen(
            [PYTHON, f"{TREE}/tests/servers/simulated_hosts.py", "--hosts", str(hosts), "--groups",
             str(groups)], stdout=subprocess.PIPE, text=True)
        port = self.hosts.stdout.readline().strip()
        names = [f"host-{i:04}:12267" for i in range(hosts)]
        with open(f"{self.folder}/prometheus.yml", "w", encoding="utf-8") as file:
            json.dump({
                "global": {"scrape_interval": interval, "scrape_timeout": "1s"},
                "scrape_configs": [{
                    "job_name": "camp", "static_configs": [{"targets": names}],
                    "relabel_configs": [
                        {"source_labels": ["__address__"], "target_label": "instance"},
                        {"source_labels": ["__address__"], "regex": "(.*):.*",
                         "target_label": "__param_host"},
                        {"target_label": "__address__", "replacement": f"127.0.0.1:{port}"}]}]}, file)
        with open(f"{self.folder}/log", "wb") as log:
            self.server = subprocess.Popen(
                ["prometheus", f"--config.file={self.folder}/prometheus.yml",
                 f"--storage.tsdb.path={self.folder}/tsdb", f"--web.listen-address=127.0.0.1:{PORT}"],
                stdout=log, stderr=log)

    def __enter__(self):
        for _ in range(100):
            try:
                ask("1")
                return self
            except (urllib.error.URLError, ConnectionError):
                time.sleep(0.1)
        self.__exit__()
        raise Failed("fleet: Prometheus does not begin")

    def __exit__(self, *_):
        for process in (self.server, self.hosts):
            process.send_signal(signal.SIGTERM)
        for process in (self.server, self.hosts):
            process.wait(timeout=30)
        shutil.rmtree(self.folder)


def camp_cpu_ms(build, frames):
    """Returns the CPU time of opening and of a number of frames, in ms, and the peak resident size."""
    camp = subprocess.Popen([f"{build}/src/camp", "top", "--from", f"prometheus:127.0.0.1:{PORT}",
                             "--format", "json", "--count", str(frames)], stdout=subprocess.DEVNULL)
    _, status, used = os.wait4(camp.pid, 0)
    camp.returncode = status
    if status != 0:
        raise Failed(f"fleet: camp top ended in {os.waitstatus_to_exitcode(status)}")
    return (used.ru_utime + used.ru_stime) * 1e3, used.ru_maxrss * 1024


def floor_ms():
    """Returns CPU and wall time to ask and to read the JSON, and the wall time until the answer is there."""
    start, cpu = time.monotonic(), time.process_time()
    answer = ask(QUESTION)
    answered = time.monotonic()
    json.loads(answer)
    return ((time.process_time() - cpu) * 1e3, (time.monotonic() - start) * 1e3,
            (answered - start) * 1e3, len(answer))


def frame_record(build, fleet, hosts):
    opened, _ = camp_cpu_ms(build, 1)
    all_ms, resident = camp_cpu_ms(build, 1 + FRAMES)
    idle, start = cpu_s(fleet.server.pid), time.monotonic()
    time.sleep(5)
    share = (cpu_s(fleet.server.pid) - idle) / (time.monotonic() - start)
    before, start = cpu_s(fleet.server.pid), time.monotonic()
    floors = [floor_ms() for _ in range(FRAMES)]
    evaluation = (cpu_s(fleet.server.pid) - before - share * (time.monotonic() - start)) / FRAMES
    middle = sorted(floors)[FRAMES // 2]
    return {"part": "fleet", "hosts": hosts, "ms": (all_ms - opened) / FRAMES, "open_ms": opened,
            "resident_bytes": resident, "floor_ms": middle[0], "answer_ms": middle[2],
            "answer_bytes": middle[3], "server_ms": evaluation * 1e3,
            **({"limit_ms": LIMIT_MS} if hosts == 1000 else {})}


def scrape_record(fleet, hosts, interval):
    start, cpu = time.monotonic(), cpu_s(fleet.server.pid)
    time.sleep(10)
    cores = (cpu_s(fleet.server.pid) - cpu) / (time.monotonic() - start)

    def number(question):
        result = json.loads(ask(question))["data"]["result"]
        return float(result[0]["value"][1]) if result else 0.0
    return {"part": "scrapes", "hosts": hosts, "interval": interval, "cores": cores,
            "resident_bytes": resident_bytes(fleet.server.pid),
            "series": number("prometheus_tsdb_head_series") or number("count({job='camp'})"),
            "samples_a_second": number("sum(scrape_samples_scraped)") / float(interval.rstrip("s"))}


def measure(build, quick):
    """Returns the lines of this part, and the failures."""
    lines = []
    if shutil.which("prometheus") is None:
        return lines, ["fleet: Prometheus is not installed"]
    try:
        for hosts, groups, interval in ((100, 0, "1s"),) if quick else (
                (100, 0, "1s"), (1000, 0, "1s"), (1000, 20, "5s")):
            with Fleet(hosts, groups, interval) as fleet:
                time.sleep(SETTLE_S)
                lines.append(scrape_record(fleet, hosts, interval))
                if groups == 0:
                    lines.append(frame_record(build, fleet, hosts))
    except (Failed, OSError, subprocess.TimeoutExpired) as failed:
        return lines, [str(failed)]
    return lines, []
