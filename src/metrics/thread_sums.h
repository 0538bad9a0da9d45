/*
 * Sums over threads. What a thread did since the previous snapshot is added to its group and to the
 * machine. The waits of all idle threads of a group are one addition for each state.
 */
#pragma once

#include "group_pairs.h"
#include "ledger/group.h"
#include "ledger/index.h"
#include "ledger/top_k.h"
#include "ledger/workload.h"
#include "sources/causes/causes.h"
#include "sources/containers/containers.h"
#include "sources/machine/cgroup_paths.h"
#include "sources/machine/thread_registry.h"
#include "sources/source.h"
#include "sources/user_names.h"

/* A process, with the group of its first thread. */
struct member {
    int32_t pid;
    uint32_t group;
};

/* Finds the group of each thread. A group by user, cgroup or container depends on the thread
 * itself. A group by name or workload depends on the first thread of the process. */
struct members {
    /* GROUP_USER, GROUP_CGROUP or GROUP_NAME; GROUP_NUMBER groups by `rules`, GROUP_LABEL by
     * `label` */
    enum group_key key;
    enum container_label label;
    const struct workloads *rules; /* with GROUP_NUMBER */
    struct member *processes;
    size_t count, capacity;
    struct index index;
    struct user_names users;
    struct cgroup_paths cgroups;
    struct containers *containers; /* with GROUP_LABEL */
};

/* `rules` are for GROUP_NUMBER, and `label` is for GROUP_LABEL. Returns CAMP_E_NOTSUP if no cgroups
 * (for GROUP_CGROUP: of version 2) are mounted. Even then the caller must call
 * members_release(). */
int members_init(struct members *ret, enum group_key key, const struct workloads *rules,
                 enum container_label label, struct camp_error *error);
void members_release(struct members *members);

/* Starts a snapshot. */
void members_start(struct members *members);

/* Forgets the groups of all processes. Must be called when group numbers or rules have changed. */
void members_clear(struct members *members);

/* Sets *ret to the group of a thread in `top`. If `before` is not NULL, it is an earlier reading of
 * the thread, and *ret must be the group of that reading. The thread stays in this group if its
 * user and its name are unchanged. Returns CAMP_OK or CAMP_E_NOMEM. */
int members_find(struct members *members, struct top_k *top,
                 const struct camp_thread_states *before, const struct camp_thread_states *thread,
                 uint32_t *ret);

void members_leave(struct members *members, const struct camp_thread_states *thread);

/* Returns `own`, with a number if the name is already used: by another user with the same name, by
 * an earlier cgroup with the same path, or by "other". The caller frees the name. Returns NULL if
 * there is no memory. */
char *members_unique_name(const struct top_k *top, const struct top_k_group *group,
                          const char *own);
#define MEMBERS_NAME_SIZE 256 /* no name is longer */

/* Gives unique names to shown groups that have no name yet. Returns CAMP_OK or CAMP_E_NOMEM. */
int members_name(struct members *members, struct top_k *top);

/* The columns of a group: the states, and after them these counters. */
enum thread_sum {
    SUM_MEASURED = CAMP_STATE_COUNT, /* CPU time by the scheduler's count */
    SUM_SAMPLED,                     /* CPU time by clock ticks */
    THREAD_SUM_COUNT
};

struct thread_sums {
    struct thread_registry threads;
    struct top_k top;
    struct members members;
    /* sums over all threads; the time of a thread that slept during a whole interval is not
     * added */
    uint64_t counts[THREADS_COLUMN_COUNT];
    /* The causes of the waits of the same threads, or NULL. A thread then also has a group of the
     * ledger of causes, and the number of its group in `threads` is that of the pair. */
    struct causes_source *causes;
    struct group_pairs pairs;
    const struct causes *waits; /* of the last snapshot, valid until the next; NULL without them */
};

/* Takes ownership of `members`. `places` and `new_an_hour` are those of top_k_init(). *ret must not
 * move. The caller must call thread_sums_release(), even after a failure. */
int thread_sums_init(struct thread_sums *ret, const struct members *members, size_t places,
                     size_t new_an_hour);
void thread_sums_release(struct thread_sums *sums);

/* From now on reads the causes of waits, too. The session, which has CAMP_STATES_CULPRITS, must
 * outlive the sums. Called before the first snapshot. Returns CAMP_OK or CAMP_E_NOMEM. */
int thread_sums_divide_waits(struct thread_sums *sums, struct camp_states *session,
                             struct camp_error *error);

/* Takes a snapshot. The session must have been open since the previous snapshot or, for the first
 * snapshot, since thread_sums_init(). `forget` is true if the rules have changed. */
int thread_sums_read(struct thread_sums *sums, struct camp_states *session, bool forget,
                     struct camp_error *error);
