/* What the loads share: where they run, the use of a CPU by a clock, their counts, their files. */
#pragma once

#include <camp/camp.h>

#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/resource.h>
#include <time.h>

/* ----------------------------------------------------------------------------------- Place -- */

struct load_place {
    cpu_set_t cpus;
    int policy;
    struct sched_param parameter;
    int slack;
    bool known;
};

/* Sets the timer slack to 1 ns, and pins the thread to `cpu` (-1: not). The old settings go to
 * *saved, also on failure. New threads inherit the settings. */
int load_place_set(struct load_place *saved, int cpu, struct camp_error *error);

/* Restores policy, CPUs and timer slack. */
void load_place_restore(const struct load_place *saved);

/* The last CPU this process may run on; -1: unknown. */
int load_last_cpu(void);

/* -------------------------------------------------------------------------------- CPU time -- */

/* Uses the CPU until the CPU clock reaches own_target, and at least until `least`, but not past
 * `limit` (both CLOCK_MONOTONIC) nor a requested stop. In user mode, except when reading the CPU
 * clock. */
void load_burn(clockid_t clock, uint64_t own_target, uint64_t least, uint64_t limit);

/* Wall time off a CPU. The two clocks are read in turn, so their difference may be slightly
 * negative. */
static inline uint64_t load_off_cpu_ns(uint64_t wall_ns, uint64_t own_ns)
{
    return wall_ns > own_ns ? wall_ns - own_ns : 0;
}

/* getrusage(2). */
struct rusage load_usage(int who);

/* Involuntary context switches of this thread. */
static inline long load_preemptions(void)
{
    return load_usage(RUSAGE_THREAD).ru_nivcsw;
}

/* ----------------------------------------------------------------------------------- Files -- */

/* The directory for temporary files: TMPDIR or /var/tmp, which is a disk more often than /tmp is.
 */
const char *load_folder(void);

/* Opens a new file in load_folder() for reading and writing. It has no name, and vanishes when
 * closed. -1 and errno on failure. */
int load_make_nameless(void);

/* As load_make_nameless(); the file holds `bytes` zeros, which are on its disk and if possible not
 * in memory. It is shorter when a stop is requested. */
int load_make_filled(uint64_t bytes);

/* Writes the file's dirty pages to the disk, then evicts it from the page cache, except for pages
 * mapped by others. False, with errno: could not be tried. */
bool load_drop_from_memory(int file);
