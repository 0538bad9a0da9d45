/*
 * The threads of a command and of all its descendants, exited and living, by microstates.
 */
#pragma once

#include <camp/states.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Threads added up. */
struct family_sum {
    char name[CAMP_STATES_NAME_SIZE]; /* of the process, at its exit */
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
    struct family_sum *sums; /* [sum_count]: by name, longest time first */
    size_t sum_count, sum_capacity;
    struct family_sum total;
};

void family_release(struct family *family);

/* Collects the threads that exited since the last call, of any process. */
int family_collect_exited(struct family *family, struct camp_states *session,
                          struct camp_error *error);

/* Collects all living threads. */
int family_collect_living(struct family *family, struct camp_states *session,
                          struct camp_error *error);

/* Collects living and exited threads: at the end, each thread once. */
int family_collect_rest(struct family *family, struct camp_states *session,
                        struct camp_error *error);

/* Drops living threads that have also exited. */
void family_drop_duplicates(struct family *family);

/* Drops threads of other processes. */
void family_keep(struct family *family, int32_t pid);

/* Was this process's last record found? */
bool family_has_exit(const struct family *family, int32_t pid);

/* Subtracts what its threads had done when `before` was read. */
void family_subtract(struct family *family, const struct family *before);

/* Adds up the descendants of `root`, or the threads of one process. CAMP_OK or CAMP_E_NOMEM. */
int family_add_up_descendants(struct family *family, int32_t root);
int family_add_up_process(struct family *family, int32_t pid);
