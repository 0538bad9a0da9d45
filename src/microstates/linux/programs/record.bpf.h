/* The record of a thread, filled from its account and from the kernel's own counts. */
#pragma once

#include "account.bpf.h"

/* Fills the identity of a thread. */
static __always_inline void identify(struct camp_thread_states *ret, struct task_struct *task,
                                     struct account *account)
{
    note_ids(account, task);
    ret->tid = own_namespace == 0 ? task->pid : account->tid;
    ret->pid = own_namespace == 0 ? task->tgid : account->pid;
    ret->parent = last_parent_id(account, task);
    ret->flags = ((account->flags & WORKER) != 0 ? CAMP_THREAD_KERNEL : 0) |
                 ((account->flags & OLDER) != 0 ? CAMP_THREAD_OLDER : 0);
    ret->uid = untrusted(task)->cred->euid.val;
    ret->count = 1;
    ret->processes = task->pid == task->tgid;
    ret->known = known_fields;
    ret->known_states = known_states;
    ret->cgroup = cgroup_id(task);
    __builtin_memcpy(ret->name, task->comm, sizeof ret->name);
    ret->start_ns = task->start_time;
    ret->begin_ns = account->begin_ns;
}

static __always_inline void fill(struct camp_thread_states *ret, struct task_struct *task,
                                 const struct account *account, uint64_t now)
{
    ret->state = account->state;
    ret->time_ns = now;
    __builtin_memcpy(ret->state_ns, account->state_ns, sizeof ret->state_ns);
    ret->cpu_ns = task->se.sum_exec_runtime;
    ret->run_delay_ns = task->sched_info.run_delay;
    ret->sampled_ns = task->utime + task->stime;
    ret->minor_faults = task->min_flt;
    ret->major_faults = task->maj_flt;
    ret->voluntary_switches = task->nvcsw;
    ret->involuntary_switches = task->nivcsw;
    ret->system_calls = account->system_calls;
    ret->signals = account->signals;
    ret->read_bytes = task->ioac.read_bytes;
    ret->written_bytes = task->ioac.write_bytes;
    ret->read_chars = task->ioac.rchar;
    ret->written_chars = task->ioac.wchar;
}

#define TRIES 8

/* Returns the throttled part of an open wait in the run queue, and sets the record's state if the
 * thread is throttled now. The scheduler's clock stands still on an idle CPU, so its time is
 * calculated as `now` plus its last known difference to CLOCK_MONOTONIC. */
static __always_inline uint64_t open_throttled(struct camp_thread_states *ret,
                                               const struct task_struct *task,
                                               const struct account *account, uint64_t since,
                                               uint64_t now)
{
    uint64_t queue = account->throttle.queue;
    struct throttle end = { NO_QUEUE, 0 };
    struct cpu_account *cpu;

    if (queue == OWN_BUDGET && now < account->throttle.clock_ns)
        ret->state = CAMP_STATE_THROTTLED;
    if (has_throttled_clock() && queue > OWN_BUDGET &&
        queue == (uint64_t)BPF_CORE_READ(task, se.cfs_rq)) {
        cpu = cpu_of(task->thread_info.cpu);
        if (cpu != NULL && cpu->clock_offset != 0 &&
            read_throttle_of(queue, now + cpu->clock_offset, &end))
            ret->state = CAMP_STATE_THROTTLED;
    }
    return throttled_part(&account->throttle, &end, since, now);
}

/* Returns the time of traps in the open interval, and sets the record's state if the thread is in a
 * trap now. */
static __always_inline uint64_t copy_traps(struct camp_thread_states *ret,
                                           const struct task_struct *task,
                                           const struct account *account, uint64_t clock,
                                           uint64_t interval)
{
    const uint64_t traps = trapped_ns(account, task, clock, interval);

    if (account->trap_since != 0 && account->faults == page_faults(task))
        ret->state = CAMP_STATE_TRAP;
    ret->state_ns[CAMP_STATE_TRAP] += traps;
    return traps;
}

