"""camp why beside `perf sched record` of the same seconds: the time of a victim in the run queue, and the threads that ran meanwhile.

why_witness.py FOLDER

The victim and two culprits share a CPU. The victim sleeps before and after its work, so that both count the same waits.
perf's trace has each switch and each wakeup; here they are added up by this program, and camp is not asked. A wait that
perf cannot see, because neither has an event of its start, is in both unknown.

Exits with 1 after a line that says what is wrong, and with 77, after a line that says why, if perf cannot trace here.
"""
import json
import os
import re
import shutil
import signal
import subprocess
import sys

from limits import CAMP, LAST_CPU, cannot, until

VICTIM = """
import ctypes, os, sys, time
ctypes.CDLL(None).prctl(15, b'perf-victim', 0, 0, 0)
ctypes.CDLL(None).prctl(1, 9, 0, 0, 0)
os.sched_setaffinity(0, {int(sys.argv[1])})
sys.stdin.readline()
end = time.monotonic() + 3
while time.monotonic() < end:
    burst = time.thread_time() + 0.002
    while time.thread_time() < burst:
        pass
    time.sleep(0.001)
print('done', flush=True)
sys.stdin.readline()
"""
CULPRIT = """
import ctypes, os, sys, time
ctypes.CDLL(None).prctl(15, sys.argv[2].encode(), 0, 0, 0)
ctypes.CDLL(None).prctl(1, 9, 0, 0, 0)
os.sched_setaffinity(0, {int(sys.argv[1])})
os.nice(int(sys.argv[3]))
while True:
    pass
"""
CULPRITS = {"perf-first": 0, "perf-second": 3}
SHARE = 0.01  # of the victim's time in the run queue
EVENTS = "sched:sched_switch,sched:sched_wakeup,sched:sched_wakeup_new"
LINE = re.compile(r"^\s*.*?\s+\d+/\d+\s+\[(\d+)\]\s+(\d+)\.(\d{9}):\s+sched:(\w+):\s+(.*)$")
SWITCH = re.compile(r"prev_comm=.* prev_pid=(\d+) prev_prio=\d+ prev_state=(\S+) ==> next_comm=(.*) next_pid=(\d+) ")


def start(*words):
    return subprocess.Popen([sys.executable, "-c", *words], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def traced(folder):
    """(ns, event, text) of the trace, in the order of time."""
    done = subprocess.run(["perf", "script", "--ns", "-F", "comm,pid,tid,cpu,time,event,trace", "-i", f"{folder}/trace"],
                          capture_output=True, text=True, errors="replace", check=True)
    found = [match.groups() for match in map(LINE.match, done.stdout.splitlines()) if match]
    return sorted((int(seconds) * 1000000000 + int(ns), event, int(cpu), text) for cpu, seconds, ns, event, text in found)


def witness(folder, victim):
    """The victim's time in the run queue, and {name: its time on the CPU meanwhile}."""
    since, waits, running, by = 0, False, None, {}
    total = 0
    for now, event, cpu, text in traced(folder):
        if event != "sched_switch":
            if f" pid={victim} " in text and not waits and running != victim:
                waits, since = True, now
            continue
        match = SWITCH.search(text + " ")
        if cpu != LAST_CPU or match is None:
            continue
        previous, state, name, following = int(match[1]), match[2], match[3], int(match[4])
        if waits:
            total += now - since
            by[running_name] = by.get(running_name, 0) + now - since
            since = now
        running, running_name = following, name
        if following == victim:
            waits = False
        elif previous == victim:
            waits, since = state.startswith("R"), now
    return total, by


def camp_says(lines):
    """The same by the intervals of camp, and the time of interrupts, which perf charges to whoever they interrupted."""
    total, by, interrupts = 0, {}, 0
    for line in lines:
        for row in json.loads(line)["tree"]:
            if row["state"] != "run_queue":
                continue
            total += row["time_ns"] if row["level"] == "state" else 0
            interrupts += row["time_ns"] if (row["level"], row["cause"]) == ("cause", "interrupts") else 0
            if (row["level"], row["cause"]) == ("who", "group"):
                by[row["who"]] = by.get(row["who"], 0) + row["time_ns"]
    return total, by, interrupts


class Trace:
    """perf record, which traces from the call of ask("enable") to that of ask("disable")."""

    def __init__(self, folder):
        self.folder = folder
        for name in ("ask", "answer"):
            os.mkfifo(f"{folder}/{name}")
        with open(f"{folder}/perf.log", "w", encoding="utf-8") as log:
            self.process = subprocess.Popen(
                ["perf", "record", "-q", "-a", "-m", "8M", "-D", "-1", "--control", f"fifo:{folder}/ask,{folder}/answer",
                 "-e", EVENTS, "-o", f"{folder}/trace"], stdout=log, stderr=log)
        # perf opens both ends of both, so none of these waits for it.
        self.asks, self.answers = (os.open(f"{folder}/{name}", os.O_RDWR | os.O_NONBLOCK) for name in ("ask", "answer"))

    def said(self):
        with open(f"{self.folder}/perf.log", encoding="utf-8") as log:
            return log.read().strip()[:300]

    def ask(self, word):
        answer = b""

        def answered():
            nonlocal answer
            try:
                answer += os.read(self.answers, 100)
            except BlockingIOError:
                pass
            return b"ack" in answer or self.process.poll() is not None
        os.write(self.asks, word.encode() + b"\n")
        until(answered)
        if b"ack" not in answer:
            cannot("perf cannot trace switches here: " + self.said())

    def end(self):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGINT)
        self.process.wait(60)
        if "lost" in self.said().lower():
            cannot("perf lost events: " + self.said())


