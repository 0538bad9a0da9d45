"""Threads whose group or policy limits their CPU time, and frozen threads: camp's times beside a witness.

limits.py quota | threads | freeze | dying | deadline | real-time

Prints a row for each case, and exits with 1 if a row is wrong. Exits with 77, after a line that says why, if this
machine cannot make the case.
"""
import contextlib
import json
import os
import signal
import subprocess
import sys
import tempfile
import time

CAMP = os.environ["CAMP"]
LAST_CPU = max(os.sched_getaffinity(0))
V1 = "/sys/fs/cgroup/{}"
TOLERANCE = 0.02
WAKING_NS = 1000000  # an idle CPU may notice some 100 us late that it has a thread to run
wrong = []

JOIN = "import os, signal, sys, time\nfor d in sys.argv[1].split(): open(d + '/cgroup.procs', 'w').write('0')\n"
SPIN = "while True: pass\n"
# Ends with a line of its wall time and of its CPU time, which it reads at nearly the same moment.
CLOCKS = """
wall, own = time.monotonic(), time.thread_time()
while time.monotonic() - wall < 3: pass
own, wall = time.thread_time() - own, time.monotonic() - wall
print(round(wall * 1e9), round(own * 1e9))
"""


def cannot(why):
    print("skipped, not passed:", why)
    sys.exit(77)


def read(*path):
    with open(os.path.join(*path), encoding="ascii") as file:
        return file.read()


def write(text, *path):
    with open(os.path.join(*path), "w", encoding="ascii") as file:
        file.write(str(text))


def until(condition, seconds=60):
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            raise TimeoutError("the test waited in vain")
        time.sleep(0.02)


def unified():
    for line in read("/proc/mounts").splitlines():
        if line.split()[2] == "cgroup2":
            return line.split()[1]
    return None


class Group:
    """A cgroup that is removed at the end, with what is left in it."""

    def __init__(self, parent, name):
        self.path = os.path.join(parent, name)
        os.mkdir(self.path)

    def __enter__(self):
        return self

    def pids(self):
        return [int(pid) for pid in read(self.path, "cgroup.procs").split()]

    def __exit__(self, *_):
        def removed():
            for pid in self.pids():
                os.kill(pid, signal.SIGKILL)
            try:
                os.rmdir(self.path)
            except OSError:
                return False
            return True
        until(removed)


class Timed:
    """A command under `camp time`, and the sums of its threads."""

    def __init__(self, *command):
        self.file = tempfile.NamedTemporaryFile()
        self.process = subprocess.Popen([CAMP, "time", "--format", "json", "--output", self.file.name, "--", *command],
                                        stdout=subprocess.PIPE, text=True)

    def total(self):
        self.output = self.process.communicate()[0]
        with open(self.file.name, encoding="utf-8") as report: # it has replaced the file
            return json.load(report)["total"]


def row(case, limit, told, witness, right):
    error = f"{100 * (told - witness) / witness:+9.3f}" if witness else "        -"
    print(f"{case:34} {limit:>9} {told / 1e6:12.3f} {witness / 1e6:12.3f} {error} {'' if right else 'WRONG'}", flush=True)
    if not right:
        wrong.append(case)


def heading(limit, told, witness):
    print(f"{'load':34} {limit:>9} {told:>12} {witness:>12} {'error %':>9}")


def cpu_groups():
    """The folder for groups with a quota: of version 2 if it has the controller, else of version 1."""
    top = unified()
    if top and "cpu" in read(top, "cgroup.controllers").split():
        write("+cpu", top, "cgroup.subtree_control")
        return top, True
    if os.path.exists(V1.format("cpu/cpu.cfs_period_us")):
        return V1.format("cpu"), False
    return cannot("no cgroup controller of CPU time is mounted")


def set_quota(group, v2, percent):
    """Also gives the group the greatest weight, so that it uses up its quota on a busy machine."""
    if v2:
        write(10000, group.path, "cpu.weight")
        write(f"{percent * 1000} 100000", group.path, "cpu.max")
    else:
        write(1 << 18, group.path, "cpu.shares")
        write(percent * 1000, group.path, "cpu.cfs_quota_us")


