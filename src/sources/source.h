/*
 * The interface of a source. A source measures or reads something, and makes one frame of it for
 * each interval.
 *
 * describe() returns the columns of the frames.
 *
 * next() waits until `deadline_ns` (CLOCK_MONOTONIC), and then returns a frame of what happened
 * since the previous call. It returns early if a signal handler sets *stop. The frame belongs to
 * the source, and is valid until the next call. A source with an end, such as a recording or a
 * table, ignores the deadline and returns SOURCE_END at its end.
 *
 * beside(), if there is one, returns a second frame of the same snapshot, such as the CPUs beside a
 * frame of threads.
 *
 * causes(), if there is one, returns why the threads of the snapshot waited.
 *
 * set_division(), if there is one, says by which label the next frames divide the time of a
 * database session: by its statement ("query"), by the session that blocked it ("blocker"), or by
 * the wait event in which it was ("wait_event"). There is then a row for each session and value of
 * the label, and the rows of a session add up to it. SOURCE_DIVISION_WAITS divides by wait event,
 * and the rows of a lock by blocker. With SOURCE_DIVISION_BESIDE a session is one row, and beside()
 * has the rows by wait event, without blockers. NULL, and any other label: a session is one row.
 * Only a source that was opened with from.by_statement divides by statement.
 *
 * session_facts(), if there is one, returns what a database server reported of its sessions at the
 * end of the last interval.
 *
 * set_idle(), if there is one, says which rows the next frames have of idle entities. Without a
 * call each has a row. A frame may still have rows that were not asked for, as the first one does.
 */
#pragma once

#include "ledger/frame.h"

#include <camp/states.h>

#include <signal.h>
#include <time.h>

enum { SOURCE_END = 1 };

struct causes;        /* sources/causes/causes.h */
struct session_facts; /* sources/session_facts.h */

struct source {
    const struct schema *(*describe)(const struct source *source);
    int (*next)(struct source *source, uint64_t deadline_ns, const struct frame **ret_frame,
                struct camp_error *error);
    void (*close)(struct source *source);                         /* also frees *source */
    const struct frame *(*beside)(const struct source *source);   /* may be NULL */
    void (*set_idle)(struct source *source, enum idle_rows idle); /* may be NULL */
    /* may be NULL: source_causes() */
    int (*causes)(struct source *source, const struct causes **ret, struct camp_error *error);
    void (*set_division)(struct source *source, const char *label);            /* may be NULL */
    const struct session_facts *(*session_facts)(const struct source *source); /* may be NULL */
};

/* Returns the frame of beside(), or NULL if the source has no second frame. */
static inline const struct frame *source_beside(const struct source *source)
{
    return source->beside != NULL ? source->beside(source) : NULL;
}

static inline void source_set_idle(struct source *source, enum idle_rows idle)
{
    if (source->set_idle != NULL)
        source->set_idle(source, idle);
}

static inline void source_set_division(struct source *source, const char *label)
{
    if (source->set_division != NULL)
        source->set_division(source, label);
}

/* The names of labels of database sessions: the statement to which the time is charged, and the
 * statement that the session ran last. */
#define SOURCE_LABEL_STATEMENT "query"
#define SOURCE_LABEL_LAST_STATEMENT "last_statement"
#define SOURCE_LABEL_BLOCKER "blocker"           /* the pid of the session that blocks this one */
#define SOURCE_LABEL_ROOT_BLOCKER "root_blocker" /* and of the one at the end of its chain */
#define SOURCE_LABEL_BLOCKING_ACTIVITY "blocking_activity"
/* What the session waited for, as the database names it. Only rows that are divided by it have it.
 */
#define SOURCE_LABEL_WAIT_EVENT "wait_event"
#define SOURCE_DIVISION_WAITS "wait_event,blocker"
#define SOURCE_DIVISION_BESIDE "wait_event beside"
/* the labels by which set_division() can divide time */
#define SOURCE_DIVISIONS                                                                           \
    SOURCE_LABEL_STATEMENT, SOURCE_LABEL_BLOCKER, SOURCE_LABEL_ROOT_BLOCKER, SOURCE_LABEL_WAIT_EVENT

/* Sets *ret to the causes of waits in the interval of the last frame, or to NULL if the source has
 * none. They belong to the source, and are valid until the next frame. A recording reads them only
 * now, and returns the errors of reading. */
static inline int source_causes(struct source *source, const struct causes **ret,
                                struct camp_error *error)
{
    *ret = NULL;
    return source->causes != NULL ? source->causes(source, ret, error) : 0;
}

