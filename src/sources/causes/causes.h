/*
 * Why the threads of this machine waited in an interval: for each group of threads (all processes
 * with one name, or one process) the time in each state, and its causes.
 *
 * The causes of a state add up to the time of the state, to the ns. What cannot be attributed has a
 * row of its own: a sleep that nothing has ended yet (CAUSE_NOT_ENDED), and what no event reported
 * (CAMP_CAUSE_UNKNOWN). The ledger and the threads are read one after the other, within about a
 * millisecond; what the causes have more than the state because of that is subtracted from them in
 * proportion, and counted in reduced_ns.
 */
#pragma once

#include "sources/source.h"
#include "wait_lengths.h"

#include <camp/states.h>

#include <signal.h>
#include <stdbool.h>

#define CAUSE_GROUPS 64

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

struct causes {
    uint64_t start_ns, end_ns; /* CLOCK_MONOTONIC */
    int64_t wall_clock_ns;     /* wall clock at the end, in ns since 1970 */
    size_t group_count;
    struct camp_states_group groups[CAUSE_GROUPS]; /* by number */
    uint64_t threads[CAUSE_GROUPS];                /* that had time in the interval */
    uint64_t elapsed_ns[CAUSE_GROUPS];             /* wall time of these threads */
    uint64_t state_ns[CAUSE_GROUPS][CAMP_STATE_COUNT];
    /* The part of CAMP_STATE_LOCK of threads that did almost nothing else (ledger/active.h). */
    uint64_t parked_ns[CAUSE_GROUPS];
    uint64_t reduced_ns[CAUSE_GROUPS]; /* what its causes had more than its states */
    struct wait_lengths lengths[CAUSE_GROUPS][CAMP_STATE_COUNT];
    struct cause_list rows; /* by group, then by state, then the longest first */
    struct call_list calls;
    uint64_t unseen; /* switches and wakeups that no event reported */
    bool is_kernel;  /* a kernel thread has the watched pid or name: it has no group of its own */
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
 * Causes of a session whose threads the caller reads: so several things can be told of one reading.
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

/* Returns the time on a CPU: the states that have no causes. */
uint64_t causes_on_cpu_ns(const struct causes *causes, uint32_t group);

/* Returns whether a state is a wait, which has causes. */
bool causes_is_wait(uint32_t state);