def throttled_ns(group, v2):
    facts = dict(line.split() for line in read(group.path, "cpu.stat").splitlines())
    return int(facts["throttled_usec"]) * 1000 if v2 else int(facts["throttled_time"])


def try_quota(percent, nested=False, beside=False, threads=1):
    """Spins until the group was throttled for half a second; above 100 %, where one thread never is, for a second."""
    top, v2 = cpu_groups()
    case = ("nested, " if nested else "") + (f"{threads} threads on one CPU" if threads > 1 else "one thread")
    case += ", beside another load" if beside else ", alone"
    other = subprocess.Popen(["taskset", "-c", str(LAST_CPU), sys.executable, "-c", SPIN]) if beside else None
    try:
        with Group(top, f"camp-quota-{os.getpid()}") as outer:
            if nested and v2:
                write("+cpu", outer.path, "cgroup.subtree_control")
            with Group(outer.path, "inner") if nested else contextlib.nullcontext(outer) as group:
                set_quota(outer, v2, percent)
                timed = Timed("taskset", "-c", str(LAST_CPU), sys.executable, "-c",
                              JOIN + "for i in range(int(sys.argv[2]) - 1):\n    if os.fork() == 0: break\n" + SPIN,
                              group.path, str(threads))
                until(group.pids)
                begin = time.monotonic()
                until(lambda: throttled_ns(outer, v2) > 5e8 or percent > 100 and time.monotonic() - begin > 1)
                for pid in group.pids():
                    os.kill(pid, signal.SIGKILL)
                total = timed.total()
                until(lambda: not group.pids())
                witness = threads * throttled_ns(outer, v2)
                told = total["throttled_ns"]
                row(case, f"{percent} %", told, witness, abs(told - witness) <= TOLERANCE * witness)
    finally:
        if other:
            other.kill()
            other.wait()


def quota():
    heading("quota", "camp, ms", "cpu.stat, ms")
    for percent in 20, 50, 150:
        try_quota(percent)
        try_quota(percent, nested=True)
    try_quota(20, beside=True)
    try_quota(20, nested=True, beside=True)


def threads():
    heading("quota", "camp, ms", "2x cpu.stat")
    try_quota(50, threads=2)


def freezers():
    top = unified()
    if os.path.exists(V1.format("freezer")):
        yield "version 1", V1.format("freezer"), "freezer.state", "FROZEN", "THAWED", ("freezer.state", "FROZEN\n")
    if top:
        yield "version 2", top, "cgroup.freeze", "1", "0", ("cgroup.events", "frozen 1\n")


def try_freeze(case, top, file, on, off, seen, body, may_run):
    """The frozen time is at least that between FROZEN seen and the thaw, at most that between both requests. The thread
    may be preempted while it becomes frozen, which is run queue."""
    with Group(top, f"camp-freeze-{os.getpid()}") as group:
        timed = Timed(sys.executable, "-c", JOIN + body, group.path)
        until(group.pids)
        until(lambda: may_run(group.pids()[0]))
        asked = time.monotonic_ns()
        write(on, group.path, file)
        until(lambda: seen[1] in read(group.path, seen[0]))
        frozen = time.monotonic_ns()
        time.sleep(1)
        least = time.monotonic_ns() - frozen
        write(off, group.path, file)
        most = time.monotonic_ns() - asked
        time.sleep(0.1)
        for pid in group.pids():
            os.kill(pid, signal.SIGKILL)
        total = timed.total()
        told = total["stopped_ns"]
        delay = total["run_queue_ns"] + total["throttled_ns"]
        row(case, "", told, least, least - delay <= told <= most + WAKING_NS)


def wchan(pid):
    return read(f"/proc/{pid}/wchan")


