// SPDX-License-Identifier: (MIT OR GPL-2.0)
/*
 * The backends that end the waits of other backends for locks (struct backend_blocks).
 *
 * A backend that releases a lock wakes the one that gets it: by a semaphore (a futex), or by
 * setting its latch (a signal that its signalfd reads). The releasing task does both itself, so it
 * is the current task at sched_waking. sched_waking comes on the CPU of the waker, and maybe before
 * the sleeper's own switch; so it is noted for each watched task, also for one that does not sleep
 * yet. sched_wakeup may come on the CPU of the sleeper.
 *
 * Other wakeups end no wait; the server sleeps again with the same event:
 * - A timer of the server (deadlock_timeout, lock_timeout). It interrupts whichever task has the
 *   CPU, which then is the current one.
 * - Another signal, as of pg_cancel_backend(). A signal first wakes the task that polls a signalfd,
 *   and is pending only then (signalfd_notify() in __send_signal_locked()). So pending signals are
 *   read when the task gets a CPU. SIGALRM does not count then: it may have come after the wakeup.
 * - The end of a sleep in the kernel, as for a page (TASK_UNINTERRUPTIBLE).
 * If the next sleep has another event, the wait has ended otherwise, as by an error, and has no
 * blocker.
 */
#pragma once

#include "signals.bpf.h"
#include "slots.bpf.h"
#include "statements.bpf.h"

#define TASK_INTERRUPTIBLE 0x1
#define SIGNAL_OF_ALARM (1ul << 13) /* SIGALRM is 14 */

/* Without it the verifier removes this code. */
const volatile uint32_t by_blocker;

/* One element for each slot. The session reduces the map to one element if it is not used. */
struct {
    __uint(type, BPF_MAP_TYPE_ARRAY);
    __uint(map_flags, BPF_F_MMAPABLE);
    __uint(max_entries, BACKENDS_MAX);
    __type(key, uint32_t);
    __type(value, struct backend_blocks);
} blocks SEC(".maps");

/* Whether a timer expires on this CPU now. */
struct {
    __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
    __uint(max_entries, 1);
    __type(key, uint32_t);
    __type(value, uint32_t);
} expiring SEC(".maps");

static __always_inline void set_expiring(uint32_t whether)
{
    uint32_t first = 0, *here = bpf_map_lookup_elem(&expiring, &first);

    if (here != NULL)
        *here = whether;
}

static __always_inline bool is_expiring(void)
{
    uint32_t first = 0, *here = bpf_map_lookup_elem(&expiring, &first);

    return here != NULL && *here != 0;
}

static __always_inline struct backend_blocks *blocks_of(uint32_t number)
{
    return by_blocker ? bpf_map_lookup_elem(&blocks, &number) : NULL;
}

static __always_inline bool is_lock(uint32_t event)
{
    const uint32_t class = BACKEND_EVENT_CLASS(event);

    return class == BACKEND_CLASS_LOCK || class == BACKEND_CLASS_LWLOCK ||
           class == BACKEND_CLASS_BUFFER_PIN;
}

/* Returns the index of the block, or BACKEND_BLOCKS if no place is free. */
__noinline uint32_t block_of(struct backend_blocks *own, int32_t blocker, int32_t root,
                             uint32_t event)
{
    uint64_t hash = (uint64_t)(uint32_t)blocker << 32 ^ (uint64_t)(uint32_t)root << 12 ^ event;
    uint32_t free = BACKEND_BLOCKS, now = reading, i;

    if (own == NULL)
        return BACKEND_BLOCKS;
    hash *= UINT64_C(0x9e3779b97f4a7c15);
    for (i = 0; i < BACKEND_BLOCKS_NEAR; i++) {
        uint32_t at = ((hash >> 40) + i) % BACKEND_BLOCKS;
        struct backend_block *block = &own->blocks[at];

        if (block->blocker == blocker && block->root == root && block->event == event &&
            block->used != 0)
            return at;
        if (free == BACKEND_BLOCKS && (block->used == 0 || now - block->used >= 2))
            free = at;
        if (block->used == 0)
            break;
    }
    if (free < BACKEND_BLOCKS) {
        struct backend_block *block = &own->blocks[free];

        block->blocker = blocker;
        block->root = root;
        block->event = event;
        block->ns = 0;
        block->added = block->used = now;
    }
    return free;
}

