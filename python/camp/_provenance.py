"""The catalogue of counters: what each is, and how it is obtained."""

from typing import List, NamedTuple, Optional

from camp import _camp
from camp._errors import Invalid


class Provenance(NamedTuple):
    """A counter, and how it is obtained on this machine."""

    name: str  # "process.cpu_ns": camp.Task.cpu_ns of a process; the name for `camp get`
    unit: str  # "ns", "bytes", "percent", "count", ...
    obtained: str  # "measured", "sampled", "scaled", "derived"; "fact"; "unknown" on this kernel
    resolution: str
    source: str  # on this system
    help: str
    capability: Optional[str]  # without it the number may be None


def counters() -> List[Provenance]:
    """Returns all counters of this machine: CPUs, memory, networks, disks, partitions, processes, threads,
    the kernel. docs/counters.md has them as a table, and explains how good each kind of number is."""
    return [Provenance(f'{row[1]}.{row[0]}', *row[2:]) for row in _camp.counter_table()]


def provenance(name: str) -> Provenance:
    """Returns the counter of that name: camp.provenance("process.cpu_ns").obtained is "measured".

    Raises:
        Invalid: there is no such counter.
    """
    for counter in counters():
        if counter.name == name:
            return counter
    raise Invalid(f'there is no counter {name!r}: camp.counters() names them')
