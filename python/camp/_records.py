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

    cpu: Optional[int]  # Its id; none: all CPUs together.
    time_ns: int  # CLOCK_MONOTONIC when it was read.
    resolution_ns: int  # The smallest step of its times.
    user_ns: Optional[int]  # In user mode, not niced, without running virtual CPUs.
    nice_ns: Optional[int]  # In user mode by niced tasks, without running virtual CPUs.
    system_ns: Optional[int]  # In the kernel, without interrupts.
    idle_ns: Optional[int]  # Nothing to run, and no task that last ran here waits for a disk.
    # Nothing to run, while a task that last ran here waits for a disk; may go backwards.
    iowait_ns: Optional[int]
    irq_ns: Optional[int]  # In hardware interrupts.
    softirq_ns: Optional[int]  # In deferred interrupt work: network, block, timers, RCU.
    # Ready to run, while the hypervisor ran something else: as it reports it.
    steal_ns: Optional[int]
    guest_ns: Optional[int]  # Running a virtual machine's CPU.
    guest_nice_ns: Optional[int]  # Running the CPU of a niced virtual machine.
    idle_cycles_ns: Optional[int]  # Idle time by the CPU's cycle counter.


class Utilisation(NamedTuple):
    """Where a CPU's time went between two readings, in percent of wall time (of all CPUs together:
    of all of it). measured_busy_percent and sampled_busy_percent ought to agree, and often do not."""

    # Wall time less idle time (and iowait): as good as idle, which not every kernel measures.
    measured_busy_percent: Optional[float]
    # What top and mpstat call busy: the sum of the columns charged at the tick.
    sampled_busy_percent: Optional[float]
    user_percent: Optional[float]  # Share of user_ns, nice_ns and guest times in wall time.
    system_percent: Optional[float]  # Share of system_ns and interrupts in wall time.
    idle_percent: Optional[float]  # Share of idle_ns in wall time.
    iowait_percent: Optional[float]  # Share of iowait_ns in wall time.
    steal_percent: Optional[float]  # Share of steal_ns in wall time.
    # All times together, without idle_cycles_ns: 100 if none is missing or counted twice.
    sum_percent: Optional[float]
    busy_provenance: Optional[str]  # How measured_busy_percent was obtained.
    elapsed_ns: int  # Wall time between the two readings.
    # The smallest step of the CPU's times, in percent of the interval.
    resolution_percent: Optional[float]


class Memory(NamedTuple):
    """Physical memory and swap. Linux: sysinfo(2) or /proc/meminfo; resolution one page."""

    time_ns: int  # CLOCK_MONOTONIC when it was read.
    total_bytes: Optional[int]  # Physical memory that the kernel manages.
    # Used for nothing at all: small on a healthy machine, see available_bytes.
    free_bytes: Optional[int]
    # What a new program could have without swapping: the kernel's estimate.
    available_bytes: Optional[int]
    buffers_bytes: Optional[int]  # Pages of block devices.
    cached_bytes: Optional[int]  # Page cache, tmpfs and shared memory, without buffers.
    swap_total_bytes: Optional[int]  # Swap space.
    swap_free_bytes: Optional[int]  # Swap space in use for nothing.
    # Address space that the system has promised to back with memory or swap.
    committed_bytes: Optional[int]
    # How much it can promise; on Linux a limit only where overcommit_memory is 2.
    commit_limit_bytes: Optional[int]


class Network(NamedTuple):
    """A network interface, as its driver counts. Linux: /proc/net/dev of this network namespace."""

    name: str  # Name of the interface.
    time_ns: int  # CLOCK_MONOTONIC when it was read.
    received_bytes: Optional[int]  # Received, as the driver counts: link headers included, mostly.
    received_packets: Optional[int]  # Packets received.
    received_errors: Optional[int]  # Packets received broken.
    received_drops: Optional[int]  # Packets dropped for lack of space, by the kernel or the device.
    sent_bytes: Optional[int]  # Sent, as the driver counts.
    sent_packets: Optional[int]  # Packets sent.
    sent_errors: Optional[int]  # Packets that could not be sent.
    sent_drops: Optional[int]  # Packets dropped before they were sent.


