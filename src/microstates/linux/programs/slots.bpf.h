/*
 * The slots of backends (backends_layout.h): which tasks are watched, and the account of each. A
 * slot is taken from the ring of free slots when the kernel starts to watch a task.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <linux/bpf.h>

#include <bpf/bpf_helpers.h>

#include "../../backends_layout.h"
#include "kernel.h"
#include "order.bpf.h"

struct backends_losses losses;
struct backend_slots slots;

struct {
    __uint(type, BPF_MAP_TYPE_HASH);
    __uint(max_entries, BACKENDS_MAX);
    __type(key, int32_t);
    __type(value, uint32_t);
} watched SEC(".maps");

struct {
    __uint(type, BPF_MAP_TYPE_ARRAY);
    __uint(map_flags, BPF_F_MMAPABLE);
    __uint(max_entries, BACKENDS_MAX);
    __type(key, uint32_t);
    __type(value, struct backend_slot);
} accounts SEC(".maps");

static __always_inline struct backend_slot *slot_of(int32_t tid)
{
    uint32_t *number = bpf_map_lookup_elem(&watched, &tid);

    return number != NULL ? bpf_map_lookup_elem(&accounts, number) : NULL;
}

static __always_inline void count(uint64_t *loss)
{
    __sync_fetch_and_add(loss, 1);
}

static __always_inline void begin_writing(struct backend_slot *slot)
{
    ADD_IN_ORDER(&slot->sequence, 1);
}

static __always_inline void end_writing(struct backend_slot *slot)
{
    ADD_IN_ORDER(&slot->sequence, 1);
}

#define TRIES 8

static __always_inline struct backend_slot *take_slot(uint32_t *number)
{
    volatile struct backend_slots *all = &slots;

    for (int i = 0; i < TRIES; i++) {
        uint64_t taken = all->taken;

        if (taken == all->given)
            break;
        keep_order(); /* The session writes free[] and the slot before it adds to `given`. */
        *number = all->free[taken % BACKENDS_MAX];
        if (__sync_val_compare_and_swap(&slots.taken, taken, taken + 1) == taken)
            return bpf_map_lookup_elem(&accounts, number);
    }
    count(&losses.unwatched);
    return NULL;
}

static __always_inline void fill(struct backend_slot *slot, uint32_t number,
                                 const struct task_struct *task, uint64_t now, uint32_t state,
                                 uint32_t flags)
{
    struct backend_account *account = &slot->account;

    slot->number = number;
    slot->since_ns = now;
    slot->run_ns = task->se.sum_exec_runtime;
    slot->cpu_before_ns = slot->run_ns;
    slot->run_queue_before_ns = task->sched_info.run_delay;
    slot->voluntary_before = task->nvcsw;
    slot->involuntary_before = task->nivcsw;
    account->pid = task->pid;
    account->flags = flags;
    account->start_ns = task->start_boottime;
    account->begin_ns = now;
    account->state = state;
}

/* Starts to watch the task of a filled slot. If an older task with the same tid is still watched,
 * the slot gets pid 0 and BACKEND_ENDED, so that the session frees the slot. in_use is set last,
 * because the session reads a slot as soon as it sees in_use. */
static __always_inline void watch(struct backend_slot *slot, uint32_t number)
{
    int32_t tid = slot->account.pid;

    if (bpf_map_update_elem(&watched, &tid, &number, BPF_NOEXIST) != 0) {
        slot->account.pid = 0;
        slot->account.flags = BACKEND_ENDED;
    }
    keep_order();
    slots.in_use[number % BACKENDS_MAX] = 1;
}

/* Ends the account of an older task that had this tid. No event reported the exit of that task. */
static __always_inline void forget(int32_t tid)
{
    struct backend_slot *slot = slot_of(tid);

    if (slot == NULL)
        return;
    count(&losses.unseen);
    slot->account.flags |= BACKEND_ENDED;
    bpf_map_delete_elem(&watched, &tid);
}
