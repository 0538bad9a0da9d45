// SPDX-License-Identifier: (MIT OR GPL-2.0)
/*
 * The throttled part of the waits of backends in the run queue (throttle.bpf.h). The clock of the
 * run queue is read when a wait starts and when it ends, and when the backend moves to another CPU.
 */
#pragma once

#include "slots.bpf.h"
#include "statements.bpf.h"
#include "throttle.bpf.h"

/* Without it the verifier removes this code. */
const volatile uint32_t measures_throttled;

struct backend_open_wait open_wait_read;

/* A wait in the run queue starts at `now`. */
static __always_inline void begin_queue(struct backend_slot *slot, const struct task_struct *task,
                                        uint64_t now)
{
    struct throttle throttle;
    uint64_t clock;

    if (!measures_throttled)
        return;
    clock = scheduler_clock(task);
    throttle = read_throttle(task, clock);
    begin_throttle(&throttle, task, now, clock);
    slot->queue = throttle.queue;
    slot->queue_clock_ns = throttle.clock_ns;
    slot->clock_ahead_ns = clock - now;
}

/* Moves the throttled part of a wait in the run queue from run_queue_ns to throttled_ns, before the
 * wait is charged until `until`. */
static __always_inline void take_out_throttled(struct backend_slot *slot,
                                               struct backend_statements *own,
                                               const struct task_struct *task, uint64_t until)
{
    const struct throttle begin = { slot->queue, slot->queue_clock_ns };
    struct throttle end;
    uint64_t throttled;

    if (!measures_throttled || (int64_t)(until - slot->since_ns) <= 0)
        return;
    end = read_throttle(task, scheduler_clock(task));
    throttled = throttled_part(&begin, &end, slot->since_ns, until);
    slot->account.throttled_ns += throttled;
    slot->account.run_queue_ns -= throttled;
    if (own != NULL) {
        own->throttled_ns += throttled;
        own->run_queue_ns -= throttled;
    }
    slot->queue = NO_QUEUE;
}

/* A backend that waits in the run queue enters the one of another CPU at `now`. */
static __always_inline void enter_queue(struct backend_slot *slot, const struct task_struct *task,
                                        int cpu, uint64_t now)
{
    struct cfs_rq **queues = BPF_CORE_READ(task, sched_task_group, cfs_rq), *entered = NULL;
    struct throttle begin = { NO_QUEUE, 0 };

    bpf_probe_read_kernel(&entered, sizeof entered, queues + cpu);
    if (entered != NULL)
        read_throttle_of((uint64_t)entered, now + slot->clock_ahead_ns, &begin);
    slot->queue = begin.queue;
    slot->queue_clock_ns = begin.clock_ns;
}

/* The session runs this program to read a wait that has not ended. */
SEC("syscall")
int read_open_wait(void *ctx)
{
    uint32_t number = open_wait_read.number;
    struct backend_slot *slot = bpf_map_lookup_elem(&accounts, &number);
    struct throttle end = { NO_QUEUE, 0 };
    uint64_t now = bpf_ktime_get_ns();

    if (slot == NULL || slot->queue <= OWN_BUDGET)
        return 0;
    open_wait_read.is_throttled =
        (uint32_t)read_throttle_of(slot->queue, now + slot->clock_ahead_ns, &end);
    open_wait_read.time_ns = now;
    open_wait_read.queue_clock_ns = end.clock_ns;
    return 1;
}
