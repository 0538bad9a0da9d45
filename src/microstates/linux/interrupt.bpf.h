/* The events of interrupts, which write to the account of their CPU only. */
#pragma once

#include "account.bpf.h"
#include "order.bpf.h"

/* Interrupts before the CPU's first switch in the session are not counted. */
static __always_inline void interrupt_begins(void)
{
    struct cpu_account *cpu = this_cpu();

    if (cpu != NULL && cpu->begin_ns != 0 && cpu->depth++ == 0)
        cpu->interrupt_since_ns = bpf_ktime_get_ns();
}

/* interrupt_since_ns becomes 0 before irq_ns or softirq_ns grows, and they grow before the next
 * interrupt sets interrupt_since_ns. So a reader on another CPU counts no interrupt twice: it reads
 * irq_ns and softirq_ns again after its copy, and repeats the copy if they have changed.
 *
 * A nested interrupt counts as part of the outer interrupt. A softirq ends with interrupts enabled,
 * so another interrupt may come between any two lines of this function. While `depth` is not 0,
 * that interrupt counts as nested and changes nothing else. */
static __always_inline void interrupt_ends(bool soft)
{
    struct cpu_account *cpu = this_cpu();
    uint64_t since, now;

    if (cpu == NULL || cpu->depth == 0)
        return;
    if (cpu->depth == 1 && cpu->interrupt_since_ns != 0) {
        now = bpf_ktime_get_ns();
        since = cpu->interrupt_since_ns;
        cpu->interrupt_since_ns = 0;
        keep_order();
        if (soft)
            cpu->softirq_ns += now - since;
        else
            cpu->irq_ns += now - since;
        keep_order();
    }
    cpu->depth--;
}

#define INTERRUPT(kind, soft)                                                                      \
    SEC("tp_btf/" #kind "_entry")                                                                  \
    int BPF_PROG(on_##kind##_entry)                                                                \
    {                                                                                              \
        interrupt_begins();                                                                        \
        return 0;                                                                                  \
    }                                                                                              \
    SEC("tp_btf/" #kind "_exit")                                                                   \
    int BPF_PROG(on_##kind##_exit)                                                                 \
    {                                                                                              \
        interrupt_ends(soft);                                                                      \
        return 0;                                                                                  \
    }

INTERRUPT(irq_handler, false)
INTERRUPT(softirq, true)
INTERRUPT(local_timer, false)
