"""Microstates: the wall time of every thread and CPU by state, measured in the kernel at each change."""

from typing import FrozenSet, List, Optional, Tuple

from camp import _camp
from camp._errors import Invalid
from camp._frames import Block, Column
from camp._records import CpuStates, DiskWait, Event, Losses
from camp._session import Session

_ROOM = 1024  # for threads, at first
_EXITS_AT_ONCE = 4096

# The columns that follow the values in a block of the extension, in its order.
_OF_ROWS = (('cgroups', 'Q'), ('start_ns', 'Q'), ('begin_ns', 'Q'), ('time_ns', 'Q'), ('ids', 'i'),
            ('pids', 'i'), ('parents', 'i'), ('uids', 'I'), ('flags', 'I'), ('counts', 'I'),
            ('state', 'I'), ('processes', 'I'))

# In flags.
KERNEL, ENDED, OLDER = _camp.THREAD_KERNEL, _camp.THREAD_ENDED, _camp.THREAD_OLDER
UNSURE, TOTAL = _camp.THREAD_UNSURE, _camp.THREAD_TOTAL


class ThreadStates(Block):
    """Threads as rows: each was read at its own time, and its columns tell what it did from
    begin_ns to time_ns.

    The states are in ns, and those of a row add up to exactly its time_ns - begin_ns. A state or
    counter that the session does not know is None, and is not in `columns`: "trap_ns" without
    function tracing, "text_fault_ns" and "kernel_fault_ns" on arm64, "system_ns", "trap_ns" and
    "system_calls" with system_calls=False, "sleep_ns" on Linux, which divides it. The other columns are counters since begin_ns, except
    the scheduler's own counts since the thread's start (cpu_ns, run_delay_ns, sampled_ns, faults and
    switches), by which the states can be checked.

    of_rows() has "ids" (tids), "pids", "parents", "uids", "cgroups", "start_ns", "begin_ns",
    "time_ns", "state" (index into `states` at time_ns), "flags" (camp.ENDED, ...), "counts"
    (threads in a row: 1, or more for camp.TOTAL).
    """

    def __init__(self, columns: Tuple[Column, ...], unknown: FrozenSet[str],
                 raw: Tuple[int, bytes, bytes]) -> None:
        super().__init__(columns, _OF_ROWS, *raw)
        self._unknown = unknown

    def __getitem__(self, name: str) -> Optional[memoryview]:  # type: ignore[override]
        """Returns a column, as a contiguous memoryview of `len()` numbers; None: the session does not know it.
        KeyError: there is no such column."""
        return None if name in self._unknown else super().__getitem__(name)

    def __repr__(self) -> str:
        return f'<camp.ThreadStates of {len(self)} threads x {len(self.columns)} columns>'

    @property
    def ids(self) -> memoryview:
        """The tid of each thread ("i")."""
        return self.of_rows('ids')

    @property
    def pids(self) -> memoryview:
        """The pid of each thread's process ("i")."""
        return self.of_rows('pids')


class Microstates(Session):
    """A session with the kernel, made by camp.microstates(). Nothing of it stays in the kernel
    after it is closed, or after its process has exited, even by a signal. Threads may share a
    session: a call waits for the one before."""

    def __init__(self, system_calls: bool = True, disks: bool = False) -> None:
        super().__init__(_camp.states_open(system_calls, disks))
        columns = _camp.states_columns(self._open())
        self._columns = tuple(Column(name, title, text, kind, provenance)
                              for name, title, text, kind, provenance in columns if kind is not None)
        self._unknown = frozenset(column[0] for column in columns if column[3] is None)
        self._room = _ROOM
        self._disks = disks

    def threads(self) -> ThreadStates:
        """All living threads, ascending by tid."""
        with self._lock:
            raw = _camp.states_threads(self._open(), self._room)
            self._room = raw[0] + raw[0] // 8 + 64
        return ThreadStates(self._columns, self._unknown, raw)

    def exits(self) -> ThreadStates:
        """Threads that exited since the last call, in the order of their exits, at most 4,096:
        after a full list there may be more. About 5,900 can wait to be read; further ones are added
        up by parent and name (camp.TOTAL in their flags)."""
        with self._lock:
            return ThreadStates(self._columns, self._unknown,
                                _camp.states_exits(self._open(), _EXITS_AT_ONCE))

    def cpus(self) -> List[CpuStates]:
        """All CPUs that switched threads in the session, ascending by number."""
        with self._lock:
            return _camp.states_cpus(self._open())

    def disk_waits(self) -> List[DiskWait]:
        """The waits of threads for disks: one row for each thread and disk. Invalid: the session
        counts no waits; open it by camp.microstates(disks=True)."""
        if not self._disks:
            raise Invalid('this session counts no waits for disks: camp.microstates(disks=True)')
        with self._lock:
            return _camp.states_disk_waits(self._open())

    def losses(self) -> Losses:
        """How many events the session has missed so far."""
        with self._lock:
            return _camp.states_losses(self._open())


def microstates(system_calls: bool = True, disks: bool = False) -> Microstates:
    """Opens a session: from now on the kernel accounts for each change of a thread's state.

        with camp.microstates() as states:
            time.sleep(1)
            threads = states.threads()
            print(sum(threads["run_queue_ns"]) / 1e9, "s in the run queue")

    Args:
        system_calls: False: user and system are one state, and system calls cost nothing; "system_ns",
            "trap_ns" and "system_calls" are None.
        disks: for disk_waits(); each wait costs a little.

    Raises:
        Permission: CAP_BPF or CAP_PERFMON is missing.
        NotSupported: this kernel lacks a feature; microstates_events() names it.
    """
    return Microstates(system_calls, disks)


def microstates_events() -> List[Event]:
    """The features of the kernel that microstates use, and whether it has them. Needs no privilege.
    NotSupported: this kernel has no BTF, so this is unknown."""
    return _camp.states_events()
