"""Frames: one interval of one source, rows x columns, in one block of memory that numpy and pandas
take without copying."""

import contextlib
import os
import sys
import threading
import time
from types import TracebackType
from typing import (TYPE_CHECKING, Any, AsyncIterator, Dict, Iterator, List, NamedTuple, Optional,
                    Sequence, Tuple, Type, Union)

from camp import _camp
from camp._errors import Error, Invalid, in_python, of_source
from camp._waiting import in_ns

if TYPE_CHECKING:
    import pandas

_UINT64 = '<u8' if sys.byteorder == 'little' else '>u8'
_NO_UID = 2**32 - 1

# The columns of a block after its values, in the extension's order, with their memoryview formats.
_OF_ROWS = (('elapsed_ns', 'Q'), ('ids', 'q'), ('cgroups', 'Q'), ('pids', 'i'), ('parents', 'i'),
            ('uids', 'I'), ('flags', 'I'), ('counts', 'I'))


class Column(NamedTuple):
    """A column of a frame."""

    name: str
    title: str  # short, for a heading
    help: str
    kind: str  # "state": ns of a row's elapsed time; "counter": how much more; "gauge": a level
    provenance: str  # "measured", "sampled", "scaled", "derived"


class FrameLosses(NamedTuple):
    """What an interval could not see."""

    unseen: int  # processes that left no record; of threads: switches without an event
    lost: int  # exited tasks: the kernel dropped their records for lack of space
    unread_ns: int  # at most this much CPU time of exited tasks is in no record
    partial: int  # exited tasks: their time since the last snapshot is unknown


class Entity(NamedTuple):
    """A row of a frame: a thread, a process, a user, a CPU, ..."""

    id: int  # tid, pid, uid, CPU (-1: all together); 0: exited ones, added up, or a row of a table
    name: str
    pid: Optional[int]  # None, here and below: unknown to the source (a CPU has no process)
    parent: Optional[int]
    uid: Optional[int]
    cgroup: Optional[int]  # its id
    members: int  # how many it adds up
    new: bool  # it started in the interval
    ended: bool
    kernel: bool  # a kernel thread
    elapsed_ns: int  # the sum of its states
    labels: Dict[str, str]


def _texts(joined: bytes, rows: int) -> List[str]:
    return joined.decode('utf-8', 'surrogateescape').split('\0') if rows else []


