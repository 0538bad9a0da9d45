/*
 * Why the threads of this machine waited in an interval: for each group of threads (all processes
 * with one name, one process, or the threads in one cgroup) the time in each state, and its causes.
 *
 * The causes of a state add up to the time of the state, to the ns. What cannot be attributed has a
 * row of its own: a sleep that nothing has ended yet (CAUSE_NOT_ENDED), and what no event reported
 * (CAMP_CAUSE_UNKNOWN). The ledger and the threads are read one after the other, within about a
 * millisecond; what the causes have more than the state because of that is subtracted from them in
 * proportion, and counted in reduced_ns.
 */
#pragma once

#include "ends/open_call.h"
#include "sources/source.h"
#include "wait_lengths.h"

#include <camp/states.h>

#include <signal.h>
#include <stdbool.h>

#define CAUSE_GROUPS 64
#define CAUSE_CGROUP_SIZE 80 /* a longer path is cut at its start */
#define CAUSE_NAME_SIZE 96

/* Kinds of causes besides enum camp_cause_kind. */
enum {
    CAUSE_NOT_ENDED = CAMP_CAUSE_COUNT, /* the thread still sleeps */
    CAUSE_QUOTA,                        /* CAMP_STATE_THROTTLED */
    CAUSE_KIND_COUNT
};

struct cause {
    uint32_t group; /* whose time it is: camp_states_group.number */
    uint32_t state; /* enum camp_state */
    uint32_t kind;
    uint32_t id; /* number of a group, or of a device's interrupt */
    uint64_t wait_ns;
};

struct cause_list {
    struct cause *items; /* [count] */
    size_t count, capacity;
};

/* Sleeps of a watched process in one system call, in the interval. */
struct call_list {
    struct camp_call_sleeps *items; /* [count], the longest first */
    size_t count, capacity;
};

/* camp_call_sleeps.call of a sleep that has not ended may be CALL_UNKNOWN (ends/open_call.h). */

/* In camp_call_sleeps.argument of the sleeps for all children that have ended. */
#define CHILD_ENDED (UINT64_C(1) << 62)

/* In slept_stack.flags, besides enum camp_sleep_stack_flag: sleeps without a stack, which were
 * shorter than the session reads stacks of, have not ended, or were woken without an event. */
#define STACK_MISSING (1u << 31)

/* Sleeps of one group in one state with the same stacks, in the interval. */
struct slept_stack {
    uint32_t group, state, flags;
    int32_t pid; /* whose stack the one of the thread is, or 0 */
    uint64_t sleep_ns, count;
    /* The stack of the kernel is addresses[first .. first + kernel_count - 1] of the list, and that
     * of the thread follows it. Both start with the innermost frame. */
    size_t first;
    uint32_t kernel_count, user_count;
};

struct stack_list {
    struct slept_stack *items; /* [count] */
    size_t count, capacity;
    uint64_t *addresses; /* [address_count] */
    size_t address_count, address_capacity;
    bool failed; /* there was no memory for all of them */
};

/* Names that a recording has of a device, by the number of its interrupt, and of the sleeps in a
 * system call. */
struct cause_device {
    uint32_t number;
    char name[CAUSE_NAME_SIZE];
};

struct call_name {
    char call[CAUSE_NAME_SIZE], object[CAUSE_NAME_SIZE];
};

/* What a process does at the end of an interval. */
enum open_does {
    OPEN_WAITS,  /* in a system call, as far as it is known */
    OPEN_RUNS,   /* or is ready to */
    OPEN_STOPS,  /* it is stopped by a signal or a tracer */
    OPEN_MANY,   /* it has several threads */
    OPEN_CIRCLE, /* it is in the chain already */
    OPEN_GONE    /* it has exited, or may not be read */
};
#define OPEN_DOES_COUNT (OPEN_GONE + 1)

