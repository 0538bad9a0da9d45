/*
 * The catalogue has a row for each number that a function of camp.h can return. `camp get`,
 * docs/counters.md and the tuples of the Python module show the numbers in the order of these rows.
 *
 * A new counter needs a field in camp.h, code that reads it, and a row here.
 */
#include "catalogue_rows.h"

#include <camp/system.h>

#undef linux /* GNU C defines it as 1 */

#define TASKS (CAMP_KIND_PROCESS | CAMP_KIND_THREAD)
#define DISKS (CAMP_KIND_DISK | CAMP_KIND_PARTITION)

#define COUNTER CAMP_NATURE_COUNTER
#define LEVEL CAMP_NATURE_LEVEL
#define FACT CAMP_NATURE_FACT
#define SHARE CAMP_NATURE_SHARE

#define TEXTS(field, name, resolution, source, help)                                               \
    field "\0" name "\0" resolution "\0" source "\0" help

/* `of` names the struct of the field, and `OF` its enum camp_record: for struct camp_cpu they are
 * cpu and CPU, as in CAMP_RECORD_CPU. */
#define ROW(kinds, of, OF, field, name, type, nature, rule, known, need, resolution, source, help) \
    TEXTS(#field, name, resolution, source, help), offsetof(struct camp_##of, field), known,       \
        kinds, CAMP_RECORD_##OF, CAMP_TYPE_##type, nature, CAMP_RULE_##rule, need

/* A field that `camp get` does not show. */
#define FIELD(of, OF, field, type, known, help)                                                    \
    {                                                                                              \
        ROW(0, of, OF, field, "", type, FACT, NONE, known, NEED_NOTHING, "", "", help), 0          \
    }
#define PERCENT(kinds, name, resolution, source, need, help)                                       \
    {                                                                                              \
        TEXTS("", name, resolution, source, help), 0, 0, kinds, CAMP_RECORD_NONE, CAMP_TYPE_REAL,  \
            SHARE, CAMP_RULE_DERIVED, need, 0                                                      \
    }

#define CPU_TIME(field, rule, known, source, help)                                                 \
    {                                                                                              \
        ROW(CAMP_KIND_CPU, cpu, CPU, field, "", U64, COUNTER, rule, CAMP_CPU_##known,              \
            NEED_NOTHING, "1/100 s", source, help),                                                \
            0                                                                                      \
    }
#define CPU_PERCENT(field, name, known, help)                                                      \
    {                                                                                              \
        ROW(CAMP_KIND_CPU, utilisation, UTILISATION, field, name, REAL, SHARE, DERIVED,            \
            CAMP_UTILISATION_##known, NEED_NOTHING, "1/100 s in the interval",                     \
            "two readings of /proc/stat", help),                                                   \
            0                                                                                      \
    }
#define MEMORY(field, rule, known, source, help)                                                   \
    {                                                                                              \
        ROW(CAMP_KIND_MEMORY, memory, MEMORY, field, "", U64, LEVEL, rule, CAMP_MEMORY_##known,    \
            NEED_NOTHING, "1 page", source, help),                                                 \
            0                                                                                      \
    }
#define NETWORK(field, known, help)                                                                \
    {                                                                                              \
        ROW(CAMP_KIND_NETWORK, network, NETWORK, field, "", U64, COUNTER, COUNTED,                 \
            CAMP_NETWORK_##known, NEED_NOTHING, "1", "/proc/net/dev", help),                       \
            0                                                                                      \
    }
#define DISK(field, known, nature, resolution, wraps_ms, help)                                     \
    {                                                                                              \
        ROW(DISKS, disk, DISK, field, "", U64, nature, COUNTED, CAMP_DISK_##known, NEED_NOTHING,   \
            resolution, "/proc/diskstats", help),                                                  \
            wraps_ms                                                                               \
    }
#define TASK(kinds, field, type, nature, rule, known, need, resolution, source, help)              \
    {                                                                                              \
        ROW(kinds, task, TASK, field, "", type, nature, rule, known, need, resolution, source,     \
            help),                                                                                 \
            0                                                                                      \
    }
#define TASK_COUNTER(field, rule, known, resolution, source, help)                                 \
    TASK(TASKS, field, U64, COUNTER, rule, CAMP_TASK_##known, NEED_NOTHING, resolution, source,    \
         help)
#define TASK_LEVEL(field, known, resolution, source, help)                                         \
    TASK(CAMP_KIND_PROCESS, field, U64, LEVEL, COUNTED, CAMP_TASK_##known, NEED_NOTHING,           \
         resolution, source, help)
#define TASK_FACT(kinds, field, type, known, resolution, source, help)                             \
    TASK(kinds, field, type, FACT, NONE, known, NEED_NOTHING, resolution,                          \
         "/proc/PID/stat " source, help)
#define TASK_PERCENT(field, resolution, source, help)                                              \
    {                                                                                              \
        ROW(TASKS, task_utilisation, TASK_UTILISATION, field, "", REAL, SHARE, DERIVED, 0,         \
            NEED_NOTHING, resolution, source, help),                                               \
            0                                                                                      \
    }
#define TASKSTAT(kinds, field, rule, resolution, help)                                             \
    {                                                                                              \
        ROW(kinds, taskstat, TASKSTAT, field, "", U64, COUNTER, rule, 0, NEED_TASKSTATS,           \
            resolution, "taskstats", help),                                                        \
            0                                                                                      \
    }
#define EXIT(field, type, help) FIELD(task_exit, TASK_EXIT, field, type, 0, help)
#define KERNEL(field, type, known, source, help)                                                   \
    {                                                                                              \
        ROW(CAMP_KIND_KERNEL, kernel, KERNEL, field, "", type, FACT, NONE, known, NEED_ITS_SOURCE, \
            "exact", source, help),                                                                \
            0                                                                                      \
    }
#define LINUX(field, type, known, source, help)                                                    \
    {                                                                                              \
        ROW(CAMP_KIND_KERNEL, linux, LINUX, field, "", type, FACT, NONE, CAMP_LINUX_##known,       \
            NEED_ITS_SOURCE, "exact", source, help),                                               \
            0                                                                                      \
    }
#define SYSTEM(field, type, nature, rule, known, resolution, source, help)                         \
    {                                                                                              \
        ROW(CAMP_KIND_SYSTEM, system, SYSTEM, field, "", type, nature, rule, CAMP_SYSTEM_##known,  \
            NEED_ITS_SOURCE, resolution, source, help),                                            \
            0                                                                                      \
    }
#define SYSTEM_COUNTER(field, known, resolution, source, help)                                     \
    SYSTEM(field, U64, COUNTER, COUNTED, known, resolution, source, help)
#define LOAD_AVERAGE(minutes, help)                                                                \
    SYSTEM(load_average_##minutes, REAL, LEVEL, SAMPLED, LOAD_AVERAGE_##minutes, "1/100",          \
           "/proc/loadavg", help)
#define PRESSURE(of, share, OF, file, help)                                                        \
    SYSTEM_COUNTER(of##_##share##_ns, OF, "1 us", "/proc/pressure/" file, "Time in which " help),  \
        PERCENT(CAMP_KIND_SYSTEM, #of "_" #share "_percent", "1 us",                               \
                "two readings of " #of "_" #share "_ns", NEED_ITS_SOURCE,                          \
                "Share of " #of "_" #share "_ns in wall time.")

const struct catalogue_row camp_catalogue_rows[] = {
    { TEXTS("", "count", "exact", "/proc/stat", "How many CPUs are online."), 0, 0, CAMP_KIND_CPU,
      CAMP_RECORD_NONE, CAMP_TYPE_U64, FACT, CAMP_RULE_NONE, NEED_NOTHING, 0 },
    FIELD(cpu, CPU, cpu, CPU, 0, "Its id; none: all CPUs together."),
    FIELD(cpu, CPU, time_ns, U64, 0, "CLOCK_MONOTONIC when it was read."),
    FIELD(cpu, CPU, resolution_ns, U64, 0, "The smallest step of its times."),
    CPU_TIME(user_ns, TICK, USER, "/proc/stat user - guest",
             "In user mode, not niced, without running virtual CPUs."),
    CPU_TIME(nice_ns, TICK, NICE, "/proc/stat nice - guest_nice",
             "In user mode by niced tasks, without running virtual CPUs."),
    CPU_TIME(system_ns, TICK, SYSTEM, "/proc/stat system", "In the kernel, without interrupts."),
    CPU_TIME(idle_ns, IDLE, IDLE, "/proc/stat idle",
             "Nothing to run, and no task that last ran here waits for a disk."),
    CPU_TIME(iowait_ns, IDLE, IOWAIT, "/proc/stat iowait",
             "Nothing to run, while a task that last ran here waits for a disk; may go backwards."),
    CPU_TIME(irq_ns, IRQ, IRQ, "/proc/stat irq", "In hardware interrupts."),
    CPU_TIME(softirq_ns, IRQ, SOFTIRQ, "/proc/stat softirq",
             "In deferred interrupt work: network, block, timers, RCU."),
    CPU_TIME(steal_ns, COUNTED, STEAL, "/proc/stat steal",
             "Ready to run, while the hypervisor ran something else: as it reports it."),
    CPU_TIME(guest_ns, TICK, GUEST, "/proc/stat guest", "Running a virtual machine's CPU."),
    CPU_TIME(guest_nice_ns, TICK, GUEST_NICE, "/proc/stat guest_nice",
             "Running the CPU of a niced virtual machine."),
    { ROW(CAMP_KIND_CPU, cpu, CPU, idle_cycles_ns, "", U64, COUNTER, COUNTED, CAMP_CPU_IDLE_CYCLES,
          NEED_WINDOWS, "1 cycle", "QueryIdleProcessorCycleTimeEx",
          "Idle time by the CPU's cycle counter."),
      0 },
    CPU_PERCENT(measured_busy_percent, "busy_percent", MEASURED_BUSY,
                "Wall time - idle - iowait: as good as idle, which not every kernel measures."),
    CPU_PERCENT(sampled_busy_percent, "", SAMPLED_BUSY,
                "What top and mpstat call busy: the sum of the columns charged at the tick."),
    CPU_PERCENT(user_percent, "", USER, "Share of user_ns, nice_ns and guest times in wall time."),
    CPU_PERCENT(system_percent, "", SYSTEM, "Share of system_ns and interrupts in wall time."),
    CPU_PERCENT(idle_percent, "", IDLE, "Share of idle_ns in wall time."),
    CPU_PERCENT(iowait_percent, "", IOWAIT, "Share of iowait_ns in wall time."),
    CPU_PERCENT(steal_percent, "", STEAL, "Share of steal_ns in wall time."),
    CPU_PERCENT(sum_percent, "", SUM,
                "All columns together: 100 where the sum rule holds, often not."),
    FIELD(utilisation, UTILISATION, busy_provenance, PROVENANCE, 0,
          "How measured_busy_percent was obtained."),
    FIELD(utilisation, UTILISATION, elapsed_ns, U64, 0, "Wall time between the two readings."),
    CPU_PERCENT(resolution_percent, "", IDLE,
                "One unit of /proc/stat in this interval: no column is better than that."),

    FIELD(memory, MEMORY, time_ns, U64, 0, "CLOCK_MONOTONIC when it was read."),
    MEMORY(total_bytes, COUNTED, TOTAL, "sysinfo(2) or /proc/meminfo",
           "Physical memory that the kernel manages."),
    MEMORY(free_bytes, COUNTED, FREE, "sysinfo(2) or /proc/meminfo",
           "Used for nothing at all: small on a healthy machine, see available_bytes."),
    MEMORY(available_bytes, DERIVED, AVAILABLE, "/proc/meminfo",
           "What a new program could have without swapping: the kernel's estimate."),
    MEMORY(buffers_bytes, COUNTED, BUFFERS, "sysinfo(2) or /proc/meminfo",
           "Pages of block devices."),
    MEMORY(cached_bytes, COUNTED, CACHED, "/proc/meminfo",
           "Page cache, tmpfs and shared memory, without buffers."),
    MEMORY(swap_total_bytes, COUNTED, SWAP_TOTAL, "sysinfo(2) or /proc/meminfo", "Swap space."),
    MEMORY(swap_free_bytes, COUNTED, SWAP_FREE, "sysinfo(2) or /proc/meminfo",
           "Swap space in use for nothing."),
    MEMORY(committed_bytes, COUNTED, COMMITTED, "/proc/meminfo Committed_AS",
           "Address space that the system has promised to back with memory or swap."),
    MEMORY(commit_limit_bytes, COUNTED, COMMIT_LIMIT, "/proc/meminfo CommitLimit",
           "How much it can promise; on Linux a limit only where overcommit_memory is 2."),

    FIELD(network, NETWORK, name, TEXT, 0, "Name of the interface."),
    FIELD(network, NETWORK, time_ns, U64, 0, "CLOCK_MONOTONIC when it was read."),
    NETWORK(received_bytes, RECEIVED_BYTES,
            "Received, as the driver counts: link headers included, mostly."),
    NETWORK(received_packets, RECEIVED_PACKETS, "Packets received."),
    NETWORK(received_errors, RECEIVED_ERRORS, "Packets received broken."),
    NETWORK(received_drops, RECEIVED_DROPS,
            "Packets dropped for lack of space, by the kernel or the device."),
    NETWORK(sent_bytes, SENT_BYTES, "Sent, as the driver counts."),
    NETWORK(sent_packets, SENT_PACKETS, "Packets sent."),
    NETWORK(sent_errors, SENT_ERRORS, "Packets that could not be sent."),
    NETWORK(sent_drops, SENT_DROPS, "Packets dropped before they were sent."),

    FIELD(disk, DISK, name, TEXT, 0, "Name of the disk or partition, as in /sys/class/block."),
    FIELD(disk, DISK, kind, DISK_KIND, 0, "disk or partition."),
    FIELD(disk, DISK, time_ns, U64, 0, "CLOCK_MONOTONIC when it was read."),
    DISK(reads, READS, COUNTER, "1", 0, "Read requests completed, after merging."),
    DISK(read_bytes, READ_BYTES, COUNTER, "512 bytes", 0, "Read from the device."),
    DISK(read_ns, READ_TIME, COUNTER, "1 ms", 1,
         "Time of read requests, those that overlap counted for each."),
    DISK(writes, WRITES, COUNTER, "1", 0, "Write requests completed, after merging."),
    DISK(written_bytes, WRITTEN_BYTES, COUNTER, "512 bytes", 0, "Written to the device."),
    DISK(write_ns, WRITE_TIME, COUNTER, "1 ms", 1,
         "Time of write requests, those that overlap counted for each."),
    DISK(in_flight, IN_FLIGHT, LEVEL, "1", 0,
         "Requests given to the device and not completed yet."),
    DISK(busy_ns, BUSY, COUNTER, "1 tick", 1,
         "Time with at least one request in flight; no measure of capacity."),
    DISK(queue_ns, QUEUE, COUNTER, "1 tick", 1,
         "Requests in flight x time: divided by time, the mean queue."),
    PERCENT(DISKS, "busy_percent", "1 tick in the interval", "two readings of busy_ns",
            NEED_NOTHING, "Share of the time with a request in flight."),

    FIELD(task, TASK, time_ns, U64, 0, "CLOCK_MONOTONIC when it was read."),
    TASK_COUNTER(cpu_ns, CPU, CPU, "1 ns", "CPU clock (process), schedstat (thread), else stat",
                 "Time on a CPU; of a task that runs elsewhere right now up to one tick too low."),
    FIELD(task, TASK, cpu_resolution_ns, U64, CAMP_TASK_CPU, "Resolution of cpu_ns."),
    FIELD(task, TASK, cpu_provenance, PROVENANCE, CAMP_TASK_CPU, "How cpu_ns was obtained."),
    TASK_COUNTER(user_ns, SPLIT, USER, "1/100 s", "/proc/PID/stat utime",
                 "The measured time, in the proportion of its user samples."),
    TASK_COUNTER(system_ns, SPLIT, SYSTEM, "1/100 s", "/proc/PID/stat stime",
                 "The measured time, in the proportion of its system samples."),
    FIELD(task, TASK, split_provenance, PROVENANCE, CAMP_TASK_USER,
          "How user_ns and system_ns were obtained."),
    TASK(TASKS, sampled_ns, U64, COUNTER, SAMPLED, CAMP_TASK_SAMPLED, NEED_WINDOWS, "1 tick",
         "SystemProcessInformation", "The ticks that hit it, as whole ticks."),
    FIELD(taskstat, TASKSTAT, pid, I32, 0, "Its process."),
    TASKSTAT(CAMP_KIND_PROCESS, sampled_ns, SAMPLED, "1 ns",
             "The ticks that hit this process, as whole ticks: what the kernel would say without "
             "its scheduler's clock."),
    TASKSTAT(CAMP_KIND_PROCESS, measured_ns, COUNTED, "1 ns",
             "cpu_ns, of the same message as sampled_ns."),
    TASK(TASKS, run_delay_ns, U64, COUNTER, COUNTED, CAMP_TASK_RUN_DELAY, NEED_SCHED_INFO, "1 ns",
         "/proc/PID/task/TID/schedstat",
         "Ready to run, and waiting for a CPU; of a process, its living threads."),
    TASK_COUNTER(minor_faults, COUNTED, MINOR_FAULTS, "1", "/proc/PID/stat minflt",
                 "Page faults that needed no disk."),
    TASK_COUNTER(major_faults, COUNTED, MAJOR_FAULTS, "1", "/proc/PID/stat majflt",
                 "Page faults that waited for a disk."),
    TASK_COUNTER(faults, COUNTED, FAULTS, "1", "/proc/PID/stat minflt + majflt",
                 "Page faults of both kinds."),
    TASK_LEVEL(virtual_bytes, VIRTUAL, "1 page", "/proc/PID/stat vsize",
               "Address space mapped, whether used or not."),
    TASK_LEVEL(resident_bytes, RESIDENT, "up to 63 pages a thread", "/proc/PID/stat rss",
               "Pages in memory, shared ones included; the kernel batches the count."),
    TASK(CAMP_KIND_PROCESS, committed_bytes, U64, LEVEL, COUNTED, CAMP_TASK_COMMITTED, NEED_WINDOWS,
         "1 page", "SystemProcessInformation", "Private memory that the system must back."),
    TASK_LEVEL(threads, THREADS, "1", "/proc/PID/stat num_threads",
               "Living threads of the process."),
    TASK(CAMP_KIND_PROCESS, handles, U64, LEVEL, COUNTED, CAMP_TASK_HANDLES, NEED_WINDOWS, "1",
         "SystemProcessInformation", "Open handles."),
    TASK_COUNTER(voluntary_switches, COUNTED, VOLUNTARY_SWITCHES, "1", "/proc/PID/task/TID/status",
                 "Gave up the CPU to wait; of a process, its living threads."),
    TASK_COUNTER(involuntary_switches, COUNTED, INVOLUNTARY_SWITCHES, "1",
                 "/proc/PID/task/TID/status",
                 "Lost the CPU to another task; of a process, its living threads."),
    TASK_COUNTER(switches, COUNTED, SWITCHES, "1", "/proc/PID/task/TID/status",
                 "Context switches of both kinds; of a process, its living threads."),
    TASKSTAT(0, run_delay_ns, COUNTED, "1 ns", "Ready to run, and waiting for a CPU."),
    TASKSTAT(CAMP_KIND_PROCESS, runs, COUNTED, "1", "How often it was put on a CPU."),
    TASKSTAT(0, voluntary_switches, COUNTED, "1", "Gave up the CPU to wait."),
    TASKSTAT(0, involuntary_switches, COUNTED, "1", "Lost the CPU to another task."),
    TASK(TASKS, read_bytes, U64, COUNTER, COUNTED, CAMP_TASK_READ_BYTES, NEED_IO, "1 sector",
         "/proc/PID/io read_bytes", "Read from storage on its behalf, not from the page cache."),
    TASK(TASKS, written_bytes, U64, COUNTER, COUNTED, CAMP_TASK_WRITTEN_BYTES, NEED_IO, "1 page",
         "/proc/PID/io write_bytes",
         "Made dirty, to be written to storage; cancelled writes are not subtracted."),
    TASK(CAMP_KIND_PROCESS, other_bytes, U64, COUNTER, COUNTED, CAMP_TASK_OTHER_BYTES, NEED_WINDOWS,
         "1", "SystemProcessInformation", "Bytes of calls that are neither reads nor writes."),
    TASK(CAMP_KIND_PROCESS, children_ns, U64, COUNTER, SPLIT, CAMP_TASK_CHILDREN, NEED_NOTHING,
         "1/100 s", "/proc/PID/stat cutime + cstime",
         "CPU time of the children that exited and were waited for, and of theirs."),
    TASK(TASKS, cycles, U64, COUNTER, COUNTED, CAMP_TASK_CYCLES, NEED_WINDOWS, "1",
         "QueryProcessCycleTime", "CPU cycles."),
    TASK_FACT(TASKS, started_ns, U64, CAMP_TASK_START, "1/100 s", "starttime",
              "When it started, on CLOCK_BOOTTIME."),
    TASK_FACT(TASKS, start, U64, 0, "1/100 s", "starttime",
              "The second half of its identifier, PID@START."),
    TASK_FACT(CAMP_KIND_PROCESS, parent, I32, CAMP_TASK_PARENT, "exact", "ppid",
              "The parent's pid; 0: none."),
    TASK_FACT(TASKS, state, CHARACTER, CAMP_TASK_STATE, "exact", "state",
              "R S D T t Z X or I, as in proc(5)."),
    TASK_FACT(TASKS, name, TEXT, CAMP_TASK_NAME, "15 bytes", "comm",
              "The task's name, which it may change."),
    TASK_PERCENT(cpu_percent, "1 ns", "two readings of cpu_ns",
                 "Time on a CPU, in percent of one CPU."),
    TASK_PERCENT(user_percent, "1/100 s in the interval", "two readings of user_ns",
                 "Scaled user time, in percent of one CPU."),
    TASK_PERCENT(system_percent, "1/100 s in the interval", "two readings of system_ns",
                 "Scaled system time, in percent of one CPU."),
    FIELD(task_utilisation, TASK_UTILISATION, cpu_provenance, PROVENANCE, 0,
          "How cpu_percent was obtained."),
    FIELD(task_utilisation, TASK_UTILISATION, split_provenance, PROVENANCE, 0,
          "How user_percent and system_percent were obtained."),
    FIELD(task_utilisation, TASK_UTILISATION, elapsed_ns, U64, 0,
          "Wall time between the two readings."),
    PERCENT(TASKS, "run_delay_percent", "1 ns", "two readings of run_delay_ns", NEED_SCHED_INFO,
            "Time spent waiting for a CPU, in percent."),

    EXIT(pid, I32, "Its process; 0: unknown (of a thread, before Linux 5.19)."),
    EXIT(tid, I32, "Its thread."),
    EXIT(parent, I32, "Parent at its end: 1 or a subreaper where the parent had ended before."),
    EXIT(is_process, FLAG, "A process as a whole, not one of its threads."),
    EXIT(user_id, U32, "Its user."),
    EXIT(exit_code, U32, "As wait(2) returns it."),
    EXIT(measured_ns, U64, "Time on a CPU, as of its last tick or switch."),
    EXIT(sampled_ns, U64, "The ticks that hit it, as whole ticks."),
    EXIT(run_delay_ns, U64, "Ready to run, and waiting for a CPU."),
    EXIT(elapsed_ns, U64, "From its start to its end; resolution 1 us."),
    EXIT(began_s, U64, "Wall clock of its start, in seconds since 1970."),
    EXIT(name, TEXT, "Its name; of a process, that of its last thread."),
    EXIT(at_most_ns, U64, "It ran no longer than that."),
    EXIT(voluntary_switches, U64, "How often it slept; of a process, its last thread."),

    KERNEL(system, TEXT, 0, "uname(2)", "The operating system."),
    KERNEL(release, TEXT, 0, "uname(2)", "The kernel's release."),
    KERNEL(machine, TEXT, 0, "uname(2)", "The processor's architecture."),
    KERNEL(tick_hz, U32, CAMP_KERNEL_TICK, "clock_getres(2)", "Clock ticks a second: HZ."),
    LINUX(user_hz, U32, USER_HZ, "sysconf(3)", "Resolution of the times in /proc."),
    KERNEL(accounting, ACCOUNTING, CAMP_KERNEL_ACCOUNTING, "the kernel's configuration",
           "How user and system come about: tick (sampled), gen, native, microstates (measured)."),
    KERNEL(measured_cpus, TEXT, CAMP_KERNEL_ACCOUNTING, "/proc/cmdline",
           "The CPUs whose user and system time is measured."),
    KERNEL(tickless_idle, FLAG, CAMP_KERNEL_TICKLESS_IDLE, "the kernel's configuration",
           "The tick stops in idle."),
    KERNEL(irq_time, FLAG, CAMP_KERNEL_IRQ_TIME, "the kernel's configuration",
           "Interrupt time is measured."),
    LINUX(sched_info, FLAG, SCHED_INFO, "/proc/self/schedstat",
          "Run time and run delay of tasks are there."),
    LINUX(schedstats, FLAG, SCHEDSTATS, "/proc/schedstat",
          "Statistics of the scheduler per CPU are there."),
    LINUX(taskstats, FLAG, TASKSTATS, "generic netlink",
          "taskstats is built in: sampled time per process, exit records."),
    LINUX(delay_accounting, FLAG, DELAY_ACCOUNTING, "/proc/sys/kernel",
          "Delays for disk and memory are counted per task."),
    LINUX(psi, FLAG, PSI, "/proc/pressure", "Pressure stall information."),
    LINUX(btf, FLAG, BTF, "/sys/kernel/btf", "Types for BPF programs."),
    LINUX(cgroup_version, I32, CGROUP, "/sys/fs/cgroup", "1, 2, or 3 for both."),
    KERNEL(steal, FLAG, CAMP_KERNEL_STEAL, "/proc/stat",
           "A virtual machine whose hypervisor reports steal time."),
    LINUX(capabilities, U64, CAPABILITIES, "/proc/self/status",
          "Effective capabilities of this process, as bits."),
    KERNEL(short_idle_sampled, FLAG, CAMP_KERNEL_SHORT_IDLE, "the kernel's release",
           "Idle periods in which the tick goes on are sampled (since Linux 7.2)."),
    KERNEL(imitation, FLAG, CAMP_KERNEL_IMITATION, "the system's libraries",
           "Another system imitates this one, and invents some numbers (Wine)."),
    { ROW(CAMP_KIND_KERNEL, kernel, KERNEL, cycles_hz, "", U64, FACT, NONE, CAMP_KERNEL_CYCLES,
          NEED_WINDOWS, "exact", "QueryPerformanceCounter",
          "How many cycles of a task are one second."),
      0 },

    FIELD(system, SYSTEM, time_ns, U64, 0, "CLOCK_MONOTONIC when it was read."),
    SYSTEM(boot_time_ns, U64, FACT, NONE, BOOT_TIME, "1 s", "/proc/stat btime",
           "When the system started, in ns since 1970; it moves when the wall clock is set."),
    SYSTEM_COUNTER(context_switches, CONTEXT_SWITCHES, "1", "/proc/stat ctxt",
                   "Switches from one thread to another, on all CPUs."),
    SYSTEM_COUNTER(interrupts, INTERRUPTS, "1", "/proc/stat intr",
                   "Hardware interrupts, with those of the clock."),
    SYSTEM_COUNTER(forks, FORKS, "1", "/proc/stat processes", "Processes and threads started."),
    SYSTEM(running, U64, LEVEL, COUNTED, RUNNING, "1", "/proc/stat procs_running",
           "Threads on a CPU or ready to run."),
    SYSTEM(blocked, U64, LEVEL, COUNTED, BLOCKED, "1", "/proc/stat procs_blocked",
           "Threads that wait for a disk."),
    LOAD_AVERAGE(1, "Threads that run, are ready to run or sleep uninterruptibly, over 1 minute."),
    LOAD_AVERAGE(5, "The same over 5 minutes."),
    LOAD_AVERAGE(15, "The same over 15 minutes."),
    SYSTEM_COUNTER(faults, FAULTS, "1", "/proc/vmstat pgfault",
                   "Page faults, with those that waited for a disk."),
    SYSTEM_COUNTER(major_faults, MAJOR_FAULTS, "1", "/proc/vmstat pgmajfault",
                   "Page faults that waited for a disk."),
    SYSTEM_COUNTER(swapped_in_bytes, SWAPPED_IN, "1 page", "/proc/vmstat pswpin",
                   "Read from swap."),
    SYSTEM_COUNTER(swapped_out_bytes, SWAPPED_OUT, "1 page", "/proc/vmstat pswpout",
                   "Written to swap."),
    SYSTEM_COUNTER(paged_in_bytes, PAGED_IN, "1 KiB", "/proc/vmstat pgpgin",
                   "Read from block devices, by files and by swap."),
    SYSTEM_COUNTER(paged_out_bytes, PAGED_OUT, "1 KiB", "/proc/vmstat pgpgout",
                   "Written to block devices, by files and by swap."),
    SYSTEM_COUNTER(scanned_bytes, SCANNED, "1 page", "/proc/vmstat pgscan_*",
                   "Memory that the kernel examined to free some of it."),
    SYSTEM_COUNTER(reclaimed_bytes, RECLAIMED, "1 page", "/proc/vmstat pgsteal_*",
                   "Memory that the kernel freed for other uses."),
    PRESSURE(cpu, some, CPU_SOME, "cpu", "at least one thread waited for a CPU."),
    PRESSURE(memory, some, MEMORY_SOME, "memory", "at least one thread waited for memory."),
    PRESSURE(memory, full, MEMORY_FULL, "memory", "all threads that had work waited for memory."),
    PRESSURE(io, some, IO_SOME, "io", "at least one thread waited for a disk."),
    PRESSURE(io, full, IO_FULL, "io", "all threads that had work waited for a disk."),
};

const size_t camp_catalogue_row_count = sizeof camp_catalogue_rows / sizeof camp_catalogue_rows[0];
