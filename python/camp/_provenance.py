"""What each counter is and how it was obtained, as data."""

from typing import List, NamedTuple, Optional

from camp import _camp
from camp._errors import Invalid


class Provenance(NamedTuple):
    """A counter: what it is worth on this machine."""

    name: str  # "process.cpu_ns": camp.Task.cpu_ns of a process, and what `camp get` takes
    unit: str  # "ns", "bytes", "percent", "count", ...
    obtained: str  # "measured", "sampled", "scaled", "derived"; "fact"; "unknown" on this kernel
    resolution: str
    source: str  # on this system
    help: str
    capability: Optional[str]  # without it the number may be None


def counters() -> List[Provenance]:
    """All counters of this machine: CPUs, memory, networks, disks, partitions, processes, threads,
    the kernel. docs/counters.md is the same as a table, and says what each way to a number is worth."""
    return [Provenance(f'{row[1]}.{row[0]}', *row[2:]) for row in _camp.counter_table()]


def provenance(name: str) -> Provenance:
    """The counter of that name: camp.provenance("process.cpu_ns").obtained is "measured".

    Raises:
        Invalid: there is none.
    """
    for counter in counters():
        if counter.name == name:
            return counter
    raise Invalid(f'there is no counter {name!r}: camp.counters() names them')
