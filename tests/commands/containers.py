"""Processes in cgroups that are named as runtimes of containers name them.

containers.py names | schedstat | unknown | quota | replay | export | notes | ended | denied | hostile

Prints what differs from what is expected, and exits with 1. Exits with 77, after a line that says why, if this machine
cannot make the case. The files of the runtimes are those of tests/fixtures/containers.
"""
import contextlib
import csv
import fcntl
import io
import itertools
import json
import os
import re
import subprocess
import sys
import tempfile
import time
import urllib.request

from limits import CAMP, Group, cannot, cpu_groups, set_quota, throttled_ns, unified, until, write

FIXTURES = os.path.join(os.environ["CAMP_FIXTURES"], "containers")
os.environ["CAMP_ROOT"] = FIXTURES
SLEEP = "import os, sys, time\nopen(sys.argv[1] + '/cgroup.procs', 'w').write('0')\ntime.sleep(600)\n"
SPIN = SLEEP.replace("time.sleep(600)", "while True: pass")
UID = "8a9b0c1d_2e3f_4a5b_8c7d_9e0f1a2b3c4d"
wrong = []
trees = itertools.count()


def ident(byte):
    return byte * 32


def expect(what, found, wanted):
    if found != wanted:
        wrong.append(what)
        print(f"{what}: {found!r}, not {wanted!r}")


def expect_note(output, least):
    """The note counts at least {reason: number} containers. Other programs may run containers here, too."""
    note = re.search(r"Containers shown by id: (.*) \(docs/containers.md\)", output)
    found = {why: int(count) for count, why in re.findall(r"(\d+) ([^,]+)", note[1])} if note else {}
    expect(f"the note {found} has {least}", [why for why in least if found.get(why, 0) < least[why]], [])


@contextlib.contextmanager
def groups(parent, path):
    """The cgroups of a path below `parent`, from outside to inside, whose first is of this test alone."""
    with contextlib.ExitStack() as stack:
        for part in path.split("/"):
            group = stack.enter_context(Group(parent, part))
            parent = group.path
        yield group


@contextlib.contextmanager
def places(paths, body=SLEEP):
    """A process in each place of the tree of version 2, under one cgroup of this test."""
    top = unified()
    if top is None or not os.access(top, os.W_OK):
        cannot("no cgroups of version 2 can be made here")
    with contextlib.ExitStack() as stack:
        try:
            own = stack.enter_context(Group(top, f"camp-containers-{os.getpid()}-{next(trees)}"))
        except OSError as refusal:
            cannot(f"no cgroups of version 2 can be made here: {refusal}")
        made = []
        for number, path in enumerate(paths):
            group = stack.enter_context(groups(stack.enter_context(Group(own.path, str(number))).path, path))
            made.append(group)
            stack.enter_context(running(body, group.path))
        for group in made:
            until(group.pids)
        yield made


@contextlib.contextmanager
def running(body, *arguments):
    process = subprocess.Popen([sys.executable, "-c", body, *arguments])
    try:
        yield process
    finally:
        process.kill()
        process.wait()


def camp(*arguments, status=0):
    done = subprocess.run([CAMP, *arguments], capture_output=True, text=True, timeout=120)
    if done.returncode != status:
        sys.exit(f"camp {' '.join(arguments)}: status {done.returncode}: {done.stderr}")
    return done.stdout, done.stderr


def rows(*arguments):
    """The living rows of an interval of `camp top`, by their names."""
    live = [] if "--from" in arguments else ["--interval", "0.2"]
    output, notes = camp("top", "--count", "1", "--format", "json", *live, *arguments)
    return {row["name"]: row for row in json.loads(output)["entities"] if not row["ended"]}, notes


