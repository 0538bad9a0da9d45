#include "counters.h"

#include "counters/units.h"

#include <stdlib.h>
#include <string.h>

#define TASK_KINDS (KIND_PROCESS | KIND_THREAD)
#define DISK_KINDS (KIND_DISK | KIND_PARTITION)

#define AT(member) offsetof(struct reading, member)

const struct kind_name kinds[KIND_COUNT] = {
    { KIND_CPU, "cpu", "cpus", "cpu.*", "cpu.ID", "cpu alone is the total", .has_total = true,
      .known_offset = AT(cpu.known) },
    { KIND_MEMORY, "memory", NULL, "memory", "memory", "physical, and swap", .is_one = true,
      .known_offset = AT(memory.known) },
    { KIND_NETWORK, "network", "networks", "network.*", "network.NAME", "interfaces",
      .known_offset = AT(always_known) },
    { KIND_DISK, "disk", "disks", "disk.*", "disk.NAME", "whole disks",
      .known_offset = AT(always_known) },
    { KIND_PARTITION, "partition", "partitions", "partition.*", "partition.NAME",
      "within their disks", .known_offset = AT(always_known) },
    { KIND_PROCESS, "process", "processes", "process.*", "process.PID", "with all their threads",
      .known_offset = AT(task.known) },
    { KIND_THREAD, "thread", "threads", "thread.*.*", "thread.PID.TID", "each by itself",
      .known_offset = AT(task.known) },
    { KIND_KERNEL, "kernel", NULL, "kernel", "kernel", "what it counts, and how", .is_one = true,
      .known_offset = AT(kernel.known) },
};

#define CPU_TIME(field, rule, bit, source, help)                                                   \
    {                                                                                              \
        KIND_CPU, #field, VALUE_U64, NATURE_COUNTER, rule, AT(cpu.field), bit, 0, "1/100 s",       \
            source, help                                                                           \
    }
#define CPU_PERCENT(name, field, bit, help)                                                        \
    {                                                                                              \
        KIND_CPU, name, VALUE_REAL, NATURE_UTILISATION, RULE_DERIVED, AT(utilisation.field), bit,  \
            AT(utilisation_known), "1/100 s in the interval", "two readings of /proc/stat", help   \
    }
#define MEMORY(field, rule, bit, source, help)                                                     \
    {                                                                                              \
        KIND_MEMORY, #field, VALUE_U64, NATURE_LEVEL, rule, AT(memory.field), bit, 0, "1 page",    \
            source, help                                                                           \
    }
#define NETWORK(field, help)                                                                       \
    {                                                                                              \
        KIND_NETWORK, #field, VALUE_U64, NATURE_COUNTER, RULE_COUNTED, AT(network.field), 0, 0,    \
            "1", "/proc/net/dev", help                                                             \
    }
#define DISK(field, resolution, help)                                                              \
    {                                                                                              \
        DISK_KINDS, #field, VALUE_U64, NATURE_COUNTER, RULE_COUNTED, AT(disk.field), 0, 0,         \
            resolution, "/proc/diskstats", help                                                    \
    }
#define DISK_TIME(field, resolution, help)                                                         \
    {                                                                                              \
        DISK_KINDS, #field, VALUE_U64, NATURE_COUNTER, RULE_COUNTED, AT(disk.field), 0, 0,         \
            resolution, "/proc/diskstats", help, .wraps_in = NS_PER_MS                             \
    }
#define TASK(kinds, field, nature, rule, bit, resolution, source, help)                            \
    kinds, #field, VALUE_U64, nature, rule, AT(task.field), bit, 0, resolution, source, help
#define TASKSTAT(field, rule, help)                                                                \
    KIND_PROCESS, #field, VALUE_U64, NATURE_COUNTER, rule, AT(taskstat.field), 1,                  \
        AT(taskstat_known), "1 ns", "taskstats", help, .capability = "CAP_NET_ADMIN",              \
                                                       .needs = "a kernel with taskstats"
#define SHARE(kinds, name, field, bit, resolution, source, help)                                   \
    kinds, name, VALUE_REAL, NATURE_SHARE, RULE_DERIVED, AT(field), bit, 0, resolution, source, help
#define KERNEL(field, type, bit, source, help)                                                     \
    {                                                                                              \
        KIND_KERNEL, #field, type, NATURE_FACT, RULE_NONE, AT(kernel.field), bit, 0, "exact",      \
            source, help, .needs = "its source to be readable here"                                \
    }