static __always_inline void close_copy(struct camp_thread_states *ret,
                                       const struct task_struct *task,
                                       const struct account *account, uint64_t now)
{
    uint64_t state = state_of(account);
    uint64_t since = account->since_ns, before = account->irq_before_ns, interval;
    struct cpu_account *cpu;

    if (has_left(account, task)) {
        uint64_t end = ran_until(account, task, now);

        ret->state_ns[state] += end - since;
        since = end;
        state = task->__state == 0 ? CAMP_STATE_RUN_QUEUE : CAMP_STATE_OTHER_SLEEP;
        ret->state = (uint32_t)state;
    }
    interval = now - since;
    if ((int64_t)interval < 0) {
        interval = 0;
        ret->time_ns = since;
    }
    cpu = on_cpu(state) ? cpu_of(account->cpu) : NULL;
    if (cpu != NULL) {
        ret->state_ns[CAMP_STATE_IRQ] +=
            without_interrupts(&interval, &before, interrupts_ns(cpu, now));
        if (state == CAMP_STATE_USER)
            interval -= copy_traps(ret, task, account, running_clock(cpu, now), interval);
    }
    if (state == CAMP_STATE_RUN_QUEUE) {
        uint64_t throttled = open_throttled(ret, task, account, since, since + interval);

        ret->state_ns[CAMP_STATE_THROTTLED] += throttled;
        interval -= throttled;
    }
    ret->state_ns[state] += interval;
}

struct copying {
    struct camp_thread_states *ret;
    struct task_struct *task;
    struct account *account;
    bool done;
};

/* Tries once to copy a record. Returns 1 if no other attempt is needed. */
static long try_copy(uint32_t number, struct copying *copying)
{
    struct account *account = copying->account;
    const uint32_t sequence = *(const volatile uint32_t *)&account->sequence;
    const uint64_t now = bpf_ktime_get_ns();

    keep_order();
    fill(copying->ret, copying->task, account, now);
    close_copy(copying->ret, copying->task, account, now);
    keep_order();
    if ((sequence & 1) != 0 || sequence != *(const volatile uint32_t *)&account->sequence)
        return 0;
    account->shown = snapshot_now;
    account->shown_sequence = sequence;
    copying->done = true;
    return 1;
}

/* Marks a sleeping thread, so that its next event lists it. Returns false if the thread is awake,
 * has exited (no event follows), or has changed since its account had the number `sequence`. The
 * exchange is a barrier: either the event sees known_asleep, or this function sees a new sequence.
 */
static __always_inline bool mark_asleep(struct account *account, uint32_t sequence)
{
    if (on_cpu(account->state) || account->state == CAMP_STATE_RUN_QUEUE ||
        (account->flags & DEAD) != 0)
        return false;
    __sync_lock_test_and_set(&account->known_asleep, 1);
    if (sequence == *(const volatile uint32_t *)&account->sequence)
        return true;
    account->known_asleep = 0;
    return false;
}

/* Copies all but the identity. If the account changed during each attempt, the record is marked as
 * unsure. The verifier checks the body of bpf_loop() once, and that of a loop at each iteration. */
static __always_inline void copy(struct camp_thread_states *ret, struct task_struct *task,
                                 struct account *account)
{
    struct copying copying = { ret, task, account, false };

    bpf_loop(TRIES, try_copy, &copying, 0);
    if (!copying.done)
        ret->flags |= CAMP_THREAD_UNSURE;
    if (lists_changes && !(copying.done && mark_asleep(account, account->shown_sequence)))
        ret->flags |= READ_AGAIN;
}

/* A wait in the run queue is never unchanged, because any part of it may be throttled. */
static __always_inline bool is_unchanged(const struct account *account)
{
    return snapshot_before != 0 && account->shown == snapshot_before &&
           account->shown_sequence == *(const volatile uint32_t *)&account->sequence &&
           !on_cpu(account->state) && account->state != CAMP_STATE_RUN_QUEUE &&
           (!lists_changes || account->known_asleep != 0);
}

static __always_inline int32_t copy_tid(const struct task_struct *task, struct account *account)
{
    account->shown = snapshot_now;
    return own_namespace == 0 ? -task->pid : -account->tid;
}

/* Copies the fields of an idle thread that other threads may have changed. This reads 7 cache
 * lines; copying a full record reads 20. Returns false if the thread was not idle. */
static __always_inline bool copy_unchanged(struct unchanged_thread *ret, struct task_struct *task,
                                           struct account *account)
{
    ret->time_ns = bpf_ktime_get_ns();
    barrier();
    if (!is_unchanged(account))
        return false;
    ret->parent = parent_id(task);
    ret->cgroup = cgroup_id(task);
    __builtin_memcpy(ret->name, task->comm, sizeof ret->name);
    ret->tid = copy_tid(task, account);
    return true;
}
