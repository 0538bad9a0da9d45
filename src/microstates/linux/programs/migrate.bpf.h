/* The event of a thread that is moved to another CPU. */
#pragma once

#include "account.bpf.h"
#include "culprits.bpf.h"

/* A thread that waits in the run queue moves to another CPU, whose run queue has another clock of
 * throttled time, and other culprits. The kernel reports the move while it holds a lock, so the
 * thread is neither woken nor run meanwhile. */
SEC("tp_btf/sched_migrate_task")
int BPF_PROG(on_migrate, struct task_struct *task, int cpu)
{
    struct account *account = bpf_task_storage_get(&accounts, task, NULL, 0);
    struct cpu_account *to = cpu_of((uint32_t)cpu);
    struct throttle left;
    struct cfs_rq **queues, *entered = NULL;
    bool throttled = false;
    uint64_t now;

    if ((!has_throttled_clock() && !has_culprits) || account == NULL ||
        account->state != CAMP_STATE_RUN_QUEUE ||
        (!has_culprits && account->throttle.queue <= OWN_BUDGET))
        return 0;
    now = bpf_ktime_get_ns();
    if (has_culprits && account->throttle.queue <= OWN_BUDGET) {
        begin_writing(account);
        if (account->throttle.queue == NO_QUEUE) {
            change(account, task, NULL, now, CAMP_STATE_RUN_QUEUE);
            wait_for(account, (uint32_t)cpu, true);
        }
        end_writing(account);
        return 0;
    }
    left = read_throttle(task, scheduler_clock(task));
    queues = BPF_CORE_READ(task, sched_task_group, cfs_rq);
    bpf_probe_read_kernel(&entered, sizeof entered, queues + cpu);
    begin_writing(account);
    take_out_throttled(account, &left, now);
    change(account, task, NULL, now, CAMP_STATE_RUN_QUEUE);
    account->throttle.queue = NO_QUEUE;
    if (entered != NULL && to != NULL && to->clock_offset != 0)
        throttled =
            read_throttle_of((uint64_t)entered, now + to->clock_offset, &account->throttle) != 0;
    if (has_culprits)
        wait_for(account, (uint32_t)cpu, !throttled);
    end_writing(account);
    return 0;
}