const struct counter counters[] = {
    /* CPUs. The columns are disjoint; they add up to wall time only where all are measured. */
    { KIND_CPU, "count", VALUE_U64, NATURE_FACT, RULE_NONE, AT(cpu_count), 0, 0, "exact",
      "/proc/stat", "How many CPUs are online." },
    CPU_TIME(user_ns, RULE_TICK, CAMP_CPU_USER, "/proc/stat user - guest",
             "In user mode, not niced, without running virtual CPUs."),
    CPU_TIME(nice_ns, RULE_TICK, CAMP_CPU_NICE, "/proc/stat nice - guest_nice",
             "In user mode by niced tasks, without running virtual CPUs."),
    CPU_TIME(system_ns, RULE_TICK, CAMP_CPU_SYSTEM, "/proc/stat system",
             "In the kernel, without interrupts."),
    CPU_TIME(idle_ns, RULE_IDLE, CAMP_CPU_IDLE, "/proc/stat idle",
             "Nothing to run, and no task that last ran here waits for a disk."),
    CPU_TIME(iowait_ns, RULE_IDLE, CAMP_CPU_IOWAIT, "/proc/stat iowait",
             "Nothing to run, while a task that last ran here waits for a disk; may go backwards."),
    CPU_TIME(irq_ns, RULE_IRQ, CAMP_CPU_IRQ, "/proc/stat irq", "In hardware interrupts."),
    CPU_TIME(softirq_ns, RULE_IRQ, CAMP_CPU_SOFTIRQ, "/proc/stat softirq",
             "In deferred interrupt work: network, block, timers, RCU."),
    CPU_TIME(steal_ns, RULE_COUNTED, CAMP_CPU_STEAL, "/proc/stat steal",
             "Ready to run, while the hypervisor ran something else: as it reports it."),
    CPU_TIME(guest_ns, RULE_TICK, CAMP_CPU_GUEST, "/proc/stat guest",
             "Running a virtual machine's CPU."),
    CPU_TIME(guest_nice_ns, RULE_TICK, CAMP_CPU_GUEST_NICE, "/proc/stat guest_nice",
             "Running the CPU of a niced virtual machine."),
    CPU_PERCENT("busy_percent", measured_busy_percent, CAMP_CPU_IDLE,
                "Wall time - idle - iowait: as good as idle, so measured on a NO_HZ kernel."),
    CPU_PERCENT("sampled_busy_percent", sampled_busy_percent, CAMP_CPU_IDLE,
                "What top and mpstat call busy: the sum of the columns charged at the tick."),
    CPU_PERCENT("idle_percent", idle_percent, CAMP_CPU_IDLE, "Share of idle_ns in wall time."),
    CPU_PERCENT("iowait_percent", iowait_percent, CAMP_CPU_IOWAIT,
                "Share of iowait_ns in wall time."),
    CPU_PERCENT("steal_percent", steal_percent, CAMP_CPU_STEAL, "Share of steal_ns in wall time."),
    CPU_PERCENT("sum_percent", sum_percent, CAMP_CPU_IDLE,
                "All columns together: 100 where the sum rule holds, often not."),
    CPU_PERCENT("resolution_percent", resolution_percent, CAMP_CPU_IDLE,
                "One unit of /proc/stat in this interval: no column is better than that."),

    /* Memory: levels. */
    MEMORY(total_bytes, RULE_COUNTED, CAMP_MEMORY_TOTAL, "sysinfo(2) or /proc/meminfo",
           "Physical memory that the kernel manages."),
    MEMORY(free_bytes, RULE_COUNTED, CAMP_MEMORY_FREE, "sysinfo(2) or /proc/meminfo",
           "Used for nothing at all: small on a healthy machine, see available_bytes."),
    MEMORY(available_bytes, RULE_DERIVED, CAMP_MEMORY_AVAILABLE, "/proc/meminfo",
           "What a new program could have without swapping: the kernel's estimate."),
    MEMORY(buffers_bytes, RULE_COUNTED, CAMP_MEMORY_BUFFERS, "sysinfo(2) or /proc/meminfo",
           "Pages of block devices."),
    MEMORY(cached_bytes, RULE_COUNTED, CAMP_MEMORY_CACHED, "/proc/meminfo",
           "Page cache, tmpfs and shared memory, without buffers."),
    MEMORY(swap_total_bytes, RULE_COUNTED, CAMP_MEMORY_SWAP_TOTAL, "sysinfo(2) or /proc/meminfo",
           "Swap space."),
    MEMORY(swap_free_bytes, RULE_COUNTED, CAMP_MEMORY_SWAP_FREE, "sysinfo(2) or /proc/meminfo",
           "Swap space in use for nothing."),

    /* Networks. */
    NETWORK(received_bytes, "Received, as the driver counts: link headers included, mostly."),
    NETWORK(received_packets, "Packets received."),
    NETWORK(received_errors, "Packets received broken."),
    NETWORK(received_drops, "Packets dropped for want of room, by the kernel or the device."),
    NETWORK(sent_bytes, "Sent, as the driver counts."),
    NETWORK(sent_packets, "Packets sent."),
    NETWORK(sent_errors, "Packets that could not be sent."),
    NETWORK(sent_drops, "Packets dropped before they were sent."),

    /* Disks and partitions: counted when a request completes. */
    DISK(reads, "1", "Read requests completed, after merging."),
    DISK(read_bytes, "512 bytes", "Read from the device."),
    DISK_TIME(read_ns, "1 ms", "Time of read requests, those that overlap counted for each."),
    DISK(writes, "1", "Write requests completed, after merging."),
    DISK(written_bytes, "512 bytes", "Written to the device."),
    DISK_TIME(write_ns, "1 ms", "Time of write requests, those that overlap counted for each."),
    { DISK_KINDS, "in_flight", VALUE_U64, NATURE_LEVEL, RULE_COUNTED, AT(disk.in_flight), 0, 0, "1",
      "/proc/diskstats", "Requests given to the device and not completed yet." },
    DISK_TIME(busy_ns, "1 tick",
              "Time with at least one request in flight; no measure of capacity."),
    DISK_TIME(queue_ns, "1 tick", "Requests in flight x time: divided by time, the mean queue."),
    { SHARE(DISK_KINDS, "busy_percent", disk.busy_ns, 0, "1 tick in the interval",
            "two readings of busy_ns", "Share of the time with a request in flight."),
      .wraps_in = NS_PER_MS },

    /* Processes and threads. */
    { TASK(TASK_KINDS, cpu_ns, NATURE_COUNTER, RULE_CPU, CAMP_TASK_CPU, "1 ns",
           "CPU clock (process), schedstat (thread), else stat",
           "Time on a CPU; of a task that runs elsewhere right now up to one tick too low.") },
    { TASK(TASK_KINDS, user_ns, NATURE_COUNTER, RULE_SPLIT, CAMP_TASK_SPLIT, "1/100 s",
           "/proc/PID/stat utime", "The measured time, in the proportion of its user samples.") },
    { TASK(TASK_KINDS, system_ns, NATURE_COUNTER, RULE_SPLIT, CAMP_TASK_SPLIT, "1/100 s",
           "/proc/PID/stat stime", "The measured time, in the proportion of its system samples.") },
    { TASKSTAT(sampled_ns, RULE_SAMPLED,
               "The ticks that hit this process, as whole ticks: what the kernel would say without "
               "its scheduler's clock.") },
    { TASKSTAT(measured_ns, RULE_COUNTED, "cpu_ns, of the same message as sampled_ns.") },
    { TASK(TASK_KINDS, run_delay_ns, NATURE_COUNTER, RULE_COUNTED, CAMP_TASK_RUN_DELAY, "1 ns",
           "/proc/PID/task/TID/schedstat",
           "Ready to run, and waiting for a CPU; of a process, its living threads."),
      .needs = "a kernel with SCHED_INFO" },
    { TASK(TASK_KINDS, minor_faults, NATURE_COUNTER, RULE_COUNTED, CAMP_TASK_FAULTS, "1",
           "/proc/PID/stat minflt", "Page faults that needed no disk.") },
    { TASK(TASK_KINDS, major_faults, NATURE_COUNTER, RULE_COUNTED, CAMP_TASK_FAULTS, "1",
           "/proc/PID/stat majflt", "Page faults that waited for a disk.") },
    { TASK(KIND_PROCESS, virtual_bytes, NATURE_LEVEL, RULE_COUNTED, CAMP_TASK_SIZE, "1 page",
           "/proc/PID/stat vsize", "Address space mapped, whether used or not.") },
    { TASK(KIND_PROCESS, resident_bytes, NATURE_LEVEL, RULE_COUNTED, CAMP_TASK_SIZE,
           "up to 63 pages a thread", "/proc/PID/stat rss",
           "Pages in memory, shared ones included; the kernel batches the count.") },
    { TASK(KIND_PROCESS, threads, NATURE_LEVEL, RULE_COUNTED, CAMP_TASK_THREADS, "1",
           "/proc/PID/stat num_threads", "Living threads of the process.") },
    { TASK(TASK_KINDS, voluntary_switches, NATURE_COUNTER, RULE_COUNTED, CAMP_TASK_SWITCHES, "1",
           "/proc/PID/task/TID/status",
           "Gave up the CPU to wait; of a process, its living threads.") },
    { TASK(TASK_KINDS, involuntary_switches, NATURE_COUNTER, RULE_COUNTED, CAMP_TASK_SWITCHES, "1",
           "/proc/PID/task/TID/status",
           "Lost the CPU to another task; of a process, its living threads.") },
    { KIND_PROCESS, "runs", VALUE_U64, NATURE_COUNTER, RULE_COUNTED, AT(taskstat.runs), 1,
      AT(taskstat_known), "1", "taskstats", "How often it was put on a CPU.",
      .capability = "CAP_NET_ADMIN", .needs = "a kernel with taskstats" },
    { TASK(TASK_KINDS, read_bytes, NATURE_COUNTER, RULE_COUNTED, CAMP_TASK_IO, "1 sector",
           "/proc/PID/io read_bytes", "Read from storage on its behalf, not from the page cache."),
      .capability = "CAP_SYS_PTRACE and CAP_DAC_READ_SEARCH" },
    { TASK(TASK_KINDS, written_bytes, NATURE_COUNTER, RULE_COUNTED, CAMP_TASK_IO, "1 page",
           "/proc/PID/io write_bytes",
           "Made dirty, to be written to storage; cancelled writes not taken off."),
      .capability = "CAP_SYS_PTRACE and CAP_DAC_READ_SEARCH" },
    { TASK(TASK_KINDS, started_ns, NATURE_FACT, RULE_NONE, CAMP_TASK_START, "1/100 s",
           "/proc/PID/stat starttime", "When it began, on CLOCK_BOOTTIME.") },
    { TASK_KINDS, "start", VALUE_U64, NATURE_FACT, RULE_NONE, AT(task.start), 0, 0, "1/100 s",
      "/proc/PID/stat starttime", "The second half of its identifier, PID@START." },
    { KIND_PROCESS, "parent", VALUE_I32, NATURE_FACT, RULE_NONE, AT(task.parent), CAMP_TASK_PARENT,
      0, "exact", "/proc/PID/stat ppid", "The parent's pid; 0: none." },
    { TASK_KINDS, "state", VALUE_CHARACTER, NATURE_FACT, RULE_NONE, AT(task.state), CAMP_TASK_STATE,
      0, "exact", "/proc/PID/stat state", "R S D T t Z X or I, as in proc(5)." },
    { TASK_KINDS, "name", VALUE_TEXT, NATURE_FACT, RULE_NONE, AT(task.name), CAMP_TASK_NAME, 0,
      "15 bytes", "/proc/PID/stat comm", "The task's name, which it may change." },
    { SHARE(TASK_KINDS, "cpu_percent", task.cpu_ns, CAMP_TASK_CPU, "1 ns", "two readings of cpu_ns",
            "Time on a CPU, in percent of one CPU.") },
    { SHARE(TASK_KINDS, "user_percent", task.user_ns, CAMP_TASK_SPLIT, "1/100 s in the interval",
            "two readings of user_ns", "Scaled user time, in percent of one CPU.") },
    { SHARE(TASK_KINDS, "system_percent", task.system_ns, CAMP_TASK_SPLIT,
            "1/100 s in the interval", "two readings of system_ns",
            "Scaled system time, in percent of one CPU.") },
    { SHARE(TASK_KINDS, "run_delay_percent", task.run_delay_ns, CAMP_TASK_RUN_DELAY, "1 ns",
            "two readings of run_delay_ns", "Time spent waiting for a CPU, in percent."),
      .needs = "a kernel with SCHED_INFO" },

    /* The kernel: facts. */
    KERNEL(release, VALUE_TEXT, 0, "uname(2)", "The kernel's release."),
    KERNEL(machine, VALUE_TEXT, 0, "uname(2)", "The processor's architecture."),
    KERNEL(tick_hz, VALUE_U32, CAMP_KERNEL_TICK, "clock_getres(2)", "Clock ticks a second: HZ."),
    KERNEL(user_hz, VALUE_U32, CAMP_KERNEL_TICK, "sysconf(3)", "Resolution of the times in /proc."),
    KERNEL(accounting, VALUE_ACCOUNTING, CAMP_KERNEL_ACCOUNTING, "the kernel's configuration",
           "How user and system come about: tick (sampled), gen, native, microstates (measured)."),
    KERNEL(measured_cpus, VALUE_TEXT, CAMP_KERNEL_ACCOUNTING, "/proc/cmdline",
           "The CPUs whose user and system time is measured."),
    KERNEL(tickless_idle, VALUE_FLAG, CAMP_KERNEL_TICKLESS_IDLE, "the kernel's configuration",
           "The tick stops in idle, so that idle and iowait are measured."),
    KERNEL(irq_time, VALUE_FLAG, CAMP_KERNEL_IRQ_TIME, "the kernel's configuration",
           "Interrupt time is measured."),
    KERNEL(sched_info, VALUE_FLAG, CAMP_KERNEL_SCHED_INFO, "/proc/self/schedstat",
           "Run time and run delay of tasks are there."),
    KERNEL(schedstats, VALUE_FLAG, CAMP_KERNEL_SCHEDSTATS, "/proc/schedstat",
           "Statistics of the scheduler per CPU are there."),
    KERNEL(taskstats, VALUE_FLAG, CAMP_KERNEL_TASKSTATS, "generic netlink",
           "taskstats is built in: sampled time per process, exit records."),
    KERNEL(delay_accounting, VALUE_FLAG, CAMP_KERNEL_DELAY_ACCOUNTING, "/proc/sys/kernel",
           "Delays for disk and memory are counted per task."),
    KERNEL(psi, VALUE_FLAG, CAMP_KERNEL_PSI, "/proc/pressure", "Pressure stall information."),
    KERNEL(btf, VALUE_FLAG, CAMP_KERNEL_BTF, "/sys/kernel/btf", "Types for BPF programs."),
    KERNEL(cgroup_version, VALUE_I32, CAMP_KERNEL_CGROUP, "/sys/fs/cgroup", "1, 2, or 3 for both."),
    KERNEL(steal, VALUE_FLAG, CAMP_KERNEL_STEAL, "/proc/stat",
           "A virtual machine whose hypervisor reports steal time."),
    KERNEL(capabilities, VALUE_U64, CAMP_KERNEL_CAPABILITIES, "/proc/self/status",
           "Effective capabilities of this process, as bits."),
};

