// SPDX-License-Identifier: (MIT OR GPL-2.0)
/*
 * The programs in the kernel that fill the accounts of backends.h. Each switch and each wakeup of a
 * watched task charges the time since the task's previous event.
 *
 * During the switch by which a task goes to sleep, the task is still the current one. So the
 * program can read the wait event from the task's own memory, where the server wrote it a moment
 * before.
 *
 * A wait ends with the wakeup of the task. The server clears the event only when the task has a CPU
 * again. A sampler of the event would therefore count run-queue time as waiting.
 *
 * Switches of the task's CPU, and tasks that wake the task, write its account. The scheduler's own
 * rules order them. For a task that is not watched, a switch only looks up the tid.
 */
#include <stdbool.h>
#include <stdint.h>

#include <linux/bpf.h>

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#include "../../backends_layout.h"
#include "blocks.bpf.h"
#include "kernel.h"
#include "lengths.bpf.h"
#include "names.bpf.h"
#include "quota.bpf.h"
#include "slots.bpf.h"
#include "statements.bpf.h"
#include "wait_event.bpf.h"

char LICENSE[] SEC("license") = "Dual MIT/GPL";

/* The tid of the task that the iterator watch_existing() shall watch, or 0 for all children of the
 * server (place.parent). */
int32_t wanted;
uint32_t found_count;

/* Returns the index of the entry for `event` and `activity` among the first `limit` entries, and
 * adds the entry if it is missing. Returns `limit` if all these entries are in use. The function is
 * global, so the verifier checks it only once. Inlined, the loop would exceed the verifier's limit
 * of a million steps. */
__noinline uint32_t wait_of(struct backend_slot *slot, uint32_t event, uint32_t activity,
                            uint32_t limit)
{
    struct backend_account *account;
    uint32_t i;

    if (slot == NULL)
        return limit;
    account = &slot->account;
    for (i = 0; i < BACKEND_WAITS_MAX; i++) {
        struct backend_wait *wait = &account->waits[i];

        if (i >= limit)
            break;
        if (i == account->wait_count) {
            wait->event = event;
            wait->activity = activity;
            account->wait_count++;
            return i;
        }
        if (wait->event == event && wait->activity == activity)
            return i;
    }
    return limit;
}

static __always_inline void open_wait(struct backend_slot *slot, struct backend_statements *own,
                                      uint32_t event, uint32_t activity)
{
    uint32_t wait = wait_of(slot, event, activity, BACKEND_WAITS_OWN);

    if (wait >= BACKEND_WAITS_OWN)
        wait = wait_of(slot, BACKEND_EVENT_REST(event), BACKEND_ACTIVITY_NONE, BACKEND_WAITS_MAX);
    if (wait >= BACKEND_WAITS_MAX) {
        count(&losses.misaccounted);
        wait = BACKEND_WAITS_MAX - 1;
    }
    slot->wait = wait;
    slot->account.waits[wait].times++;
    if (own != NULL)
        own->share = share_of(own, own->statement, event, activity);
}

/* Charges the time from slot->since_ns to `until` to the current state, and starts the state
 * `next`. If the clocks of two CPUs differ, `until` may be before since_ns. Then nothing is
 * charged, so the sum of the times stays exact. */
static __always_inline void charge(struct backend_slot *slot, struct backend_statements *own,
                                   uint64_t until, uint32_t next)
{
    struct backend_account *account = &slot->account;
    struct backend_blocks *blocks = blocks_of(slot->number);
    uint64_t interval = until - slot->since_ns;
    uint32_t wait = slot->wait;

    if ((int64_t)interval < 0)
        interval = 0;
    if (account->state == BACKEND_ON_CPU)
        account->cpu_ns += interval;
    else if (account->state == BACKEND_IN_RUN_QUEUE)
        account->run_queue_ns += interval;
    else if (wait < BACKEND_WAITS_MAX)
        account->waits[wait].ns += interval;
    if (keeps_lengths && account->state == BACKEND_OFF_CPU)
        count_length(slot, interval, slot->since_ns + interval);
    if (own != NULL && account->state == BACKEND_ON_CPU)
        own->cpu_ns += interval;
    else if (own != NULL && account->state == BACKEND_IN_RUN_QUEUE)
        own->run_queue_ns += interval;
    else if (own != NULL)
        charge_share(own, own->share, interval);
    if (blocks != NULL && account->state == BACKEND_OFF_CPU)
        charge_sleep(blocks, interval);
    slot->since_ns += interval;
    account->state = next;
}