class Disk(NamedTuple):
    """A disk or a partition. A disk contains its partitions: do not add the two kinds.

    Linux: /proc/diskstats, /sys/class/block/NAME/stat. Requests are counted when they complete,
    after merging; the times of requests that overlap are counted for each. The kernel's times are
    32 bits of ms, which wrap after 49.7 days: difference(a // 10**6, b // 10**6, 32) survives that.
    """

    name: str  # Name of the disk or partition, as in /sys/class/block.
    kind: str  # disk or partition.
    time_ns: int  # CLOCK_MONOTONIC when it was read.
    reads: Optional[int]  # Read requests completed, after merging.
    read_bytes: Optional[int]  # Read from the device.
    read_ns: Optional[int]  # Time of read requests, those that overlap counted for each.
    writes: Optional[int]  # Write requests completed, after merging.
    written_bytes: Optional[int]  # Written to the device.
    write_ns: Optional[int]  # Time of write requests, those that overlap counted for each.
    in_flight: Optional[int]  # Requests given to the device and not completed yet.
    busy_ns: Optional[int]  # Time with at least one request in flight; no measure of capacity.
    queue_ns: Optional[int]  # Requests in flight x time: divided by time, the mean queue.


class Task(NamedTuple):
    """What a process (all its threads) or a thread has used since it started. `name` is at most 15
    bytes: os.fsencode() restores those that are not UTF-8."""

    time_ns: int  # CLOCK_MONOTONIC when it was read.
    # Time on a CPU; of a task that runs elsewhere right now up to one tick too low.
    cpu_ns: Optional[int]
    cpu_resolution_ns: Optional[int]  # Resolution of cpu_ns.
    cpu_provenance: Optional[str]  # How cpu_ns was obtained.
    # In user mode; Linux divides the measured time in the proportion of its samples.
    user_ns: Optional[int]
    # In the kernel; Linux divides the measured time in the proportion of its samples.
    system_ns: Optional[int]
    split_provenance: Optional[str]  # How user_ns and system_ns were obtained.
    sampled_ns: Optional[int]  # Clock ticks that found it on a CPU, as whole ticks.
    # Ready to run, and waiting for a CPU; of a process its living threads, on illumos all.
    run_delay_ns: Optional[int]
    minor_faults: Optional[int]  # Page faults that needed no disk.
    major_faults: Optional[int]  # Page faults that waited for a disk.
    faults: Optional[int]  # Page faults of both kinds.
    virtual_bytes: Optional[int]  # Address space mapped, whether used or not.
    resident_bytes: Optional[int]  # Pages in memory, shared ones included; Linux batches the count.
    committed_bytes: Optional[int]  # Private memory that the system must back.
    threads: Optional[int]  # Living threads of the process.
    handles: Optional[int]  # Open handles.
    # Gave up the CPU to wait; of a process its living threads, on illumos all.
    voluntary_switches: Optional[int]
    # Lost the CPU to another task; of a process its living threads, on illumos all.
    involuntary_switches: Optional[int]
    # Context switches of both kinds; of a process its living threads, on illumos all.
    switches: Optional[int]
    # Read from storage on its behalf, not from the page cache; on Windows by all read calls.
    read_bytes: Optional[int]
    # Made dirty, to be written to storage, with writes cancelled later; on Windows by all write
    # calls.
    written_bytes: Optional[int]
    other_bytes: Optional[int]  # Bytes of calls that neither read nor write.
    # CPU time of the children that exited and were waited for, and of theirs.
    children_ns: Optional[int]
    cycles: Optional[int]  # CPU cycles.
    # When it started, in ns since the boot, on a clock that goes on in a suspend.
    started_ns: Optional[int]
    start: int  # The second half of its identifier, PID@START.
    parent: Optional[int]  # The parent's pid; 0: none.
    state: Optional[str]  # R S D T t Z X or I, as in proc(5) of Linux.
    name: Optional[str]  # The task's name, which it may change.


