"""A fleet: a frame of `--from prometheus:` with 1,000 hosts, by the wall and in CPU time, on each engine
(Debian's Prometheus and VictoriaMetrics), compared with the floor: curl, which only fetches the same
answers. Other ways to ask for the same numbers stand beside it, with what each costs the server.

The hosts are one process (tests/servers/simulated_hosts.py). Both engines scrape them at the same time
for more than five minutes, because Prometheus evaluates a selector without a range by the samples of
five minutes. Then one after the other is asked. All of them run on this machine.
"""

import json
import os
import shutil
import signal
import statistics
import subprocess
import tempfile
import time
import urllib.error
import urllib.parse
import urllib.request

from servers import TREE
from table import PYTHON, Failed

LIMIT_MS = 100.0  # by the wall, of a frame of 1,000 hosts
FRAMES = 20
PORTS = {"prometheus": 19391, "victoria-metrics": 19428}
SETTLE_S = 310  # some longer than the 5 minutes that Prometheus looks back
SHORT_S = 20
WHOLE_S = 60  # until frames have all hosts
TICK = os.sysconf("SC_CLK_TCK")

# What camp asks for each second, without the marks in it.
MEASURED = "camp_cpu_measured_seconds_total"
OTHERS = f"{MEASURED}|camp_cpus|camp_clock_seconds_total"
BUSY = "camp_cpu_sampled_busy_seconds_total"
HALF = 'mode=~"idle|iowait|irq"'
SAMPLED = 'camp_cpu_seconds_total{mode!~"idle|iowait"}'
DOWN = 'vector(time()) or up{job="camp"}==0'
# The questions are evaluated 1 s ahead. VictoriaMetrics shows new samples up to 2 s late.
RANGES = {"prometheus": "[2400ms]", "victoria-metrics": "[4400ms]"}
RANGE = "[RANGE]"
WAYS = {
    "one question, the newest samples": [
        f'{DOWN} or label_replace(timestamp(camp_cpus),"of","time","","") or '
        f'label_replace(sum without(mode)({SAMPLED}),"of","sampled","","") or {{__name__=~"{OTHERS}"}}'],
    "two questions at once, the newest samples": [
        f'{DOWN} or label_replace(timestamp(camp_cpus),"of","time","","") or '
        f'label_replace(sum without(mode)({SAMPLED}),"of","sampled","","")', f'{{__name__=~"{OTHERS}"}}'],
    "two questions, one after the other, a range": [
        DOWN, f'{{__name__=~"{OTHERS}|camp_cpu_seconds_total"}}{RANGE}'],
    "three questions at once, ranges": [DOWN, f'{{__name__=~"{OTHERS}"}}{RANGE}', SAMPLED + RANGE],
    "the same with one sampled series a host": [
        DOWN, f'{{__name__=~"{OTHERS}"}}{RANGE}', BUSY + RANGE],
}
CAMP = "the same with one sampled series a host"
# Further ways, compared with what camp does with a server on the same machine, not compressed.
FURTHER = {
    "the same, not compressed (camp)": WAYS[CAMP],
    "the same, in four questions: modes in halves": [
        DOWN, f'{MEASURED}{{{HALF}}}{RANGE}', f'{MEASURED}{{{HALF.replace("=~", "!~")}}}{RANGE}',
        f'{{__name__=~"camp_cpus|camp_clock_seconds_total|{BUSY}"}}{RANGE}'],
    "the same, in four questions: hosts in halves": [
        DOWN, f'{{__name__=~"{OTHERS}",instance=~"host-.*[02468]:.*"}}{RANGE}',
        f'{{__name__=~"{OTHERS}",instance!~"host-.*[02468]:.*"}}{RANGE}', BUSY + RANGE],
    "the same, hosts that are down by 20 s": [
        'vector(time()) or last_over_time(up{job="camp"}[20s])==0', *WAYS[CAMP][1:]],
    "the same, without the number of CPUs": [
        DOWN, f'{{__name__=~"{MEASURED}|camp_clock_seconds_total"}}{RANGE}', BUSY + RANGE],
    "the same, counted by the server: no samples in the answers": [
        DOWN, *(f"count(count_over_time({name}{RANGE}))" for name in [*OTHERS.split("|"), BUSY])],
}


