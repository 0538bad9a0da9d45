"""camp accounts for every nanosecond exactly once, and says how each number was obtained.

    >>> import camp
    >>> camp.cpu_utilisation().measured_busy_percent
    >>> camp.process(1).read("cpu_ns", "resident_bytes")
    >>> for frame in camp.frames("processes", interval=1.0):    # microstates
    ...     print(frame.to_pandas().nlargest(5, "run_queue_ns"))

Counters are cumulative and raw; the unit is the last word of a name (_ns, _bytes, _percent); what is
unknown is None, never 0. Nothing is cached: a value is never older than the call that returned it.
Several threads may call functions at once. They release the GIL while they read or wait, except
pid_cpu_ns() and Process.cpu_ns(), which are one and two system calls.

docs/python.md is a tour; docs/counters.md says what each number is worth. (Installed they are in
share/doc/camp.)
"""

from camp import _camp
from camp import _errors
from camp._counters import (cpu, cpu_count, cpu_frequency_hz, cpu_ids, cpu_utilisation, cpus,
                            difference, disk, disks, free_memory_bytes, kernel, linux, memory,
                            network, networks, partitions, rate, system, utilisation)
from camp._errors import (Error, FormatError, Gone, Invalid, NotFound, NotSupported, OutOfMemory,
                          Permission, ReadError, Unreachable)
from camp._frames import Column, Entity, Frame, FrameLosses, Frames, frames
from camp._processes import (Process, Taskstats, Thread, fork_count, process, processes,
                             read_processes, taskstats)
from camp._provenance import Provenance, counters, provenance
from camp._records import (RECORDS, Cpu, CpuStates, Disk, DiskWait, Event, Kernel, Linux, Losses, Memory,
                           Network, Source, System, Task, TaskExit, Taskstat, TaskUtilisation,
                           Utilisation)
from camp._states import (ENDED, KERNEL, OLDER, TOTAL, UNSURE, Microstates, ThreadStates, microstates,
                          microstates_events)
from camp._table import ProcessRows, ProcessTable, process_table

__version__ = _camp.version
pid_cpu_ns = _camp.pid_cpu_ns

_camp.use(_errors.make, {**RECORDS, 'Process': Process, 'Thread': Thread})

__all__ = [
    'Column', 'Cpu', 'CpuStates', 'Disk', 'DiskWait', 'ENDED', 'Entity', 'Error', 'Event',
    'FormatError', 'Frame', 'FrameLosses', 'Frames', 'Gone', 'Invalid', 'KERNEL', 'Kernel', 'Linux',
    'Losses', 'Memory', 'Microstates', 'Network', 'NotFound', 'NotSupported', 'OLDER', 'OutOfMemory',
    'Permission', 'Process', 'ProcessRows', 'ProcessTable', 'Provenance', 'ReadError', 'Source',
    'System', 'TOTAL', 'Task', 'TaskExit', 'TaskUtilisation', 'Taskstat', 'Taskstats', 'Thread',
    'ThreadStates', 'UNSURE', 'Unreachable', 'Utilisation', 'counters', 'cpu', 'cpu_count',
    'cpu_frequency_hz', 'cpu_ids', 'cpu_utilisation', 'cpus', 'difference', 'disk', 'disks',
    'fork_count', 'frames', 'free_memory_bytes', 'kernel', 'linux', 'memory', 'microstates',
    'microstates_events', 'network',
    'networks', 'partitions', 'pid_cpu_ns', 'process', 'process_table', 'processes', 'provenance',
    'rate', 'read_processes', 'system', 'taskstats', 'utilisation']