def record(folder, victim):
    """Starts perf and camp, lets the victim work, and ends both. Returns the lines of camp."""
    def lines():
        with open(f"{folder}/camp.json", encoding="utf-8") as said:
            return said.read().splitlines()

    trace = Trace(folder)
    trace.ask("enable")
    with open(f"{folder}/camp.json", "w", encoding="utf-8") as said:
        camp = subprocess.Popen([CAMP, "why", "--json", "--top", "0", str(victim.pid), "0.5"], stdout=said)
    try:
        until(lambda: lines() or camp.poll() is not None)
        victim.stdin.write("\n")
        victim.stdin.flush()
        victim.stdout.readline()
        trace.ask("disable")
        count = len(lines())
        until(lambda: len(lines()) > count + 1 or camp.poll() is not None)
    finally:
        if camp.poll() is None:
            camp.send_signal(signal.SIGINT)
        camp.wait(60)
        trace.end()
    if camp.returncode == 4:
        cannot("microstates are not available here")
    if camp.returncode != 0:
        sys.exit(f"camp why ended with {camp.returncode}")
    return lines()


def main(folder):
    if shutil.which("perf") is None:
        cannot("perf is not installed: apt install linux-perf")
    victim = start(VICTIM, str(LAST_CPU))
    culprits = [start(CULPRIT, str(LAST_CPU), name, str(nice)) for name, nice in CULPRITS.items()]
    try:
        lines = record(folder, victim)
    finally:
        for process in (victim, *culprits):
            process.kill()
            process.wait()
    total, by = witness(folder, victim.pid)
    shown, shown_by, interrupts = camp_says(lines)
    print(f"run queue: perf {total / 1e6:.3f} ms, camp {shown / 1e6:.3f} ms ({100 * (shown - total) / total:+.3f} %), "
          f"of it interrupts {interrupts / 1e6:.3f} ms")
    wrong = abs(shown - total) > SHARE * total
    for name in CULPRITS:
        mine, perfs = shown_by.get(name, 0), by.get(name, 0)
        print(f"{name}: perf {perfs / 1e6:.3f} ms, camp {mine / 1e6:.3f} ms")
        wrong |= not perfs - SHARE * total - interrupts <= mine <= perfs + SHARE * total
    sys.exit(wrong)


if __name__ == "__main__":
    main(sys.argv[1])
