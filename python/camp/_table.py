"""The whole process table, again and again, without a privilege."""

from typing import Tuple

from camp import _camp
from camp._frames import Block, Column

_COLUMNS = (Column('cpu_ns', 'cpu', 'time on a CPU since it began', 'counter', 'measured'),)

# What follows the values in a block, as the extension has it.
_OF_ROWS = (('start', 'Q'), ('ids', 'i'), ('parents', 'i'))


class ProcessRows(Block):
    """Every process that can be seen, ascending by pid: its name and "cpu_ns", measured, since it
    began. of_rows() has "ids" (pids), "parents" and "start" (of camp.Process)."""

    def __init__(self, raw: Tuple[int, bytes, bytes]) -> None:
        super().__init__(_COLUMNS, _OF_ROWS, *raw)

    def __repr__(self) -> str:
        return f'<camp.ProcessRows of {len(self)} processes>'

    @property
    def ids(self) -> memoryview:
        """The pid of each ("i")."""
        return self.of_rows('ids')


class ProcessTable:
    """Reads the process table, made by camp.process_table(). It knows who was there before, and opens
    files only of processes that are new or have run since; everybody's CPU clock is asked each time.
    One thread reads at a time."""

    def __init__(self) -> None:
        self._table = _camp.table_open()

    def read(self) -> ProcessRows:
        """The table as it is now. Who ends while it is read, or may not be seen, is left out."""
        return ProcessRows(_camp.table_read(self._table))


def process_table() -> ProcessTable:
    """For who watches all processes without a privilege (with CAP_BPF camp.frames("processes") has all
    of their states, and those that come and go between two looks):

        table = camp.process_table()
        rows = table.read()
        print(*zip(rows.ids, rows.names, rows["cpu_ns"]))
    """
    return ProcessTable()
