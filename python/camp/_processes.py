"""Processes and threads, and Linux' taskstats."""

import functools
import operator
from typing import Iterable, List, NamedTuple, Optional

from camp import _camp
from camp._errors import Invalid
from camp._records import Source, Task, TaskExit, Taskstat, TaskUtilisation
from camp._session import Session
from camp._waiting import in_ns, wait

# Which bit of the library's enum camp_task_field brings which fields.
_BITS = _camp.bits_of('Task')
_BITS['start'] = _BITS['started_ns']  # always there, and read with it
# Sampled time is in no file: taskstats() has it.
_ALL = functools.reduce(operator.or_, _BITS.values()) & ~_BITS['sampled_ns']


def bits(fields: Iterable[str]) -> int:
    """What the extension takes for these fields of camp.Task; of none given, for all."""
    wanted = 0
    for field in fields:
        if field not in _BITS:
            raise Invalid(f'{field!r} is no field of camp.Task; there are {", ".join(_BITS)}')
        wanted |= _BITS[field]
    return wanted or _ALL


_TIMES = bits(('cpu_ns', 'user_ns'))


class Thread(NamedTuple):
    """A thread, never mistaken for another."""

    pid: int
    tid: int
    start: int

    def read(self, *fields: str, source: Optional[Source] = None) -> Task:
        """As Process.read(), of this thread alone."""
        return _camp.thread_read(source, self.pid, self.tid, self.start, bits(fields))


class Process(NamedTuple):
    """A process, never mistaken for another: a pid that was given to a new process has another
    start, and reading it is Gone. `camp.process(pid)` and `camp.processes()` make them."""

    pid: int
    start: int  # Linux: 1/100 s after boot

    def read(self, *fields: str, source: Optional[Source] = None) -> Task:
        """What it has used since it began.

        Args:
            fields: names of camp.Task's fields ("cpu_ns", "resident_bytes"); only the files that
                hold them are read, what else they hold is filled too, the rest is None. None
                given: all (a read of status and schedstat for each thread among them).

        Raises:
            Gone: it has ended, or its pid belongs to another now.
        """
        return _camp.process_read(source, self.pid, self.start, bits(fields))

    def cpu_ns(self, source: Optional[Source] = None) -> int:
        """CPU time of all its threads, in ns: measured, resolution 1 ns. It reads the start time as
        well, to know that it is the same process: camp.pid_cpu_ns() is 10 times cheaper, and does
        not. Gone: it has ended."""
        return _camp.process_cpu_ns(source, self.pid, self.start)

    def threads(self, source: Optional[Source] = None) -> List[Thread]:
        """Its living threads, ascending by tid. Gone: it has ended."""
        return _camp.thread_list(source, self.pid, self.start)

    def utilisation(self, interval: float = 0.1, source: Optional[Source] = None) -> TaskUtilisation:
        """Its CPU time in `interval` seconds from now, in percent of one CPU. Gone: it has ended."""
        ns = in_ns(interval)
        before = _camp.process_read(source, self.pid, self.start, _TIMES)
        wait(ns)
        return self.utilisation_since(before, source)

    def utilisation_since(self, before: Task, source: Optional[Source] = None) -> TaskUtilisation:
        """Likewise since an earlier read() of "cpu_ns" and "user_ns". It never waits. Invalid: no
        time has passed."""
        return _camp.process_utilisation(source, self.pid, self.start, before)


def process(pid: int, source: Optional[Source] = None) -> Process:
    """The process that has this pid now. Gone: there is none."""
    return _camp.process_identify(source, pid)


def processes(name: Optional[str] = None, source: Optional[Source] = None) -> List[Process]:
    """Every process that can be seen, kernel threads included, ascending by pid.

    Args:
        name: only those launched from an executable of this name (the last part of its path).
            Where it may not be seen (another user's process) argv[0] decides.
    """
    return _camp.process_list(source, name)


def fork_count(source: Optional[Source] = None) -> int:
    """Tasks begun since boot, those that have ended included: how many came between two looks."""
    return _camp.fork_count(source)


class Taskstats(Session):
    """A session with Linux' taskstats, which closes at the end of its `with`. After a fork it is the
    parent's alone (Invalid).

    Raises:
        Permission: CAP_NET_ADMIN is missing.
        NotSupported: this kernel has none, or not in this network namespace.
    """

    def __init__(self, listen: bool = False) -> None:
        super().__init__(_camp.taskstats_open(listen))
        self._listens = listen
        self.overruns = 0  # tasks whose exit records the kernel dropped for want of room

    def read(self, pids: Iterable[int]) -> List[Optional[Taskstat]]:
        """Of each pid, in their order; None: there is no such process. Not of one that listens."""
        if self._listens:
            raise Invalid('this session listens: open another one to ask')
        with self._lock:
            return _camp.taskstats_read(self._open(), pids)

    def exits(self) -> List[TaskExit]:
        """The tasks that ended since the last call, oldest first; never waits."""
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
    a record of every task that ends from now on.

        with camp.taskstats() as stats:
            print(stats.read([os.getpid()]))
    """
    return Taskstats(listen)