def freeze():
    found = False
    heading("", "camp, ms", "frozen, ms")
    for case, *how in freezers():
        found = True
        try_freeze(case + ", computes", *how, SPIN, lambda pid: wchan(pid) == "0")
        if case == "version 2":
            try_freeze(case + ", in nanosleep", *how, "while True: time.sleep(9)\n",
                       lambda pid: "nanosleep" in wchan(pid))
    if not found:
        cannot("no freezer of cgroups is mounted")


def dying():
    """The first process of a PID namespace computes and is killed. It sleeps, in no call and no fault, until its child has
    ended, which is frozen."""
    top = V1.format("freezer")
    if not os.path.exists(top):
        cannot("the freezer of cgroup version 1, in which a killed thread stays frozen, is not mounted")
    with Group(top, f"camp-dying-{os.getpid()}") as group:
        body = ("if os.fork() == 0:\n    open(sys.argv[1] + '/cgroup.procs', 'w').write('0')\n"
                "    while True: time.sleep(9)\n" + SPIN)
        timed = Timed("unshare", "--pid", "--fork", "--", sys.executable, "-c",
                      "import os, sys, time\n" + body, group.path)
        until(group.pids)
        child = group.pids()[0]
        write("FROZEN", group.path, "freezer.state")
        until(lambda: read(group.path, "freezer.state") == "FROZEN\n")
        first = int([line.split()[1] for line in read(f"/proc/{child}/status").splitlines() if line.startswith("PPid")][0])
        os.kill(first, signal.SIGKILL)
        until(lambda: "zap_pid_ns" in wchan(first) or "wait" in wchan(first))
        begin = time.monotonic_ns()
        time.sleep(1)
        least = time.monotonic_ns() - begin
        write("THAWED", group.path, "freezer.state")
        total = timed.total()
        faults = sum(total.get(name, 0) for name in ("data_fault_ns", "text_fault_ns", "kernel_fault_ns"))
        heading("", "other sleep", "asleep, ms")
        row("killed, waits for its child", "", total["other_sleep_ns"], least, total["other_sleep_ns"] >= least)
        row("in page faults meanwhile", "", faults, least, faults < least)


def try_policy(case, limit, *command):
    """A thread of such a policy is off its CPU while it may not run, or while another one of a higher priority runs."""
    timed = Timed(*command)
    total = timed.total()
    if not timed.output:
        cannot(f"the kernel refuses {case}")
    wall, own = (int(word) for word in timed.output.split())
    told, off = total["throttled_ns"], wall - own
    outside = total["run_queue_ns"] + total["irq_ns"]
    heading("budget", "camp, ms", "off CPU, ms")
    row(case, limit, told, off, off / 2 < told <= off * (1 + TOLERANCE) and told + outside >= off * (1 - TOLERANCE))


def deadline():
    chrt = ("import os, subprocess, time\nsubprocess.run(['chrt', '--deadline', '--sched-runtime', '10000000', "
            "'--sched-deadline', '50000000', '--sched-period', '50000000', '--pid', '0', str(os.getpid())], check=True)\n")
    try_policy("SCHED_DEADLINE", "20 %", sys.executable, "-c", chrt + CLOCKS)


def real_time():
    top = V1.format("cpu")
    if not os.path.exists(os.path.join(top, "cpu.rt_runtime_us")):
        cannot("this kernel has no budget of real-time groups (cpu.rt_runtime_us)")
    with Group(top, f"camp-real-time-{os.getpid()}") as group:
        write(200000, group.path, "cpu.rt_runtime_us")
        try_policy("SCHED_FIFO", "20 %", "taskset", "-c", str(LAST_CPU), sys.executable, "-c",
                   JOIN + "os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(5))\n" + CLOCKS, group.path)


if os.geteuid() != 0:
    cannot("needs root, to make cgroups")
if __name__ == "__main__":
    {"quota": quota, "threads": threads, "freeze": freeze, "dying": dying, "deadline": deadline,
     "real-time": real_time}[sys.argv[1]]()
    sys.exit(1 if wrong else 0)
