/* All rows of camp verify on Windows in the order of display: what each row compares, and which
 * trial decides it. */
#include "verify_trials.h"

#include "ledger/array.h"

#define ROWS(run, ...)                                                                             \
    {                                                                                              \
        run, false,                                                                                \
        {                                                                                          \
            __VA_ARGS__                                                                            \
        }                                                                                          \
    }

const struct trial verify_trials[] = {
    ROWS(verify_cycles,
         { "cycles-rate", "MHz", "~MHz of the registry : rate of the time-stamp counter" }),
    ROWS(verify_full,
         { "cpu-measured", "ms", "CPU time of a load of 100 % by cycles : its own clock" },
         { "cpu-sampled", "ms", "of the same by ticks : its own clock" },
         { "cpu-user-system", "ms", "user and system time of the same : its own clock" },
         { "cpu-threads", "ms", "user and system time of its threads : its own clock" },
         { "cpu-pinned", "% of a CPU", "busy time of the CPU to which it is bound : 100" }),
    ROWS(verify_half,
         { "cpu-half", "% of a CPU", "utilisation of a load of 40 % : its own clock" }),
    ROWS(verify_cpu_states,
         { "cpu-sum", "ms", "states of a CPU added up (worst of all CPUs) : wall time" },
         { "cpu-total", "ms", "states of all CPUs together : those of each CPU, added up" },
         { "cpu-idle-cycles", "% of CPUs", "idle time by cycles : by ticks" },
         { "cpu-idle-limit", "CPUs", "CPUs whose idle cycles exceed the wall time : 0" },
         { "system-interrupts", "interrupts", "of the system, while time passed : 1 or more" }),
    ROWS(verify_between_ticks,
         { "phase-between-measured", "ms", "CPU time of a load between ticks : its own clock" },
         { "phase-between-sampled", "% sampled", "CPU not charged to it by ticks : what it met" }),
    ROWS(verify_across_ticks,
         { "phase-across-measured", "ms", "CPU time of a load across ticks : its own clock" },
         { "phase-across-sampled", "% sampled", "CPU charged to it by ticks : ticks it met" }),
    ROWS(verify_memory,
         { "memory-resident", "MiB", "growth of the working set by memory of 32 MiB" },
         { "memory-virtual", "MiB", "growth of the virtual size by the same" },
         { "memory-private", "MiB", "growth of the committed memory by the same" },
         { "faults", "faults", "of the process that touched it : GetProcessMemoryInfo()" },
         { "system-faults", "faults", "of the system meanwhile : pages touched, or more" },
         { "memory-total", "MiB", "physical memory : GetPerformanceInfo()" }),
    ROWS(verify_commit,
         { "memory-commit", "MiB", "growth of the commit charge by memory of 32 MiB" },
         { "memory-commit-limit", "MiB", "the most that can be committed : memory + page files" },
         { "memory-swap", "MiB", "size of the page files : EnumPageFiles()" },
         { "memory-swap-free", "MiB", "free space of the page files : likewise" }),
    ROWS(verify_handles, { "handles", "handles", "growth of the handles by 100 events" }),
    ROWS(verify_threads, { "threads", "threads", "growth of the threads by 8 new ones" },
         { "threads-listed", "threads", "threads listed more after that : 8" }),
    ROWS(verify_sleeps,
         { "switches", "switches", "of a process that slept 100 times : 100 or more" },
         { "system-switches", "switches", "of the system meanwhile : 100 or more" },
         { "system-running", "threads", "that run or want to, now : 1 or more" },
         { "process-state", "processes", "sleeping ones that are shown as asleep : 1" }),
    ROWS(verify_age,
         { "process-start", "ms", "age of a process, by its start : since it was started" },
         { "process-started", "ms", "the same, by its start since boot : likewise" },
         { "process-name", "processes", "with the right name, parent and executable : 1" },
         { "process-arguments", "processes", "whose command line is that of this program : 1" }),
    ROWS(verify_written, { "io-written", "bytes", "of a process : what it wrote" },
         { "volume-written-bytes", "bytes", "of the volume : what it wrote, or more" },
         { "volume-writes", "writes", "of the volume : its writes, or more" },
         { "drive-written-bytes", "bytes", "of a drive : what it wrote, or more" },
         { "drive-busy", "ms", "busy time of that drive : 0.1 or more" },
         { "drive-busy-limit", "drives", "that were busy for longer than the wall time : 0" }),
    ROWS(verify_read, { "io-read", "bytes", "of a process : what it read" },
         { "volume-read-bytes", "bytes", "of the volume : what it read, or more" },
         { "drive-read-bytes", "bytes", "of a drive : what it read, or more" }),
    ROWS(verify_network,
         { "net-sent-packets", "packets", "of the loopback interface : UDP packets sent" },
         { "net-sent-bytes", "bytes", "of the same : payload and headers" },
         { "net-received-packets", "packets", "of the same : UDP packets received" },
         { "net-received-bytes", "bytes", "of the same : payload and headers" }),
    ROWS(verify_cpu_list,
         { "list-cpus", "CPUs", "CPUs listed and readable : GetActiveProcessorCount()" }),
    ROWS(verify_network_list, { "list-networks", "interfaces",
                                "interfaces listed and readable : GetAdaptersAddresses()" }),
    ROWS(verify_volume_list,
         { "list-volumes", "volumes", "volumes listed and readable : GetLogicalDrives()" }),
    ROWS(verify_process_list, { "list-processes", "processes", "processes listed : by Toolhelp32" },
         { "list-executable", "processes", "of this executable that are this one : 1" }),
    ROWS(verify_frequency, { "cpu-frequency", "MHz", "of CPU 0, now : 100 or more" }),
};
const size_t verify_trial_count = ARRAY_COUNT(verify_trials);

/* Windows does not tell what a hypervisor steals. */
uint64_t verify_stolen_ns(void)
{
    return 0;
}

bool is_of_wine(struct verification *verification, const char *row, const char *why)
{
    if (is_wine())
        not_tested(verification, row, "Wine %s", why);
    return is_wine();
}

bool is_known(struct verification *verification, const char *row, uint32_t known, uint32_t bit,
              const char *what)
{
    const struct camp_error unknown = { .code = CAMP_E_FORMAT,
                                        .message = "the number is unknown, but Windows counts it" };

    if ((known & bit) == bit)
        return true;
    if (is_wine())
        not_tested(verification, row, "Wine does not report %s", what);
    else
        has_failed(verification, row, &unknown);
    return false;
}

bool is_observed(struct verification *verification, const char *row,
                 const struct observed *observed, uint32_t bit, const char *what)
{
    return !has_failed(verification, row, &observed->library) &&
           is_known(verification, row, observed->before.known & observed->after.known, bit, what);
}