def cpu_s(pid):
    """CPU time of a process so far."""
    with open(f"/proc/{pid}/stat", encoding="ascii") as stat:
        fields = stat.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / TICK


def resident_bytes(pid):
    with open(f"/proc/{pid}/statm", encoding="ascii") as statm:
        return int(statm.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


class Engine:
    """A server that scrapes the simulated hosts."""

    def __init__(self, name, folder):
        self.name, self.port = name, PORTS[name]
        config = f"{folder}/scrapes.json"
        options = {
            "prometheus": [f"--config.file={config}", f"--storage.tsdb.path={folder}/{name}",
                           f"--web.listen-address=127.0.0.1:{self.port}"],
            "victoria-metrics": [f"-promscrape.config={config}", f"-storageDataPath={folder}/{name}",
                                 f"-httpListenAddr=127.0.0.1:{self.port}", "-memory.allowedBytes=512MB"],
        }[name]
        with open(f"{folder}/{name}.log", "wb") as log:
            self.process = subprocess.Popen([name, *options], stdout=log, stderr=log)

    def ask(self, question):
        body = urllib.parse.urlencode({"query": question, "nocache": "1"}).encode()
        with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/api/v1/query", body, 30) as answer:
            return answer.read()

    def wait(self):
        for _ in range(300):
            try:
                self.ask("1")
                return
            except (urllib.error.URLError, ConnectionError):
                time.sleep(0.1)
        raise Failed(f"fleet: {self.name} does not start")

    def idle_cores(self):
        start, cpu = time.monotonic(), cpu_s(self.process.pid)
        time.sleep(5)
        return (cpu_s(self.process.pid) - cpu) / (time.monotonic() - start)

    def fetch(self, questions, compressed=True):
        """Fetches the answers by one curl, and returns their size. This is the floor."""
        command = ["curl", "-s", "--fail-with-body", "-w", "%{size_download}\n", "--no-progress-meter", *(["--compressed"] if compressed else [])]
        if len(questions) > 1:
            command += ["--parallel", "--parallel-immediate"]
        for question in questions:
            question = question.replace(RANGE, RANGES[self.name])
            words = urllib.parse.urlencode({"query": question, "nocache": "1", "time": f"{time.time() + 1:.3f}"})
            command += ["-o", "/dev/null", f"http://127.0.0.1:{self.port}/api/v1/query?{words}"]
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
                              check=False)
        if done.returncode != 0:
            raise Failed(f"fleet: {self.name} refuses {questions}")
        return sum(map(int, done.stdout.split()))

    def cost_of(self, name, questions, compressed=True):
        """Returns the record of a way to ask."""
        rounds = [[question] for question in questions] if "after the other" in name else [questions]
        idle, walls, size = self.idle_cores(), [], 0
        cpu, start = cpu_s(self.process.pid), time.monotonic()
        for _ in range(FRAMES):
            begin = time.monotonic()
            size = sum(self.fetch(asked, compressed) for asked in rounds)
            walls.append((time.monotonic() - begin) * 1e3)
        used = cpu_s(self.process.pid) - cpu - idle * (time.monotonic() - start)
        return {"way": name, "wall_ms": statistics.median(walls), "least_ms": min(walls),
                "server_ms": used / FRAMES * 1e3, "bytes": size}


class Fleet:
    """Simulated hosts and the engines that scrape them."""

    def __init__(self, hosts, groups, interval):
        self.folder = tempfile.mkdtemp(prefix="camp-fleet-")
        self.hosts = subprocess.Popen(
            [PYTHON, f"{TREE}/tests/servers/simulated_hosts.py", "--hosts", str(hosts), "--groups",
             str(groups)], stdout=subprocess.PIPE, text=True)
        port = self.hosts.stdout.readline().strip()
        names = [f"host-{i:04}:12267" for i in range(hosts)]
        with open(f"{self.folder}/scrapes.json", "w", encoding="utf-8") as file:
            json.dump({
                "global": {"scrape_interval": interval, "scrape_timeout": "1s"},
                "scrape_configs": [{
                    "job_name": "camp", "static_configs": [{"targets": names}],
                    "relabel_configs": [
                        {"source_labels": ["__address__"], "target_label": "instance"},
                        {"source_labels": ["__address__"], "regex": "(.*):.*",
                         "target_label": "__param_host"},
                        {"target_label": "__address__", "replacement": f"127.0.0.1:{port}"}]}]}, file)
        self.engines = [Engine(name, self.folder) for name in PORTS if shutil.which(name)]

    def __enter__(self):
        try:
            for engine in self.engines:
                engine.wait()
        except Failed:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        processes = [engine.process for engine in self.engines] + [self.hosts]
        for process in processes:
            process.send_signal(signal.SIGTERM)
        for process in processes:
            process.wait(timeout=60)
        shutil.rmtree(self.folder)


