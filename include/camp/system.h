/*
 * system.h - counters of the system as a whole, and what single calls report beside the counters of
 * camp.h.
 *
 * For results, errors, sizes and arrays see camp.h.
 */
#ifndef CAMP_SYSTEM_H
#define CAMP_SYSTEM_H

#include <camp/camp.h>

#ifdef __cplusplus
extern "C" {
#endif

/* === camp_system: counters of the system as a whole === */

enum camp_system_field {
    CAMP_SYSTEM_BOOT_TIME = 1u << 0,
    CAMP_SYSTEM_CONTEXT_SWITCHES = 1u << 1,
    CAMP_SYSTEM_INTERRUPTS = 1u << 2,
    CAMP_SYSTEM_FORKS = 1u << 3,
    CAMP_SYSTEM_RUNNING = 1u << 4,
    CAMP_SYSTEM_BLOCKED = 1u << 5,
    CAMP_SYSTEM_LOAD_AVERAGE_1 = 1u << 6,
    CAMP_SYSTEM_LOAD_AVERAGE_5 = 1u << 7,
    CAMP_SYSTEM_LOAD_AVERAGE_15 = 1u << 8,
    CAMP_SYSTEM_FAULTS = 1u << 9,
    CAMP_SYSTEM_MAJOR_FAULTS = 1u << 10,
    CAMP_SYSTEM_SWAPPED_IN = 1u << 11,
    CAMP_SYSTEM_SWAPPED_OUT = 1u << 12,
    CAMP_SYSTEM_PAGED_IN = 1u << 13,
    CAMP_SYSTEM_PAGED_OUT = 1u << 14,
    CAMP_SYSTEM_SCANNED = 1u << 15,
    CAMP_SYSTEM_RECLAIMED = 1u << 16,
    CAMP_SYSTEM_CPU_SOME = 1u << 17,
    CAMP_SYSTEM_MEMORY_SOME = 1u << 18,
    CAMP_SYSTEM_MEMORY_FULL = 1u << 19,
    CAMP_SYSTEM_IO_SOME = 1u << 20,
    CAMP_SYSTEM_IO_FULL = 1u << 21,
    CAMP_SYSTEM_ALL = (1u << 22) - 1
};

/*
 * Counters and levels of the system as a whole, since boot. On Linux they come from four places,
 * which are read one after the other: /proc/stat (boot time to blocked), /proc/loadavg,
 * /proc/vmstat (faults to reclaimed) and /proc/pressure. A value that the kernel does not print is
 * unknown; so are all values of a file that does not exist or that the caller may not read.
 */
struct camp_system {
    uint32_t known; /* enum camp_system_field */
    uint32_t reserved;
    uint64_t time_ns; /* monotonic clock after the last file was read (CLOCK_MONOTONIC) */
    /* Time of the boot in ns since 1970, on Linux in whole seconds. It moves when the wall clock is
     * set. */
    uint64_t boot_time_ns;
    uint64_t context_switches;
    uint64_t interrupts; /* hardware interrupts, with those of the clock */
    uint64_t forks;      /* processes and threads started; on illumos processes alone */
    uint64_t running;    /* threads on a CPU or ready to run, now */
    uint64_t blocked;    /* threads that wait for a disk, now */
    /* Threads that run, are ready to run or sleep uninterruptibly, counted every 5 s, and averaged
     * over about 1, 5 and 15 minutes. Resolution 1/100. */
    double load_average_1;
    double load_average_5;
    double load_average_15;
    uint64_t faults;            /* page faults, with major_faults */
    uint64_t major_faults;      /* page faults that waited for a disk */
    uint64_t swapped_in_bytes;  /* read from swap, in whole pages of this machine */
    uint64_t swapped_out_bytes; /* written to swap */
    uint64_t paged_in_bytes;    /* read from block devices, by files and by swap */
    uint64_t paged_out_bytes;
    uint64_t scanned_bytes;   /* pages that the kernel examined to free memory; since Linux 4.8 */
    uint64_t reclaimed_bytes; /* pages that it freed of those; since Linux 4.8 */
    /* Pressure: the time in which at least one thread (some) or every thread that had work (full)
     * was delayed by a lack of CPU time, memory or disk throughput. Resolution 1 us. Of CPUs, Linux
     * defines only `some` for the whole system, and prints 0 as `full`. */
    uint64_t cpu_some_ns;
    uint64_t memory_some_ns;
    uint64_t memory_full_ns;
    uint64_t io_some_ns;
    uint64_t io_full_ns;
};

/* Reads the counters of the system as a whole. `wanted` are the fields that the caller needs (enum
 * camp_system_field). Other fields may be filled too. Only the files that have a wanted field are
 * read. Errors: CAMP_E_INVALID, CAMP_E_NOMEM, CAMP_E_IO, CAMP_E_FORMAT, CAMP_E_NOTSUP (this system
 * has none). */
CAMP_PUBLIC int camp_system_read(const struct camp_source *source, uint32_t wanted,
                                 struct camp_system *ret, size_t size, struct camp_error *error);

/* Reads the frequency of a CPU at this moment. On Linux it comes from cpufreq, or, if this CPU has
 * no cpufreq, from /proc/cpuinfo, where most virtual machines print a constant. Errors:
 * CAMP_E_INVALID, CAMP_E_GONE (the CPU is offline or does not exist), CAMP_E_NOTSUP (no file has
 * its frequency), CAMP_E_PERM, CAMP_E_NOMEM, CAMP_E_IO, CAMP_E_FORMAT. */
CAMP_PUBLIC int camp_cpu_frequency_hz(const struct camp_source *source, int32_t cpu,
                                      uint64_t *ret_hz, struct camp_error *error);

/* === camp_process_text: texts of a process === */

enum camp_text {
    /* The arguments, each followed by a NUL. The process may have changed them. Empty for a kernel
     * thread. On Windows (8.1 and later) the whole line, undivided, followed by a NUL. */
    CAMP_TEXT_COMMAND_LINE = 0,
    /* Path of the executable. Linux appends " (deleted)" if the file was removed. */
    CAMP_TEXT_EXECUTABLE = 1,
    CAMP_TEXT_CGROUP = 2 /* path of the cgroup, such as "/user.slice"; version 2 only */
};

/* Copies a text of a process (enum camp_text) to buffer[capacity], without a NUL at its end. It may
 * have any bytes, such as escape sequences: a program that prints it must filter them. *ret_length
 * is set to the length of the text. If this is larger than `capacity`, the first `capacity` bytes
 * are copied. Errors: CAMP_E_INVALID, CAMP_E_SPACE, CAMP_E_GONE (the process has exited, even if
 * another one has its pid now), CAMP_E_PERM (the executable of another user's process),
 * CAMP_E_NOTSUP (a kernel thread has no executable; no cgroup of version 2), CAMP_E_NOMEM,
 * CAMP_E_IO, CAMP_E_FORMAT.
 */
CAMP_PUBLIC int camp_process_text(const struct camp_source *source,
                                  const struct camp_process *process, int text, char *buffer,
                                  size_t capacity, size_t *ret_length, struct camp_error *error);

/* Reads the effective user id of a process. Errors: CAMP_E_INVALID, CAMP_E_GONE (the process has
 * exited), CAMP_E_NOTSUP, CAMP_E_PERM, CAMP_E_NOMEM, CAMP_E_IO, CAMP_E_FORMAT. */
CAMP_PUBLIC int camp_process_user_id(const struct camp_source *source,
                                     const struct camp_process *process, uint32_t *ret_user_id,
                                     struct camp_error *error);

/* Reads the proportional set size of a process: its pages in memory, each divided by the number of
 * processes that share it. The sum over all processes is the memory that they use together. On
 * Linux the kernel counts all pages of the process for each call, which takes a few ms for 1 GB. It
 * comes from smaps_rollup, which needs the right to trace the process. Errors: CAMP_E_INVALID,
 * CAMP_E_GONE (the process has exited), CAMP_E_PERM, CAMP_E_NOTSUP (a kernel thread, or Linux
 * before 4.14), CAMP_E_NOMEM, CAMP_E_IO, CAMP_E_FORMAT. */
CAMP_PUBLIC int camp_process_proportional_bytes(const struct camp_source *source,
                                                const struct camp_process *process,
                                                uint64_t *ret_bytes, struct camp_error *error);

#ifdef __cplusplus
}
#endif

#endif
