// SPDX-License-Identifier: (MIT OR GPL-2.0)
/*
 * Programs that do nothing: what the kernel takes to call one. Whoever measures at these events
 * pays this at least (attach.c attaches those that are named), and whoever has an iterator show all
 * threads the other (snapshot.c).
 */
#include <linux/bpf.h>

#include <bpf/bpf_helpers.h>

char LICENSE[] SEC("license") = "Dual MIT/GPL";

#define EMPTY(kind, event)                                                                         \
    SEC(kind "/" #event)                                                                           \
    int event(void *context)                                                                       \
    {                                                                                              \
        return 0;                                                                                  \
    }

EMPTY("tp_btf", sched_switch)
EMPTY("tp_btf", sched_wakeup)
EMPTY("tp_btf", sys_enter)
EMPTY("tp_btf", sys_exit)
EMPTY("iter", task)