const size_t counter_count = sizeof counters / sizeof counters[0];

const struct kind_name *kind_named(enum counter_kind kind)
{
    size_t i = 0;

    while (i + 1 < KIND_COUNT && kinds[i].kind != kind)
        i++;
    return &kinds[i];
}

static bool is_word(const char *word, const char *text, size_t length)
{
    return word != NULL && strlen(word) == length && memcmp(word, text, length) == 0;
}

const struct kind_name *kind_by_name(const char *name, size_t length)
{
    for (size_t i = 0; i < KIND_COUNT; i++) {
        if (is_word(kinds[i].name, name, length) || is_word(kinds[i].plural, name, length))
            return &kinds[i];
    }
    return NULL;
}

const struct counter *counter_by_name(enum counter_kind kind, const char *name)
{
    for (size_t i = 0; i < counter_count; i++) {
        if ((counters[i].kinds & kind) != 0 && strcmp(counters[i].name, name) == 0)
            return &counters[i];
    }
    return NULL;
}

const char *counter_unit(const struct counter *counter)
{
    static const char *const units[] = { "ns", "bytes", "percent", "hz" };
    const char *last = strrchr(counter->name, '_');

    if (counter->type == VALUE_FLAG)
        return "yes/no";
    if (counter->type == VALUE_TEXT || counter->type == VALUE_CHARACTER ||
        counter->type == VALUE_ACCOUNTING)
        return "text";
    for (size_t i = 0; last != NULL && i < sizeof units / sizeof units[0]; i++) {
        if (strcmp(units[i], last + 1) == 0)
            return units[i];
    }
    return counter->nature == NATURE_FACT && strcmp(counter->name, "count") != 0 ? "number"
                                                                                 : "count";
}