NAMED = {  # path: container, pod, unit
    f"docker-{ident('d1')}.scope": ("web", "(no pod)", "docker-d1d1d1d1d1d1.scope"),
    f"docker/{ident('d2')}": ("shop-db-1", "shop (compose)", "(no unit)"),
    f"kubepods.slice/kubepods-pod{UID}.slice/cri-containerd-{ident('c1')}.scope":
        ("shop/db-0/postgres", "shop/db-0", "cri-containerd-c1c1c1c1c1c1.scope"),
    f"user.slice/user-1000.slice/user@1000.service/user.slice/libpod-{ident('a4')}.scope/container":
        ("user-1000/notes", "(no pod)", "user@1000.service/libpod-a4a4a4a4a4a4.scope"),
    f"libpod_parent/libpod-{ident('a1')}": ("cache", "(no pod)", "(no unit)"),
    f"kubepods/pod{UID.replace('_', '-')}/crio-{ident('b1')}": ("shop/front-7d9f/nginx", "shop/front-7d9f", "(no unit)"),
    "lxc.payload.mail": ("lxc:mail", "(no pod)", "(no unit)"),
    "machine.slice/machine-build\\x2d1.scope/payload": ("machine:build-1", "(no pod)", "machine-build-1.scope"),
    "system.slice/cron.service": ("(host)", "(host)", "cron.service"),
}


def names():
    with places(NAMED):
        for at, group in enumerate(("container", "pod", "unit")):
            found, _ = rows("--group", group)
            for labels in NAMED.values():
                row = found.get(labels[at])
                expect(f"--group {group}: {labels[at]} is a row", row is not None, True)
                if group == "container" and row is not None and labels[0] != "(host)":
                    expect(f"labels of {labels[0]}",
                           tuple(row["labels"][name] for name in ("container", "pod", "unit")), labels)
                    expect(f"threads of {labels[0]}", row["count"], 1)
            total = sum(row["elapsed_ns"] for row in found.values())
            states = sum(sum(row["states"].values()) + row["unaccounted_ns"] for row in found.values())
            expect(f"--group {group}: the states add up to the time", states, total)
        output, _ = camp("top", "--count", "1", "--interval", "0.2", "--format", "csv", "--group", "container")
        table = {row["name"]: row for row in csv.DictReader(io.StringIO(output)) if row["ended"] == "false"}
        expect("the pod in CSV", table["shop/db-0/postgres"]["pod"], "shop/db-0")


def schedstat():
    with places(NAMED):
        found, _ = rows("--tier", "schedstat", "--group", "container")
        for labels in NAMED.values():
            expect(f"{labels[0]} is a row of tier schedstat", labels[0] in found, True)


def unknown():
    pod = UID.replace("_", "-")
    with places([f"docker/{ident('ee')}", f"kubepods/pod{pod}/crio-{ident('ef')}", f"docker/{ident('d1')}/docker/{ident('d2')}"]):
        found, _ = rows("--group", "container")
        for name in ("docker:eeeeeeeeeeee", "cri-o:efefefefefef", "web/docker:d2d2d2d2d2d2"):
            expect(f"{name} is a row", name in found, True)
        output, _ = camp("top", "--count", "1", "--interval", "0.2", "--group", "container")
        expect_note(output, {"in other containers": 1, "without a file of a runtime that camp knows": 2})
        found, _ = rows("--group", "pod")
        expect("the pod is shown by its uid", f"pod:{pod}" in found, True)


def percents(output, name):
    """The percentages of a row of text, by their headings."""
    lines = [line.split() for line in output.splitlines()]
    heading = next(line for line in lines if line[:1] == ["name"])
    return dict(zip(heading, next(line for line in lines if line[:1] == [name])))


