/*
 * The list of changes: the threads of which a snapshot must read the account. So a snapshot costs
 * nothing for a thread that sleeps.
 *
 * The session reads a thread again in the next snapshot unless it slept. When the record of a
 * sleeping thread is copied, known_asleep is set in its account. The thread's next event clears
 * known_asleep and lists the thread, so several wakeups between two snapshots make one entry.
 *
 * Each wakeup before the time of a snapshot is in the list when the snapshot reads it. on_wakeup()
 * first makes the sequence of the account odd, then exchanges known_asleep, then adds to the list,
 * and only then reads the time of the wakeup. The exchange is a barrier. The session first reads
 * the time of the snapshot, then the length of the list, and it awaits an entry that is counted but
 * not yet written. A wakeup that no event reported is listed by the next switch of the thread.
 *
 * Other threads can change three things of a sleeping thread. Two have an event: a thread of the
 * same process may rename it (task_rename); any process may move its process to another group
 * (cgroup_attach_task, which the kernel reports for the first thread only). The third has none: its
 * process gets another parent when the last thread of its parent exits. So a thread that
 * has children when it exits lists its process at its last switch; the kernel has given them
 * another parent before. The new parent may be a thread of the same process that is also exiting,
 * and that had no children at its own exit event. So the session reads these children again in the
 * next snapshot. All else changes only while a thread runs, except the scheduler's run delay: since
 * Linux 6.12 it may grow while a thread sleeps. The session reads that growth after the next
 * wakeup.
 */
#pragma once

#include "account.bpf.h"
#include "ended.bpf.h"
#include "record.bpf.h"

/* Since Linux 6.2, and in programs of this type since 6.10. On older kernels this program is not
 * loaded (camp_events_may_find_threads()). */
extern struct task_struct *bpf_task_from_pid(int32_t tid) __weak __ksym;
extern void bpf_task_release(struct task_struct *task) __weak __ksym;
extern void bpf_rcu_read_lock(void) __weak __ksym;
extern void bpf_rcu_read_unlock(void) __weak __ksym;

/* The session writes the tids. The kernel writes the records; the tid of a record is 0 if there is
 * no such thread. */
int32_t wanted_tids[WANTED_MAX];
struct camp_thread_states thread_records[WANTED_MAX];

static long read_thread(uint32_t number, const uint32_t *count)
{
    const uint32_t at = number & (WANTED_MAX - 1);
    struct camp_thread_states *ret = &thread_records[at];
    struct task_struct *task = bpf_task_from_pid(wanted_tids[at]);
    struct account *account;

    ret->tid = 0;
    if (task == NULL)
        return 0;
    account = bpf_task_storage_get(&accounts, task, NULL, 0);
    if (account != NULL && (account->flags & DEAD) == 0) {
        /* This program may sleep, so it does not keep the kernel from freeing the credentials, the
         * parent and the group of a thread. */
        bpf_rcu_read_lock();
        identify(ret, task, account);
        bpf_rcu_read_unlock();
        copy(ret, task, account);
    }
    bpf_task_release(task);
    return 0;
}

uint32_t wanted_count;

SEC("syscall")
int read_threads_of_list(void *context)
{
    uint32_t count = wanted_count;

    bpf_loop(count < WANTED_MAX ? count : WANTED_MAX, read_thread, &count, 0);
    return 0;
}

/* The kernel changes the name after this event, so the session reads the thread in the next
 * snapshot and in the one after it. If a thread that is not the first calls execve(2), its tid has
 * already changed when this event comes. */
SEC("tp_btf/task_rename")
int BPF_PROG(on_rename, struct task_struct *task)
{
    if (has_culprits)
        rename_group(bpf_task_storage_get(&accounts, task, NULL, 0), task);
    if (has_culprits && !lists_changes)
        return 0;
    stay_here();
    list_change(task->pid, CHANGE_OF_NAME);
    may_move();
    return 0;
}

SEC("tp_btf/cgroup_attach_task")
int BPF_PROG(on_attach, struct cgroup *group, const char *path, struct task_struct *task)
{
    if (has_culprits)
        move_group(bpf_task_storage_get(&accounts, task, NULL, 0), task);
    if (has_culprits && !lists_changes)
        return 0;
    stay_here();
    list_change(task->pid, CHANGE_OF_GROUP);
    may_move();
    return 0;
}

/* Counts the exit; also lists a thread whose wakeup no event has reported. */
SEC("tp_btf/sched_process_exit")
int BPF_PROG(on_exit, struct task_struct *task)
{
    struct account *account = bpf_task_storage_get(&accounts, task, NULL, 0);
    const struct list_head *children = untrusted(task)->children.next;

    if (account == NULL)
        return 0;
    begin_exit(account, task);
    if (!lists_changes)
        return 0;
    stay_here();
    list_awake(account, task);
    if (children != NULL &&
        (uint64_t)children != (uint64_t)task + bpf_core_field_offset(task->children)) {
        begin_writing(account);
        account->flags |= HAS_CHILDREN;
        end_writing(account);
    }
    may_move();
    return 0;
}

static __always_inline void list_orphans(const struct account *account,
                                         const struct task_struct *task)
{
    if ((account->flags & HAS_CHILDREN) != 0)
        list_change(task->tgid, CHANGE_OF_PARENT);
}
