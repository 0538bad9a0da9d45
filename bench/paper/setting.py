"""What each part of the evaluation needs: the programs, the machine's facts, the stolen time during the
part, and the children that the part starts, and ends by their pid.
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
    """A part, or something in it, is unavailable here; the message says what to do."""


class Setting:
    """The programs of a build, and whether the run is a short one."""

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
        """Returns the module camp.paper."""
        try:
            import camp.paper  # pylint: disable=import-outside-toplevel
        except ImportError as error:
            raise Missing(f"the Python module camp is not built ({error}): make paper") from error
        return camp.paper

    def python(self, script, *arguments):
        """Returns the command that runs a Python program of this folder."""
        return [PYTHON, f"{HERE}/{script}", *map(str, arguments)]


def end_when_told():
    """Treats SIGTERM and SIGHUP like Ctrl-C: each part ends the programs that it started."""
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
    """Returns the words before a command that run it as a user without rights; a server must not be root."""
    if os.geteuid() != 0:
        return []
    return ["setpriv", "--reuid=nobody", "--regid=nogroup", "--clear-groups"]


def run(command, **options):
    """Returns the output of a command; raises Missing when the command fails."""
    done = subprocess.run(command, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          check=False, **{"timeout": 120, **options})
    if done.returncode != 0:
        raise Missing(f"{' '.join(command[:6])}: exit status {done.returncode}: "
                      f"{done.stderr.strip()[-300:]}")
    return done.stdout


def until(condition, what, seconds=10):
    """Waits until a condition holds."""
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            raise Missing(f"{what}: not within {seconds} s")
        time.sleep(0.02)


@contextlib.contextmanager
def child(command, end=signal.SIGTERM, **options):
    """Runs a process during the `with`, and ends it by its pid."""
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
    """A process of subjects.py, which executes a command for each line, and answers it."""

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
    """Returns the stolen time of all CPUs since boot."""
    with open("/proc/stat", encoding="ascii") as file:
        return int(file.readline().split()[8]) / os.sysconf("SC_CLK_TCK")


class Disturbance:
    """Measures what disturbed a part while it ran."""

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
    """Describes the machine: name -> text."""
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
