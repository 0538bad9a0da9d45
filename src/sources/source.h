/*
 * The contract of a source: describe, next, close. A source makes frames of what it reads, one per
 * interval, for any view.
 *
 * next() waits until `deadline_ns` (CLOCK_MONOTONIC), doing urgent work meanwhile, and then fills
 * the source's frame with what happened since the last call. It returns early when a signal handler
 * sets *stop. The frame belongs to the source, and is valid until the next call. A source with an
 * end (a recording, a table) does not wait, and returns SOURCE_END at its end.
 *
 * beside(), if present, returns a second frame of the same snapshot, such as the CPUs to a frame of
 * threads.
 */
#pragma once

#include "ledger/frame.h"

#include <camp/states.h>

#include <signal.h>
#include <time.h>

enum { SOURCE_END = 1 };

struct source {
    const struct schema *(*describe)(const struct source *source);
    int (*next)(struct source *source, uint64_t deadline_ns, const struct frame **ret_frame,
                struct camp_error *error);
    void (*close)(struct source *source);                       /* releases all, *source included */
    const struct frame *(*beside)(const struct source *source); /* NULL: no second frame */
};

/* Returns the second frame of the last snapshot; NULL: none. */
static inline const struct frame *source_beside(const struct source *source)
{
    return source->beside != NULL ? source->beside(source) : NULL;
}

static inline void source_close(struct source *source)
{
    if (source != NULL)
        source->close(source);
}

/* The columns of this machine's sources. */
extern const struct schema cpus_schema;        /* enum cpus_column */
extern const struct schema cpus_states_schema; /* enum cpus_states_column */
extern const struct schema threads_schema;     /* enum camp_state, then enum threads_counter */
extern const struct schema threads_schedstat_schema;

/* Opens the CPUs: the total is the first row (id CAMP_CPU_TOTAL), and the states are the columns of
 * /proc/stat. A CPU that went offline or came online in the interval has no complete interval: it
 * is left out, and counted as partial. `root`: where to read; NULL: this machine. */
int cpus_source_open(const struct camp_source *root, const volatile sig_atomic_t *stop,
                     struct source **ret, struct camp_error *error);

enum cpus_column {
    CPUS_USER,
    CPUS_NICE,
    CPUS_SYSTEM,
    CPUS_IRQ,
    CPUS_SOFTIRQ,
    CPUS_GUEST,
    CPUS_GUEST_NICE,
    CPUS_IDLE,
    CPUS_IOWAIT,
    CPUS_STEAL,
    CPUS_COLUMN_COUNT
};

/* How processes are measured: by taskstats (CAP_NET_ADMIN), by CPU clocks (any user), or by
 * microstates (CAP_BPF and CAP_PERFMON). */
enum tasks_tier {
    TASKS_AUTOMATIC, /* taskstats if permitted: it costs nothing between two snapshots */
    TASKS_TASKSTATS,
    TASKS_SCHEDSTAT,
    TASKS_BPF
};

enum tasks_column {
    TASKS_MEASURED,
    TASKS_SAMPLED,  /* 0 on the schedstat tier */
    TASKS_ABSOLUTE, /* sum of |sampled - measured| over the processes of a row */
    TASKS_ACTIVE,   /* number of processes of a row that ran (measured > 0) */
    TASKS_MAXIMUM,  /* largest |sampled - measured| / measured of these, in millionths */
    TASKS_STRAY,    /* sampled time of processes without measured time */
    TASKS_COLUMN_COUNT
};

/* Opens the processes. A frame has only those that ran, started or ended; *ret_tier is the chosen
 * tier. */
int tasks_source_open(enum tasks_tier tier, const volatile sig_atomic_t *stop, struct source **ret,
                      enum tasks_tier *ret_tier, struct camp_error *error);

/* Keeps processes in every frame while they live, even if they did not run. pids[count] belongs to
 * the caller, who may change it; no pid is below 1. */
void tasks_source_keep(struct source *source, const int32_t *pids, size_t count);

/* Returns the number of processes at the end of the last interval. */
size_t tasks_source_living(const struct source *source);

/* The CPUs of the same snapshot (enum cpus_states_column), measured at each switch; NULL on the
 * other tiers. Owned by the source, and updated with each frame. */
const struct frame *tasks_source_cpus(const struct source *source);

/* Opens the threads by microstates (states.h): living ones, and those that exited in the interval.
 * The states are enum camp_state, in its order. `options`: enum camp_states_option. */
int threads_source_open(uint32_t options, const volatile sig_atomic_t *stop, struct source **ret,
                        struct camp_error *error);

enum threads_counter {
    THREADS_SYSTEM_CALLS = CAMP_STATE_COUNT,
    THREADS_SIGNALS,
    THREADS_VOLUNTARY_SWITCHES,
    THREADS_INVOLUNTARY_SWITCHES,
    THREADS_MINOR_FAULTS,
    THREADS_MAJOR_FAULTS,
    THREADS_READ_BYTES,
    THREADS_WRITTEN_BYTES,
    THREADS_READ_CHARS,
    THREADS_WRITTEN_CHARS,
    THREADS_CPU, /* by the scheduler's own count, for comparison */
    THREADS_RUN_DELAY,
    THREADS_SAMPLED, /* CPU time sampled by ticks */
    THREADS_COLUMN_COUNT
};

/* The CPUs of the last interval, from the same snapshot: first the total (id CAMP_CPU_TOTAL; its
 * count is the number of CPUs), then each CPU. */
const struct frame *threads_source_cpus(const struct source *source);

enum cpus_states_column {
    CPUS_STATES_USER, /* with CAMP_STATES_NO_SYSCALLS, includes the system time of all but kernel
                       * threads */
    CPUS_STATES_SYSTEM,
    CPUS_STATES_IRQ,
    CPUS_STATES_SOFTIRQ,
    CPUS_STATES_IOWAIT, /* own */
    CPUS_STATES_IDLE,
    CPUS_STATES_ANY_WAIT, /* part of iowait and idle */
    CPUS_STATES_KERNEL_WAIT,
    CPUS_STATES_STEAL,
    CPUS_STATES_SWITCHES,
    CPUS_STATES_COLUMN_COUNT
};

/* The session, for camp_states_disk_waits(). */
struct camp_states *threads_source_session(const struct source *source);

uint64_t source_clock_ns(clockid_t clock);

/* For a program that handles signals itself (Python): source_wait() calls this function before it
 * sleeps, and after a signal. True: source_wait() stops, as if *stop were set. NULL is the default.
 */
extern _Thread_local bool (*source_interrupted)(void);

/* Sleeps for slice_ns, but not beyond deadline_ns. True: the deadline is not reached; the caller
 * should do urgent work and call again. False: the deadline is reached, or *stop is set. */
bool source_wait(uint64_t deadline_ns, uint64_t slice_ns, const volatile sig_atomic_t *stop);
