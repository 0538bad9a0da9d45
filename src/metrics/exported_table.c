#include "exported_inside.h"

#include "ledger/array.h"
#include "microstates/table.h"

#define TASKS "threads' states at each change (BPF)"

static const char *const cpu_modes[] = { "user",  "nice",       "system", "irq",    "softirq",
                                         "guest", "guest_nice", "idle",   "iowait", "steal" };
/* names of enum cpus_states_column; with other tiers than "bpf", "busy" replaces the first four */
static const char *const measured_modes[] = { "user",   "system", "irq", "softirq",
                                              "iowait", "idle",   "busy" };
static const char *const definitions[] = { "any", "own", "kernel" };
static const char *const switch_kinds[] = { "voluntary", "involuntary" };
static const char *const fault_kinds[] = { "minor", "major" };
static const char *const storage[] = { "read", "written" };
static const char *const memory_kinds[] = { "total", "free", "available", "buffers", "cached" };
static const char *const swap_kinds[] = { "total", "free" };
/* values of the labels "resource" and "share", in turn */
static const char *const pressures[] = { "cpu",    "some", "cpu", "full", "memory", "some",
                                         "memory", "full", "io",  "some", "io",     "full" };
static const char *const directions[] = { "received", "sent" };
static const char *const outcomes[] = { "answered", "failed", "refused" };

#define NAME_OF(state, name, ...) name,
static const char *const state_names[] = { MICROSTATES(NAME_OF) };

#define VALUES(array) array, ARRAY_COUNT(array)

