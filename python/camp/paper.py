"""The functions of Figure 3 of "CAMP: A Common API for Measuring Performance" (Gabel and Haungs,
LISA '07), by their names: its programs run as printed.

    from camp.paper import *

Times of functions about CPU time are in ms: the sample interval is their optional second parameter,
100 by default. With 0 there is no wait: two readings follow each other at once, as in the paper's
timing runs, and their difference is no measurement.

A process identifier is a pid with the start of its process, so that a reused pid is camp.Gone and
never another process. A plain pid is accepted, too, as in the paper, but without this check.
Errors are exceptions (camp.Error), but GetProcessIdentifier() returns None if there is no process.
docs/paper-names.md has each function's source, and what the paper left open.
"""

from typing import List, Optional, Tuple

from camp import _camp
from camp import _errors
from camp import _waiting
from camp._processes import bits as _bits
from camp._records import TaskUtilisation as _TaskUtilisation

__all__ = [
    'EnumDiskPartitions', 'EnumNetworkInterfaces', 'EnumPhysicalDisks', 'GetCPUCount',
    'GetCPUtime_Kernel', 'GetCPUtime_Total', 'GetCPUtime_User', 'GetFreePhysicalMemory',
    'GetNetBytesRecv', 'GetNetBytesRecvd', 'GetNetBytesSent', 'GetNetPacketsRecvd',
    'GetNetPacketsSent', 'GetNumPageFaults', 'GetNumReads_Disk', 'GetNumReads_Partition',
    'GetNumWrites_Disk', 'GetNumWrites_Partition', 'GetPercentProcessorTime',
    'GetProcessIdentifier', 'GetProcessIdentifiers', 'GetThreadCount', 'GetVMSizeKb',
    'GetWorkingSetKb']

_FREE = _camp.bits_of('Memory')['free_bytes']
_TIMES, _FAULTS = _bits(('cpu_ns', 'user_ns')), _bits(('minor_faults', 'major_faults'))
_SIZE, _THREADS = _bits(('resident_bytes', 'virtual_bytes')), _bits(('threads',))
_DEFAULT_MS = 100


class ProcessIdentifier(int):
    """A pid with the start of its process."""

    start: int

    def __new__(cls, pid: int, start: int) -> 'ProcessIdentifier':
        identifier = super().__new__(cls, pid)
        identifier.start = start
        return identifier


# ------------------------------------------------------------------------------ Global functions


def GetPercentProcessorTime(cpu: Optional[int] = None, interval: float = _DEFAULT_MS) -> float:
    """Time not spent idle, in percent: of one CPU (0-based) or, when it is omitted, of all.

    Waits `interval` ms between two readings. Linux: /proc/stat, idle and iowait, measured where the
    tick stops in idle; resolution 1/100 s, so of 100 ms 10 percent of a CPU.
    """
    ns = _in_ns(interval)
    before = _camp.cpu(None, cpu)
    _waiting.wait(ns)
    cpus = _camp.cpu_count(None) if cpu is None else 1
    busy = _camp.cpu_difference(before, _camp.cpu(None, cpu), cpus).measured_busy_percent
    return min(max(busy, 0.0), 100.0)


def GetFreePhysicalMemory() -> int:
    """Physical memory used for nothing, in KB (as in the paper's Table 1). Linux: sysinfo(2)."""
    return _known(_camp.memory(None, _FREE).free_bytes, 'free memory') // 1024


# ----------------------------------------------------------------------------- Network functions


def GetNetBytesSent(interface: str) -> int:
    """Bytes sent on an interface, as its driver counts them. Linux: /proc/net/dev."""
    return _camp.network(None, interface).sent_bytes


def GetNetPacketsSent(interface: str) -> int:
    """Packets sent on an interface."""
    return _camp.network(None, interface).sent_packets


def GetNetBytesRecvd(interface: str) -> int:
    """Bytes received on an interface."""
    return _camp.network(None, interface).received_bytes


GetNetBytesRecv = GetNetBytesRecvd  # its name in Figure 1


def GetNetPacketsRecvd(interface: str) -> int:
    """Packets received on an interface."""
    return _camp.network(None, interface).received_packets


# --------------------------------------------------------------------------------------- Disk IO


def GetNumReads_Disk(disk: str) -> int:
    """Read requests that a disk completed, after merging. Linux: /sys/class/block/DISK/stat."""
    return _camp.disk(None, disk).reads