static __always_inline void fall_asleep(struct backend_slot *slot, struct backend_statements *own,
                                        uint32_t why, uint64_t now)
{
    struct backend_blocks *blocks = blocks_of(slot->number);
    uint32_t event = 0, activity = BACKEND_ACTIVITY_NONE;

    if (place.event_pointer != 0 && !read_event(&event)) {
        event = BACKEND_EVENT_UNKNOWN;
        count(&losses.unread);
    }
    if (place.activity_pointer != 0 && !read_activity(&activity)) {
        activity = BACKEND_ACTIVITY_NONE;
        count(&losses.unread);
    }
    open_wait(slot, own, event, activity);
    if (blocks != NULL)
        sleep_for_lock(blocks, event, why, now);
}

/* Called if no event reported a switch of the task, which is counted here. Returns how long the
 * task ran since it last left a CPU. */
static __always_inline uint64_t ran_unseen(const struct backend_slot *slot,
                                           const struct task_struct *task, uint64_t now)
{
    uint64_t ran = task->se.sum_exec_runtime - slot->run_ns, most = now - slot->since_ns;

    count(&losses.unseen);
    return (int64_t)most < 0 ? 0 : ran < most ? ran : most;
}

static __always_inline void witness(struct backend_slot *slot, const struct task_struct *task)
{
    struct backend_account *account = &slot->account;

    slot->run_ns = task->se.sum_exec_runtime;
    account->scheduler_cpu_ns = slot->run_ns - slot->cpu_before_ns;
    account->scheduler_run_queue_ns = task->sched_info.run_delay - slot->run_queue_before_ns;
    account->voluntary_switches = task->nvcsw - slot->voluntary_before;
    account->involuntary_switches = task->nivcsw - slot->involuntary_before;
}

static __always_inline void leave(struct backend_slot *slot, const struct task_struct *task,
                                  uint64_t now, bool runnable, uint32_t why)
{
    const bool dead = !runnable && (why & TASK_DEAD) != 0;
    struct backend_statements *own = statements_of(slot);
    int32_t tid = task->pid;

    begin_writing(slot);
    if (slot->account.state != BACKEND_ON_CPU) {
        const uint64_t arrived = now - ran_unseen(slot, task, now);

        if (slot->account.state == BACKEND_IN_RUN_QUEUE)
            take_out_throttled(slot, own, task, arrived);
        charge(slot, own, arrived, BACKEND_ON_CPU);
    }
    charge(slot, own, now, runnable ? BACKEND_IN_RUN_QUEUE : BACKEND_OFF_CPU);
    if (runnable)
        begin_queue(slot, task, now);
    witness(slot, task);
    if (own != NULL) {
        read_statement(&place, &own->statement);
        charge_statement(own);
    }
    if (!runnable && (why & TASK_STOPPED_OR_TRACED) != 0)
        open_wait(slot, own, BACKEND_EVENT_STOPPED, BACKEND_ACTIVITY_NONE);
    else if (!runnable && !dead)
        fall_asleep(slot, own, why, now);
    if (dead) { /* The session frees a slot with BACKEND_ENDED. */
        slot->account.flags |= BACKEND_ENDED;
        bpf_map_delete_elem(&watched, &tid);
    } else {
        read_names_once(slot);
    }
    end_writing(slot);
}

