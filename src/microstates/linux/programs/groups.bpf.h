/*
 * The groups of threads between which causes are divided (../culprits_layout.h).
 *
 * A thread belongs to the group of its process: of the process alone if the session watches it or
 * divides by process, else of the name of the process, which is the name of its first thread. If
 * the session watches a cgroup that the thread is in, or that is around it, it belongs to that, and
 * if the session divides by cgroup, to its own. A thread finds its group at its first switch or
 * wakeup, so an idle process takes no number. It finds the group again when it gets another name,
 * and when the session watches another process. All threads find their groups again when the first
 * thread of a process with several threads gets another name.
 *
 * With groups_by_need, a name or a process gets a number only when it causes a wait. Its thread may
 * have the CPU while a thread that the session watches waits for it, or wake that thread: then the
 * thread that runs gets its number before anything is charged to it. What such a group waits for in
 * turn, and what waits for the CPU behind a watched thread, gets a number as well, but leaves most
 * numbers to direct causes.
 */
#pragma once

#include "../culprits_layout.h"
#include "account_map.bpf.h"
#include "bits.bpf.h"
#include "cgroup.bpf.h"

/* Whether the programs keep the ledger of causes. They are compiled twice, because even a constant
 * that the session sets would cost each event some instructions: the verifier removes the code that
 * cannot run, but not the load of the constant. */
#ifdef CAMP_KEEPS_CAUSES
#define has_culprits true
#else
#define has_culprits false
#endif

/* The session sets it before it loads the programs. */
const volatile bool groups_by_process = false;
const volatile bool groups_by_cgroup = false;
const volatile bool groups_by_need = false;

/* The session may add groups, and then changes groups_version, which is never 0. */
uint32_t groups_version;
uint32_t watches_cgroups; /* 1 if the session watches some */
/* Sets of groups: the numbers that no name or process has; those whose sleeps are counted by call;
 * and those whose causes get groups of their own with groups_by_need. */
uint64_t free_groups, watched_groups, subject_groups;
struct group_key group_names[GROUPS_MAX];

struct {
    __uint(type, BPF_MAP_TYPE_HASH);
    __uint(max_entries, 4 * GROUPS_MAX); /* two threads may add the same group at once */
    __type(key, struct group_key);
    __type(value, uint32_t);
} groups SEC(".maps");

/* The groups of watched cgroups and of the cgroups in them in which a thread ran, by their ids. */
struct {
    __uint(type, BPF_MAP_TYPE_HASH);
    __uint(max_entries, CGROUPS_MAX);
    __type(key, uint64_t);
    __type(value, uint32_t);
} watched_cgroups SEC(".maps");

static __always_inline uint32_t group_of(const struct account *account)
{
    return account->group & (GROUPS_MAX - 1);
}

/* Why a group gets a number: the first number that it may have. The next ones are left to needs
 * that are more important, so that many processes that ran in front of a watched thread leave
 * numbers to those that woke it, and the causes of causes leave numbers to both. */
enum group_need {
    NEED_OF_ANY = GROUP_FIRST,
    NEED_OF_WAKER = GROUP_FIRST, /* it wakes a watched thread */
    NEED_OF_CULPRIT = 13,        /* it has the CPU while a watched thread waits */
    NEED_OF_CHAIN = 40,         /* it causes waits of other groups, or waits behind a watched one */
    NEED_OF_NONE = GROUPS_NAMED /* no new group gets a number */
};

#define TAKES 4 /* attempts to take a number while other CPUs take some */

/* Returns a free number that is not below `first`, or GROUP_OTHER. */
static __always_inline uint32_t take_number(uint32_t first)
{
    for (int i = 0; i < TAKES; i++) {
        const uint64_t free = *(volatile uint64_t *)&free_groups >> first << first;
        const uint64_t bit = free & -free;

        if (free == 0)
            return GROUP_OTHER;
        if ((__sync_fetch_and_and(&free_groups, ~bit) & bit) != 0)
            return lowest_bit(bit);
    }
    return GROUP_OTHER;
}

/* Two CPUs may add the same group at once: then one of them returns its number. */
static __always_inline uint32_t add_group(const struct group_key *key, uint32_t first)
{
    uint32_t number = take_number(first), *found;

    if (number == GROUP_OTHER)
        return GROUP_OTHER;
    group_names[number & (GROUPS_MAX - 1)] = *key;
    if (bpf_map_update_elem(&groups, key, &number, BPF_NOEXIST) == 0)
        return number;
    __sync_fetch_and_or(&free_groups, UINT64_C(1) << number);
    found = bpf_map_lookup_elem(&groups, key);
    return found != NULL ? *found : GROUP_OTHER;
}

struct climb {
    struct cgroup *cgroup;
    uint32_t number; /* the result, or GROUP_OTHER */
};

/* Returns 1 if a cgroup is watched, or has none around it. */
static long climb_next(uint32_t level, struct climb *climb)
{
    const struct cgroup *cgroup = climb->cgroup;
    const uint64_t id = BPF_CORE_READ(cgroup, kn, id);
    const uint32_t *number = bpf_map_lookup_elem(&watched_cgroups, &id);

    if (number != NULL) {
        climb->number = *number;
        return 1;
    }
    climb->cgroup = BPF_CORE_READ(cgroup, self.parent, cgroup);
    return climb->cgroup == NULL;
}