def GetNumWrites_Disk(disk: str) -> int:
    """Write requests that a disk completed, after merging."""
    return _camp.disk(None, disk).writes


def GetNumReads_Partition(partition: str) -> int:
    """Read requests that a partition completed, after merging."""
    return _camp.disk(None, partition).reads


def GetNumWrites_Partition(partition: str) -> int:
    """Write requests that a partition completed, after merging."""
    return _camp.disk(None, partition).writes


# ------------------------------------------------------------------------- Per-process functions


def GetNumPageFaults(process: int) -> int:
    """Minor and major page faults of a process since its start. Linux: /proc/PID/stat."""
    task = _camp.process_read(None, process, _start(process), _FAULTS)
    return _known(task.minor_faults, 'page faults') + _known(task.major_faults, 'page faults')


def GetCPUtime_Total(process: int, interval: float = _DEFAULT_MS) -> float:
    """CPU time of a process in the next `interval` ms, in percent of one CPU, measured by its CPU
    clock.

    If the process runs while it is read, each reading is up to one tick (1 to 10 ms) old."""
    return _utilisation(process, interval).cpu_percent


def GetCPUtime_User(process: int, interval: float = _DEFAULT_MS) -> float:
    """The same for user mode: measured time, divided as the samples were; resolution 1/100 s."""
    return _utilisation(process, interval).user_percent


def GetCPUtime_Kernel(process: int, interval: float = _DEFAULT_MS) -> float:
    """The same for time in the kernel."""
    return _utilisation(process, interval).system_percent


def GetWorkingSetKb(process: int) -> int:
    """Memory of a process that is in RAM, shared pages included, in KB. Linux: /proc/PID/stat."""
    task = _camp.process_read(None, process, _start(process), _SIZE)
    return _known(task.resident_bytes, 'working set') // 1024


def GetVMSizeKb(process: int) -> int:
    """Address space that a process has mapped, in KB."""
    task = _camp.process_read(None, process, _start(process), _SIZE)
    return _known(task.virtual_bytes, 'size') // 1024


def GetThreadCount(process: int) -> int:
    """Threads that live in a process."""
    task = _camp.process_read(None, process, _start(process), _THREADS)
    return _known(task.threads, 'threads')


# ------------------------------------------------------------------------- Enumeration functions


def EnumDiskPartitions() -> Tuple[str, ...]:
    """The names of the partitions, each a valid argument of the functions about partitions."""
    return tuple(disk.name for disk in _camp.disks(None, _camp.DISK_PARTITION))


def EnumPhysicalDisks() -> Tuple[str, ...]:
    """The names of the disks, each a valid argument of the functions about disks."""
    return tuple(disk.name for disk in _camp.disks(None, _camp.DISK_WHOLE))


def EnumNetworkInterfaces() -> Tuple[str, ...]:
    """The names of the network interfaces, each a valid argument of the functions about them."""
    return tuple(network.name for network in _camp.networks(None))


def GetCPUCount() -> int:
    """How many CPUs are online."""
    return _camp.cpu_count(None)


def GetProcessIdentifier(pid: int) -> Optional[ProcessIdentifier]:
    """The identifier of the process that has this pid; None: there is none, or it may not be read."""
    try:
        return ProcessIdentifier(pid, _camp.process_identify(None, pid).start)
    except _errors.Error:
        return None


def GetProcessIdentifiers(name: str) -> List[ProcessIdentifier]:
    """The identifiers of all processes launched from an executable of this name."""
    return [ProcessIdentifier(*found) for found in _camp.process_list(None, name)]


# ------------------------------------------------------------------------------------- Helpers


def _start(process: int) -> int:
    """The start of the process; for a plain pid, of the process that has it now."""
    start: Optional[int] = getattr(process, 'start', None)
    return _camp.process_identify(None, process).start if start is None else start


def _in_ns(interval: float) -> int:
    return _waiting.in_ns(interval, unit='ms', per_second=1000)


def _utilisation(process: int, interval: float) -> _TaskUtilisation:
    ns = _in_ns(interval)
    start = _start(process)
    before = _camp.process_read(None, process, start, _TIMES)
    _waiting.wait(ns)
    return _camp.process_utilisation(None, process, start, before)


def _known(value: Optional[int], what: str) -> int:
    if value is None:
        raise _errors.NotSupported(f'{what}: not known here')
    return value
