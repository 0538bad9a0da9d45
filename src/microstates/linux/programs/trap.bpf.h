/*
 * The events of traps: the start and the end of a page fault that the kernel handles for a thread
 * outside of system calls. On kernels without function tracing these programs are not loaded.
 *
 * The programs may be preempted at any point, so they write only trap_since and traps_ns. When the
 * interval of the running thread is closed, the time of its traps is subtracted from the interval,
 * like that of interrupts. A preemption within these programs can move time between user and trap,
 * but the states still add up.
 *
 * A fault that must be tried again, for example because a lock was released during a wait for a
 * disk, is handled in two traps.
 */
#pragma once

#include "account.bpf.h"
#include "order.bpf.h"

SEC("fentry/handle_mm_fault")
int BPF_PROG(on_fault_begin)
{
    struct task_struct *task = bpf_get_current_task_btf();
    struct account *account = bpf_task_storage_get(&accounts, task, NULL, 0);
    const struct cpu_account *cpu = this_cpu();

    if (account == NULL || cpu == NULL || (account->flags & WORKER) != 0 || call_now(task) >= 0)
        return 0;
    account->faults = page_faults(task);
    account->trap_since = running_clock(cpu, bpf_ktime_get_ns());
    return 0;
}

/* trap_since becomes 0 before traps_ns grows, so a reader on another CPU counts no trap twice. */
SEC("fexit/handle_mm_fault")
int BPF_PROG(on_fault_end)
{
    struct account *account = bpf_task_storage_get(&accounts, bpf_get_current_task_btf(), NULL, 0);
    const struct cpu_account *cpu = this_cpu();
    uint64_t clock, since;

    if (account == NULL || cpu == NULL || account->trap_since == 0)
        return 0;
    clock = running_clock(cpu, bpf_ktime_get_ns());
    since = __sync_lock_test_and_set(&account->trap_since, 0);
    if ((int64_t)(clock - since) > 0)
        __sync_fetch_and_add(&account->traps_ns, clock - since);
    return 0;
}
