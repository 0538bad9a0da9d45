"""camp why of cgroups and containers: a victim in one cgroup, a culprit in another, on one CPU.

why_cgroup.py second | first | label

Exits with 1 after a line that says what is wrong, and with 77, after a line that says why, if this machine cannot make
the case.
"""
import contextlib
import json
import os
import subprocess
import sys

from limits import CAMP, Group, LAST_CPU, cannot, unified, until

FIXTURES = os.environ.get("CAMP_FIXTURES", os.path.join(os.path.dirname(os.path.abspath(__file__)), "../fixtures"))
os.environ["CAMP_ROOT"] = os.path.join(FIXTURES, "containers")
CPU_GROUPS = ("/sys/fs/cgroup/cpu", "/sys/fs/cgroup/cpu,cpuacct")
WORK = """
import ctypes, os, sys, time
open(sys.argv[1] + '/cgroup.procs', 'w').write('0')
os.sched_setaffinity(0, {int(sys.argv[2])})
ctypes.CDLL(None).prctl(1, 9, 0, 0, 0)
while True:
    end = time.thread_time() + 0.003
    while time.thread_time() < end:
        pass
    if sys.argv[3] == 'sleeps':
        time.sleep(0.001)
"""


@contextlib.contextmanager
def working(group, does):
    process = subprocess.Popen([sys.executable, "-c", WORK, group.path, str(LAST_CPU), does])
    try:
        until(lambda: process.pid in group.pids())
        yield process.pid
    finally:
        process.kill()
        process.wait()


def why(*words):
    done = subprocess.run([CAMP, "why", "--format", "json", "--interval", "0.5", "--count", "2", *words],
                          capture_output=True, text=True, timeout=120)
    if done.returncode != 0:
        sys.exit(f"camp why {' '.join(words)}: status {done.returncode}: {done.stderr}")
    return json.loads(done.stdout.splitlines()[-1])


def expect(what, right, shown):
    if not right:
        sys.exit(f"{what}: {json.dumps(shown, indent=1)[:6000]}")


def expect_sums(report):
    states = [row for row in report["tree"] if row["level"] == "state"]
    expect("the states add up to 100 %", abs(sum(row["percent"] for row in states) - 100) < 0.001, states)
    expect("the states add up to the time", sum(row["time_ns"] for row in states) == report["time_ns"], states)


def charged(report, who):
    """What a cgroup had the CPU for, while the subject waited for it, in ms."""
    return sum(row["time_ns"] for row in report["tree"]
               if (row["level"], row["state"], row["cause"], row["who"]) == ("who", "run_queue", "group", who)) / 1e6


def compare(top, words_of):
    """Words of a subject, of the group that has the victim and the path of its group: charged with the culprit's."""
    name = f"camp-why-{os.getpid()}"
    try:
        with contextlib.ExitStack() as stack:
            own = stack.enter_context(Group(top, name))
            victims = stack.enter_context(Group(own.path, "victims"))
            inner = stack.enter_context(Group(victims.path, "inner"))
            others = stack.enter_context(Group(own.path, "others"))
            stack.enter_context(working(inner, "sleeps"))
            stack.enter_context(working(others, "spins"))
            words, shown = words_of(victims.path, f"/{name}/victims")
            report = why("--by", "cgroup", *words)
    except PermissionError as refusal:
        cannot(f"no cgroups can be made in {top}: {refusal}")
    expect("the subject is the cgroup", report["subject"] == shown and report["threads"] == 1, report)
    expect("the culprit is its cgroup", charged(report, f"/{name}/others") > 1, report)
    expect_sums(report)


def second():
    top = unified()
    if top is None:
        cannot("version 2 of cgroups is not mounted")
    compare(top, lambda folder, path: ([path], path))
    compare(top, lambda folder, path: (["--cgroup", path + "/"], path + "/"))
    compare(top, lambda folder, path: ([folder], folder))


def first():
    top = next((top for top in CPU_GROUPS if os.path.exists(top + "/tasks")), None)
    if top is None:
        cannot("version 1 of cgroups has no CPU controller here")
    compare(top, lambda folder, path: ([path], path))
    compare(top, lambda folder, path: ([folder], folder))


def label():
    top = unified()
    if top is None:
        cannot("version 2 of cgroups is not mounted")
    try:
        with contextlib.ExitStack() as stack:
            own = stack.enter_context(Group(top, f"camp-why-{os.getpid()}"))
            web = stack.enter_context(Group(own.path, f"docker-{'d1' * 32}.scope"))
            inner = stack.enter_context(Group(web.path, "inner"))
            pids = {stack.enter_context(working(group, "sleeps")) for group in (inner, web)}
            report = why("--container", "web")
            unit = why("--unit", "docker-d1d1d1d1d1d1.scope")
    except (PermissionError, OSError) as refusal:
        cannot(f"no cgroups of version 2 can be made here: {refusal}")
    expect("the container has both threads", (report["subject"], report["threads"]) == ("container web", len(pids)),
           report)
    expect("the unit has both threads", (unit["subject"], unit["threads"]) == ("unit docker-d1d1d1d1d1d1.scope", 2),
           unit)
    expect_sums(report)


if __name__ == "__main__":
    {"second": second, "first": first, "label": label}[sys.argv[1]]()