class TaskUtilisation(NamedTuple):
    """CPU time of a process between two readings, in percent of one CPU."""

    cpu_percent: float  # Time on a CPU, in percent of one CPU.
    user_percent: float  # User time, in percent of one CPU.
    system_percent: float  # System time, in percent of one CPU.
    cpu_provenance: Optional[str]  # How cpu_percent was obtained.
    split_provenance: Optional[str]  # How user_percent and system_percent were obtained.
    elapsed_ns: int  # Wall time between the two readings.


class Taskstat(NamedTuple):
    """A process by Linux' taskstats: sampled and measured time in one message. The `runs` of a zombie
    are 0: its numbers were in its exit record."""

    pid: int  # Its process.
    # Clock ticks that found it on a CPU, as whole ticks: what the kernel would report without the
    # clock of its scheduler.
    sampled_ns: int
    measured_ns: int  # cpu_ns, of the same message as sampled_ns.
    run_delay_ns: int  # Ready to run, and waiting for a CPU.
    runs: int  # How often it was put on a CPU.
    voluntary_switches: int  # Gave up the CPU to wait.
    involuntary_switches: int  # Lost the CPU to another task.


class TaskExit(NamedTuple):
    """An exited task. A process of several threads has one record for each, and one for the whole
    (is_process); a process of one thread has one record, of the whole. camp.h documents at_most_ns,
    and the time that measured_ns lacks (up to one tick)."""

    pid: Optional[int]  # Its process; unknown of a thread, before Linux 5.19.
    tid: int  # Its thread.
    parent: int  # Parent at its end: 1 or a subreaper where the parent had ended before.
    is_process: Optional[bool]  # A process as a whole, not one of its threads.
    user_id: int  # Its user.
    exit_code: int  # As wait(2) returns it.
    measured_ns: int  # Time on a CPU, as of its last tick or switch.
    sampled_ns: int  # The ticks that hit it, as whole ticks.
    run_delay_ns: int  # Ready to run, and waiting for a CPU.
    elapsed_ns: int  # From its start to its end; resolution 1 us.
    began_s: int  # Wall clock of its start, in seconds since 1970.
    name: str  # Its name; of a process, that of its last thread.
    at_most_ns: int  # It ran no longer than that.
    voluntary_switches: int  # How often it slept; of a process, its last thread.


class Kernel(NamedTuple):
    """What this kernel counts, and how."""

    system: str  # The operating system.
    release: str  # The kernel's release.
    machine: str  # The processor's architecture.
    tick_hz: Optional[int]  # Clock ticks a second: HZ.
    # How user and system come about: tick (sampled), gen, native, microstates (measured).
    accounting: Optional[str]
    measured_cpus: Optional[str]  # The CPUs whose user and system time is measured.
    tickless_idle: Optional[bool]  # The tick stops in idle.
    irq_time: Optional[bool]  # Interrupt time is measured.
    steal: Optional[bool]  # A virtual machine whose hypervisor reports steal time.
    # Idle periods in which the tick goes on are sampled (since Linux 7.2).
    short_idle_sampled: Optional[bool]
    imitation: Optional[bool]  # Another system imitates this one, and invents some numbers (Wine).
    cycles_hz: Optional[int]  # How many cycles of a task are one second.


class Linux(NamedTuple):
    """What this Linux kernel offers to programs that measure."""

    user_hz: Optional[int]  # Resolution of the times in /proc.
    sched_info: Optional[bool]  # Run time and run delay of tasks are there.
    schedstats: Optional[bool]  # Statistics of the scheduler per CPU are there.
    taskstats: Optional[bool]  # taskstats is built in: sampled time per process, exit records.
    delay_accounting: Optional[bool]  # Delays for disk and memory are counted per task.
    psi: Optional[bool]  # Pressure stall information.
    btf: Optional[bool]  # Types for BPF programs.
    cgroup_version: Optional[int]  # 1, 2, or 3 for both.
    capabilities: Optional[int]  # Effective capabilities of this process, as bits.


