// SPDX-License-Identifier: (MIT OR GPL-2.0)
/*
 * Programs that do nothing. They show the cost of calling a BPF program. A program that measures at
 * these events costs at least as much (attach.c). A snapshot by an iterator over all threads costs
 * at least as much as the empty iterator (snapshot.c).
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
