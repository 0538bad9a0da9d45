/*
 * Members: the group of each thread. User and cgroup are the thread's own; command and workload
 * belong to its process, which is known by its first thread.
 */
#ifndef CAMP_METRICS_MEMBERS_H
#define CAMP_METRICS_MEMBERS_H

#include "ledger/group.h"
#include "ledger/index.h"
#include "ledger/top_k.h"
#include "ledger/workload.h"
#include "sources/machine/cgroup_paths.h"
#include "sources/machine/user_names.h"

#include <camp/states.h>

/* A living process, and the group of its first thread. */
struct member {
    int32_t pid;
    uint32_t group;
};

struct members {
    enum group_key key; /* GROUP_USER, GROUP_CGROUP, GROUP_NAME; GROUP_NUMBER: workloads */
    const struct workloads *rules; /* of GROUP_NUMBER */
    struct member *processes;      /* [count]; owned: members_release() */
    size_t count, capacity;
    struct index index; /* of the processes by pid */
    struct user_names users;
    struct cgroup_paths cgroups;
};

/* CAMP_E_NOTSUP: no cgroups of version 2 here. members_release() in any case. */
int members_init(struct members *ret, enum group_key key, const struct workloads *rules,
                 struct camp_error *error);
void members_release(struct members *members);

/* Group numbers or rules have changed: drops all processes. */
void members_clear(struct members *members);

/* The group of a thread, in `top`. `before`: the thread when it was in group *ret; NULL: unknown.
 * CAMP_OK or CAMP_E_NOMEM. */
int members_find(struct members *members, struct top_k *top,
                 const struct camp_thread_states *before, const struct camp_thread_states *thread,
                 uint32_t *ret);

/* The thread has exited. */
void members_leave(struct members *members, const struct camp_thread_states *thread);

/* Names the shown groups that have no name yet; names are unique. CAMP_OK or CAMP_E_NOMEM. */
int members_name(struct members *members, struct top_k *top);

#endif