class System(NamedTuple):
    """The system as a whole since boot: switches, interrupts, forks, load, page faults, swap, pressure.

    Linux: /proc/stat, /proc/loadavg, /proc/vmstat and /proc/pressure, read one after the other.
    """

    time_ns: int  # CLOCK_MONOTONIC when it was read.
    # When the system started, in ns since 1970; it moves when the wall clock is set.
    boot_time_ns: Optional[int]
    context_switches: Optional[int]  # Switches from one thread to another, on all CPUs.
    interrupts: Optional[int]  # Hardware interrupts, with those of the clock.
    forks: Optional[int]  # Processes and threads started.
    running: Optional[int]  # Threads on a CPU or ready to run.
    blocked: Optional[int]  # Threads that wait for a disk.
    # Threads that run, are ready to run or sleep uninterruptibly, over 1 minute.
    load_average_1: Optional[float]
    load_average_5: Optional[float]  # The same over 5 minutes.
    load_average_15: Optional[float]  # The same over 15 minutes.
    faults: Optional[int]  # Page faults, with those that waited for a disk.
    major_faults: Optional[int]  # Page faults that waited for a disk.
    swapped_in_bytes: Optional[int]  # Read from swap.
    swapped_out_bytes: Optional[int]  # Written to swap.
    paged_in_bytes: Optional[int]  # Read from block devices, by files and by swap.
    paged_out_bytes: Optional[int]  # Written to block devices, by files and by swap.
    scanned_bytes: Optional[int]  # Memory that the kernel examined to free some of it.
    reclaimed_bytes: Optional[int]  # Memory that the kernel freed for other uses.
    cpu_some_ns: Optional[int]  # Time in which at least one thread waited for a CPU.
    memory_some_ns: Optional[int]  # Time in which at least one thread waited for memory.
    memory_full_ns: Optional[int]  # Time in which all threads that had work waited for memory.
    io_some_ns: Optional[int]  # Time in which at least one thread waited for a disk.
    io_full_ns: Optional[int]  # Time in which all threads that had work waited for a disk.


class CpuStates(NamedTuple):
    """A CPU's time by microstates. busy, idle, irq and softirq add up to time_ns - begin_ns; all
    are measured at each switch and interrupt."""

    cpu: int
    running: Optional[int]  # the thread that runs; 0: none
    begin_ns: int  # its first switch in the session
    time_ns: int
    busy_ns: int
    idle_ns: int
    system_ns: Optional[int]  # of busy_ns, as of the last change; None with system_calls=False
    irq_ns: Optional[int]  # None, here and below: this kernel has no event of it
    softirq_ns: Optional[int]
    switches: Optional[int]
    any_wait_ns: Optional[int]  # of idle_ns: a thread anywhere waited for a disk
    own_wait_ns: Optional[int]  # of idle_ns: a thread that went to sleep on this CPU did


class Losses(NamedTuple):
    """What a session could not see, since it was opened."""

    switches: Optional[int]  # reported by an event
    unseen: Optional[int]  # switches without an event; their times are estimated
    lost: Optional[int]  # times a thread got no account, for lack of memory
    exits_lost: Optional[int]  # exited threads whose last numbers are in no record and no total
    exits_added_up: Optional[int]  # exited threads in a total, for lack of space


class DiskWait(NamedTuple):
    """A thread and a disk that it waited for."""

    tid: int
    pid: int
    start_ns: int
    major: Optional[int]  # None: it waited for input or output that another thread requested
    minor: Optional[int]
    wait_ns: int  # since the session was opened
    name: str


class Event(NamedTuple):
    """A feature of the kernel that microstates use."""

    name: str
    since: str  # the first Linux that has it
    without: str  # what is missing without it
    needed: bool
    present: Optional[bool]  # None: only a process with CAP_BPF and CAP_PERFMON can try it


# Records that have methods are defined in _processes.py.
RECORDS: Dict[str, type] = {
    record.__name__: record
    for record in (Cpu, Memory, Network, Disk, Task, Taskstat, TaskExit, Kernel, Linux, Utilisation,
                   TaskUtilisation, CpuStates, Losses, DiskWait, Event, System)}