bool counter_needs_interval(const struct counter *counter)
{
    return counter->nature == NATURE_SHARE || counter->nature == NATURE_UTILISATION;
}

/* Ascending ranges as the kernel writes them; what is not such a list holds nothing. */
bool cpu_list_holds(const char *list, int32_t cpu)
{
    while (*list >= '0' && *list <= '9') {
        char *rest;
        unsigned long first = strtoul(list, &rest, 10);
        unsigned long last = *rest == '-' ? strtoul(rest + 1, &rest, 10) : first;

        if (cpu >= 0 && (unsigned long)cpu >= first && (unsigned long)cpu <= last)
            return true;
        list = *rest == ',' ? rest + 1 : rest;
        if (*rest != ',')
            return false;
    }
    return false;
}

/* User and system time of a CPU. The total of measured and sampled CPUs is no better than its
 * sampled part. */
static int tick_provenance(const struct camp_kernel *kernel, int32_t cpu)
{
    if ((kernel->known & CAMP_KERNEL_ACCOUNTING) == 0)
        return CAMP_UNKNOWN;
    switch (kernel->accounting) {
    case CAMP_ACCOUNTING_TICK:
        return CAMP_SAMPLED;
    case CAMP_ACCOUNTING_GEN:
        return cpu_list_holds(kernel->measured_cpus, cpu) ? CAMP_MEASURED : CAMP_SAMPLED;
    case CAMP_ACCOUNTING_NATIVE:
    case CAMP_ACCOUNTING_MICROSTATES:
        return CAMP_MEASURED;
    default:
        return CAMP_UNKNOWN;
    }
}

