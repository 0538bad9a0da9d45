"""What is read, as named tuples. The unit is the last word of a name; a field without one counts.
None is unknown: this system does not count it, or a permission is missing. It is never a zero.

Counters are cumulative; two readings and `difference()` or a utilisation make a rate of them.
`time_ns` is CLOCK_MONOTONIC (time.monotonic_ns()) at the moment of reading. How each number was
obtained: `camp.provenance("process.cpu_ns")`, and docs/counters.md.
"""

from typing import Dict, NamedTuple, Optional


class Source(NamedTuple):
    """Where to read, instead of this machine: folders that stand for /proc and /sys (fixtures; a
    host's, seen in a container). Only files are read then, no system call, clock or netlink."""

    proc: Optional[str] = None
    sys: Optional[str] = None


class Cpu(NamedTuple):
    """Where one CPU's time went since boot, in disjoint columns: where all are measured they add up
    to wall time.

    Linux: /proc/stat, resolution 1/100 s. user nice system irq softirq guest are sampled at the
    tick; idle and iowait measured where the tick stops in idle. `camp.kernel()` says which.
    """

    cpu: Optional[int]  # its number; None: all CPUs together
    time_ns: int
    user_ns: Optional[int]  # without guest
    nice_ns: Optional[int]  # user time of niced tasks, without guest_nice
    system_ns: Optional[int]  # in the kernel, without interrupts
    idle_ns: Optional[int]  # without iowait
    iowait_ns: Optional[int]  # idle, while a task that last ran here waits for a disk
    irq_ns: Optional[int]
    softirq_ns: Optional[int]
    steal_ns: Optional[int]  # ready to run, while the hypervisor ran something else
    guest_ns: Optional[int]  # running a virtual machine's CPU
    guest_nice_ns: Optional[int]


class Utilisation(NamedTuple):
    """Where a CPU's time went between two readings, in percent of wall time (of all CPUs together:
    of all of it). measured_busy_percent and sampled_busy_percent ought to agree, and often do not."""

    measured_busy_percent: float  # 100 - idle - iowait, by the wall clock
    sampled_busy_percent: float  # user + nice + system + irq + softirq + guest: what top shows
    idle_percent: float
    iowait_percent: float
    steal_percent: float
    sum_percent: float  # of all columns: 100 where they add up
    elapsed_ns: int
    resolution_percent: float  # one unit of /proc/stat in this interval: no number is better


class Memory(NamedTuple):
    """Physical memory and swap. Linux: sysinfo(2) or /proc/meminfo; resolution one page."""

    time_ns: int
    total_bytes: Optional[int]
    free_bytes: Optional[int]  # used for nothing at all
    available_bytes: Optional[int]  # what a new program could have without swapping: an estimate
    buffers_bytes: Optional[int]  # pages of block devices
    cached_bytes: Optional[int]  # page cache, tmpfs and shared memory; without buffers
    swap_total_bytes: Optional[int]
    swap_free_bytes: Optional[int]


class Network(NamedTuple):
    """A network interface, as its driver counts. Linux: /proc/net/dev of this network namespace."""

    name: str
    time_ns: int
    received_bytes: int
    received_packets: int
    received_errors: int
    received_drops: int
    sent_bytes: int
    sent_packets: int
    sent_errors: int
    sent_drops: int


class Disk(NamedTuple):
    """A disk or a partition. A disk contains its partitions: do not add the two kinds.

    Linux: /proc/diskstats, /sys/class/block/NAME/stat. Requests are counted when they complete,
    after merging; the times of requests that overlap are counted for each. The kernel's times are
    32 bits of ms, which wrap after 49.7 days: difference(a // 10**6, b // 10**6, 32) survives that.
    """

    name: str
    kind: str  # "disk" or "partition"
    time_ns: int
    reads: int
    read_bytes: int
    read_ns: int
    writes: int
    written_bytes: int
    write_ns: int
    in_flight: int  # requests now: a level, not a counter
    busy_ns: int  # time with at least one request in flight
    queue_ns: int  # requests in flight x time


class Task(NamedTuple):
    """What a process (all its threads) or a thread has used since it began."""

    time_ns: int
    start: int  # of the identifier. Linux: 1/100 s after boot
    started_ns: Optional[int]  # CLOCK_BOOTTIME at its start; resolution 1/100 s
    parent: Optional[int]  # pid of the parent; 0: it has none
    name: Optional[str]  # comm, at most 15 bytes; os.fsencode() gives back bytes that are no UTF-8
    state: Optional[str]  # R S D T t Z X I, as in proc(5)
    cpu_ns: Optional[int]  # on a CPU, measured. Linux: its CPU clock, schedstat of a thread
    cpu_resolution_ns: Optional[int]
    cpu_provenance: Optional[str]
    user_ns: Optional[int]  # /proc/PID/stat: the measured total in the proportion of samples
    system_ns: Optional[int]
    split_provenance: Optional[str]  # of user_ns and system_ns
    sampled_ns: Optional[int]  # by ticks: taskstats alone has it
    run_delay_ns: Optional[int]  # runnable and not running, of living threads: schedstat
    minor_faults: Optional[int]
    major_faults: Optional[int]
    virtual_bytes: Optional[int]
    resident_bytes: Optional[int]  # batched by the kernel: up to 63 pages a thread off
    threads: Optional[int]  # that live
    voluntary_switches: Optional[int]  # of living threads: status
    involuntary_switches: Optional[int]
    read_bytes: Optional[int]  # from storage: io, of own processes or with CAP_SYS_PTRACE
    written_bytes: Optional[int]