class Block:
    """Columns of unsigned 64-bit numbers, one for each of `columns`, `len()` rows long.

    numpy.asarray(block) is rows x columns (in Fortran's order), pandas.DataFrame(that) too, and
    block["name"] a memoryview of one column. All share one memory, which is read-only and lives as
    long as any of them.
    """

    columns: Tuple[Column, ...]

    def __init__(self, columns: Tuple[Column, ...], of_rows: Sequence[Tuple[str, str]], rows: int,
                 block: bytes, names: bytes) -> None:
        self.columns = columns
        self._rows = rows
        self._block = memoryview(block)
        self._joined_names = names
        self._names: Optional[List[str]] = None
        self._places = {column.name: place for place, column in enumerate(columns)}
        self._of_rows = of_rows

    def __len__(self) -> int:
        return self._rows

    def __getstate__(self) -> Dict[str, Any]:
        """For pickle and copy: what memory it shares is its columns, as bytes."""
        return {**self.__dict__, '_block': bytes(self._block)}

    def __setstate__(self, state: Dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._block = memoryview(state['_block'])

    def __getitem__(self, name: str) -> memoryview:
        """Returns a column, as a contiguous memoryview of `len()` numbers. KeyError: there is no such column."""
        at = self._places[name] * self._rows * 8
        return self._block[at:at + self._rows * 8].cast('Q')

    def __contains__(self, name: object) -> bool:
        return name in self._places

    def of_rows(self, name: str) -> memoryview:
        """Returns a fact of each row besides its numbers: "ids", "pids", "uids", ... . Unknown values are -1,
        in "uids" 2**32 - 1, in "cgroups" 0."""
        at = len(self.columns) * self._rows * 8
        for own, form in self._of_rows:
            size = self._rows * (8 if form in 'qQ' else 4)
            if own == name:
                return self._block[at:at + size].cast(form)
            at += size
        raise KeyError(name)

    @property
    def values(self) -> memoryview:
        """Returns all numbers: a memoryview of unsigned 64-bit numbers, columns x rows. (Without rows it is
        empty.)"""
        size = len(self.columns) * self._rows * 8
        flat = self._block[:size]
        return flat.cast('Q', (len(self.columns), self._rows)) if size else flat.cast('Q')

    @property
    def __array_interface__(self) -> Dict[str, Any]:
        return {'version': 3, 'typestr': _UINT64, 'shape': (self._rows, len(self.columns)),
                'strides': (8, 8 * self._rows), 'data': self._block if self._rows else b'\0' * 8}

    @property
    def names(self) -> List[str]:
        """Returns the name of each row."""
        if self._names is None:
            self._names = _texts(self._joined_names, self._rows)
        return self._names

    @property
    def states(self) -> Tuple[str, ...]:
        """Returns the names of the states, the columns that are disjoint times: those of a row add up to its
        elapsed time."""
        return tuple(column.name for column in self.columns if column.kind == 'state')

    def to_pandas(self, copy: bool = True) -> 'pandas.DataFrame':
        """Returns a DataFrame of the columns, indexed by name and id.

        Args:
            copy: True: the DataFrame has its own numbers, and may be changed (data["user_ns"] += 1). False: it
                shares the memory of the frame, which is read-only (ValueError).
        """
        import numpy
        import pandas
        index = pandas.MultiIndex.from_arrays([self.names, self.of_rows('ids')],
                                              names=['name', 'id'])
        values = numpy.array(self, order='F') if copy else numpy.asarray(self)
        return pandas.DataFrame(values, index=index, copy=False,
                                columns=[column.name for column in self.columns])


class Frame(Block):
    """One interval of a source.

    Attributes:
        columns: what each column is; the states come first.
        start_ns, end_ns: the interval, CLOCK_MONOTONIC.
        wall_clock_ns: its end, since 1970.
        losses: what the interval could not see.
        note: a remark about this interval, for the reader; "": none.
        beside: another frame of the same snapshot (the CPUs beside threads and processes), or None.
    """

    def __init__(self, raw: '_camp.RawFrame', beside: Optional['Frame'] = None) -> None:
        (columns, self._label_names, self.start_ns, self.end_ns, self.wall_clock_ns, rows, block,
         names, self._labels, losses, note) = raw
        super().__init__(tuple(Column(*column) for column in columns), _OF_ROWS, rows, block, names)
        self.losses = FrameLosses(*losses)
        self.note = in_python(note or '')
        self.beside = beside

    def __repr__(self) -> str:
        return (f'<camp.Frame of {len(self)} rows x {len(self.columns)} columns, '
                f'{(self.end_ns - self.start_ns) / 1e9:.3f} s>')

    @property
    def interval_ns(self) -> int:
        """Its length."""
        return self.end_ns - self.start_ns

    @property
    def ids(self) -> memoryview:
        """Returns tid, pid, uid, CPU, ... of each row ("q")."""
        return self.of_rows('ids')

    @property
    def pids(self) -> memoryview:
        """Returns the process of each row ("i"); -1: unknown."""
        return self.of_rows('pids')

    @property
    def elapsed_ns(self) -> memoryview:
        """Returns the wall time of each row in the interval ("Q"): the sum of its states."""
        return self.of_rows('elapsed_ns')

    @property
    def unaccounted_ns(self) -> List[int]:
        """Returns the elapsed time of each row less the sum of its states: negative if more was accounted
        than elapsed. Without states ("check") the list is empty."""
        if not self.states:
            return []
        return [elapsed - sum(states) for elapsed, *states in
                zip(self.elapsed_ns, *(self[name] for name in self.states))]

    @property
    def labels(self) -> Dict[str, List[str]]:
        """Returns the labels of database sessions ("user", ...), or with containers=True of
        threads ("container", ...), with their values in each row."""
        return {name: _texts(joined, len(self))
                for name, joined in zip(self._label_names, self._labels)}

    @property
    def entities(self) -> List[Entity]:
        """Returns the rows, one entity each."""
        labels = self.labels
        known = [self.of_rows(name) for name in ('ids', 'pids', 'parents', 'uids', 'cgroups',
                                                 'counts', 'flags', 'elapsed_ns')]
        return [
            Entity(id_, name, pid if pid >= 0 else None, parent if parent >= 0 else None,
                   uid if uid != _NO_UID else None, cgroup or None, count, bool(flags & _camp.ENTITY_NEW),
                   bool(flags & _camp.ENTITY_ENDED), bool(flags & _camp.ENTITY_KERNEL), elapsed,
                   {label: values[row] for label, values in labels.items()})
            for row, (name, id_, pid, parent, uid, cgroup, count, flags, elapsed) in
            enumerate(zip(self.names, *known))]


class Frames:
    """An iterator of frames, made by camp.frames(), also for `async for`. Only one thread at a time may
    wait for the next frame. It is a context manager, and closes when it is no longer referenced.

    Attributes:
        name: the source, for a title.
        kind: what its rows are: "threads", "processes", ...; "": see its columns.
        tier: how it is measured: "bpf", "taskstats", "schedstat", "proc", "recording", "table".
        live: it continues with this machine; otherwise it has an end.
        note: how the source is read, for the reader; "": no remark.
    """

    # Sources with labels share a table of them: those beyond this machine, and names of containers.
    # (A signal handler may read, too: an RLock.)
    _one_at_a_time = threading.RLock()

    def __init__(self, of: 'Union[str, bytes, os.PathLike[str]]', interval: float,
                 options: Dict[str, Any]) -> None:
        self._interval_ns = in_ns(interval)
        name = self._name(of)
        self._here = _camp.frames_are_here(name)
        self._has_labels = not self._here or bool(options.get('containers'))
        self._of = os.fsdecode(name)
        with self._in_turn():
            (self._source, self.name, self.kind, self.tier, self.live, self.usual_interval_ns,
             note) = _camp.frames_open(name, **options)
        self.note = in_python(note)
        self._due_ns = time.monotonic_ns()

    @staticmethod
    def _name(of: 'Union[str, bytes, os.PathLike[str]]') -> bytes:
        try:
            return os.fsencode(of)
        except TypeError:
            raise TypeError(f'of={of!r}: a str or a path is wanted') from None

    @contextlib.contextmanager
    def _in_turn(self) -> Iterator[None]:
        """Reads sources with labels one at a time; those beyond this machine with their exceptions."""
        if not self._has_labels:
            yield
            return
        with Frames._one_at_a_time:
            try:
                yield
            except Error as error:
                if self._here:
                    raise
                raise of_source(self._of, error) from None

    def __iter__(self) -> Iterator[Frame]:
        return self

    def __next__(self) -> Frame:
        """Waits for the end of the interval, and reads it. If a signal handler raises an exception
        during the wait (KeyboardInterrupt), this interval is lost."""
        now = time.monotonic_ns()
        self._due_ns = max(self._due_ns + self._interval_ns, now)
        return self.read(self._due_ns - now)

    def _next(self) -> Optional[Frame]:
        return next(self, None)

    async def __aiter__(self) -> AsyncIterator[Frame]:
        """Iterates in an event loop of asyncio, which waits in a thread. If the wait is cancelled, it ends
        within 50 ms, and these frames are closed."""
        import asyncio  # takes longer than to import camp
        loop = asyncio.get_running_loop()
        try:
            while (frame := await loop.run_in_executor(None, self._next)) is not None:
                yield frame
        except asyncio.CancelledError:
            self.close()
            raise

    def read(self, wait_ns: int = 0) -> Frame:
        """Returns the interval since the last frame, after waiting `wait_ns`. StopIteration: the end."""
        source = self._source  # another thread may close these meanwhile
        if source is None:
            raise Invalid('these frames are closed')
        deadline_ns = time.monotonic_ns() + in_ns(wait_ns, 'wait_ns', 'ns', 10**9)
        with self._in_turn():
            both = _camp.frames_next(source, deadline_ns)
        if both is None:
            raise StopIteration
        beside = Frame(both[1]) if both[1] is not None else None
        return Frame(both[0], beside)

    def close(self) -> None:
        """Closes the source. A second call does nothing. If another thread waits for a frame, its wait ends
        within 50 ms (Invalid)."""
        source, self._source = self._source, None
        if source is not None:
            _camp.frames_stop(source)

    def __enter__(self) -> 'Frames':
        return self

    def __exit__(self, kind: Optional[Type[BaseException]], error: Optional[BaseException],
                 trace: Optional[TracebackType]) -> None:
        self.close()


def _forked() -> None:
    """Replaces the lock in a forked child, where the thread that held it does not exist."""
    Frames._one_at_a_time = threading.RLock()


os.register_at_fork(after_in_child=_forked)


def frames(of: 'Union[str, bytes, os.PathLike[str]]' = 'threads', interval: float = 1.0,
           **options: Any) -> Frames:
    """Frames of a source, one each `interval` seconds:

        for frame in camp.frames("processes", interval=1.0):
            print(frame.to_pandas().nlargest(5, "user_ns"))

    Args:
        of: "threads", "processes", "users", "commands", "cgroups", "cpus" of this machine, by
            microstates. Where these are unavailable: threads and their groups by the scheduler's
            counts, CPUs as sampled by the system, and `note` says why. "check": sampled beside
            measured CPU time of processes. Or another source of `camp top --from`: a recording
            ("run.camp"), a table ("run.csv", "sqlite:FILE" with query=), database sessions
            ("postgres:...", "mariadb:...", "odbc:..."), a fleet ("prometheus:URL").
        interval: seconds. A recording or table has its own, and does not wait (speed=0).
        options: tier="bpf" (how to measure; otherwise the best available way);
            system_calls=False (user and system are one state, and system calls cost nothing);
            containers=True (threads and their groups have the labels container, pod and unit:
            docs/containers.md). For tables: query, unit. For sources with an end: begin, end (ns
            since 1970) and speed (1: original; 0: without waiting). For database sessions: rules,
            detail, background, queries. For prometheus: host (its groups are the rows) and, with
            query, column.

    Raises:
        Permission: CAP_BPF and CAP_PERFMON are missing, and "cgroups" or tier="bpf" needs them
            ("check" needs no capability; CAP_NET_ADMIN gives it sampled times).
        NotSupported: this kernel lacks a feature; camp.microstates_events() names it.
        Invalid: there is no such source. Reading: the parent opened it before a fork.
        NotFound, Unreachable: the file does not exist; the server does not answer.
    """
    return Frames(of, interval, options)