/* Handles a task that left a CPU without an event. The reason of its wait is unknown. */
static __always_inline void left_unseen(struct backend_slot *slot, struct backend_statements *own,
                                        const struct task_struct *task, uint64_t now)
{
    charge(slot, own, slot->since_ns + ran_unseen(slot, task, now), BACKEND_OFF_CPU);
    slot->run_ns = task->se.sum_exec_runtime;
    open_wait(slot, own, BACKEND_EVENT_UNKNOWN, BACKEND_ACTIVITY_NONE);
}

static __always_inline void arrive(struct backend_slot *slot, const struct task_struct *task,
                                   uint64_t now)
{
    struct backend_statements *own = statements_of(slot);

    begin_writing(slot);
    if (slot->account.state == BACKEND_ON_CPU)
        left_unseen(slot, own, task, now);
    if (slot->account.state == BACKEND_IN_RUN_QUEUE)
        take_out_throttled(slot, own, task, now);
    charge(slot, own, now, BACKEND_ON_CPU);
    run_after_lock(slot, task, now);
    end_writing(slot);
}

SEC("tp_btf/sched_switch")
int BPF_PROG(on_switch, bool preempt, struct task_struct *prev, struct task_struct *next,
             unsigned int prev_state)
{
    struct backend_slot *leaves = prev->pid != 0 ? slot_of(prev->pid) : NULL;
    struct backend_slot *arrives = next->pid != 0 ? slot_of(next->pid) : NULL;
    uint64_t now = 0;

    if (leaves != NULL) {
        now = bpf_ktime_get_ns();
        leave(leaves, prev, now, preempt || prev_state == 0, prev_state);
    }
    if (arrives != NULL)
        arrive(arrives, next, now != 0 ? now : bpf_ktime_get_ns());
    return 0;
}

/* Ignores a task that is still on its CPU: it was woken before it slept, and continues to run. */
SEC("tp_btf/sched_wakeup")
int BPF_PROG(on_wakeup, struct task_struct *task)
{
    struct backend_slot *slot = slot_of(task->pid);
    struct backend_statements *own;
    struct backend_blocks *blocks;
    uint32_t state;
    uint64_t now;

    if (slot == NULL)
        return 0;
    state = slot->account.state;
    if (state == BACKEND_IN_RUN_QUEUE || (state == BACKEND_ON_CPU && task->on_cpu))
        return 0;
    own = statements_of(slot);
    blocks = blocks_of(slot->number);
    now = bpf_ktime_get_ns();
    begin_writing(slot);
    if (state == BACKEND_ON_CPU)
        left_unseen(slot, own, task, now);
    charge(slot, own, now, BACKEND_IN_RUN_QUEUE);
    begin_queue(slot, task, now);
    if (blocks != NULL)
        wake_from_lock(blocks, now);
    end_writing(slot);
    return 0;
}

/* The run queue of a new process is chosen after on_fork(). */
SEC("tp_btf/sched_wakeup_new")
int BPF_PROG(on_wakeup_new, struct task_struct *task)
{
    struct backend_slot *slot = slot_of(task->pid);

    if (slot == NULL || slot->account.state != BACKEND_IN_RUN_QUEUE)
        return 0;
    begin_writing(slot);
    begin_queue(slot, task, bpf_ktime_get_ns());
    end_writing(slot);
    return 0;
}

/* The kernel reports the move while it holds a lock, so the task is neither woken nor run
 * meanwhile. */
SEC("tp_btf/sched_migrate_task")
int BPF_PROG(on_migrate, struct task_struct *task, int cpu)
{
    struct backend_slot *slot = slot_of(task->pid);
    struct backend_statements *own;
    uint64_t now;

    if (!has_throttled_clock() || slot == NULL || slot->account.state != BACKEND_IN_RUN_QUEUE ||
        slot->queue <= OWN_BUDGET)
        return 0;
    own = statements_of(slot);
    now = bpf_ktime_get_ns();
    begin_writing(slot);
    take_out_throttled(slot, own, task, now);
    charge(slot, own, now, BACKEND_IN_RUN_QUEUE);
    enter_queue(slot, task, cpu, now);
    end_writing(slot);
    return 0;
}