class TaskUtilisation(NamedTuple):
    """CPU time of a process between two readings, in percent of one CPU."""

    cpu_percent: float  # measured
    user_percent: float  # scaled: by the kernel's proportion, 1/100 s in the interval
    system_percent: float
    elapsed_ns: int


class Taskstat(NamedTuple):
    """A process as Linux' taskstats has it: sampled and measured time of one message."""

    pid: int
    measured_ns: int
    sampled_ns: int  # the ticks that hit it, as whole ticks
    run_delay_ns: int  # runnable and not running
    runs: int  # times it was put on a CPU; 0: a zombie, whose numbers were in its exit record
    voluntary_switches: int
    involuntary_switches: int


class TaskExit(NamedTuple):
    """A task that ended. Of a process of several threads there is one of each, and one of the whole
    (is_process); of a process of one thread there is one, of the whole. camp.h says what
    measured_ns does not hold (up to the last tick), and what at_most_ns is."""

    pid: int  # 0: unknown (of a thread, before Linux 5.19)
    tid: int
    parent: int
    is_process: bool
    user_id: int
    exit_code: int  # as wait(2) has it
    measured_ns: int
    sampled_ns: int
    run_delay_ns: int
    elapsed_ns: int  # from its start to its end; resolution 1 us
    began_s: int  # wall clock of its start
    name: str
    at_most_ns: int  # it ran no longer than that
    voluntary_switches: int


class Kernel(NamedTuple):
    """What this kernel counts, and how."""

    release: str
    machine: str
    tick_hz: Optional[int]  # ticks a second, by which is sampled
    user_hz: Optional[int]  # resolution of the times in /proc
    accounting: Optional[str]  # "tick": user and system are sampled; "gen", "native": measured
    measured_cpus: Optional[str]  # "1-3,5": whose user and system time is measured
    tickless_idle: Optional[bool]  # idle and iowait are measured
    irq_time: Optional[bool]  # interrupt time is measured
    sched_info: Optional[bool]  # /proc/PID/schedstat counts
    schedstats: Optional[bool]
    taskstats: Optional[bool]  # it answers here
    delay_accounting: Optional[bool]
    psi: Optional[bool]
    btf: Optional[bool]
    cgroup_version: Optional[int]  # 1, 2, or 3 for both
    steal: Optional[bool]  # a virtual machine whose hypervisor reports steal time
    capabilities: Optional[int]  # effective ones of this process, a bit each


class CpuStates(NamedTuple):
    """A CPU's time by microstates. busy, idle, irq and softirq add up to time_ns - begin_ns; all
    are measured at each switch and interrupt."""

    cpu: int
    running: int  # the thread that runs; 0: none
    begin_ns: int  # its first switch in the session
    time_ns: int
    busy_ns: int
    idle_ns: int
    system_ns: int  # of busy_ns, as of the last change
    irq_ns: int
    softirq_ns: int
    switches: int
    any_wait_ns: int  # of idle_ns: a thread anywhere waited for a disk
    own_wait_ns: int  # of idle_ns: one did that had begun to on this CPU


class Losses(NamedTuple):
    """What a session could not see, since it was opened."""

    switches: int  # that were seen
    unseen: int  # switches that the kernel told nobody of; their times are estimated
    lost: int  # times a thread got no account, for want of memory
    exits_lost: int  # ended threads whose last numbers found no room
    exits_added_up: int  # ended threads that are part of a total for want of room


class DiskWait(NamedTuple):
    """A thread and a disk that it waited for."""

    tid: int
    pid: int
    start_ns: int
    major: int  # 0 0: it waited for what another thread had asked for
    minor: int
    wait_ns: int  # since the session was opened
    name: str


class Event(NamedTuple):
    """Something of the kernel that microstates are measured by."""

    name: str
    since: str  # the first Linux that has it
    without: str  # what is missing without it
    needed: bool
    present: bool


# Of the records, those that have methods stand in _processes.py.
RECORDS: Dict[str, type] = {
    record.__name__: record
    for record in (Cpu, Memory, Network, Disk, Task, Taskstat, TaskExit, Kernel, Utilisation,
                   TaskUtilisation, CpuStates, Losses, DiskWait, Event)}