/* What is known of a sleep that has not ended besides its call. */
struct open_fact {
    /* Whose sleep it is. CAUSE_GROUPS: it is a step of a chain (open_chain.h), without times. */
    uint32_t group;
    enum open_does does;
    uint64_t state_ns;               /* the threads in this state, in the whole interval */
    struct call_name names;          /* of the call and its object; "" if it is unknown */
    char other_end[CAUSE_NAME_SIZE]; /* of the object: "held by batch (4711)", or "" */
    int32_t holder;                  /* the one process at the other end, or 0 */
    char who[CAUSE_NAME_SIZE];       /* the process: "batch (4711)" */
};

/* Threads that wait through the interval for a futex whose owner is unknown (open_sleeps.h). */
struct unowned_waits {
    uint64_t wait_ns, threads;
    uint64_t most_ns; /* of the process with most of it */
    int32_t most_pid;
    char who[CAUSE_NAME_SIZE]; /* "batch (4711)", or "" if there is none */
    /* The process that was noted last, and its time. */
    int32_t pid;
    uint64_t pid_ns;
};

struct causes {
    uint64_t start_ns, end_ns; /* CLOCK_MONOTONIC */
    uint64_t intervals;        /* that are added up (cause_sum.h); 0 is the same as 1 */
    int64_t wall_clock_ns;     /* wall clock at the end, in ns since 1970 */
    size_t group_count;
    struct camp_states_group groups[CAUSE_GROUPS]; /* by number */
    char cgroups[CAUSE_GROUPS][CAUSE_CGROUP_SIZE]; /* paths of the groups that are cgroups */
    uint64_t threads[CAUSE_GROUPS];                /* that had time in the interval */
    uint64_t elapsed_ns[CAUSE_GROUPS];             /* wall time of these threads */
    uint64_t state_ns[CAUSE_GROUPS][CAMP_STATE_COUNT];
    /* Of state_ns the part of threads that were in the state at the end: at most so much of it has
     * not ended. */
    uint64_t open_ns[CAUSE_GROUPS][CAMP_STATE_COUNT];
    /* The part of CAMP_STATE_LOCK of threads that did almost nothing else (ledger/active.h). */
    uint64_t parked_ns[CAUSE_GROUPS];
    uint64_t reduced_ns[CAUSE_GROUPS]; /* what its causes had more than its states */
    struct wait_lengths lengths[CAUSE_GROUPS][CAMP_STATE_COUNT];
    struct cause_list rows; /* by group, then by state, then the longest first */
    struct call_list calls;
    /* The sleeps that nothing has ended yet, by system call (open_sleeps.h): those of the watched
     * group, and, with `open_facts`, those of all groups for file locks. `count` is of threads. */
    struct call_list open_calls;
    /* [open_calls.count] of threads_causes.h, a recording and a sum; otherwise NULL. */
    struct open_fact *open_facts;
    /* Those of threads that are not in open_calls. A recording has none. */
    struct unowned_waits unowned;
    bool has_open_facts;      /* false in a recording of a camp that did not write them */
    struct stack_list stacks; /* empty without causes_stacks_from() */
    uint64_t unseen;          /* switches and wakeups that no event reported */
    /* The causes are of a recording, which has the names. Of another reading they are found on this
     * machine (cause_names.h). */
    bool is_recorded;
    struct cause_device *devices; /* [device_count] */
    size_t device_count;
    struct call_name *call_names; /* [calls.count]; `call` and `argument` of the calls are 0 */
    /* A kernel thread has the watched pid or name, and no process: it has no group of its own. */
    bool is_kernel;
};

struct causes_source;

/* Opens a session with the ledger of causes. `options` is of enum camp_states_option;
 * CAMP_STATES_CULPRITS is added. Returns also the errors of camp_states_open(). */
int causes_open(uint32_t options, const volatile sig_atomic_t *stop, struct causes_source **ret,
                struct camp_error *error);
void causes_close(struct causes_source *source);

/* Make a process, or all processes with a name, a group of their own. Return the errors of
 * camp_states_watch_process(). Call them before the first causes_next(). */
