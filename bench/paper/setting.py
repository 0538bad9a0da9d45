"""The setting of a part of the evaluation: the programs, the machine, the stolen time meanwhile, and
the children that a part starts and ends by their pid.
"""

import contextlib
import json
import os
import platform
import shutil
import signal
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
PYTHON = "/usr/bin/python3"  # Debian's: it has psutil, and the module camp is built for it
PAPER_CPU = os.cpu_count() - 1  # in place of the one CPU of the paper's machines


class Missing(Exception):
    """A part, or something in it, cannot be had here; says what to do."""


class Setting:
    """The programs of a build, and whether a short run is asked for."""

    def __init__(self, build, quick):
        self.build = os.path.abspath(build)
        self.quick = quick
        self.camp = f"{self.build}/src/camp"
        self.client = f"{self.build}/bench/paper/paper_client"
        self.functions = f"{self.build}/bench/paper/paper_functions"
        self.module_path = f"{self.build}/python"

    def is_built(self):
        return all(os.access(path, os.X_OK) for path in (self.camp, self.client, self.functions))

    def paper(self):
        """The module camp.paper."""
        try:
            import camp.paper  # pylint: disable=import-outside-toplevel
        except ImportError as error:
            raise Missing(f"the Python module camp is not built ({error}): make paper") from error
        return camp.paper

    def python(self, script, *arguments):
        """Words that run one of this folder's programs."""
        return [PYTHON, f"{HERE}/{script}", *map(str, arguments)]


def end_when_told():
    """SIGTERM and SIGHUP as Ctrl-C: each part ends the programs that it started."""
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda told, _: sys.exit(128 + told))


def need_root(what):
    if os.geteuid() != 0:
        raise Missing(f"needs root: {what}")


def need_program(name, package):
    path = shutil.which(name, path=os.environ.get("PATH", "") + ":/usr/sbin:/sbin")
    if path is None:
        raise Missing(f"{name} is not installed: apt-get install {package}")
    return path


def ordinary_user():
    """Words before a command that run it as a user without rights; a server must not be root."""
    if os.geteuid() != 0:
        return []
    return ["setpriv", "--reuid=nobody", "--regid=nogroup", "--clear-groups"]


def run(command, **options):
    """Output of a command; Missing when it fails."""
    done = subprocess.run(command, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          check=False, **{"timeout": 120, **options})
    if done.returncode != 0:
        raise Missing(f"{' '.join(command[:6])}: exit status {done.returncode}: "
                      f"{done.stderr.strip()[-300:]}")
    return done.stdout


def until(condition, what, seconds=10):
    """Waits for a condition to hold."""
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            raise Missing(f"{what}: not within {seconds} s")
        time.sleep(0.02)


@contextlib.contextmanager
def child(command, end=signal.SIGTERM, **options):
    """A process while it lasts; ended by its pid."""
    process = subprocess.Popen(command, text=True, **options)
    try:
        yield process
    finally:
        if process.poll() is None:
            process.send_signal(end)
            try:
                process.wait(timeout=10)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        for stream in (process.stdin, process.stdout, process.stderr):
            if stream:
                stream.close()


class Subject:
    """A process of subjects.py that runs a command a line, and answers each."""

    def __init__(self, setting, *arguments):
        self.process = subprocess.Popen(setting.python("subjects.py", *arguments), text=True,
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.pid = self.process.pid
        self.answer()

    def answer(self):
        line = self.process.stdout.readline()
        if not line:
            raise Missing(f"subjects.py ended with {self.process.wait()}")
        return json.loads(line)

    def tell(self, command):
        self.process.stdin.write(command + "\n")
        self.process.stdin.flush()
        return self.answer()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.stdin.close()
        self.process.wait(timeout=10)
        self.process.stdout.close()


def stolen_s():
    """The stolen time of all CPUs since boot."""
    with open("/proc/stat", encoding="ascii") as file:
        return int(file.readline().split()[8]) / os.sysconf("SC_CLK_TCK")


class Disturbance:
    """What was in the way of a part while it ran."""

    def __init__(self):
        self.begin = time.monotonic()
        self.stolen = stolen_s()

    def end(self):
        seconds = time.monotonic() - self.begin
        stolen = stolen_s() - self.stolen
        return {"seconds": seconds, "load": os.getloadavg()[0],
                "steal_percent": 100 * stolen / seconds / os.cpu_count()}


def version_of(command):
    try:
        done = subprocess.run(command, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              check=False, timeout=10)
        return (done.stdout.strip().splitlines() or ["unknown"])[0].strip()
    except OSError:
        return "not installed"


def processor():
    with open("/proc/cpuinfo", encoding="utf-8", errors="replace") as file:
        for line in file:
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    return platform.machine()


def system_name():
    try:
        return platform.freedesktop_os_release().get("PRETTY_NAME", "Linux")
    except OSError:
        return "Linux"


def machine(setting):
    """What the figures are of: name -> text."""
    system = os.uname()
    pages = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return {
        "time": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        "system": f"{system_name()}, {system.sysname} {system.release} {system.machine}",
        "processor": f"{os.cpu_count()} x {processor()}",
        "memory": f"{pages / 2**30:.1f} GiB",
        "user": "root" if os.geteuid() == 0 else "not root",
        "camp": version_of([setting.camp, "--version"]),
        "Python": platform.python_version(),
        "nginx": version_of(["/usr/sbin/nginx", "-v"]),
        "Apache": version_of(["/usr/sbin/apache2", "-v"]),
        "procps": version_of(["ps", "--version"]),
    }