def quota():
    top, v2 = cpu_groups()
    with contextlib.ExitStack() as stack:
        outer = stack.enter_context(Group(top, f"camp-containers-{os.getpid()}"))
        if v2:
            write("+cpu", outer.path, "cgroup.subtree_control")
        # the greatest weight, so that the load uses up its quota on a busy machine
        write(10000 if v2 else 1 << 18, outer.path, "cpu.weight" if v2 else "cpu.shares")
        group = stack.enter_context(Group(outer.path, f"docker-{ident('d1')}.scope"))
        other = stack.enter_context(Group(outer.path, f"libpod-{ident('a1')}.scope"))
        set_quota(group, v2, 50)
        for _ in range(2):
            stack.enter_context(running(SPIN, group.path))
        stack.enter_context(running(SLEEP, other.path))
        until(lambda: len(group.pids()) == 2 and other.pids())
        until(lambda: throttled_ns(group, v2) > 0)
        for _ in range(20): # other load may take a part of some interval
            before = throttled_ns(group, v2)
            output, _ = camp("top", "--count", "1", "--interval", "2", "--group", "container", "--percent-of", "quota")
            throttled = throttled_ns(group, v2) - before
            web, cache = percents(output, "web"), percents(output, "cache")
            cpu = float(web["usr%"]) + float(web["sys%"])
            if 95 < cpu < 105 and float(web["thrt%"]) > 10:
                break
        print(output)
        expect("the quota of the load", web["quota"], "0.5")
        expect("a load at its quota has about 100 %", 95 < cpu < 105, True)
        expect("its throttled time is shown", float(web["thrt%"]) > 10, True)
        expect("the kernel throttled it, too", throttled > 0, True)
        # two threads in half a CPU: all their time is 400 % of it
        expect("the columns add up to the time of two threads",
               abs(sum(float(web[name]) for name in web if name.endswith("%") and name != "un%") - 400) < 20, True)
        expect("a group without a quota says so", cache["quota"], "none")
        expect("and has percentages of the interval", abs(float(cache["slp%"]) - 100) < 10, True)
        set_outer(outer, v2)
        output, _ = camp("top", "--count", "1", "--interval", "0.2", "--group", "container", "--percent-of", "quota")
        expect("the quota around it is less", percents(output, "web")["quota"], "0.25")


def set_outer(outer, v2):
    if v2:
        write("25000 100000", outer.path, "cpu.max")
        return
    for name in os.listdir(outer.path): # in version 1, no child may have more
        if name.startswith("docker-"):
            write("-1", outer.path, name, "cpu.cfs_quota_us")
    write("25000", outer.path, "cpu.cfs_quota_us")


def replay():
    with tempfile.TemporaryDirectory() as folder:
        threads, sums = os.path.join(folder, "threads.camp"), os.path.join(folder, "sums.camp")
        with places(NAMED):
            camp("record", "--containers", "--count", "1", "--interval", "0.2", "--output", threads)
            camp("record", "--group", "pod", "--count", "1", "--interval", "0.2", "--output", sums)
        del os.environ["CAMP_ROOT"]
        for at, group in enumerate(("container", "pod", "unit")):
            found, _ = rows("--from", threads, "--group", group)
            for labels in NAMED.values():
                expect(f"{labels[at]} is a row of the recording", labels[at] in found, True)
        found, _ = rows("--from", sums)
        expect("the recorded pods", {labels[1] for labels in NAMED.values()} <= found.keys(), True)
        page = os.path.join(folder, "page.html")
        camp("report", "--from", threads, "--group", "container", "--output", page)
        camp("record", "--count", "1", "--interval", "0.1", "--force", "--output", threads)
        _, notes = camp("top", "--from", threads, "--group", "pod", status=1)
        expect("a recording without names", "record --containers" in notes, True)


def export():
    with places(NAMED, SPIN):
        for at, group in enumerate(("container", "pod", "unit")):
            output, _ = camp("export", "--once", "--group", group, "--groups", "100", "--interval", "0.3")
            found = set(re.findall('camp_group_cpu_measured_seconds_total{groupname="([^"]*)"}', output))
            for labels in NAMED.values():
                expect(f"{labels[at]} is a group", labels[at] in found, True)


def notes():
    """A served exporter reports once why containers have no names, although their number changes."""
    with places([f"docker/{ident('e1')}"], SPIN), tempfile.TemporaryFile("w+") as reported:
        with subprocess.Popen([CAMP, "export", "--group", "container", "--port", "0"], stdout=subprocess.PIPE,
                              stderr=reported, text=True) as server:
            address = server.stdout.readline().strip()
            try:
                urllib.request.urlopen(address, timeout=60).read()
                with places([f"docker/{ident('e2')}"], SPIN):
                    urllib.request.urlopen(address, timeout=60).read()
                urllib.request.urlopen(address, timeout=60).read()
            finally:
                server.terminate()
        reported.seek(0)
        expect("the number of notes", reported.read().count("Containers shown by id"), 1)