static inline void source_close(struct source *source)
{
    if (source != NULL)
        source->close(source);
}

/* The columns of the sources of this machine. The enum beside a schema has the indices of its
 * columns. */
extern const struct schema cpus_schema;        /* enum cpus_column */
extern const struct schema cpus_states_schema; /* enum cpus_states_column */
/* The columns of enum camp_state, then those of enum threads_counter. Frames of threads lack the
 * columns that the session does not know: see threads_column(). */
extern const struct schema threads_schema;
extern const struct schema threads_schedstat_schema;

/* Opens the CPUs, with the columns of /proc/stat as states. The first row is the total (id
 * CAMP_CPU_TOTAL). A CPU that went offline or came online in the interval has no row, and is
 * counted in losses.partial; so is, on Windows, a CPU without idle cycles. `root` says where to
 * read; NULL means this machine. The source's columns are those of cpus_schema, with the provenance
 * of idle and iowait on this kernel. */
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

/* How processes are measured. On Linux: by taskstats (needs CAP_NET_ADMIN), by their CPU clocks
 * (TASKS_SCHEDSTAT, any user), or by microstates (TASKS_BPF, needs CAP_BPF and CAP_PERFMON). On
 * Windows: by their cycles. If the rate of the cycles is unknown, as on arm64, there are only the
 * times that ticks sample (TASKS_TICKS). Wine has neither (TASKS_NOTHING). */
enum tasks_tier {
    TASKS_AUTOMATIC, /* the first of these that is possible: taskstats, schedstat; cycles, ticks */
    TASKS_TASKSTATS,
    TASKS_SCHEDSTAT,
    TASKS_BPF,
    TASKS_CYCLES,
    TASKS_TICKS,
    TASKS_NOTHING,
    TASKS_TIER_COUNT
};

/* What a tier knows. */
struct tasks_tier_facts {
    const char *name;
    const char *lacks;            /* what it cannot see */
    bool is_measured, is_sampled; /* the two times of processes, if their rows have no flags */
    bool counts_unseen;           /* losses.unseen is known */
    bool lacks_cpu_columns; /* columns of CPUs whose provenance is CAMP_UNKNOWN have no values */
};

extern const struct tasks_tier_facts tasks_tiers[TASKS_TIER_COUNT]; /* by enum tasks_tier */

/* Returns TASKS_AUTOMATIC if no tier has the name. */
enum tasks_tier tasks_tier_of(const char *name);

/* The tiers that a user of this system can choose: "auto", then their names, then NULL. */
extern const char *const tasks_tier_choices[];
/* For the help of camp check: what the tiers are, and what exit status 3 says about them. */
extern const char tasks_tier_help[], tasks_status_help[];

enum tasks_column {
    TASKS_MEASURED,
    TASKS_SAMPLED,  /* 0 if the tier does not sample */
    TASKS_ABSOLUTE, /* sum of |sampled - measured| over the processes of a row */
    TASKS_ACTIVE,   /* number of processes of a row that ran (measured > 0) */
    TASKS_MAXIMUM,  /* largest |sampled - measured| / measured of a process, in millionths */
    TASKS_STRAY,    /* sampled time of processes that did not run (measured == 0) */
    TASKS_COLUMN_COUNT
};

/* Opens the processes. A frame has only the processes that ran, started or ended in the interval.
 * A row with ENTITY_UNMEASURED or ENTITY_UNSAMPLED lacks that time. *ret_tier is the chosen tier.
 */
int tasks_source_open(enum tasks_tier tier, const volatile sig_atomic_t *stop, struct source **ret,
                      enum tasks_tier *ret_tier, struct camp_error *error);

/* Gives each of the processes pids[count] a row in every frame while it lives, even if it did not
 * run. The caller owns the array, and may change it later. Each pid must be at least 1. */
void tasks_source_keep(struct source *source, const int32_t *pids, size_t count);

size_t tasks_source_living(const struct source *source);

/* Returns how many of the living processes are not measured, because this user may not open them.
 * The frame counts them in losses.partial. On Linux none. */
size_t tasks_source_unmeasured(const struct source *source);

/* Returns whether the CPU time of an ended process is complete: always on the tier bpf, and on the
 * tier taskstats if CAP_BPF and CAP_PERFMON are held. */
bool tasks_source_has_final_clocks(const struct source *source);

/* Returns the CPUs in the snapshot of the newest frame (enum cpus_states_column), or NULL if the
 * tier is not TASKS_BPF. The result belongs to the source, and is valid until the next frame. */
const struct frame *tasks_source_cpus(const struct source *source);