/* Returns the group of the watched cgroup that a thread is in, or GROUP_OTHER. */
static __always_inline uint32_t group_of_cgroup(const struct task_struct *task, uint64_t id)
{
    const uint32_t *known = bpf_map_lookup_elem(&watched_cgroups, &id);
    struct climb climb = { .cgroup = cgroup_of(task) };

    if (known != NULL)
        return *known;
    if (climb.cgroup == NULL)
        return GROUP_OTHER;
    bpf_loop(CGROUPS_DEEP, climb_next, &climb, 0);
    if (climb.number != GROUP_OTHER)
        bpf_map_update_elem(&watched_cgroups, &id, &climb.number, BPF_NOEXIST);
    return climb.number;
}

/* `first` is of enum group_need, for a thread that has no group yet. */
static __always_inline uint32_t find_group(const struct task_struct *task, uint32_t first)
{
    struct group_key process = { 0 }, key = { 0 };
    uint32_t *found, number;
    uint64_t cgroup = 0;

    if ((BPF_CORE_READ(task, flags) & PF_KTHREAD) != 0)
        return GROUP_KERNEL;
    process.pid = own_namespace == 0
                      ? BPF_CORE_READ(task, tgid)
                      : id_in_namespace((uint64_t)BPF_CORE_READ(task, signal, pids[PIDTYPE_TGID]));
    if (process.pid == 0)
        return GROUP_OUTSIDE;
    found = bpf_map_lookup_elem(&groups, &process);
    if (groups_by_cgroup || watches_cgroups != 0)
        cgroup = cgroup_id(task);
    if (found == NULL && watches_cgroups != 0) {
        number = group_of_cgroup(task, cgroup);
        if (number != GROUP_OTHER)
            return number & (GROUPS_MAX - 1);
    }
    if (found == NULL) {
        BPF_CORE_READ_INTO(&key.name, task, group_leader, comm);
        found = bpf_map_lookup_elem(&groups, &key);
    }
    if (found == NULL && groups_by_cgroup) {
        key = (struct group_key){ .cgroup = cgroup };
        found = bpf_map_lookup_elem(&groups, &key);
    }
    if (found != NULL)
        number = *found;
    else
        number = add_group(groups_by_process ? &process : &key, first);
    number &= GROUPS_MAX - 1;
    if (group_names[number].pid != 0)
        BPF_CORE_READ_INTO(&group_names[number].name, task, group_leader, comm);
    return number;
}

/* Finds the group of a thread, and adds it if its need allows that. */
static __noinline int find_or_add_group(struct account *account, const struct task_struct *task,
                                        uint32_t first)
{
    account->groups_version = groups_version;
    account->group = find_group(task, first);
    if (own_namespace != 0)
        return 0;
    account->tid = BPF_CORE_READ(task, pid);
    account->pid = BPF_CORE_READ(task, tgid);
    return 0;
}

static __always_inline void join_group(struct account *account, const struct task_struct *task)
{
    find_or_add_group(account, task, groups_by_need ? NEED_OF_NONE : NEED_OF_ANY);
}

/* The thread finds its group again at its next event. */
static __always_inline void leave_group(struct account *account)
{
    if (account != NULL)
        account->groups_version = 0;
}

/* All threads find their groups again at their next events. */
static __always_inline void change_groups(void)
{
    if (__sync_fetch_and_add(&groups_version, 1) == UINT32_MAX)
        groups_version = 1;
}

/* Gives a thread that other processes share a group with a group of its own, if there is a number.
 * The other threads of its process, and of its name, follow at their next events. Returns whether
 * the thread has another group now. */
static __always_inline bool name_group(struct account *account, const struct task_struct *task,
                                       uint32_t first)
{
    if (group_of(account) != GROUP_OTHER || *(volatile uint64_t *)&free_groups >> first == 0)
        return false;
    find_or_add_group(account, task, first);
    if (group_of(account) == GROUP_OTHER)
        return false;
    change_groups();
    account->groups_version = groups_version;
    return true;
}

/* A thread, or its whole process if it is the first one, has moved to another cgroup. */
static __always_inline void move_group(struct account *account, struct task_struct *task)
{
    if (!groups_by_cgroup && watches_cgroups == 0)
        return;
    leave_group(account);
    if (task->pid == task->tgid && BPF_CORE_READ(task, signal, nr_threads) > 1)
        change_groups();
}

/* The switches of a renamed thread after which all threads find their groups again. */
#define RENAME_SWITCHES 3

/* A thread gets another name, which names its process if the thread is the first one. The kernel
 * changes the name after this event, so the threads that find their groups before may find the old
 * name: they find them once more after the next switch of the first thread. A real-time kernel may
 * preempt the first thread just before the change of the name, so after a preemption its next
 * switch counts as well. */
static __always_inline void rename_group(struct account *account, struct task_struct *task)
{
    leave_group(account);
    if (account == NULL || task->pid != task->tgid || BPF_CORE_READ(task, signal, nr_threads) < 2)
        return;
    account->renames = RENAME_SWITCHES;
    change_groups();
}

static __always_inline void keep_group(struct account *account, const struct task_struct *task)
{
    if (has_culprits && account->groups_version != groups_version)
        join_group(account, task);
}
