// SPDX-License-Identifier: (MIT OR GPL-2.0)
/*
 * Final clocks: the CPU time of each process, read after its last switch.
 *
 * delayed_put_task_struct() of kernel/exit.c fires sched_process_free when a task no longer runs,
 * its parent has reaped it, and an RCU grace period has passed. So the program runs once for each
 * exit, costs nothing at a switch, and reads counts that do not change any more.
 */
#include <stdbool.h>
#include <stdint.h>

#include <linux/bpf.h>

#include <bpf/bpf_helpers.h>

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_tracing.h>

#include "../../final_clocks_layout.h"
#include "kernel.h"

struct {
    __uint(type, BPF_MAP_TYPE_RINGBUF);
    __uint(max_entries, FINAL_CLOCKS_BYTES);
} final_clocks SEC(".maps");

char LICENSE[] SEC("license") = "Dual MIT/GPL";

static __always_inline uint64_t larger(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

/* Reports a process when its first thread is freed, because that thread is the last to be reaped.
 * signal_struct has the sums over all threads, each counted up to its reaping. The first thread's
 * own counts end at its last switch, so in a process of one thread they can be larger than the
 * sums. */
SEC("tp_btf/sched_process_free")
int BPF_PROG(on_free, struct task_struct *task)
{
    struct signal_struct *signal = task->signal;
    struct final_clock *final;

    if (task->pid != task->tgid)
        return 0;
    final = bpf_ringbuf_reserve(&final_clocks, sizeof *final, 0);
    if (final == NULL)
        return 0;
    final->pid = task->pid;
    final->reserved = 0;
    final->start_ns = task->start_time;
    final->measured_ns = larger(task->se.sum_exec_runtime, signal->sum_sched_runtime);
    final->sampled_ns = larger(task->utime + task->stime, signal->utime + signal->stime);
    bpf_ringbuf_submit(final, BPF_RB_NO_WAKEUP);
    return 0;
}