/* A new process is in the run queue right after this event. */
SEC("tp_btf/sched_process_fork")
int BPF_PROG(on_fork, struct task_struct *parent, struct task_struct *child)
{
    struct backend_slot *slot;
    uint32_t number = 0;

    if (place.parent == 0 || parent->tgid != place.parent || child->pid != child->tgid)
        return 0;
    forget(child->pid);
    slot = take_slot(&number);
    if (slot == NULL)
        return 0;
    fill(slot, number, child, bpf_ktime_get_ns(), BACKEND_IN_RUN_QUEUE, 0);
    watch(slot, number);
    return 0;
}

/* Reads the wait event, the activity and the statement of a sleeping task. If a value cannot be
 * read, it becomes BACKEND_EVENT_UNKNOWN, BACKEND_ACTIVITY_NONE or 0. */
static __always_inline void read_sleeper(struct task_struct *task, uint32_t *event,
                                         uint32_t *activity, uint64_t *statement)
{
    uint64_t at = 0;

    if (place.event_pointer != 0 &&
        (bpf_copy_from_user_task(&at, sizeof at, (void *)place.event_pointer, task, 0) != 0 ||
         bpf_copy_from_user_task(event, sizeof *event, (void *)at, task, 0) != 0))
        *event = BACKEND_EVENT_UNKNOWN;
    at = 0;
    if (place.activity_pointer == 0 ||
        bpf_copy_from_user_task(&at, sizeof at, (void *)place.activity_pointer, task, 0) != 0 ||
        at == 0 ||
        bpf_copy_from_user_task(activity, sizeof *activity, (void *)(at + place.activity_offset),
                                task, 0) != 0)
        *activity = BACKEND_ACTIVITY_NONE;
    *statement = at != 0 ? statement_of_sleeper(&place, task, at) : 0;
}

static __always_inline bool is_wanted(struct task_struct *task)
{
    if (wanted != 0)
        return task->pid == wanted;
    return task->pid == task->tgid && task->real_parent->tgid == place.parent;
}

/* Starts to watch the wanted tasks that already exist. If a task switches while its memory is read,
 * the reason of its wait is unknown. */
SEC("iter.s/task")
int watch_existing(struct bpf_iter__task *ctx)
{
    struct task_struct *task = ctx->task;
    struct backend_slot *slot;
    struct backend_statements *own;
    struct backend_blocks *blocks;
    uint32_t event = 0, activity = BACKEND_ACTIVITY_NONE, number = 0, state;
    uint64_t switches, statement = 0;

    if (task == NULL || task->exit_state != 0 || !is_wanted(task))
        return 0;
    found_count++;
    if (slot_of(task->pid) != NULL)
        return 0;
    slot = take_slot(&number);
    if (slot == NULL)
        return 0;
    switches = task->nvcsw + task->nivcsw;
    read_sleeper(task, &event, &activity, &statement);
    if ((task->__state & TASK_STOPPED_OR_TRACED) != 0)
        event = BACKEND_EVENT_STOPPED;
    if (switches != task->nvcsw + task->nivcsw)
        event = BACKEND_EVENT_UNKNOWN;
    state = task->on_cpu         ? BACKEND_ON_CPU
            : task->__state == 0 ? BACKEND_IN_RUN_QUEUE
                                 : BACKEND_OFF_CPU;
    fill(slot, number, task, bpf_ktime_get_ns(), state, BACKEND_OLDER);
    own = statements_of(slot);
    if (own != NULL)
        own->statement = statement;
    blocks = blocks_of(number);
    if (state == BACKEND_IN_RUN_QUEUE)
        begin_queue(slot, task, slot->since_ns);
    if (state == BACKEND_OFF_CPU)
        open_wait(slot, own, event, activity);
    if (state == BACKEND_OFF_CPU && blocks != NULL)
        sleep_for_lock(blocks, event, task->__state, slot->since_ns);
    watch(slot, number);
    return 0;
}
