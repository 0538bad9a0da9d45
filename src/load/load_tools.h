/* Functions that several loads use: CPUs and scheduling, CPU time, and temporary files. */
#pragma once

#include <camp/camp.h>

#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/resource.h>
#include <time.h>

struct load_place {
    cpu_set_t cpus;
    int policy;
    struct sched_param parameter;
    int slack;
    bool known;
};

/* Sets the timer slack of the thread to 1 ns, and binds the thread to `cpu` unless it is -1. *saved
 * becomes the previous settings, even after a failure. New threads inherit the settings. */
int load_place_set(struct load_place *saved, int cpu, struct camp_error *error);

void load_place_restore(const struct load_place *saved);

/* The last CPU that this process may run on, or -1 if it is unknown. */
int load_last_cpu(void);

/* Uses the CPU in user mode until the CPU clock `clock` is at least own_target and CLOCK_MONOTONIC
 * is at least `least`. Returns earlier if CLOCK_MONOTONIC reaches `limit` or a stop is requested.
 */
void load_burn(clockid_t clock, uint64_t own_target, uint64_t least, uint64_t limit);

/* Returns wall_ns - own_ns, or 0: own_ns may be larger, because the clocks are read one after the
 * other. */
static inline uint64_t load_off_cpu_ns(uint64_t wall_ns, uint64_t own_ns)
{
    return wall_ns > own_ns ? wall_ns - own_ns : 0;
}

/* Returns how long a sleep from start_ns to `now` lasted that was to end at due_ns. The time after
 * due_ns is lateness. A sleep that started at due_ns or later lasted 0. */
static inline uint64_t load_slept_ns(uint64_t start_ns, uint64_t due_ns, uint64_t now)
{
    const uint64_t end_ns = now < due_ns ? now : due_ns;

    return end_ns > start_ns ? end_ns - start_ns : 0;
}

struct rusage load_usage(int who);

static inline long load_preemptions(void)
{
    return load_usage(RUSAGE_THREAD).ru_nivcsw;
}

/* The directory for temporary files: TMPDIR, or else /var/tmp, because /tmp is often not on a disk.
 */
const char *load_folder(void);

/* Creates a file without a name in load_folder(). The file is removed when it is closed. Returns a
 * descriptor, or -1 with errno. */
int load_make_nameless(void);

/* Like load_make_nameless(), but writes `bytes` zeros to the file and evicts it from the page
 * cache. The file is shorter if a stop was requested. */
int load_make_filled(uint64_t bytes);

/* Writes the modified pages of a file to the disk, and evicts its pages from the page cache, except
 * pages that are mapped. Returns false with errno after a failure. */
bool load_drop_from_memory(int file);
