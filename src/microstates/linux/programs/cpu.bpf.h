/* The account of a CPU at each switch: busy and idle time, and threads outside of the PID
 * namespace.
 */
#pragma once

#include "account.bpf.h"

/* Adds the part of `busy` in which threads outside of the PID namespace ran. If no event reported
 * that `prev` came to the CPU, `prev` ran during the last `ran` ns of `busy`. */
static __always_inline void account_outside(struct cpu_account *cpu, struct task_struct *prev,
                                            uint64_t busy, uint64_t ran)
{
    struct account *account;

    if (own_namespace == 0)
        return;
    if (cpu->running_task == (uint64_t)prev || prev->pid == 0)
        ran = 0;
    if (ran > busy)
        ran = busy;
    if (cpu->running < 0)
        cpu->outside_ns += busy - ran;
    if (ran == 0)
        return;
    account = bpf_task_storage_get(&accounts, prev, NULL, 0);
    if (account == NULL || is_outside(account))
        cpu->outside_ns += ran;
}

static __always_inline void account_cpu(struct cpu_account *cpu, struct task_struct *prev,
                                        uint64_t now, uint64_t ran)
{
    const struct task_struct *gone = (const struct task_struct *)cpu->running_task;
    uint64_t interval = now - cpu->since_ns, busy;

    if (cpu->since_ns == 0)
        return;
    without_interrupts(&interval, &cpu->irq_before_ns, interrupts_ns(cpu, now));
    if (cpu->running != 0 && prev->pid == 0 && gone != NULL)
        ran = BPF_CORE_READ(gone, se.sum_exec_runtime) - cpu->run_ns;
    busy = gone == prev                          ? (prev->pid != 0 ? interval : 0)
           : cpu->running != 0 && prev->pid != 0 ? interval
                                                 : ran;
    if (busy > interval)
        busy = interval;
    cpu->busy_ns += busy;
    account_outside(cpu, prev, busy, ran);
    cpu->idle_ns += interval - busy;
    if (interval > busy)
        book_waits(cpu, now, interval - busy);
}

/* Accounts for a switch of the CPU. A reader that checks cpu->sequence sees all changes of the
 * switch or none. */
static __always_inline void switch_cpu(struct cpu_account *cpu, struct task_struct *prev,
                                       const struct task_struct *next, int32_t id, uint64_t now,
                                       uint64_t clock, uint64_t ran)
{
    ADD_IN_ORDER(&cpu->sequence, 1);
    account_cpu(cpu, prev, now, ran);
    cpu->switches++;
    cpu->since_ns = now;
    cpu->irq_before_ns = interrupts_ns(cpu, now);
    cpu->running = id;
    cpu->running_task = (uint64_t)next;
    cpu->run_ns = next->se.sum_exec_runtime;
    if (clock != 0)
        cpu->clock_offset = clock - now;
    cpu->any_before = disk_waits.clock;
    cpu->own_before = cpu->own_clock;
    if (cpu->begin_ns == 0)
        cpu->begin_ns = now;
    ADD_IN_ORDER(&cpu->sequence, 1);
}

static __always_inline int32_t running_id(const struct task_struct *task,
                                          const struct account *account)
{
    if (own_namespace == 0 || task->pid == 0)
        return task->pid;
    return account != NULL && account->tid != 0 ? account->tid : -1;
}