def ended():
    """A container that ended within the interval keeps its name for the time that it had."""
    with places([f"docker/{ident('d1')}"]) as made:
        with subprocess.Popen([CAMP, "top", "--count", "2", "--interval", "2", "--format", "json", "--group", "container"],
                              stdout=subprocess.PIPE, text=True) as top:
            first = json.loads(top.stdout.readline())
            made[0].__exit__() # kills the process, and removes the cgroup
            second = json.loads(top.stdout.readline())
            os.mkdir(made[0].path)
        expect("it runs in the first interval", [row["ended"] for row in first["entities"] if row["name"] == "web"], [False])
        expect("it ended in the second", [row["ended"] for row in second["entities"] if row["name"] == "web"], [True])


def denied():
    """camp as a user who may not read the files of the runtime: containers are shown by their ids, and the note says it."""
    if os.geteuid() != 0:
        cannot("only root can become another user")
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)
        place = os.path.join(folder, "var/lib/docker/containers", ident("d1"))
        os.makedirs(place)
        with open(os.path.join(place, "config.v2.json"), "w", encoding="ascii") as file:
            file.write('{"Name":"/web"}')
        os.chmod(os.path.join(folder, "var/lib/docker"), 0o710)
        with places([f"docker/{ident('d1')}"]):
            command = ["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups", "env", f"CAMP_ROOT={folder}",
                       CAMP, "top", "--tier", "schedstat", "--count", "1", "--interval", "0.2", "--group", "container"]
            output = subprocess.run(command, capture_output=True, text=True, check=True).stdout
            expect("the container is shown by its id", "docker:d1d1d1d1d1d1" in output, True)
            expect_note(output, {"whose files this user may not read": 1})
            may = ["--inh-caps", "+dac_read_search", "--ambient-caps", "+dac_read_search"]
            output = subprocess.run(command[:5] + may + command[5:], capture_output=True, text=True, check=True).stdout
            expect("CAP_DAC_READ_SEARCH gives the name", "\nweb " in output, True)


def hostile():
    """The author of a container chooses bytes that would change a terminal, a table or a metric."""
    name = "evil\x1b[31m\u202e\n\"}\x7f" + "x" * 90
    with tempfile.TemporaryDirectory() as folder:
        place = os.path.join(folder, "var/lib/docker/containers", ident("d1"))
        os.makedirs(place)
        with open(os.path.join(place, "config.v2.json"), "w", encoding="ascii") as file:
            json.dump({"Name": "/" + name}, file)
        os.environ["CAMP_ROOT"] = folder
        with places([f"docker/{ident('d1')}"], SPIN):
            text, _ = camp("top", "--count", "1", "--interval", "0.2", "--group", "container")
            expect("it is a row of text", '?[31m??"}?xxx' in text, True)
            expect("without control characters", re.findall("[\x00-\x09\x0b-\x1f\x7f\u202e]", text), [])
            page, _ = camp("export", "--once", "--interval", "0.2", "--group", "container")
            lines = [line for line in page.splitlines() if "evil" in line]
            expect("it is a group", len(lines) > 1, True)
            for line in lines:
                expect("a metric is one line", bool(re.fullmatch(r'\w+\{groupname="(\\.|[^"\\])*"(,\w+="\w+")?\} [0-9.]+', line)),
                       True)
            found, _ = rows("--group", "container")
            expect("JSON has the name itself", [row for row in found if row.startswith("evil\x1b")], [name])


CASES = {function.__name__: function
         for function in (names, schedstat, unknown, quota, replay, export, notes, ended, denied, hostile)}
# The cases have containers of the same ids, so they run one after another, also in tests that run at the same time.
with open(__file__, encoding="utf-8") as itself:
    fcntl.flock(itself, fcntl.LOCK_EX)
    CASES[sys.argv[1]]()
sys.exit(bool(wrong))