/* clang-format off */
const struct metric exported_table[EXPORTED_FAMILY_COUNT] = {
    [CPUS] = { "camp_cpus", NULL, "Online CPUs.",
        "/proc/stat", METRIC_GAUGE, CAMP_MEASURED, { NULL } },
    [CPU] = { "camp_cpu_seconds", "seconds",
        "Time of all CPUs by the columns of the system's own accounting, since boot; disjoint (guest is not in user).",
        "/proc/stat", METRIC_COUNTER, CAMP_SAMPLED, { "mode" }, VALUES(cpu_modes) },
    [CPU_MEASURED] = { "camp_cpu_measured_seconds", "seconds",
        "Time of all CPUs, since the exporter started; the modes add up to camp_cpus x time.",
        "switches and interrupts (BPF); otherwise idle and iowait of /proc/stat (partly sampled since Linux 7.2), busy is the rest",
        METRIC_COUNTER, CAMP_MEASURED, { "mode" }, VALUES(measured_modes) },
    [CLOCK] = { "camp_clock_seconds", "seconds",
        "Since boot, when the measured time of CPUs was read: what its modes add up to, per CPU, is the difference of two of these.",
        "CLOCK_MONOTONIC", METRIC_COUNTER, CAMP_MEASURED, { NULL } },
    [CPU_IOWAIT] = { "camp_cpu_iowait_seconds", "seconds",
        "Idle time of all CPUs that is I/O wait: any (a thread waits for a disk anywhere), own (a wait that started on this CPU), kernel (iowait of /proc/stat).",
        "switches (BPF); /proc/stat", METRIC_COUNTER, CAMP_MEASURED, { "definition" }, VALUES(definitions) },
    [TASK_STATE] = { "camp_task_state_seconds", "seconds",
        "Wall time of all threads by state, since the exporter started.",
        TASKS, METRIC_COUNTER, CAMP_MEASURED, { "state" }, VALUES(state_names) },
    [TASK_CPU_MEASURED] = { "camp_task_cpu_measured_seconds", "seconds",
        "CPU time of all tasks by the scheduler's own count.",
        "sum_exec_runtime", METRIC_COUNTER, CAMP_MEASURED, { NULL } },
    [TASK_CPU_SAMPLED] = { "camp_task_cpu_sampled_seconds", "seconds",
        "CPU time of all tasks by clock ticks charged to whatever ran.",
        "utime + stime of tasks; taskstats", METRIC_COUNTER, CAMP_SAMPLED, { NULL } },
    [TASK_RUN_DELAY] = { "camp_task_run_delay_seconds", "seconds",
        "Time of all threads on the run queue by the scheduler's own count: a witness of camp_task_state_seconds_total{state=~\"run_queue|throttled\"}.",
        "sched_info.run_delay", METRIC_COUNTER, CAMP_MEASURED, { NULL } },
    [TASK_CALLS] = { "camp_task_system_calls", NULL, "System calls of all threads.",
        "sys_enter (BPF)", METRIC_COUNTER, CAMP_MEASURED, { NULL } },
    [TASK_SIGNALS] = { "camp_task_signals", NULL, "Signals delivered to all threads.",
        "signal_deliver (BPF)", METRIC_COUNTER, CAMP_MEASURED, { NULL } },
    [TASK_SWITCHES] = { "camp_task_switches", NULL,
        "Switches of threads off their CPU: voluntary, to sleep; involuntary, by preemption.",
        "nvcsw, nivcsw of tasks", METRIC_COUNTER, CAMP_MEASURED, { "kind" }, VALUES(switch_kinds) },
    [TASK_FAULTS] = { "camp_task_page_faults", NULL, "Page faults of all threads: major ones waited for input.",
        "min_flt, maj_flt of tasks", METRIC_COUNTER, CAMP_MEASURED, { "kind" }, VALUES(fault_kinds) },
    [TASK_STORAGE] = { "camp_task_storage_bytes", "bytes", "What threads read from and wrote to storage.",
        "ioac of tasks", METRIC_COUNTER, CAMP_MEASURED, { "direction" }, VALUES(storage) },
    [PROCESSES] = { "camp_processes", NULL, "Living processes, including the kernel's.",
        "the last snapshot", METRIC_GAUGE, CAMP_MEASURED, { NULL } },
    [THREADS] = { "camp_threads", NULL, "Living threads, including the kernel's.",
        "the last snapshot", METRIC_GAUGE, CAMP_MEASURED, { NULL } },
    [RUN_QUEUE] = { "camp_running_threads", NULL, "Threads that run or wait for a CPU, at this moment.",
        "procs_running of /proc/stat", METRIC_GAUGE, CAMP_MEASURED, { NULL } },
    [BLOCKED] = { "camp_blocked_threads", NULL, "Threads that wait for a disk, at this moment.",
        "procs_blocked of /proc/stat", METRIC_GAUGE, CAMP_MEASURED, { NULL } },
    [SWITCHES] = { "camp_context_switches", NULL, "Context switches of all CPUs, since boot.",
        "ctxt of /proc/stat", METRIC_COUNTER, CAMP_MEASURED, { NULL } },
    [FORKS] = { "camp_forks", NULL, "Processes and threads started, since boot.",
        "processes of /proc/stat", METRIC_COUNTER, CAMP_MEASURED, { NULL } },
    [INTERRUPTS] = { "camp_interrupts", NULL, "Interrupts served, since boot.",
        "intr of /proc/stat", METRIC_COUNTER, CAMP_MEASURED, { NULL } },
    [BOOT_TIME] = { "camp_boot_time_seconds", "seconds", "Boot time, since 1970.",
        "btime of /proc/stat", METRIC_GAUGE, CAMP_MEASURED, { NULL } },
    [MEMORY] = { "camp_memory_bytes", "bytes",
        "Physical memory: total; free; available without swapping (an estimate); buffers; cached.",
        "/proc/meminfo", METRIC_GAUGE, CAMP_MEASURED, { "kind" }, VALUES(memory_kinds) },
    [SWAP] = { "camp_swap_bytes", "bytes", "Swap space.",
        "/proc/meminfo", METRIC_GAUGE, CAMP_MEASURED, { "kind" }, VALUES(swap_kinds) },
    [PRESSURE] = { "camp_pressure_seconds", "seconds",
        "Time in which some, or all (full), tasks that had work waited for the resource, since boot.",
        "/proc/pressure", METRIC_COUNTER, CAMP_MEASURED, { "resource", "share" }, VALUES(pressures) },
    [DISK_BYTES] = { "camp_disk_bytes", "bytes", "Bytes moved by all disks that are no layer above others.",
        "/proc/diskstats", METRIC_COUNTER, CAMP_MEASURED, { "direction" }, VALUES(storage) },
    [DISK_REQUESTS] = { "camp_disk_requests", NULL, "Requests that these disks completed.",
        "/proc/diskstats", METRIC_COUNTER, CAMP_MEASURED, { "direction" }, VALUES(storage) },
    [DISK_REQUEST_TIME] = { "camp_disk_request_seconds", "seconds",
        "Sum of the durations of these requests.",
        "/proc/diskstats", METRIC_COUNTER, CAMP_MEASURED, { "direction" }, VALUES(storage) },
    [DISK_BUSY] = { "camp_disk_busy_seconds", "seconds",
        "Time with a request in flight, of these disks added up.",
        "/proc/diskstats", METRIC_COUNTER, CAMP_MEASURED, { NULL } },
    [NETWORK_BYTES] = { "camp_network_bytes", "bytes",
        "Bytes of all interfaces but lo; what passes a bridge or tunnel counts there as well.",
        "/proc/net/dev", METRIC_COUNTER, CAMP_MEASURED, { "direction" }, VALUES(directions) },
    [NETWORK_PACKETS] = { "camp_network_packets", NULL, "Packets of these interfaces.",
        "/proc/net/dev", METRIC_COUNTER, CAMP_MEASURED, { "direction" }, VALUES(directions) },
    [NETWORK_ERRORS] = { "camp_network_errors", NULL, "Packets with errors of these interfaces.",
        "/proc/net/dev", METRIC_COUNTER, CAMP_MEASURED, { "direction" }, VALUES(directions) },
    [NETWORK_DROPS] = { "camp_network_drops", NULL, "Packets that these interfaces dropped.",
        "/proc/net/dev", METRIC_COUNTER, CAMP_MEASURED, { "direction" }, VALUES(directions) },
    [GROUP_STATE] = { "camp_group_state_seconds", "seconds",
        "Wall time of the threads of a group by state; other is all groups that are not shown. With camp_group_retired_state_seconds_total they add up to camp_task_state_seconds_total.",
        TASKS, METRIC_COUNTER, CAMP_MEASURED, { "groupname", "state" } },
    [GROUP_MEASURED] = { "camp_group_cpu_measured_seconds", "seconds",
        "CPU time of a group by the scheduler's own count.",
        "sum_exec_runtime", METRIC_COUNTER, CAMP_MEASURED, { "groupname" } },
    [GROUP_SAMPLED] = { "camp_group_cpu_sampled_seconds", "seconds",
        "CPU time of a group by clock ticks charged to whatever ran.",
        "utime + stime of tasks; taskstats", METRIC_COUNTER, CAMP_SAMPLED, { "groupname" } },
    [RETIRED_STATE] = { "camp_group_retired_state_seconds", "seconds",
        "Time by state of groups that are no longer shown.",
        TASKS, METRIC_COUNTER, CAMP_MEASURED, { "state" }, VALUES(state_names) },
    [RETIRED_MEASURED] = { "camp_group_retired_cpu_measured_seconds", "seconds",
        "Likewise of camp_group_cpu_measured_seconds_total.",
        "sum_exec_runtime", METRIC_COUNTER, CAMP_MEASURED, { NULL } },
    [RETIRED_SAMPLED] = { "camp_group_retired_cpu_sampled_seconds", "seconds",
        "Likewise of camp_group_cpu_sampled_seconds_total.",
        "utime + stime of tasks; taskstats", METRIC_COUNTER, CAMP_SAMPLED, { NULL } },
    [SELF_INFO] = { "camp_exporter", NULL, "Which exporter this is, and how it measures.",
        "itself", METRIC_INFO, CAMP_MEASURED, { "version", "tier" } },
    [SELF_START] = { "camp_exporter_start_time_seconds", "seconds",
        "Start time of the exporter, since 1970: its own counters count from then on.",
        "itself", METRIC_GAUGE, CAMP_MEASURED, { NULL } },
    [SELF_CPU] = { "camp_exporter_cpu_seconds", "seconds", "CPU time of the exporter's process.",
        "its CPU clock", METRIC_COUNTER, CAMP_MEASURED, { NULL } },
    [SELF_RESIDENT] = { "camp_exporter_resident_bytes", "bytes", "Resident memory of the exporter's process.",
        "/proc/self/statm", METRIC_GAUGE, CAMP_MEASURED, { NULL } },
    [SELF_SCRAPES] = { "camp_exporter_scrapes", NULL,
        "Requests before this one: answered with a page, failed to read, refused.",
        "itself", METRIC_COUNTER, CAMP_MEASURED, { "outcome" }, VALUES(outcomes) },
    [SELF_SENT] = { "camp_exporter_sent_bytes", "bytes", "Bytes of pages before this one, as sent.",
        "itself", METRIC_COUNTER, CAMP_MEASURED, { NULL } },
    [SELF_SNAPSHOT] = { "camp_exporter_snapshot_seconds", "seconds", "Duration of this snapshot.",
        "itself", METRIC_GAUGE, CAMP_MEASURED, { NULL } },
    [SELF_SNAPSHOT_CPU] = { "camp_exporter_snapshot_cpu_seconds", "seconds", "CPU time of all snapshots.",
        "its thread's CPU clock", METRIC_COUNTER, CAMP_MEASURED, { NULL } },
    [SELF_SWITCHES] = { "camp_exporter_seen_switches", NULL, "Context switches that were accounted.",
        "sched_switch (BPF)", METRIC_COUNTER, CAMP_MEASURED, { NULL } },
    [SELF_UNSEEN] = { "camp_exporter_unseen_switches", NULL,
        "Switches that no event reported: their times are estimated.",
        "sched_switch (BPF)", METRIC_COUNTER, CAMP_MEASURED, { NULL } },
    [SELF_LOST_EXITS] = { "camp_exporter_lost_exits", NULL,
        "Exited tasks whose last numbers are lost.",
        "exit records", METRIC_COUNTER, CAMP_MEASURED, { NULL } },
    [SELF_ADDED_EXITS] = { "camp_exporter_added_up_exits", NULL,
        "Exited threads that were added up by parent and name, for lack of space.",
        "exit records (BPF)", METRIC_COUNTER, CAMP_MEASURED, { NULL } },
    [SELF_LOST_ACCOUNTS] = { "camp_exporter_lost_accounts", NULL,
        "Threads without an account for lack of memory, and waits for a disk that were not counted.",
        "task storage (BPF)", METRIC_COUNTER, CAMP_MEASURED, { NULL } },
    [SELF_UNREAD] = { "camp_exporter_unread_seconds", "seconds",
        "Upper bound of the CPU time of exited processes that is in no record.",
        "taskstats", METRIC_COUNTER, CAMP_MEASURED, { NULL } },
    [SELF_GROUPS] = { "camp_exporter_groups", NULL, "Known groups, shown or not.",
        "itself", METRIC_GAUGE, CAMP_MEASURED, { NULL } },
    [SELF_DEMOTED] = { "camp_exporter_demoted_groups", NULL, "Times that a group left the shown ones.",
        "itself", METRIC_COUNTER, CAMP_MEASURED, { NULL } },
};
/* clang-format on */

const struct metric *exported_metrics(size_t *ret_count)
{
    *ret_count = EXPORTED_FAMILY_COUNT;
    return exported_table;
}