int counter_provenance(const struct counter *counter, const struct camp_kernel *kernel, int32_t cpu,
                       const struct reading *reading)
{
    switch (counter->rule) {
    case RULE_NONE:
        return CAMP_UNKNOWN;
    case RULE_COUNTED:
        return CAMP_MEASURED;
    case RULE_SAMPLED:
        return CAMP_SAMPLED;
    case RULE_DERIVED:
        return CAMP_DERIVED;
    case RULE_IRQ:
        if ((kernel->known & CAMP_KERNEL_IRQ_TIME) != 0 && kernel->irq_time == 1)
            return CAMP_MEASURED;
        return tick_provenance(kernel, cpu);
    case RULE_TICK:
        return tick_provenance(kernel, cpu);
    case RULE_IDLE:
        if ((kernel->known & CAMP_KERNEL_TICKLESS_IDLE) == 0)
            return CAMP_UNKNOWN;
        return kernel->tickless_idle == 1 ? CAMP_MEASURED : tick_provenance(kernel, cpu);
    case RULE_CPU:
        return reading != NULL ? reading->task.cpu_provenance : CAMP_MEASURED;
    case RULE_SPLIT:
        return reading != NULL ? reading->task.split_provenance : CAMP_SCALED;
    }
    return CAMP_UNKNOWN;
}

