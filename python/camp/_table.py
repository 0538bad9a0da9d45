"""The whole process table, read repeatedly and without a privilege."""

from typing import Tuple

from camp import _camp
from camp._frames import Block, Column

_COLUMNS = (Column('cpu_ns', 'cpu', 'time on a CPU since its start', 'counter', 'measured'),)

# The columns that follow the values in a block of the extension, in its order.
_OF_ROWS = (('start', 'Q'), ('ids', 'i'), ('parents', 'i'))


class ProcessRows(Block):
    """Every visible process, ascending by pid: its name and "cpu_ns", its measured CPU time since
    its start. of_rows() has "ids" (pids), "parents" and "start" (of camp.Process)."""

    def __init__(self, raw: Tuple[int, bytes, bytes]) -> None:
        super().__init__(_COLUMNS, _OF_ROWS, *raw)

    def __repr__(self) -> str:
        return f'<camp.ProcessRows of {len(self)} processes>'

    @property
    def ids(self) -> memoryview:
        """The pid of each process ("i")."""
        return self.of_rows('ids')


class ProcessTable:
    """A reader of the process table, made by camp.process_table(). It keeps the last table, and opens
    files only of processes that are new or have run since; it reads every CPU clock each time. Only
    one thread at a time may read."""

    def __init__(self) -> None:
        self._table = _camp.table_open()

    def read(self) -> ProcessRows:
        """The table now, without processes that exit meanwhile or are invisible."""
        return ProcessRows(_camp.table_read(self._table))


def process_table() -> ProcessTable:
    """Makes a reader of the process table, to watch all processes without a privilege. (With
    CAP_BPF camp.frames("processes") has all their states, and processes that start and exit between
    two readings.)

        table = camp.process_table()
        rows = table.read()
        print(*zip(rows.ids, rows.names, rows["cpu_ns"]))
    """
    return ProcessTable()
