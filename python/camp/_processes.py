"""Processes and threads, and Linux' taskstats."""

import functools
import operator
import os
from typing import Dict, Iterable, List, NamedTuple, Optional

from camp import _camp
from camp._errors import Invalid
from camp._records import Source, Task, TaskExit, Taskstat, TaskUtilisation
from camp._session import Session
from camp._waiting import time_between, wait

# The bit of each field in the library's enum camp_task_field.
_BITS = _camp.bits_of('Task')
_BITS['start'] = _BITS['started_ns']  # always known, and read with it
# Sampled time is in no file: taskstats() has it.
_ALL = functools.reduce(operator.or_, _BITS.values()) & ~_BITS['sampled_ns']


def bits(fields: Iterable[str]) -> int:
    """Returns the extension's bits of these fields of camp.Task; without fields, those of all fields."""
    wanted = 0
    for field in fields:
        if field not in _BITS:
            raise Invalid(f'{field!r} is no field of camp.Task; there are {", ".join(_BITS)}')
        wanted |= _BITS[field]
    return wanted or _ALL


# enum camp_text of camp/system.h
_COMMAND_LINE, _EXECUTABLE, _CGROUP = range(3)

_TIMES = bits(('cpu_ns', 'user_ns'))

_kept_cpu_ns = _camp.process_kept_cpu_ns
# A child may be in another PID namespace, where the pids of its parent are other processes.
if hasattr(os, 'register_at_fork'):
    os.register_at_fork(after_in_child=_camp.process_forget)


class Thread(NamedTuple):
    """The identity of a thread."""

    pid: int
    tid: int
    start: int

    def read(self, *fields: str, source: Optional[Source] = None) -> Task:
        """Reads this thread only; otherwise like Process.read()."""
        return _camp.thread_read(source, self.pid, self.tid, self.start, bits(fields))


class Process(NamedTuple):
    """The identity of a process. If its pid is reused, the new process has another start, and reading
    the old one is Gone. `camp.process(pid)` and `camp.processes()` make them."""

    pid: int
    start: int  # Linux: 1/100 s after boot

    def read(self, *fields: str, source: Optional[Source] = None) -> Task:
        """Returns what the process has used since its start.

        Args:
            fields: names of camp.Task's fields ("cpu_ns", "resident_bytes"). Only the files that
                have them are read; their other fields are filled, too, and the rest is None.
                Without names: all fields (which reads status and schedstat of each thread).

        Raises:
            Gone: the process has exited, or its pid belongs to another process now.
        """
        return _camp.process_read(source, self.pid, self.start, bits(fields))

    def cpu_ns(self, source: Optional[Source] = None) -> int:
        """Returns the CPU time of all threads, in ns: measured, resolution 1 ns. Never that of a later process
        with the same pid. Gone: the process has exited.

        The first call opens the process, and later calls are several times faster: on Linux since 5.3 they
        are two system calls. Of all processes together, at most an eighth of the descriptors that this
        program may open (and 1,024) stay open: those of the processes that were read last.
        """
        if source is None:
            return _kept_cpu_ns(self)
        return _camp.process_cpu_ns(source, self.pid, self.start)

    def command_line(self, source: Optional[Source] = None) -> List[str]:
        """Returns the arguments, which the process may have changed; [] of a kernel thread. They can
        have any characters: filter escape sequences before you print them. Gone: the process has
        exited."""
        text = _camp.process_text(source, self.pid, self.start, _COMMAND_LINE)
        if not text:
            return []
        return [os.fsdecode(word) for word in (text[:-1] if text[-1] == 0 else text).split(b'\0')]

    def executable(self, source: Optional[Source] = None) -> str:
        """Returns the path of the executable. NotSupported: a kernel thread has none. Permission: the
        process is of another user."""
        return os.fsdecode(_camp.process_text(source, self.pid, self.start, _EXECUTABLE))

    def cgroup(self, source: Optional[Source] = None) -> str:
        """Returns the path of the cgroup. NotSupported: there are no cgroups of version 2."""
        return os.fsdecode(_camp.process_text(source, self.pid, self.start, _CGROUP))

    def user_id(self, source: Optional[Source] = None) -> int:
        """Returns the effective user id."""
        return _camp.process_user_id(source, self.pid, self.start)

    def proportional_bytes(self, source: Optional[Source] = None) -> int:
        """Returns the pages in memory, each divided by the number of processes that share it: the sum
        over processes counts no page twice. Permission: the process is of another user. NotSupported:
        a kernel thread, or Linux before 4.14."""
        return _camp.process_proportional_bytes(source, self.pid, self.start)

    def threads(self, source: Optional[Source] = None) -> List[Thread]:
        """Returns the living threads, ascending by tid. Gone: the process has exited."""
        return _camp.thread_list(source, self.pid, self.start)

    def utilisation(self, interval: float = 0.1, source: Optional[Source] = None) -> TaskUtilisation:
        """Waits `interval` seconds, and returns the CPU time of the process in them, in percent of one CPU.
        Gone: the process has exited. Invalid: the interval is 0; utilisation_since() never waits."""
        ns = time_between(interval, 'utilisation_since(before) compares with an earlier read()')
        before = _camp.process_read(source, self.pid, self.start, _TIMES)
        wait(ns)
        return self.utilisation_since(before, source)

    def utilisation_since(self, before: Task, source: Optional[Source] = None) -> TaskUtilisation:
        """Returns the CPU time of the process since an earlier read() of "cpu_ns" and "user_ns", in percent
        of one CPU. It never waits. Invalid: no time has passed."""
        return _camp.process_utilisation(source, self.pid, self.start, before)