const char *counter_rule(const struct counter *counter)
{
    static const char *const rules[] = {
        [RULE_NONE] = "a fact",       [RULE_COUNTED] = "measured",    [RULE_TICK] = "sampled [1]",
        [RULE_IDLE] = "measured [2]", [RULE_IRQ] = "sampled [1] [3]", [RULE_SAMPLED] = "sampled",
        [RULE_CPU] = "measured [4]",  [RULE_SPLIT] = "scaled [5]",    [RULE_DERIVED] = "derived",
    };

    return rules[counter->rule];
}

bool counter_is_known(const struct counter *counter, enum counter_kind kind,
                      const struct reading *reading)
{
    size_t offset =
        counter->known_offset != 0 ? counter->known_offset : kind_named(kind)->known_offset;
    uint32_t known;

    if (reading->result < 0)
        return false;
    memcpy(&known, (const char *)reading + offset, sizeof known);
    return counter->bit == 0 || (known & counter->bit) != 0;
}

int counter_rate(const struct counter *counter, uint64_t before, uint64_t now, uint64_t elapsed_ns,
                 double *ret_per_second)
{
    uint64_t unit = counter->wraps_in;
    int result;

    if (unit == 0 || before / unit > UINT32_MAX || now / unit > UINT32_MAX)
        return camp_rate(before, now, 64, elapsed_ns, ret_per_second);
    result = camp_rate(before / unit, now / unit, 32, elapsed_ns, ret_per_second);
    if (result >= 0)
        *ret_per_second *= (double)unit;
    return result;
}

const char *accounting_name(int accounting)
{
    static const char *const names[] = {
        [CAMP_ACCOUNTING_TICK] = "tick",
        [CAMP_ACCOUNTING_GEN] = "gen",
        [CAMP_ACCOUNTING_NATIVE] = "native",
        [CAMP_ACCOUNTING_MICROSTATES] = "microstates",
    };

    return accounting > 0 && (size_t)accounting < sizeof names / sizeof names[0] ? names[accounting]
                                                                                 : NULL;
}