/* Returns what was reported of the wait that ends, which no blocker is charged with. */
static __always_inline uint64_t subtract_reported(struct backend_blocks *own)
{
    uint64_t ns = 0;

    if (own->reported == own->number) {
        keep_order(); /* The session writes reported_ns before `reported`. */
        ns = own->reported_ns;
    }
    if (ns > own->asleep_ns)
        ns = own->asleep_ns;
    own->subtracted_ns += ns;
    return ns;
}

/* A task goes to sleep with an event. `why` is its state. */
static __always_inline void sleep_for_lock(struct backend_blocks *own, uint32_t event, uint32_t why,
                                           uint64_t now)
{
    if (event != own->event) {
        if (own->event != 0)
            subtract_reported(own);
        own->event = is_lock(event) ? event : 0;
        own->asleep_ns = 0;
        own->begin_ns = now;
        own->number++;
    }
    own->is_asleep = own->event != 0;
    own->may_be_ended = (why & TASK_INTERRUPTIBLE) != 0;
}

static __always_inline void charge_block(struct backend_blocks *own, int32_t blocker, int32_t root,
                                         uint64_t ns)
{
    const uint32_t at = ns != 0 ? block_of(own, blocker, root, own->event) : BACKEND_BLOCKS;

    if (at < BACKEND_BLOCKS) {
        own->blocks[at].ns += ns;
        own->blocks[at].used = reading;
    } else if (ns != 0) {
        count(&losses.unkept);
    }
}

/* Finds the roots of a wait that has ended, from its end to its beginning. */
struct roots {
    uint32_t waiter, blocker; /* numbers of slots */
    uint32_t at;              /* the slot in the chain of blockers that is looked at */
    int32_t at_pid, blocker_pid;
    uint32_t reserved;
    uint64_t begin_ns; /* of the wait */
    uint64_t until_ns; /* The time after it is charged. */
    uint64_t since_ns; /* The chain was as it is now from then to until_ns. */
    uint64_t left_ns;  /* to be charged */
};

/* Finds the wait of `of` that lasted at `until_ns`, just before it, and narrows roots->since_ns.
 * Returns 1 + the number of the slot of the backend that ended it, or 0 if there was no wait. */
static __always_inline uint32_t waited_for(const struct backend_blocks *of, struct roots *roots,
                                           int32_t *ret_pid)
{
    uint32_t waker = 0;

    for (uint32_t i = 0; i < BACKEND_LOCK_WAITS; i++) {
        const volatile struct backend_lock_wait *wait = &of->waits[i];
        const uint64_t end_ns = wait->end_ns;
        uint64_t from_ns;

        if (end_ns == 0)
            continue;
        from_ns = end_ns < roots->until_ns ? end_ns : wait->begin_ns;
        if (from_ns >= roots->until_ns)
            continue;
        if (end_ns >= roots->until_ns) {
            waker = 1 + wait->waker;
            *ret_pid = wait->waker_pid;
        }
        if (from_ns > roots->since_ns)
            roots->since_ns = from_ns;
    }
    return waker;
}

#define ROOTS_STEPS 64

/* Goes one step along the chain, or charges the time to its end and starts again before it. Returns
 * 1 at the end. The verifier checks the body of bpf_loop() once. */
