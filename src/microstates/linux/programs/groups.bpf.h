/*
 * The groups of threads between which causes are divided (../culprits_layout.h).
 *
 * A thread belongs to the group of its process: of the process alone if the session watches it or
 * divides by process, else of the name of the process, which is the name of its first thread. A
 * thread finds its group at its first switch or wakeup, so an idle process takes no number. It
 * finds the group again when it gets another name, and when the session watches another process.
 * All threads find their groups again when the first thread of a process with several threads gets
 * another name.
 */
#pragma once

#include "../culprits_layout.h"
#include "account_map.bpf.h"

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

/* The session may add groups, and then changes groups_version, which is never 0. */
uint32_t groups_version, group_count;
uint64_t watched_groups; /* set of the groups whose sleeps are counted by call */
struct group_key group_names[GROUPS_MAX];

struct {
    __uint(type, BPF_MAP_TYPE_HASH);
    __uint(max_entries, 4 * GROUPS_MAX); /* two threads may add the same group at once */
    __type(key, struct group_key);
    __type(value, uint32_t);
} groups SEC(".maps");

static __always_inline uint32_t group_of(const struct account *account)
{
    return account->group & (GROUPS_MAX - 1);
}

static __always_inline uint32_t add_group(const struct group_key *key)
{
    uint32_t number = group_count, *found;

    if (number >= GROUPS_NAMED)
        return GROUP_OTHER;
    number = __sync_fetch_and_add(&group_count, 1);
    if (number >= GROUPS_NAMED)
        return GROUP_OTHER;
    group_names[number & (GROUPS_MAX - 1)] = *key;
    bpf_map_update_elem(&groups, key, &number, BPF_NOEXIST);
    found = bpf_map_lookup_elem(&groups, key);
    return found != NULL ? *found : GROUP_OTHER;
}

static __always_inline uint32_t find_group(const struct task_struct *task)
{
    struct group_key process = { 0 }, key = { 0 };
    uint32_t *found, number;

    if ((BPF_CORE_READ(task, flags) & PF_KTHREAD) != 0)
        return GROUP_KERNEL;
    process.pid = own_namespace == 0
                      ? BPF_CORE_READ(task, tgid)
                      : id_in_namespace((uint64_t)BPF_CORE_READ(task, signal, pids[PIDTYPE_TGID]));
    if (process.pid == 0)
        return GROUP_OUTSIDE;
    found = bpf_map_lookup_elem(&groups, &process);
    if (found == NULL) {
        BPF_CORE_READ_INTO(&key.name, task, group_leader, comm);
        found = bpf_map_lookup_elem(&groups, &key);
    }
    if (found != NULL)
        number = *found;
    else
        number = groups_by_process ? add_group(&process) : add_group(&key);
    number &= GROUPS_MAX - 1;
    if (group_names[number].pid != 0)
        BPF_CORE_READ_INTO(&group_names[number].name, task, group_leader, comm);
    return number;
}

/* Finds the group of a thread. */
static __noinline int join_group(struct account *account, const struct task_struct *task)
{
    account->groups_version = groups_version;
    account->group = find_group(task);
    if (own_namespace != 0)
        return 0;
    account->tid = BPF_CORE_READ(task, pid);
    account->pid = BPF_CORE_READ(task, tgid);
    return 0;
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

/* A thread gets another name, which names its process if the thread is the first one. The kernel
 * changes the name after this event, so the threads that find their groups before may find the old
 * name: they find them once more after the next switch of the first thread. */
static __always_inline void rename_group(struct account *account, struct task_struct *task)
{
    leave_group(account);
    if (account == NULL || task->pid != task->tgid || BPF_CORE_READ(task, signal, nr_threads) < 2)
        return;
    account->renames = 1;
    change_groups();
}

static __always_inline void keep_group(struct account *account, const struct task_struct *task)
{
    if (has_culprits && account->groups_version != groups_version)
        join_group(account, task);
}
