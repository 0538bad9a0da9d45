"""The machine's counters: CPUs, memory, networks, disks, the kernel, the system as a whole. Each
call reads them again."""

from typing import List, Optional

from camp import _camp
from camp._records import (Cpu, Disk, Kernel, Linux, Memory, Network, Source, System,
                           Utilisation)
from camp._waiting import time_between, wait

_MEMORY = _camp.bits_of('Memory')


def cpu_count(source: Optional[Source] = None) -> int:
    """Returns how many CPUs are online."""
    return _camp.cpu_count(source)


def cpu_ids(source: Optional[Source] = None) -> List[int]:
    """Returns the numbers of the online CPUs, ascending; there are holes where CPUs are offline."""
    return _camp.cpu_ids(source)


def cpu(number: Optional[int] = None, source: Optional[Source] = None) -> Cpu:
    """Reads one CPU, or (None) all together. Gone: the CPU is offline, or does not exist."""
    return _camp.cpu(source, number)


def cpus(source: Optional[Source] = None) -> List[Cpu]:
    """Reads each online CPU, ascending, at one point in time. Their total is cpu()."""
    return _camp.cpus(source)[1:]


def utilisation(before: Cpu, after: Cpu, cpus: int = 1) -> Utilisation:
    """Returns where the time between two readings of the same CPU went. Its busy_provenance is None, because the
    readings do not say which kernel made them; cpu_utilisation() knows it.

    Args:
        cpus: how many CPUs the readings cover: 1, or cpu_count() for all CPUs together.

    Raises:
        Invalid: no time passed between the readings.
    """
    return _camp.cpu_difference(before, after, cpus, False, None)


def cpu_utilisation(number: Optional[int] = None, interval: float = 0.1,
                    source: Optional[Source] = None) -> Utilisation:
    """Reads a CPU (None: all together), waits `interval` seconds, reads it again.

    The resolution of /proc/stat is 1/100 s: over 0.1 s, each number is exact to 10 percent of a CPU.

    Raises:
        Invalid: the interval is 0, so nothing could be measured. Keep an earlier cpu() to compare without
            a wait: utilisation(before, cpu(), cpu_count()).
    """
    ns = time_between(interval, 'utilisation(before, cpu(number), cpus) compares with an earlier cpu(number)')
    before = cpu(number, source)
    wait(ns)
    cpus = cpu_count(source) if number is None else 1
    return _camp.cpu_difference(before, cpu(number, source), cpus, True, source)


def memory(source: Optional[Source] = None) -> Memory:
    """Reads physical memory and swap."""
    return _camp.memory(source, sum(_MEMORY.values()))


def free_memory_bytes(source: Optional[Source] = None) -> Optional[int]:
    """Reads unused memory, by the cheapest way: one system call on Linux."""
    return _camp.memory(source, _MEMORY['free_bytes']).free_bytes


def network(name: str, source: Optional[Source] = None) -> Network:
    """Reads one network interface. Gone: there is none of that name."""
    return _camp.network(source, name)


def networks(source: Optional[Source] = None) -> List[Network]:
    """Reads each network interface, at one point in time, in the system's order."""
    return _camp.networks(source)


def disk(name: str, source: Optional[Source] = None) -> Disk:
    """Reads one disk or partition. Gone: there is none of that name."""
    return _camp.disk(source, name)


def disks(source: Optional[Source] = None, physical: bool = False) -> List[Disk]:
    """Reads each whole disk, at one point in time.

    Args:
        physical: only disks with a device of their own. Loop devices, RAM disks, RAID sets and
            device-mapper volumes have none.
    """
    return _camp.disks(source, _camp.DISK_PHYSICAL if physical else _camp.DISK_WHOLE)


def partitions(source: Optional[Source] = None) -> List[Disk]:
    """Reads each partition. A disk contains its partitions: do not add the two."""
    return _camp.disks(source, _camp.DISK_PARTITION)


def kernel(source: Optional[Source] = None) -> Kernel:
    """Reads what this kernel counts, and how."""
    return _camp.kernel(source)


def linux(source: Optional[Source] = None) -> Linux:
    """Reads what this Linux kernel offers to programs that measure."""
    return _camp.linux(source)


def system(source: Optional[Source] = None) -> System:
    """Reads the counters of the system as a whole: switches, interrupts, load, swap, pressure."""
    return _camp.system(source)


def cpu_frequency_hz(number: int, source: Optional[Source] = None) -> int:
    """Reads the frequency of a CPU at this moment. NotSupported: this system does not report it."""
    return _camp.cpu_frequency_hz(source, number)


def difference(before: int, after: int, bits: int = 64) -> Optional[int]:
    """Returns after - before of a counter that is 32 or 64 bits wide. A wrap is corrected. None: the counter was
    reset to zero between the readings, so the difference is unknown (it is `after` at least)."""
    return _camp.difference(before, after, bits)


def rate(before: int, after: int, elapsed_ns: int, bits: int = 64) -> Optional[float]:
    """Returns how much a counter grew in a second, from two readings that are `elapsed_ns` apart.

        before = camp.network("eth0"); time.sleep(1); after = camp.network("eth0")
        camp.rate(before.sent_bytes, after.sent_bytes, after.time_ns - before.time_ns)

    A wrap is corrected. None: the counter was reset to zero between the readings, so the rate is unknown.
    Invalid: elapsed_ns is 0.
    """
    return _camp.rate(before, after, elapsed_ns, bits)
