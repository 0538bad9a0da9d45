/*
 * Sums over threads, filled while they are visited: what each did since the last snapshot goes to
 * its group and to the machine, without a list of threads besides the session's own. A thread that
 * kept sleeping costs one addition.
 *
 * A thread is identified by its process and the start of its watch. The last numbers of a thread
 * missing in a snapshot are still to come, or the thread continues under another tid (exec(2) by
 * another than the first thread): it is remembered for some snapshots, so that none of its time is
 * accounted twice.
 */
#pragma once

#include "ledger/group.h"
#include "ledger/index.h"
#include "ledger/top_k.h"
#include "ledger/workload.h"
#include "sources/machine/cgroup_paths.h"
#include "sources/machine/thread_interval.h"
#include "sources/machine/user_names.h"
#include "sources/source.h"

/* --------------------------------------------------------------------------------- Members -- */

/* The group of each thread. User and cgroup are the thread's own; command and workload belong to
 * its process, which is known by its first thread. */

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

/* Finds the group of a thread in `top`. If `before` is not NULL, it is the thread when it was in
 * group *ret, which is kept while the user and the name are the same. CAMP_OK or CAMP_E_NOMEM. */
int members_find(struct members *members, struct top_k *top,
                 const struct camp_thread_states *before, const struct camp_thread_states *thread,
                 uint32_t *ret);

/* The thread has exited. */
void members_leave(struct members *members, const struct camp_thread_states *thread);

/* Names the shown groups that have no name yet; names are unique. CAMP_OK or CAMP_E_NOMEM. */
int members_name(struct members *members, struct top_k *top);

/* ------------------------------------------------------------------------------------ Sums -- */

/* The counters of each group: the states, then: */
enum thread_sum {
    SUM_MEASURED = CAMP_STATE_COUNT, /* CPU time, by the scheduler's count */
    SUM_SAMPLED,                     /* by ticks */
    THREAD_SUM_COUNT
};

struct thread_sums {
    struct top_k top;
    struct members members;
    uint64_t counts[THREADS_COLUMN_COUNT]; /* of the whole machine, without idle threads' times */
    uint64_t threads, processes;           /* living, in the last snapshot */
    uint64_t snapshot_ns;                  /* end of the last snapshot, CLOCK_MONOTONIC */

    struct thread_list pending;
    /* Found in this snapshot: threads that may be pending threads, and totals of exited threads. */
    struct thread_list late;
    bool forgets; /* noted groups are void until a snapshot has visited all threads again */
    int result;   /* of this snapshot */
};

/* Takes ownership of `members`. thread_sums_release() in any case. */
int thread_sums_init(struct thread_sums *ret, const struct members *members, size_t places);
void thread_sums_release(struct thread_sums *sums);

/* One snapshot of a session that has been open since snapshot_ns. `forget`: the rules have changed.
 */
int thread_sums_read(struct thread_sums *sums, struct camp_states *session, bool forget,
                     struct camp_error *error);

/* The parts of thread_sums_read(), for tests: start, visit, finish, then snapshot_ns is set. After
 * a failed visit there is no finish. */
void thread_sums_start(struct thread_sums *sums, uint64_t now_ns, bool forget);
struct camp_states_visitor thread_sums_visitor(struct thread_sums *sums);
int thread_sums_finish(struct thread_sums *sums);
