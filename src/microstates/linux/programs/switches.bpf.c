// SPDX-License-Identifier: (MIT OR GPL-2.0)
/*
 * The programs in the kernel that fill the rings of switches.h.
 *
 * Each CPU has a ring of its own, so events of different CPUs never meet. On one CPU an interrupt
 * can come between the parts of a program: the atomic addition gives each event its own place. The
 * kernel does not start a program again that is running on this CPU, so a wake by an interrupt
 * during a wake by a thread is lost. The session counts such events (recursion_misses in
 * linux/bpf.h).
 *
 * The programs copy the name of a thread when it leaves its CPU, and when it is woken. The name of
 * the thread that gets the CPU is that of its next or its previous event.
 */
#include <stdbool.h>
#include <stdint.h>

#include <linux/bpf.h>

#include <bpf/bpf_helpers.h>

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_tracing.h>

#include "../../switches_layout.h"
#include "kernel.h"
#include "order.bpf.h"

char LICENSE[] SEC("license") = "Dual MIT/GPL";

/* The number of events of each ring, minus 1: all bits are set. The session sets it, and the sizes
 * of the maps, before it loads the programs. */
const volatile uint32_t ring_mask = 0;

uint64_t without_ring;

struct {
    __uint(type, BPF_MAP_TYPE_ARRAY);
    __uint(map_flags, BPF_F_MMAPABLE);
    __uint(max_entries, 1);
    __type(key, uint32_t);
    __type(value, struct switch_head);
} heads SEC(".maps");

/* The rings of all CPUs, one after another. */
struct {
    __uint(type, BPF_MAP_TYPE_ARRAY);
    __uint(map_flags, BPF_F_MMAPABLE);
    __uint(max_entries, 1);
    __type(key, uint32_t);
    __type(value, struct switch_event);
} events SEC(".maps");

/* Returns the place for the next event of this CPU, or NULL. The place is marked as being written.
 */
static __always_inline struct switch_event *begin_event(uint64_t *ret_number)
{
    const uint32_t cpu = bpf_get_smp_processor_id();
    struct switch_head *head = bpf_map_lookup_elem(&heads, &cpu);
    struct switch_event *event;
    uint64_t number;
    uint32_t place;

    if (head == NULL) {
        __sync_fetch_and_add(&without_ring, 1);
        return NULL;
    }
    number = __sync_fetch_and_add(&head->count, 1);
    place = cpu * (ring_mask + 1) + ((uint32_t)number & ring_mask);
    event = bpf_map_lookup_elem(&events, &place);
    if (event != NULL)
        STORE_IN_ORDER(&event->sequence, 0);
    *ret_number = number + 1;
    return event;
}

static __always_inline void end_event(struct switch_event *event, uint64_t number)
{
    STORE_IN_ORDER(&event->sequence, number);
}

/* Both halves of the name at once; byte by byte it is 16 loads. */
static __always_inline void copy_name(struct switch_event *event, const struct task_struct *task)
{
    const uint64_t *from = (const uint64_t *)task->comm;
    uint64_t *to = (uint64_t *)event->name;

    to[0] = from[0];
    to[1] = from[1];
}

SEC("tp_btf/sched_switch")
int BPF_PROG(on_switch, bool preempt, struct task_struct *prev, struct task_struct *next,
             unsigned int prev_state)
{
    const uint64_t now = bpf_ktime_get_boot_ns();
    uint64_t number;
    struct switch_event *event = begin_event(&number);

    if (event == NULL)
        return 0;
    event->time_ns = now;
    event->tid = prev->pid;
    event->tgid = prev->tgid;
    event->other_tid = next->pid;
    event->other_tgid = next->tgid;
    copy_name(event, prev);
    event->state = prev_state | (uint32_t)prev->exit_state;
    event->kind = preempt ? SWITCH_PREEMPTED : SWITCH_OF_THREADS;
    event->target_cpu = 0;
    event->prio = (int16_t)prev->prio;
    event->other_prio = (int16_t)next->prio;
    end_event(event, number);
    return 0;
}

static __always_inline int wake(const struct task_struct *task)
{
    const uint64_t now = bpf_ktime_get_boot_ns();
    const uint64_t waker = bpf_get_current_pid_tgid();
    uint64_t number;
    struct switch_event *event = begin_event(&number);

    if (event == NULL)
        return 0;
    event->time_ns = now;
    event->tid = task->pid;
    event->tgid = task->tgid;
    event->other_tid = (int32_t)(uint32_t)waker;
    event->other_tgid = (int32_t)(waker >> 32);
    copy_name(event, task);
    event->state = 0;
    event->kind = SWITCH_WAKE;
    event->target_cpu = (uint16_t)task->thread_info.cpu;
    event->prio = (int16_t)task->prio;
    event->other_prio = 0;
    end_event(event, number);
    return 0;
}

SEC("tp_btf/sched_waking")
int BPF_PROG(on_waking, struct task_struct *task)
{
    return wake(task);
}

SEC("tp_btf/sched_wakeup_new")
int BPF_PROG(on_new, struct task_struct *task)
{
    return wake(task);
}
