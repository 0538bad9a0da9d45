/*
 * The list of changes: the threads of which a snapshot must read the account. So a snapshot costs
 * nothing for a thread that sleeps.
 *
 * The session reads a thread once more in the next snapshot if it did not sleep. When a record is
 * copied from the account of a sleeping thread, its member at_rest is set; the thread's next event
 * clears it, and puts the thread into the list. A thread is in the list once, however often it
 * wakes up until the next snapshot.
 *
 * The list lacks no wakeup that is older than a snapshot. on_wakeup() first makes the sequence of
 * the account odd, then exchanges at_rest, then adds to the list, and only then reads the time of
 * the wakeup. The exchange is a barrier. A reader takes the time of the snapshot first, and then
 * the count of the list. So each wakeup with an earlier time is in the list by then; an entry that
 * is counted but not yet written is awaited. A wakeup that no event reported is put into the list
 * by the next switch of the thread.
 *
 * Other threads can change three things of a sleeping thread, and each has an event. A thread of
 * the same process may rename it (task_rename); any process may move its process to another group
 * (cgroup_attach_task, which the kernel reports for the first thread only); and its process gets
 * another parent when the last thread of its parent exits. This has no event. So a thread that has
 * children when it exits says so at its last switch: by then the kernel has found them another
 * parent. That may be a thread of the same process which exits at that moment, too, and has found
 * no children before. So the session reads the children once more in the snapshot after. All else
 * changes only while a thread runs.
 */
#pragma once

#include "account.bpf.h"
#include "record.bpf.h"

/* Since Linux 6.2, and in programs of this type since 6.10. On older kernels this program is not
 * loaded (camp_events_may_look()). */
extern struct task_struct *bpf_task_from_pid(int32_t tid) __weak __ksym;
extern void bpf_task_release(struct task_struct *task) __weak __ksym;

/* The session writes the tids. The kernel writes the records; the tid of a record is 0 if there is
 * no such thread. */
int32_t look_tids[LOOKS_MAX];
struct camp_thread_states looks[LOOKS_MAX];

static long look_once(uint32_t number, const uint32_t *count)
{
    const uint32_t at = number & (LOOKS_MAX - 1);
    struct camp_thread_states *ret = &looks[at];
    struct task_struct *task = bpf_task_from_pid(look_tids[at]);
    struct account *account;

    ret->tid = 0;
    if (task == NULL)
        return 0;
    account = bpf_task_storage_get(&accounts, task, NULL, 0);
    if (account != NULL && (account->flags & DEAD) == 0)
        copy(ret, task, account);
    bpf_task_release(task);
    return 0;
}

uint32_t look_count;

SEC("syscall")
int look_at_threads(void *context)
{
    uint32_t count = look_count;

    bpf_loop(count < LOOKS_MAX ? count : LOOKS_MAX, look_once, &count, 0);
    return 0;
}

/* The kernel changes the name after this event. So the session reads the thread in the next
 * snapshot and in the one after it. execve(2) by another thread than the first one changes the tid
 * of that thread before. */
SEC("tp_btf/task_rename")
int BPF_PROG(on_rename, struct task_struct *task)
{
    stay_here();
    tell_change(task->pid, CHANGE_OF_NAME);
    may_move();
    return 0;
}

SEC("tp_btf/cgroup_attach_task")
int BPF_PROG(on_attach, struct cgroup *group, const char *path, struct task_struct *task)
{
    stay_here();
    tell_change(task->pid, CHANGE_OF_GROUP);
    may_move();
    return 0;
}

/* Also tells that the thread is awake, if no event has reported its wakeup. */
SEC("tp_btf/sched_process_exit")
int BPF_PROG(on_exit, struct task_struct *task)
{
    struct account *account = bpf_task_storage_get(&accounts, task, NULL, 0);
    const struct list_head *children = untrusted(task)->children.next;

    if (account == NULL)
        return 0;
    stay_here();
    tell_awake(account, task);
    if (children != NULL &&
        (uint64_t)children != (uint64_t)task + bpf_core_field_offset(task->children)) {
        begin_writing(account);
        account->flags |= HAS_CHILDREN;
        end_writing(account);
    }
    may_move();
    return 0;
}

static __always_inline void tell_orphans(const struct account *account,
                                         const struct task_struct *task)
{
    if ((account->flags & HAS_CHILDREN) != 0)
        tell_change(task->tgid, CHANGE_OF_PARENT);
}