/* Opens the threads by microstates (camp/states.h): the living threads, and the threads that exited
 * in the interval. The states are those of enum camp_state. `options` is of enum
 * camp_states_option. */
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
    THREADS_CPU, /* CPU time by the clock of the scheduler, for comparison */
    THREADS_RUN_DELAY,
    THREADS_SAMPLED, /* CPU time sampled by timer ticks */
    THREADS_COLUMN_COUNT
};

/* The columns of threads_schema, without the states and counters that a session does not know. */
struct threads_columns {
    struct schema schema;
    uint64_t unmeasured; /* 1 << index in threads_schema */
    struct column columns[THREADS_COLUMN_COUNT];
};

/* Returns the columns of threads_schema that the session does not know, as bits 1 << index. */
uint64_t threads_unmeasured(const struct camp_states *session);

/* Fills *ret. The caller must not move *ret afterwards, because it has pointers to itself. */
void threads_columns_fill(struct threads_columns *ret, uint64_t unmeasured);

/* Adds did[count], which is in the order of threads_schema, to a row without the columns
 * `unmeasured`. Elements after THREADS_COLUMN_COUNT are columns of the caller. */
void threads_values_add(uint64_t *values, uint64_t unmeasured, const uint64_t *did, size_t count);

/* Returns whether the columns are those of threads_columns_fill(), as they also are in a recording:
 * in the order of threads_schema, of which some may be absent. The functions below need such a
 * schema. */
bool threads_have_columns(const struct schema *schema);

/* Returns whether `schema` has a column of threads_schema. */
bool threads_have(const struct schema *schema, size_t column);

/* Returns the index that a column of threads_schema has in `schema`. Must not be called for a
 * column for which threads_have() returns false. Call it once for a frame, not for each thread. */
size_t threads_column(const struct schema *schema, size_t column);

/* Returns the CPUs in the snapshot of the newest frame. The first row is the total (id
 * CAMP_CPU_TOTAL), whose `count` is the number of CPUs. */
const struct frame *threads_source_cpus(const struct source *source);

enum cpus_states_column {
    /* The provenance of a column that the session does not know is CAMP_UNKNOWN, and its values are
     * 0. With CAMP_STATES_NO_SYSCALLS, user time includes all system time. */
    CPUS_STATES_USER,
    CPUS_STATES_SYSTEM,
    CPUS_STATES_IRQ,
    CPUS_STATES_SOFTIRQ,
    CPUS_STATES_IOWAIT, /* idle while a thread that went to sleep on this CPU waits for a disk */
    CPUS_STATES_IDLE,
    /* Part of the two columns above: idle while a thread of any CPU waits for a disk. */
    CPUS_STATES_ANY_WAIT,
    CPUS_STATES_KERNEL_WAIT,
    CPUS_STATES_STEAL,
    CPUS_STATES_SWITCHES,
    CPUS_STATES_OUTSIDE,
    CPUS_STATES_OUTSIDE_SYSTEM,
    CPUS_STATES_COLUMN_COUNT
};

/* Returns the session of microstates, for camp_states_disk_waits(). */
struct camp_states *threads_source_session(const struct source *source);

uint64_t source_clock_ns(clockid_t clock);

/* For a program that handles signals itself, such as Python. source_wait() calls this function
 * before it sleeps and after a signal. If the function returns true, source_wait() returns false.
 * In such a program another thread may set *stop, which ends the wait within 50 ms. The default is
 * NULL. */
extern _Thread_local bool (*source_interrupted)(void);

/* For a program in which another thread may end an interval early, such as an exporter. The sources
 * of PostgreSQL and MariaDB call source_is_over() while they wait for the end of an interval; if
 * this function returns true, they end the interval now, with a last sample, as at its deadline.
 * Nothing else is interrupted. The default is NULL. */
extern _Thread_local bool (*source_ends_early)(void);
bool source_is_over(void);

/* Sleeps for slice_ns, but not beyond deadline_ns. Returns true if the deadline has not passed: the
 * caller should do the work that cannot wait, and call again. Returns false at the deadline, or if
 * *stop is set. */
bool source_wait(uint64_t deadline_ns, uint64_t slice_ns, const volatile sig_atomic_t *stop);

/* Before each frame of a file but the first, waits for the length of its interval divided by the
 * speed; a speed of 0 does not wait. *due_ns, which is 0 before the first frame, becomes the time
 * (CLOCK_MONOTONIC) when the frame is due. */
void source_wait_replay(uint64_t *due_ns, const struct frame *frame, double speed,
                        const volatile sig_atomic_t *stop);
