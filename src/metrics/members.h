/*
 * Members: which group a thread is in. A user and a cgroup are the thread's own; a command and a
 * workload are its process's, which is known by its first thread.
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

/* A process that lives, and the group of its first thread. */
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

/* Groups have other numbers than before, or rules are others: no process is known any more. */
void members_forget(struct members *members);

/* The group of a thread, in `top`. `before`: as it was, when it was in group *ret; NULL: it
 * was in none that is known. CAMP_OK or CAMP_E_NOMEM. */
int members_find(struct members *members, struct top_k *top,
                 const struct camp_thread_states *before, const struct camp_thread_states *thread,
                 uint32_t *ret);

/* It is not there any more. */
void members_leave(struct members *members, const struct camp_thread_states *thread);

/* Names those groups that are shown and have no name yet; no two have the same. CAMP_OK or
 * CAMP_E_NOMEM. */
int members_name(struct members *members, struct top_k *top);

#endif
