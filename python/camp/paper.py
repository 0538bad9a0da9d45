"""The functions of Figure 3 of "CAMP: A Common API for Measuring Performance" (Gabel and Haungs,
LISA '07), by their names: its programs run as printed.

    from camp.paper import *

Times of functions about CPU time are in ms: the sample interval is their optional second parameter,
100 by default. With 0 there is no wait: two readings follow each other at once, as in the paper's
timing runs, and the result is NaN, because no time lies between them that could be measured.

A process identifier is a pid with the start of its process, so that a reused pid is camp.Gone and
never another process. A plain pid is accepted, too, as in the paper, but without this check.
Errors are exceptions (camp.Error), but GetProcessIdentifier() returns None if there is no process.
All functions and their results can be sent to other processes (pickle) and hosts (XML-RPC).
docs/paper-names.md has each function's source, and what the paper left open.
"""

import math
import sys
from typing import Any, List, Optional, Tuple, TypeVar

from camp import _camp
from camp import _errors
from camp import _waiting
from camp._processes import bits as _bits
from camp._records import Disk as _Disk
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
_Number = TypeVar('_Number', int, float)


class ProcessIdentifier(int):
    """A pid with the start of its process. By XML-RPC it is sent as the pid alone."""

    start: int

    def __new__(cls, pid: int, start: int) -> 'ProcessIdentifier':
        identifier = super().__new__(cls, pid)
        identifier.start = start
        _let_xmlrpc_send(cls)
        return identifier

    def __reduce__(self) -> Tuple[Any, ...]:
        """Gives both parts to pickle and copy."""
        return type(self), (int(self), self.start)


def _let_xmlrpc_send(kind: type) -> None:
    """Tells xmlrpc.client how to send this kind of int, which it refuses otherwise. It is not imported for
    this, because that takes longer than to import camp: only a program that has imported it can use it."""
    marshaller = getattr(sys.modules.get('xmlrpc.client'), 'Marshaller', None)
    if marshaller is not None:
        marshaller.dispatch.setdefault(kind, marshaller.dispatch[int])


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
    percent = _camp.cpu_difference(before, _camp.cpu(None, cpu), cpus, False, None).measured_busy_percent
    busy = _known(percent, 'idle time')
    return min(max(busy, 0.0), 100.0) if ns > 0 else math.nan


def GetFreePhysicalMemory() -> int:
    """Physical memory used for nothing, in KB (as in the paper's Table 1). Linux: sysinfo(2)."""
    return _known(_camp.memory(None, _FREE).free_bytes, 'free memory') // 1024


# ----------------------------------------------------------------------------- Network functions


def GetNetBytesSent(interface: str) -> int:
    """Bytes sent on an interface, as its driver counts them. Linux: /proc/net/dev."""
    return _known(_camp.network(None, interface).sent_bytes, 'sent_bytes')


def GetNetPacketsSent(interface: str) -> int:
    """Packets sent on an interface."""
    return _known(_camp.network(None, interface).sent_packets, 'sent_packets')


def GetNetBytesRecvd(interface: str) -> int:
    """Bytes received on an interface."""
    return _known(_camp.network(None, interface).received_bytes, 'received_bytes')


GetNetBytesRecv = GetNetBytesRecvd  # its name in Figure 1


def GetNetPacketsRecvd(interface: str) -> int:
    """Packets received on an interface."""
    return _known(_camp.network(None, interface).received_packets, 'received_packets')


# --------------------------------------------------------------------------------------- Disk IO


def GetNumReads_Disk(disk: str) -> int:
    """Read requests that a disk completed, after merging. Linux: /sys/class/block/DISK/stat."""
    return _known(_disk(disk, 'disk').reads, 'reads')


def GetNumWrites_Disk(disk: str) -> int:
    """Write requests that a disk completed, after merging."""
    return _known(_disk(disk, 'disk').writes, 'writes')


def GetNumReads_Partition(partition: str) -> int:
    """Read requests that a partition completed, after merging."""
    return _known(_disk(partition, 'partition').reads, 'reads')


def GetNumWrites_Partition(partition: str) -> int:
    """Write requests that a partition completed, after merging."""
    return _known(_disk(partition, 'partition').writes, 'writes')


# ------------------------------------------------------------------------- Per-process functions


def GetNumPageFaults(process: int) -> int:
    """Minor and major page faults of a process since its start. Linux: /proc/PID/stat."""
    task = _camp.process_read(None, process, _start(process), _FAULTS)
    return _known(task.minor_faults, 'page faults') + _known(task.major_faults, 'page faults')


def GetCPUtime_Total(process: int, interval: float = _DEFAULT_MS) -> float:
    """CPU time of a process in the next `interval` ms, in percent of one CPU, measured by its CPU
    clock.

    If the process runs while it is read, each reading is up to one tick (1 to 10 ms) old."""
    utilisation = _utilisation(process, interval)
    return utilisation.cpu_percent if utilisation else math.nan


def GetCPUtime_User(process: int, interval: float = _DEFAULT_MS) -> float:
    """The same for user mode: measured time, divided as the samples were; resolution 1/100 s."""
    utilisation = _utilisation(process, interval)
    return utilisation.user_percent if utilisation else math.nan


def GetCPUtime_Kernel(process: int, interval: float = _DEFAULT_MS) -> float:
    """The same for time in the kernel."""
    utilisation = _utilisation(process, interval)
    return utilisation.system_percent if utilisation else math.nan


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
    """The names of the disks that are devices, each a valid argument of the functions about disks. Loop
    devices, RAM disks, RAID sets and device-mapper volumes are no physical disks: camp.disks() has them,
    and the functions about disks take them, too."""
    return tuple(disk.name for disk in _camp.disks(None, _camp.DISK_PHYSICAL))


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
    except (_errors.Gone, _errors.Invalid, _errors.Permission):
        return None


def GetProcessIdentifiers(name: str) -> List[ProcessIdentifier]:
    """The identifiers of all processes launched from an executable of this name, ascending: its file has
    the name, or it was invoked by it (argv[0]), or it is a script of this name. So "python3" finds what
    "python3.11" finds, if that is the file behind the link "python3"."""
    return [ProcessIdentifier(*process) for process in _camp.process_list(None, name)]


# ------------------------------------------------------------------------------------- Helpers


def _start(process: int) -> int:
    """The start of the process; for a plain pid, of the process that has it now."""
    start: Optional[int] = getattr(process, 'start', None)
    return _camp.process_identify(None, process).start if start is None else start


def _in_ns(interval: float) -> int:
    return _waiting.in_ns(interval, unit='ms', per_second=1000)


def _utilisation(process: int, interval: float) -> Optional[_TaskUtilisation]:
    """None: the interval is 0, so the two readings are no measurement."""
    ns = _in_ns(interval)
    start = _start(process)
    before = _camp.process_read(None, process, start, _TIMES)
    _waiting.wait(ns)
    utilisation = _camp.process_utilisation(None, process, start, before)
    return utilisation if ns > 0 else None


def _disk(name: str, kind: str) -> _Disk:
    disk = _camp.disk(None, name)
    if disk.kind != kind:
        raise _errors.Invalid(f'{name} is a {disk.kind}, not a {kind}: the functions about {disk.kind}s '
                              'read it')
    return disk


def _known(value: Optional[_Number], what: str) -> _Number:
    if value is None:
        raise _errors.NotSupported(f'{what}: not known here')
    return value