def process(pid: int, source: Optional[Source] = None) -> Process:
    """Returns the process that has this pid now. Gone: there is no such process."""
    return _camp.process_identify(source, pid)


def processes(name: Optional[str] = None, source: Optional[Source] = None) -> List[Process]:
    """Returns every visible process, kernel threads included, ascending by pid.

    Args:
        name: only processes of the program with this name: that of its executable's file, the name by
            which it was invoked (argv[0]), or that of a script which the kernel started.
    """
    return _camp.process_list(source, name)


def read_processes(*fields: str, source: Optional[Source] = None) -> Dict[Process, Task]:
    """Returns what every visible process has used, ascending by pid: processes() and Process.read() in
    one call. Processes that exit meanwhile are left out, and what a process refuses is None.

        tasks = camp.read_processes("cpu_ns", "name")
        for process, task in tasks.items():
            print(process.pid, task.name, task.cpu_ns)
    """
    return dict(zip(*_camp.process_read_all(source, bits(fields))))


def fork_count(source: Optional[Source] = None) -> int:
    """Returns the number of tasks started since boot, including exited ones."""
    return _camp.fork_count(source)


class Taskstats(Session):
    """A session with Linux' taskstats, which closes at the end of its `with`. After a fork only the
    parent may use it (Invalid).

    Raises:
        Permission: CAP_NET_ADMIN is missing.
        NotSupported: this kernel, or this network namespace, has no taskstats.
    """

    def __init__(self, listen: bool = False) -> None:
        super().__init__(_camp.taskstats_open(listen))
        self._listens = listen
        self.overruns = 0  # tasks whose exit records the kernel dropped for lack of space

    def read(self, pids: Iterable[int]) -> List[Optional[Taskstat]]:
        """Returns the numbers of each pid, in order; None: no such process. Not for a session that listens."""
        if self._listens:
            raise Invalid('this session listens: open another one to ask')
        with self._lock:
            return _camp.taskstats_read(self._open(), pids)

    def exits(self) -> List[TaskExit]:
        """Returns the tasks that exited since the last call, oldest first; never waits."""
        if not self._listens:
            raise Invalid('this session does not listen: camp.taskstats(listen=True)')
        records: List[TaskExit] = []
        with self._lock:
            while True:
                more, self.overruns = _camp.taskstats_exits(self._open())
                records += more
                if not more:
                    return records


def taskstats(listen: bool = False) -> Taskstats:
    """Opens taskstats: sampled and measured CPU time of a process in one message or, with `listen`,
    a record of every task that exits from now on.

        with camp.taskstats() as stats:
            print(stats.read([os.getpid()]))
    """
    return Taskstats(listen)
