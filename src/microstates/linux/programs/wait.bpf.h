/*
 * Threads that wait for a disk: for which disk each thread waits, and how long at least one thread
 * waited, on the machine and on each CPU.
 *
 * A wait clock runs while at least one thread waits. The number of waiting threads and the time are
 * in one word that is changed by compare and swap, so a reader gets both values of the same moment.
 * Starting the clock subtracts the current time, and stopping the clock adds the current time. The
 * time wraps after 19 hours, so only differences of two readings are valid.
 */
#pragma once

#include "../layout.h"
#include "ids.bpf.h"
#include "kernel.h"

#include <stdbool.h>
#include <stdint.h>

#include <linux/bpf.h>

#include <bpf/bpf_helpers.h>

#define SWAPS 32

/* Whether to record for which disk each thread waits. The session sets this before it loads the
 * programs. */
const volatile bool tell_disks = false;

struct {
    uint64_t clock;
} disk_waits __attribute__((aligned(64)));

struct {
    __uint(type, BPF_MAP_TYPE_LRU_HASH);
    __uint(max_entries, DISK_WAITS_MAX);
    __type(key, struct disk_wait_key);
    __type(value, struct disk_wait);
} waits_of_disks SEC(".maps");

struct swap {
    uint64_t *clock;
    uint64_t now;
    int64_t by;
    bool done;
};

/* Tries once to change a wait clock. Returns 1 if no other attempt is needed. */
static long try_swap(uint32_t number, struct swap *swap)
{
    const uint64_t old = *(volatile uint64_t *)swap->clock, count = old & WAITS_MASK;
    uint64_t next = old + (uint64_t)swap->by;

    if (swap->by < 0 && count == 0) {
        swap->done = true;
        return 1;
    }
    if (swap->by > 0 && count == 0)
        next -= swap->now << WAITS_BITS;
    else if (swap->by < 0 && count == 1)
        next += swap->now << WAITS_BITS;
    swap->done = __sync_val_compare_and_swap(swap->clock, old, next) == old;
    return swap->done;
}

/* Adds `by` (1 or -1) to the number of waiting threads. Returns 0 if other CPUs changed the clock
 * during each attempt; the wait is then not counted. The verifier checks a global function and the
 * body of bpf_loop() once. */
__noinline int count_wait(uint64_t *clock, uint64_t now, int by)
{
    struct swap swap = { clock, now, by, false };

    if (clock == NULL)
        return 0;
    bpf_loop(SWAPS, try_swap, &swap, 0);
    return swap.done;
}

static __always_inline struct disk_wait_key wait_key(const struct task_struct *task,
                                                     uint32_t device)
{
    return (struct disk_wait_key){ task->start_time, thread_id(task), device };
}

static __noinline int disk_wait_begins(struct task_struct *task, uint32_t device, uint64_t now)
{
    struct disk_wait_key key = wait_key(task, device);
    struct disk_wait *wait = bpf_map_lookup_elem(&waits_of_disks, &key);

    if (wait == NULL) {
        struct disk_wait first = { .pid = process_id(task), .clock = disk_wait_started(0, now) };

        __builtin_memcpy(first.name, task->comm, sizeof first.name);
        bpf_map_update_elem(&waits_of_disks, &key, &first, BPF_ANY);
        return 0;
    }
    if ((wait->clock & WAITS_NOW) == 0)
        *(volatile uint64_t *)&wait->clock = disk_wait_started(wait->clock, now);
    return 0;
}

static __noinline int disk_wait_ends(struct task_struct *task, uint32_t device, uint64_t now)
{
    struct disk_wait_key key = wait_key(task, device);
    struct disk_wait *wait = bpf_map_lookup_elem(&waits_of_disks, &key);

    if (wait != NULL)
        *(volatile uint64_t *)&wait->clock = disk_wait_ended(wait->clock, now);
    return 0;
}

/* Adds the part of the CPU's last idle time in which a thread waited for a disk: any thread of the
 * machine (any_wait_ns), or a thread whose wait started on this CPU (own_wait_ns). If no event
 * reported that the CPU became idle, the added time is an upper bound. */
static __always_inline void book_waits(struct cpu_account *cpu, uint64_t now, uint64_t idle_ns)
{
    uint64_t any = waited_between(cpu->any_before, cpu->since_ns, disk_waits.clock, now);
    uint64_t own = waited_between(cpu->own_before, cpu->since_ns, cpu->own_clock, now);

    cpu->any_wait_ns += any < idle_ns ? any : idle_ns;
    cpu->own_wait_ns += own < idle_ns ? own : idle_ns;
}