int causes_watch_process(struct causes_source *source, int32_t pid, struct camp_error *error);
int causes_watch_name(struct causes_source *source, const char *name, struct camp_error *error);

/* Makes the threads in a cgroup, and in the cgroups in it, a group of their own. `folder` is its
 * directory, `id` the inode number of that, and `name` is shown. */
int causes_watch_cgroup(struct causes_source *source, const char *folder, uint64_t id,
                        const char *name, struct camp_error *error);

/* Names cgroups by their paths in the hierarchy that is mounted at `mount`: of version 2, or with
 * CAMP_STATES_CPU_CGROUPS that of version 1 with the CPU controller. Returns false if there is no
 * memory. Call it before the first causes_next(). */
bool causes_name_cgroups(struct causes_source *source, const char *mount);

/* Reads the stacks of sleeps of at least `least_ns`, of all groups or of the watched one. `options`
 * of causes_open() must have CAMP_STATES_STACKS. */
int causes_stacks_from(struct causes_source *source, uint64_t least_ns, bool watched_only,
                       struct camp_error *error);

/* Waits until `deadline_ns`, or until *stop is set, and returns the causes since the previous call.
 * *ret belongs to the source, and is valid until the next call. Returns CAMP_OK, CAMP_E_NOMEM or an
 * error of the session. */
int causes_next(struct causes_source *source, uint64_t deadline_ns, const struct causes **ret,
                struct camp_error *error);

/* Returns the session, for further readings of the same interval. */
struct camp_states *causes_session(const struct causes_source *source);

/* Returns the lengths of all waits since the session was opened, as the last reading has them, but
 * `longest_ns` since the reading before. They are valid until the next reading. */
const struct camp_wait_lengths *causes_lengths(const struct causes_source *source,
                                               size_t *ret_count);

/*
 * Causes of a session whose threads the caller reads: so one reading serves several purposes.
 * The session has CAMP_STATES_CULPRITS, and must outlive the source. For each interval the caller
 *
 * - calls causes_start(), and then reads the threads. If *ret_regroups is true, the groups of all
 *   threads must be found again, because there are new ones;
 * - calls causes_find_group() for the group of a thread, causes_account() with what a thread did in
 *   the interval, and causes_account_idle() with the waits of idle threads (as of struct
 *   thread_user);
 * - calls causes_finish().
 *
 * The functions return CAMP_OK, CAMP_E_NOMEM or an error of the session.
 */
int causes_beside(struct camp_states *session, struct causes_source **ret,
                  struct camp_error *error);
int causes_start(struct causes_source *source, bool *ret_regroups, struct camp_error *error);
int causes_find_group(struct causes_source *source, const struct camp_thread_states *thread,
                      uint32_t *ret);
void causes_account(struct causes_source *source, const struct camp_thread_states *since,
                    uint32_t group);
void causes_account_idle(struct causes_source *source, uint32_t group, uint32_t state,
                         uint64_t threads, uint64_t wait_ns);
int causes_finish(struct causes_source *source, const struct causes **ret,
                  struct camp_error *error);

/* Returns the time of a group in all states. */
uint64_t causes_total_ns(const struct causes *causes, uint32_t group);

/* Returns the time on a CPU: the states that have no causes. */
uint64_t causes_on_cpu_ns(const struct causes *causes, uint32_t group);

/* Returns whether a state is a wait, which has causes. */
bool causes_is_wait(uint32_t state);

/* Returns whether a state is a wait that is not for a CPU. */
static inline bool causes_is_sleep(uint32_t state)
{
    return causes_is_wait(state) && state != CAMP_STATE_RUN_QUEUE && state != CAMP_STATE_THROTTLED;
}

/* Returns whether two rows have the same group, state and cause. */
static inline bool cause_is_same(const struct cause *a, const struct cause *b)
{
    return a->group == b->group && a->state == b->state && a->kind == b->kind && a->id == b->id;
}
