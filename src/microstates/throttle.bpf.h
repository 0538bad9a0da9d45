/*
 * Time in which a runnable thread may not run, because its group or the thread itself has used up
 * its CPU time.
 *
 * A group with a quota (cpu.max, cpu.cfs_quota_us) has a clock in each of its run queues. The clock
 * advances while the group, or a group that contains it, may not run and has threads in this queue
 * (throttled_clock_self, record_throttle_clock() and tg_unthrottle_up() in kernel/sched/fair.c).
 * The clock is read when a wait in the run queue starts and when it ends. The difference is
 * throttled time, and the rest of the wait is CAMP_STATE_RUN_QUEUE.
 *
 * A thread of SCHED_DEADLINE leaves its CPU throttled until its next period (update_curr_dl() and
 * dl_next_period() in kernel/sched/deadline.c). A real-time thread leaves it throttled if its group
 * has used up its real-time budget (sched_rt_runtime_exceeded() in kernel/sched/rt.c); no clock
 * tells when the group may run again, so its whole wait is throttled.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <linux/bpf.h>

#include <bpf/bpf_helpers.h>

#include <bpf/bpf_core_read.h>

#include "kernel.h"

/* The last reading of the clock of a run queue. */
struct throttle {
    /* address of the run queue, or NO_QUEUE, or OWN_BUDGET */
    uint64_t queue;
    /* the queue's clock; with OWN_BUDGET, the time until which the thread is throttled */
    uint64_t clock_ns;
    uint64_t offset; /* the scheduler's clock minus CLOCK_MONOTONIC at the reading, modulo 2^64 */
};

#define NO_QUEUE 0
#define OWN_BUDGET 1
#define GROUPS_DEEP 8 /* nested real-time groups that are searched for a spent budget */

#define clock_of_throttled(queue, read, at)                                                        \
    ({                                                                                             \
        uint64_t since_ = read(queue, throttled_clock_self), at_ = (at);                           \
        read(queue, throttled_clock_self_time) +                                                   \
            (since_ != 0 && (int64_t)(at_ - since_) > 0 ? at_ - since_ : 0);                       \
    })
#define read_directly(pointer, member) ((pointer)->member)
#define read_safely(pointer, member) BPF_CORE_READ(pointer, member)

static __always_inline bool has_throttled_clock(void)
{
    return bpf_core_field_exists(((struct cfs_rq *)0)->throttled_clock_self);
}

/* Reads the clock of the queue in which a runnable thread waits. A thread of the root group has no
 * quota. */
static __always_inline void read_throttle(struct throttle *ret, const struct task_struct *task,
                                          uint64_t now)
{
    ret->queue = NO_QUEUE;
    if (!has_throttled_clock() || task->prio < MAX_RT_PRIO || task->se.parent == NULL)
        return;
    ret->clock_ns = clock_of_throttled(task->se.cfs_rq, read_directly, task->se.cfs_rq->rq->clock);
    ret->offset = task->se.cfs_rq->rq->clock - now;
    ret->queue = (uint64_t)task->se.cfs_rq;
}

/* Reads the clock of the queue to which a waiting thread moves. The scheduler's clock of the other
 * CPU may be old, so the offset of the previous reading serves. */
static __always_inline void follow_throttle(struct throttle *throttle,
                                            const struct task_struct *task, uint32_t cpu,
                                            uint64_t now)
{
    struct cfs_rq **queues, *queue = NULL;

    if (!has_throttled_clock() || throttle->queue <= OWN_BUDGET)
        return;
    queues = BPF_CORE_READ(task, sched_task_group, cfs_rq);
    bpf_probe_read_kernel(&queue, sizeof queue, queues + cpu);
    throttle->queue = (uint64_t)queue;
    if (queue != NULL)
        throttle->clock_ns = clock_of_throttled(queue, read_safely, now + throttle->offset);
}

static __always_inline bool is_deadline_spent(const struct task_struct *task)
{
    return BPF_CORE_READ_BITFIELD_PROBED(&task->dl, dl_throttled) != 0;
}

/* Returns when a thread of SCHED_DEADLINE gets its next budget. */
static __always_inline uint64_t next_period_ns(const struct task_struct *task, uint64_t now)
{
    uint64_t next = task->dl.deadline - task->dl.dl_deadline + task->dl.dl_period;

    return bpf_core_field_exists(task->se.cfs_rq) ? now + (next - task->se.cfs_rq->rq->clock)
                                                  : UINT64_MAX;
}

static __always_inline bool is_real_time_spent(const struct task_struct *task)
{
    const struct sched_rt_entity *entity = &task->rt;

    if (!bpf_core_field_exists(((struct rt_rq *)0)->rt_throttled))
        return false;
    if (!bpf_core_field_exists(entity->rt_rq))
        return bpf_core_field_exists(task->se.cfs_rq) &&
               BPF_CORE_READ(task, se.cfs_rq, rq, rt.rt_throttled) != 0;
    for (int i = 0; i < GROUPS_DEEP && entity != NULL; i++) {
        if (BPF_CORE_READ(entity, rt_rq, rt_throttled) != 0)
            return true;
        entity = BPF_CORE_READ(entity, parent);
    }
    return false;
}

/* A runnable thread starts to wait. */
static __always_inline void begin_throttle(struct throttle *ret, const struct task_struct *task,
                                           uint64_t now)
{
    read_throttle(ret, task, now);
    if (task->prio >= MAX_RT_PRIO)
        return;
    if (task->prio < 0 ? is_deadline_spent(task) : is_real_time_spent(task)) {
        ret->queue = OWN_BUDGET;
        ret->clock_ns = task->prio < 0 ? next_period_ns(task, now) : UINT64_MAX;
    }
}

/* Returns the throttled part of a wait in the run queue that lasted from `since` to `now`. `clock`
 * is the scheduler's clock at `now`. After a move to another group the queue is another one, and
 * the wait counts as run queue. */
static __always_inline uint64_t throttled_part(const struct throttle *throttle,
                                               const struct task_struct *task, uint64_t since,
                                               uint64_t now, uint64_t clock)
{
    uint64_t part = 0;

    if (throttle->queue == OWN_BUDGET)
        part = (throttle->clock_ns < now ? throttle->clock_ns : now) - since;
    else if (has_throttled_clock() && throttle->queue != NO_QUEUE &&
             throttle->queue == (uint64_t)task->se.cfs_rq)
        part = clock_of_throttled(task->se.cfs_rq, read_directly, clock) - throttle->clock_ns;
    if ((int64_t)part < 0)
        part = 0;
    return part < now - since ? part : now - since;
}

static __always_inline uint64_t scheduler_clock(const struct throttle *throttle,
                                                const struct task_struct *task)
{
    return throttle->queue > OWN_BUDGET ? task->se.cfs_rq->rq->clock : 0;
}

/* Returns whether a thread that waits in the run queue is throttled at `now`. */
static __always_inline bool is_throttled(const struct throttle *throttle,
                                         const struct task_struct *task, uint64_t now)
{
    if (throttle->queue == OWN_BUDGET)
        return now < throttle->clock_ns;
    return has_throttled_clock() && throttle->queue != NO_QUEUE &&
           throttle->queue == (uint64_t)task->se.cfs_rq &&
           task->se.cfs_rq->throttled_clock_self != 0;
}
