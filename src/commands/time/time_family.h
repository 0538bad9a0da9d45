/*
 * The threads of a command and of all its descendants, ended and living, as microstates tell of
 * them.
 */
#ifndef CAMP_COMMANDS_TIME_TIME_FAMILY_H
#define CAMP_COMMANDS_TIME_TIME_FAMILY_H

#include <camp/states.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Threads added up. */
struct family_sum {
    char name[CAMP_STATES_NAME_SIZE]; /* of the process, as it ended */
    uint64_t processes, threads, running;
    uint64_t elapsed_ns; /* the wall times of the threads */
    uint64_t state_ns[CAMP_STATE_COUNT];
    uint64_t cpu_ns; /* by the scheduler's count: a witness of user + system + irq */
    uint64_t system_calls, minor_faults, major_faults, voluntary_switches, involuntary_switches;
    uint64_t read_bytes, written_bytes;
};

struct family {
    struct camp_thread_states *threads; /* [count] */
    size_t count, capacity;
    struct family_sum *sums; /* [sum_count]: by name, the longest first */
    size_t sum_count, sum_capacity;
    struct family_sum total;
};

void family_release(struct family *family);

/* Takes the threads that ended since the last call, whoever's they are. */
int family_take_ended(struct family *family, struct camp_states *session, struct camp_error *error);

/* Takes all living threads. */
int family_take_living(struct family *family, struct camp_states *session,
                       struct camp_error *error);

/* Takes who lives, and who has ended by then: at the end, each thread once. */
int family_take_rest(struct family *family, struct camp_states *session, struct camp_error *error);

/* Forgets of living threads those that are there as ended too. */
void family_forget_twice(struct family *family);

/* Drops what is not of this process. */
void family_keep(struct family *family, int32_t pid);

/* Whether this process's last record was taken. */
bool family_has_ended(const struct family *family, int32_t pid);

/* What its threads had done by then is taken off: they begin where `before` was read. */
void family_subtract(struct family *family, const struct family *before);

/* Adds up the descendants of `root`, or the threads of one process. CAMP_OK or CAMP_E_NOMEM. */
int family_add_up_descendants(struct family *family, int32_t root);
int family_add_up_process(struct family *family, int32_t pid);

#endif
