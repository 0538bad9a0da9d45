/* All rows of camp verify in the order of display: what each row compares, and which trial decides
 * it. */
#include "verify_trials.h"

#include "ledger/array.h"

/* A hypervisor that steals CPU time disturbs rows of CPU time (TIMED), but not rows of counts
 * (COUNTED). */
#define TIMED(run, ...)                                                                            \
    {                                                                                              \
        run, true,                                                                                 \
        {                                                                                          \
            __VA_ARGS__                                                                            \
        }                                                                                          \
    }
#define COUNTED(run, ...)                                                                          \
    {                                                                                              \
        run, false,                                                                                \
        {                                                                                          \
            __VA_ARGS__                                                                            \
        }                                                                                          \
    }

const struct trial verify_trials[] = {
    TIMED(verify_idle,
          { "cpu-idle-process", "% asleep",
            "a sleeping process: 100 - utilisation, by its own clock" },
          { "cpu-idle-machine", "% of a CPU",
            "idle time of all CPUs (busy, if that is more): by all processes" }),
    TIMED(verify_half,
          { "cpu-half-process", "% of a CPU", "a load of 50 %: utilisation, by its own clock" },
          { "cpu-half-machine", "% of a CPU", "busy time of all CPUs: what all processes used" }),
    TIMED(verify_full,
          { "cpu-full-process", "% of a CPU", "a load of 100 %: utilisation, by its own clock" },
          { "cpu-full-machine", "% of a CPU", "busy time of all CPUs: what all processes used" },
          { "cpu-sum", "% of a CPU", "busy time of all CPUs: in total, and added up" },
          { "cpu-full-cpu", "% of a CPU", "busy time of the CPU it is pinned to: 100" }),
    TIMED(verify_two,
          { "cpu-two-first", "% of a CPU", "the first of two loads of 30 %, by its own clock" },
          { "cpu-two-second", "% of a CPU", "the second, by its own clock" },
          { "cpu-two-machine", "% of a CPU", "busy time of all CPUs: what all processes used" }),
    TIMED(verify_burners,
          { "run-delay", "ms", "of one of two that want one CPU : its wall time - its CPU time" },
          { "switches-involuntary", "switches", "of the same : getrusage" }),
    TIMED(verify_sum,
          { "sum-rule", "% of wall", "CPU time + run delay + requested sleep : wall time" }),
    TIMED(verify_threads,
          { "threads-step", "threads", "growth of threads when one is made (worst of 8) : 1" },
          { "threads-listed", "threads", "threads listed more after 8 were made : 8" }),
    TIMED(verify_voluntary,
          { "switches-voluntary", "switches", "of a process that slept 500 times : getrusage" }),
    COUNTED(verify_memory,
            { "memory-resident", "KiB", "growth of the resident size by a step of 976 KiB" },
            { "memory-virtual", "KiB", "growth of the virtual size by a step of 976 KiB" },
            { "memory-free", "KiB", "free memory taken by a step of 976 KiB" },
            { "memory-total", "MiB", "physical memory : sysconf(_SC_PHYS_PAGES)" },
            { "faults-minor", "faults", "of the process that took the steps : getrusage" }),
    COUNTED(verify_faults, { "faults-major", "faults",
                             "of a process that touched a file not in memory : getrusage" }),
    COUNTED(verify_io, { "io-read", "bytes", "of a process : what it read with O_DIRECT" },
            { "io-written", "bytes", "of a process : what it wrote with O_DIRECT" },
            { "disk-reads", "reads", "of the disk underneath : blocks read" },
            { "disk-read-bytes", "bytes", "of the disk underneath : bytes read" },
            { "disk-writes", "writes", "of the disk underneath : blocks written" },
            { "disk-written-bytes", "bytes", "of the disk underneath : bytes written" }),
    COUNTED(
        verify_network,
        { "net-sent-packets", "packets", "of one end of a veth pair : packets sent to the other" },
        { "net-sent-bytes", "bytes", "of the same : 74 bytes a packet (lo: 60)" },
        { "net-received-packets", "packets", "of the other end : packets sent to it" },
        { "net-received-bytes", "bytes", "of the same : 74 bytes a packet (lo: 60)" }),
    COUNTED(verify_cpu_list,
            { "list-cpus", "CPUs", "CPUs listed and readable : /sys/devices/system/cpu/online" }),
    COUNTED(
        verify_disk_list, { "list-disks", "disks", "disks listed and readable : /sys/class/block" },
        { "list-partitions", "partitions", "partitions listed and readable : /sys/class/block" }),
    COUNTED(verify_network_list,
            { "list-networks", "interfaces", "interfaces listed and readable : /sys/class/net" }),
    COUNTED(
        verify_process_list,
        { "list-processes", "processes", "processes listed : numbers in /proc" },
        { "list-executable", "processes", "processes of this executable that are this one : 1" }),
    TIMED(verify_between_ticks,
          { "phase-between-measured", "ms", "CPU time of a load between ticks : its own clock" },
          { "phase-between-sampled", "% error", "of its sampled time : by the ticks it met" }),
    TIMED(verify_across_ticks,
          { "phase-across-measured", "ms", "CPU time of a load across ticks : its own clock" },
          { "phase-across-sampled", "% error", "of its sampled time : by the ticks it met" }),
    TIMED(verify_exits, { "exits-count", "records", "of exited processes : how many were forked" },
          { "exits-time", "ms", "records' CPU time : zombies' clocks, less their exits" }),
    TIMED(
        verify_states,
        { "states-sum", "ms", "states of a thread added up (worst of all threads) : its time" },
        { "states-cpus", "% of CPUs", "on CPUs by threads + idle, interrupts by CPUs : wall time" },
        { "states-on-cpu", "ms", "of one of two that want one CPU : the scheduler's CPU time" },
        { "states-run-queue", "ms", "of the same : the scheduler's run delay" },
        { "states-system", "% of both",
          "system of user and system : a load that clocks its calls" }),
    TIMED(verify_state_sleeps,
          { "states-lock", "% of wall", "asleep in futex(2) : by the clocks of sleeper and waker" },
          { "states-pipe", "% of wall", "asleep in read(2) of a pipe : likewise" },
          { "states-timer", "% of wall",
            "asleep in clock_nanosleep(2) : until the time it asked for" },
          { "states-disk", "% of wall", "waits of direct reads : wall - CPU time - run delay" },
          { "states-data-fault", "% of wall",
            "waits for pages of a file : wall - CPU time - run delay" },
          { "states-kernel-fault", "% of wall", "the same, touched in write(2) : likewise" }),
    COUNTED(verify_state_idle,
            { "states-idle", "readings",
              "of idle threads, equal to those of a session that visits all : compared" }),
};
const size_t verify_trial_count = ARRAY_COUNT(verify_trials);
