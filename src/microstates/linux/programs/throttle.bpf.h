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
 * dl_next_period() in kernel/sched/deadline.c). A real-time thread leaves its CPU throttled if its
 * group has used up its real-time budget (sched_rt_runtime_exceeded() in kernel/sched/rt.c); no
 * clock tells when the group may run again, so its whole wait is throttled.
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
};

#define NO_QUEUE 0
#define OWN_BUDGET 1
#define GROUPS_DEEP 8 /* number of nested real-time groups that are searched for a spent budget */

static __always_inline bool has_throttled_clock(void)
{
    return bpf_core_field_exists(((struct cfs_rq *)0)->throttled_clock_self);
}

/* Returns the time of the scheduler's clock on the CPU of a thread, or 0 if the kernel lacks
 * CONFIG_FAIR_GROUP_SCHED and the clock cannot be read. */
static __always_inline uint64_t scheduler_clock(const struct task_struct *task)
{
    return bpf_core_field_exists(task->se.cfs_rq) ? untrusted(task)->se.cfs_rq->rq->clock : 0;
}

/* Returns the throttled time of a queue at the time `clock`. `since_ns` and `total_ns` are the
 * queue's throttled_clock_self and throttled_clock_self_time. */
static __always_inline uint64_t throttled_at(uint64_t since_ns, uint64_t total_ns, uint64_t clock)
{
    return total_ns + (since_ns != 0 && (int64_t)(clock - since_ns) > 0 ? clock - since_ns : 0);
}

/* Reads the clock of the queue in which a runnable thread waits or would wait. `clock` is the time
 * of the scheduler's clock. */
static __always_inline struct throttle read_throttle(const struct task_struct *task, uint64_t clock)
{
    const struct cfs_rq *queue;
    struct throttle ret = { NO_QUEUE, 0 };

    if (!has_throttled_clock() || task->prio < MAX_RT_PRIO)
        return ret;
    queue = untrusted(task)->se.cfs_rq;
    ret.clock_ns =
        throttled_at(queue->throttled_clock_self, queue->throttled_clock_self_time, clock);
    ret.queue = (uint64_t)queue;
    return ret;
}

/* Reads the clock of any queue. Returns 1 if the queue is throttled now, otherwise 0. A global
 * function, which the verifier checks once and not at each call. */
__noinline int read_throttle_of(uint64_t address, uint64_t clock, struct throttle *ret)
{
    const struct cfs_rq *queue = (const struct cfs_rq *)address;

    if (ret == NULL || !has_throttled_clock())
        return 0;
    ret->queue = address;
    ret->clock_ns = throttled_at(BPF_CORE_READ(queue, throttled_clock_self),
                                 BPF_CORE_READ(queue, throttled_clock_self_time), clock);
    return BPF_CORE_READ(queue, throttled_clock_self) != 0;
}

/* Returns whether the group of a thread may not run now. */
static __always_inline bool is_group_throttled(const struct task_struct *task)
{
    return has_throttled_clock() && task->prio >= MAX_RT_PRIO &&
           untrusted(task)->se.cfs_rq->throttled_clock_self != 0;
}

/* Returns whether a thread of SCHED_DEADLINE has used up its budget (dl_runtime_exceeded() in
 * kernel/sched/deadline.c). The bit dl_throttled was seen as 0 in Linux 6.18 for all waits of some
 * threads without a budget. */
static __always_inline bool is_deadline_spent(const struct task_struct *task)
{
    return task->dl.runtime <= 0;
}

/* Returns when a thread of SCHED_DEADLINE gets its next budget. */
static __always_inline uint64_t next_period_ns(const struct task_struct *task, uint64_t now,
                                               uint64_t clock)
{
    uint64_t next = task->dl.deadline - task->dl.dl_deadline + task->dl.dl_period;

    return clock != 0 ? now + (next - clock) : UINT64_MAX;
}

/* Returns whether a real-time group, or a group that contains it, has no budget left. A global
 * function, which the verifier checks once and not at each call. */
__noinline int is_group_spent(uint64_t address)
{
    const struct sched_rt_entity *entity = (const struct sched_rt_entity *)address;

    if (!bpf_core_field_exists(entity->rt_rq)) /* some kernels also check a function without call */
        return 0;
    for (int i = 1; i < GROUPS_DEEP && entity != NULL; i++) {
        if (BPF_CORE_READ(entity, rt_rq, rt_throttled) != 0)
            return 1;
        entity = BPF_CORE_READ(entity, parent);
    }
    return 0;
}

static __always_inline bool is_real_time_spent(const struct task_struct *task)
{
    const struct sched_rt_entity *entity = &task->rt;

    if (!bpf_core_field_exists(((struct rt_rq *)0)->rt_throttled))
        return false;
    if (!bpf_core_field_exists(entity->rt_rq))
        return bpf_core_field_exists(task->se.cfs_rq) &&
               BPF_CORE_READ(task, se.cfs_rq, rq, rt.rt_throttled) != 0;
    return BPF_CORE_READ(entity, rt_rq, rt_throttled) != 0 ||
           is_group_spent((uint64_t)BPF_CORE_READ(entity, parent)) != 0;
}

/* Sets *ret if a real-time thread has no budget left, or a thread of SCHED_DEADLINE has none until
 * its next period. */
static __noinline int read_own_budget(struct throttle *ret, const struct task_struct *task,
                                      uint64_t now, uint64_t clock)
{
    if (task->prio < 0 ? is_deadline_spent(task) : is_real_time_spent(task)) {
        ret->queue = OWN_BUDGET;
        ret->clock_ns = task->prio < 0 ? next_period_ns(task, now, clock) : UINT64_MAX;
    }
    return 0;
}

/* A runnable thread starts to wait. *ret is the reading of the clock of its run queue at `now`.
 * `clock` is the time of the scheduler's clock. */
static __always_inline void begin_throttle(struct throttle *ret, const struct task_struct *task,
                                           uint64_t now, uint64_t clock)
{
    if (task->prio < MAX_RT_PRIO)
        read_own_budget(ret, task, now, clock);
}

/* Returns the throttled part of a wait in the run queue that lasted from `since` to `now`. `begin`
 * and `end` are the readings at these times. If the thread moved to another group meanwhile, they
 * are of different queues, and the whole wait counts as run queue. */
static __always_inline uint64_t throttled_part(const struct throttle *begin,
                                               const struct throttle *end, uint64_t since,
                                               uint64_t now)
{
    uint64_t part = 0;

    if (begin->queue == OWN_BUDGET)
        part = (begin->clock_ns < now ? begin->clock_ns : now) - since;
    else if (begin->queue != NO_QUEUE && begin->queue == end->queue)
        part = end->clock_ns - begin->clock_ns;
    if ((int64_t)part < 0)
        part = 0;
    return part < now - since ? part : now - since;
}
