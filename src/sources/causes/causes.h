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

/* Names that a recording has of a device, by the number of its interrupt, and of the sleeps in a
 * system call. */
struct cause_device {
    uint32_t number;
    char name[CAUSE_NAME_SIZE];
};

struct call_name {
    char call[CAUSE_NAME_SIZE], object[CAUSE_NAME_SIZE];
};

struct causes {
    uint64_t start_ns, end_ns; /* CLOCK_MONOTONIC */
    int64_t wall_clock_ns;     /* wall clock at the end, in ns since 1970 */
    size_t group_count;
    struct camp_states_group groups[CAUSE_GROUPS]; /* by number */
    uint64_t threads[CAUSE_GROUPS];                /* that had time in the interval */
    uint64_t state_ns[CAUSE_GROUPS][CAMP_STATE_COUNT];
    uint64_t reduced_ns[CAUSE_GROUPS]; /* what its causes had more than its states */
    struct wait_lengths lengths[CAUSE_GROUPS][CAMP_STATE_COUNT];
    struct cause_list rows; /* by group, then by state, then the longest first */
    struct call_list calls;
    uint64_t unseen; /* switches and wakeups that no event reported */
    /* The causes are of a recording, which has the names. Of another reading they are found on this
     * machine (cause_names.h). */
    bool is_recorded;
    struct cause_device *devices; /* [device_count] */
    size_t device_count;
    struct call_name *call_names; /* [calls.count]; `call` and `argument` of the calls are 0 */
    bool is_kernel; /* a kernel thread has the watched pid or name: it has no group of its own */
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

/* Returns the time on a CPU: the states that have no causes. */
uint64_t causes_on_cpu_ns(const struct causes *causes, uint32_t group);

/* Returns whether a state is a wait, which has causes. */
bool causes_is_wait(uint32_t state);
