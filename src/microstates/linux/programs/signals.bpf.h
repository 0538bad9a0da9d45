/* The signals that wake a thread. */
#pragma once

#include <stdbool.h>

#include <linux/bpf.h>

#include <bpf/bpf_helpers.h>

#include "kernel.h"

/* TIF_SIGPENDING is one of the lowest three bits, on each architecture and kernel that camp knows.
 * Most threads have none of them, and the sets of signals are in other cache lines. */
#define MAY_HAVE_SIGNAL 0x7u

/* Returns the first 64 signals that a thread will handle next; bit 0 is signal 1. */
static __always_inline unsigned long signals_of(const struct task_struct *task)
{
    unsigned long shared;

    if ((task->thread_info.flags & MAY_HAVE_SIGNAL) == 0)
        return 0;
    shared = untrusted(task)->signal->shared_pending.signal.sig[0];
    return (task->pending.signal.sig[0] | shared) & ~task->blocked.sig[0];
}

static __always_inline bool has_signal(const struct task_struct *task)
{
    return signals_of(task) != 0;
}