def camp_cost(build, engine, hosts):
    """Returns the wall time of opening, the median and least wall time and the CPU time of a frame with all hosts, in ms,
    and the peak resident size. The interval is so short that camp asks again as soon as it has an answer.
    VictoriaMetrics shows new samples once a second, so until camp has measured that, such short frames have rows of
    some hosts only, and are not counted."""
    frames, begin = [], time.monotonic()  # of each frame: the time, the CPU time until then, its rows
    camp = subprocess.Popen([f"{build}/src/camp", "top", "--from", f"prometheus:127.0.0.1:{engine.port}", "--format",
                             "json", "--interval", "10ms"], stdout=subprocess.PIPE)
    newest = []
    for line in camp.stdout:
        frames.append((time.monotonic(), cpu_s(camp.pid), line.count(b'"elapsed_ns"')))
        newest = frames[-1 - FRAMES:]
        if min(rows for _, _, rows in newest) >= hosts and len(newest) > FRAMES or frames[-1][0] - begin > WHOLE_S:
            break
    camp.terminate()
    camp.stdout.close()
    _, camp.returncode, used = os.wait4(camp.pid, 0)
    rows = min((rows for _, _, rows in newest), default=0)
    if rows < hosts or len(newest) <= FRAMES:
        raise Failed(f"fleet: after {WHOLE_S} s camp top of {engine.name} has had {len(frames)} frames, and one of the "
                     f"newest {len(newest)} has {rows} of {hosts} hosts")
    walls = [(after[0] - before[0]) * 1e3 for before, after in zip(newest, newest[1:])]
    return {"wall_ms": statistics.median(walls), "least_ms": min(walls),
            "cpu_ms": (newest[-1][1] - newest[0][1]) / FRAMES * 1e3, "open_ms": (frames[0][0] - begin) * 1e3,
            "resident_bytes": used.ru_maxrss * 1024}


def frame_record(build, engine, hosts):
    frame = camp_cost(build, engine, hosts)
    ways = [engine.cost_of(name, questions) for name, questions in WAYS.items()]
    further = [engine.cost_of(name, questions, compressed=False) for name, questions in FURTHER.items()]
    return {"part": "fleet", "engine": engine.name, "hosts": hosts, **frame, "floor_ms": further[0]["wall_ms"],
            "ways": ways + further,
            **({"limit_ms": LIMIT_MS} if hosts == 1000 else {})}


def scrape_record(engine, hosts, interval):
    def number(question):
        result = json.loads(engine.ask(question))["data"]["result"]
        return float(result[0]["value"][1]) if result else 0.0
    return {"part": "scrapes", "engine": engine.name, "hosts": hosts, "interval": interval,
            "cores": engine.idle_cores(), "resident_bytes": resident_bytes(engine.process.pid),
            "series": number("prometheus_tsdb_head_series") or number("count({job='camp'})"),
            "samples_a_second": number("sum(scrape_samples_scraped)") / float(interval.rstrip("s"))}


def measure(build, quick):
    """Returns the lines of this part, and the failures."""
    lines = []
    failures = [f"fleet: {name} is not installed" for name in PORTS if shutil.which(name) is None]
    try:
        for hosts, groups, interval, settle in ((100, 0, "1s", SHORT_S),) if quick else (
                (100, 0, "1s", SHORT_S), (1000, 0, "1s", SETTLE_S), (1000, 20, "5s", SHORT_S)):
            with Fleet(hosts, groups, interval) as fleet:
                time.sleep(settle)
                lines += [scrape_record(engine, hosts, interval) for engine in fleet.engines]
                if groups == 0:
                    lines += [frame_record(build, engine, hosts) for engine in fleet.engines]
    except (Failed, OSError, subprocess.TimeoutExpired) as failed:
        failures.append(str(failed))
    return lines, failures
