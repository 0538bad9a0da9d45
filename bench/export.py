"""The cost of a scrape of `camp export`, compared with Debian's prometheus-process-exporter and
prometheus-node-exporter with its collector of processes: CPU time of the exporter's process by its
CPU clock, and its memory after the scrapes. The same client scrapes each in turn, with 1,000 and
10,000 processes, asleep and (1,000) waking ten times a second.

The kernel's part between two scrapes is not included: it is the cost of a switch (states).
"""

import os
import shutil
import socket
import statistics
import subprocess
import tempfile
import time
import urllib.request

from states import cpu_ms
from table import Crowd, Failed

CROWDS = ((1000, False), (1000, True), (10000, False))
SCRAPES = {1000: 20, 10000: 6}
LIMIT_MS = 1.5  # with 10,000 processes asleep
LIMIT_RESIDENT_BYTES = 16 * 1024 * 1024
GROUPS = "process_names:\n  - name: '{{.Comm}}'\n    cmdline: ['.+']\n"
ACCEPT = {"Accept": "application/openmetrics-text;version=1.0.0,text/plain;version=0.0.4;q=0.5",
          "Accept-Encoding": "gzip"}


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def find(program):
    return shutil.which(program)


class Exporter:
    """An exporter on a separate port."""

    def __init__(self, command, environment=None):
        self.port = free_port()
        self.process = subprocess.Popen([word.format(port=self.port) for word in command],
                                        env=environment, stdin=subprocess.DEVNULL,
                                        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def __enter__(self):
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            try:
                self.scrape()
                return self
            except OSError:
                time.sleep(0.1)
        self.__exit__()
        raise Failed(f"{self.process.args[0]} does not answer")

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait()

    def scrape(self):
        """Scrapes the exporter, and returns the number of bytes that it sent."""
        request = urllib.request.Request(f"http://127.0.0.1:{self.port}/metrics", headers=ACCEPT)
        with urllib.request.urlopen(request, timeout=30) as answer:
            return len(answer.read())

    def cost_ms(self):
        before = cpu_ms(self.process.pid)
        self.scrape()
        time.sleep(0.05)  # what it tidies up
        return cpu_ms(self.process.pid) - before

    def memory(self):
        with open(f"/proc/{self.process.pid}/status", encoding="utf-8") as status:
            found = dict(line.split(":", 1) for line in status)
        return int(found["VmRSS"].split()[0]) * 1024, int(found["VmHWM"].split()[0]) * 1024


def commands(build, folder):
    """Returns the measured exporters; None: not installed."""
    config = f"{folder}/groups.yml"
    with open(config, "w", encoding="ascii") as file:
        file.write(GROUPS)
    process, node = find("prometheus-process-exporter"), find("prometheus-node-exporter")
    return {
        "camp-exporter": [f"{build}/src/camp-exporter", "--port", "{port}"],
        "camp-exporter --why": [f"{build}/src/camp-exporter", "--why", "--port", "{port}"],
        "camp export": [f"{build}/src/camp", "export", "--port", "{port}"],
        "process-exporter": process and [process, "-web.listen-address", "127.0.0.1:{port}",
                                         "-config.path", config],
        "node-exporter, processes": node and [node, "--collector.processes",
                                              "--web.listen-address=127.0.0.1:{port}"],
    }


def measure_crowd(build, folder, count, waking, quick):
    scrapes = 3 if quick else SCRAPES[count]
    rows, missing = [], []
    with Crowd(build, count, waking) as crowd:
        if crowd.count != count:
            raise Failed(f"only {crowd.count} of {count} processes could be started")
        time.sleep(1)
        for who, command in commands(build, folder).items():
            if command is None:
                missing.append(who)
                continue
            with Exporter(command) as exporter:
                costs = sorted(exporter.cost_ms() for _ in range(scrapes))
                resident, most = exporter.memory()
                rows.append({"who": who, "ms": statistics.median(costs), "ms_min": costs[0],
                             "ms_max": costs[-1], "resident_bytes": resident, "most_bytes": most,
                             "page_bytes": exporter.scrape()})
    return {"part": "export", "crowd": count, "waking": waking, "rows": rows, "missing": missing,
            "limit_ms": LIMIT_MS, "limit_resident_bytes": LIMIT_RESIDENT_BYTES}


def measure(build, quick):
    """Returns the records, and the failures."""
    if os.geteuid() != 0:
        return [{"part": "peer", "who": "camp export's states (root)", "present": False}], []
    records, failures = [], []
    with tempfile.TemporaryDirectory(prefix="camp-bench-") as folder:
        for count, waking in CROWDS[:1] if quick else CROWDS:
            try:
                records.append(measure_crowd(build, folder, count, waking, quick))
            except (Failed, OSError) as error:
                failures.append(f"export: {error}")
    return records, failures
