"""Throttled time of database sessions beside the count of their cgroup and beside the same tasks as threads.

throttled_law.py SOURCE LABEL=VALUE PROCESS...

Starts `camp top` of the sessions of SOURCE and of all threads, then puts the processes PROCESS into a cgroup with a
quota of CPU time, and takes the quota away before the last interval. So the throttled time of a session, added up over
the intervals, is that of the group. All threads of the processes get one CPU: there the group has one run queue, whose
throttled time cpu.stat has. Prints a row for each session whose LABEL has VALUE, and exits with 1 if a row is wrong.
Exits with 77, after a line that says why, if this machine cannot make a quota.
"""
import contextlib
import json
import os
import signal
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "commands"))
import limits # pylint: disable=wrong-import-position

QUOTA_PERCENT = 30
ENOUGH_NS = 1500000000


class Top:
    """`camp top` of something, in intervals of 300 ms, until end()."""

    def __init__(self, *options):
        self.file = tempfile.NamedTemporaryFile("r")
        with open(self.file.name, "w", encoding="utf-8") as output:
            self.process = subprocess.Popen([limits.CAMP, "top", "--interval", "300ms", "--format", "json", *options],
                                            stdout=output)

    def intervals(self):
        self.file.seek(0)
        return self.file.read().count("\n")

    def end(self):
        before = self.intervals()
        limits.until(lambda: self.intervals() >= before + 2)
        self.process.send_signal(signal.SIGINT)
        self.process.wait()
        self.file.seek(0)
        return [json.loads(line) for line in self.file]


def sums(frames, key, wanted):
    """The sums of each state, and of elapsed and unaccounted time, of each entity that `wanted` accepts."""
    ret = {}
    for frame in frames:
        for row in frame["entities"]:
            if not wanted(row):
                continue
            states = ret.setdefault(key(row), {})
            for name, value in (*row["states"].items(), ("elapsed", row["elapsed_ns"]),
                                ("unaccounted", abs(row["unaccounted_ns"]))):
                states[name] = states.get(name, 0) + (value or 0)
    return ret


def main(source, label, *processes):
    name, value = label.split("=")
    top, v2 = limits.cpu_groups()
    sessions, threads = Top("--from", source, "--tier", "bpf", "--group", "session"), Top("--group", "thread")
    with contextlib.ExitStack() as stack:
        group = stack.enter_context(limits.Group(top, f"camp-sessions-{os.getpid()}"))
        limits.set_quota(group, v2, QUOTA_PERCENT)
        limits.until(lambda: sessions.intervals() > 0 and threads.intervals() > 0)
        for process in processes:
            subprocess.run(["taskset", "-a", "-c", "-p", str(limits.LAST_CPU), process], check=True, stdout=subprocess.DEVNULL)
            limits.write(process, group.path, "cgroup.procs")
        limits.until(lambda: limits.throttled_ns(group, v2) > ENOUGH_NS)
        limits.write("max" if v2 else -1, group.path, "cpu.max" if v2 else "cpu.cfs_quota_us")
        witness = limits.throttled_ns(group, v2)
        frames = sessions.end(), threads.end()
        for process in processes: # else the group would end what is left in it
            limits.write(process, top, "cgroup.procs")
    told = sums(frames[0], lambda row: row["pid"], lambda row: row["labels"][name] == value)
    beside = sums(frames[1], lambda row: row["id"], lambda row: row["id"] in told)
    limits.heading("", "camp, ms", "witness, ms")
    for pid, states in told.items():
        throttled = states["throttled_ns"]
        limits.row(f"session of {pid}, cpu.stat", "", throttled, witness,
                   abs(throttled - witness) <= limits.TOLERANCE * witness)
        other = beside[pid]["throttled_ns"]
        limits.row(f"session of {pid}, as a thread", "", throttled, other,
                   abs(throttled - other) <= limits.TOLERANCE * other)
        accounted = sum(ns for state, ns in states.items() if state not in ("elapsed", "unaccounted"))
        limits.row(f"session of {pid}, all states", "", accounted, states["elapsed"],
                   accounted == states["elapsed"] and states["unaccounted"] == 0)
    if not told:
        limits.wrong.append("no session")
    sys.exit(1 if limits.wrong else 0)


if __name__ == "__main__":
    main(*sys.argv[1:])
