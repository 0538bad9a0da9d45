/* The events of interrupts, which write to the account of their CPU only. */
#pragma once

#include "account.bpf.h"
#include "order.bpf.h"
#include "wakers.bpf.h"

/* Interrupts before the CPU's first switch in the session are not counted. */
static __always_inline bool counts_interrupts(const struct cpu_account *cpu)
{
    return cpu != NULL && cpu->begin_ns != 0;
}

static __always_inline void interrupt_begins(void)
{
    struct cpu_account *cpu = this_cpu();

    if (counts_interrupts(cpu) && cpu->depth++ == 0)
        cpu->interrupt_since_ns = bpf_ktime_get_ns();
}

/* Notes what the interrupt that starts is, before interrupt_begins(). */
static __always_inline void interrupt_is(uint32_t context)
{
    const struct cpu_account *cpu = this_cpu();

    if (counts_interrupts(cpu))
        note_context(cpu->depth, context);
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

/* INTERRUPT(kind, whether it is a softirq, its context), where `number` is the first parameter of
 * the event: the number of the device interrupt, of the softirq or of the vector. */
#define INTERRUPT(kind, soft, context)                                                             \
    SEC("tp_btf/" #kind "_entry")                                                                  \
    int BPF_PROG(on_##kind##_entry, uint32_t number)                                               \
    {                                                                                              \
        if (has_culprits)                                                                          \
            interrupt_is(context);                                                                 \
        interrupt_begins();                                                                        \
        return 0;                                                                                  \
    }                                                                                              \
    SEC("tp_btf/" #kind "_exit")                                                                   \
    int BPF_PROG(on_##kind##_exit)                                                                 \
    {                                                                                              \
        interrupt_ends(soft);                                                                      \
        return 0;                                                                                  \
    }

/* A message of another CPU, which may carry the completion of a request to a device. The session
 * loads these programs only for the ledger of causes, so they note what wakes threads, and no time:
 * that stays with the interrupted thread, as in a session without causes. */
#define MESSAGE(kind)                                                                              \
    SEC("tp_btf/" #kind "_entry")                                                                  \
    int BPF_PROG(on_##kind##_entry)                                                                \
    {                                                                                              \
        struct cpu_account *cpu = this_cpu();                                                      \
                                                                                                   \
        if (has_culprits && counts_interrupts(cpu))                                                \
            note_context(cpu->depth++, WAKER_SOFTIRQ);                                             \
        return 0;                                                                                  \
    }                                                                                              \
    SEC("tp_btf/" #kind "_exit")                                                                   \
    int BPF_PROG(on_##kind##_exit)                                                                 \
    {                                                                                              \
        struct cpu_account *cpu = this_cpu();                                                      \
                                                                                                   \
        if (cpu != NULL && cpu->depth != 0)                                                        \
            cpu->depth--;                                                                          \
        return 0;                                                                                  \
    }

INTERRUPT(irq_handler, false, device_context(number))
INTERRUPT(softirq, true, softirq_context(number))
INTERRUPT(local_timer, false, WAKER_TIMER)
MESSAGE(call_function)
MESSAGE(call_function_single)
MESSAGE(irq_work)
MESSAGE(ipi)
