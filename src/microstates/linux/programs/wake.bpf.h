/* The end of a sleep. */
#pragma once

#include "account.bpf.h"
#include "culprits.bpf.h"
#include "groups.bpf.h"
#include "sleep.bpf.h"

/* A thread was woken. Returns its account, or NULL if it did not sleep. account->since_ns is then
 * the time of the wakeup. */
static __always_inline struct account *wake(struct task_struct *task)
{
    struct account *account = bpf_task_storage_get(&accounts, task, NULL, 0);
    struct throttle throttle;
    uint64_t now, clock;

    if (account == NULL || account->state == CAMP_STATE_RUN_QUEUE ||
        (on_cpu(account->state) && !has_left(account, task)))
        return NULL;
    clock = scheduler_clock(task);
    throttle = read_throttle(task, clock);
    keep_group(account, task);
    if (has_culprits)
        note_call(account, task);
    begin_writing(account);
    list_awake(account, task);
    now = bpf_ktime_get_ns();
    if (on_cpu(account->state)) {
        change(account, task, NULL, ran_until(account, task, now), CAMP_STATE_OTHER_SLEEP);
        account->run_ns = task->se.sum_exec_runtime;
    }
    queue_up(account, task, NULL, &throttle, now, clock);
    end_writing(account);
    return account;
}