static long find_root(uint32_t step, struct roots *roots)
{
    uint32_t at = roots->at, waiter = roots->waiter, waker = 0;
    struct backend_blocks *own = bpf_map_lookup_elem(&blocks, &waiter);
    const struct backend_blocks *of = bpf_map_lookup_elem(&blocks, &at);
    const struct backend_slot *slot = bpf_map_lookup_elem(&accounts, &at);
    int32_t pid = 0, root = roots->blocker_pid;
    uint64_t ns;

    if (own == NULL)
        return 1;
    /* If the slot is another backend's by now, the chain ends at the one before. */
    if (of != NULL && slot != NULL && slot->account.pid == roots->at_pid && step + 1 < ROOTS_STEPS)
        waker = waited_for(of, roots, &pid);
    if (waker != 0 && pid != 0) {
        roots->at = waker - 1;
        roots->at_pid = pid;
        return 0;
    }
    if (step + 1 < ROOTS_STEPS)
        root = roots->at_pid;
    else
        roots->since_ns = roots->begin_ns;
    ns = roots->until_ns - roots->since_ns;
    if (ns > roots->left_ns || roots->since_ns <= roots->begin_ns)
        ns = roots->left_ns;
    charge_block(own, roots->blocker_pid, root, ns);
    roots->left_ns -= ns;
    roots->until_ns = roots->since_ns;
    roots->since_ns = roots->begin_ns;
    roots->at = roots->blocker;
    roots->at_pid = roots->blocker_pid;
    return roots->left_ns == 0;
}

/* A backend woke this one, and so ended its wait. That backend may have exited since. */
static __always_inline void end_wait(struct backend_blocks *own, uint32_t waiter, uint64_t end_ns)
{
    struct backend_lock_wait *wait = &own->waits[own->wait_count % BACKEND_LOCK_WAITS];
    struct roots roots = { .waiter = waiter,
                           .blocker = own->waker - 1,
                           .blocker_pid = own->waker_pid,
                           .at = own->waker - 1,
                           .at_pid = own->waker_pid,
                           .begin_ns = own->begin_ns,
                           .until_ns = end_ns,
                           .since_ns = own->begin_ns,
                           .left_ns = own->asleep_ns - subtract_reported(own) };

    if (roots.left_ns != 0)
        bpf_loop(ROOTS_STEPS, find_root, &roots, 0);
    wait->end_ns = 0;
    keep_order();
    wait->begin_ns = own->begin_ns;
    wait->waker = own->waker - 1;
    wait->waker_pid = own->waker_pid;
    keep_order();
    wait->end_ns = end_ns;
    own->wait_count++;
    own->event = 0;
}

/* A task slept for `ns` until now, or until an earlier reading of the clock. */
static __always_inline void charge_sleep(struct backend_blocks *own, uint64_t ns)
{
    if (own->is_asleep)
        own->asleep_ns += ns;
}

/* A task wakes up. What that ends is known when it gets a CPU. */
static __always_inline void wake_from_lock(struct backend_blocks *own, uint64_t now)
{
    if (own->is_asleep && own->may_be_ended && own->waker != 0)
        own->woken_ns = now;
    own->is_asleep = 0;
}

/* A task gets a CPU. */
static __always_inline void run_after_lock(struct backend_slot *slot,
                                           const struct task_struct *task, uint64_t now)
{
    struct backend_blocks *own = blocks_of(slot->number);
    uint64_t woken_ns;

    if (own == NULL || own->event == 0)
        return;
    wake_from_lock(own, now); /* if no event reported its wakeup */
    woken_ns = own->woken_ns;
    own->woken_ns = 0;
    if (woken_ns != 0 && (signals_of(task) & ~SIGNAL_OF_ALARM) == 0)
        end_wait(own, slot->number, woken_ns);
}

SEC("tp_btf/sched_waking")
int BPF_PROG(on_waking, struct task_struct *task)
{
    const struct backend_slot *slot = slot_of(task->pid);
    struct backend_blocks *own = slot != NULL ? blocks_of(slot->number) : NULL;
    int32_t waker = (int32_t)bpf_get_current_pid_tgid();
    const uint32_t *number = NULL;

    if (own == NULL)
        return 0;
    if (!is_expiring() && !has_signal(task))
        number = bpf_map_lookup_elem(&watched, &waker);
    own->waker = number != NULL ? 1 + *number : 0;
    own->waker_pid = number != NULL ? waker : 0;
    return 0;
}

/* An event of a start or an end may be lost where one program interrupts the other. Then this is
 * wrong until the next timer, and so no count. */
SEC("tp_btf/hrtimer_expire_exit")
int BPF_PROG(on_timer_end)
{
    set_expiring(0);
    return 0;
}

SEC("tp_btf/hrtimer_expire_entry")
int BPF_PROG(on_timer)
{
    set_expiring(1);
    return 0;
}
