/* The start and the end of a system call. */
#pragma once

#include "account.bpf.h"
#include "order.bpf.h"

/* The current thread enters a system call, or leaves it. Returns its account, or NULL. */
static __always_inline struct account *cross(bool into)
{
    struct task_struct *task = bpf_get_current_task_btf();
    struct account *account = bpf_task_storage_get(&accounts, task, NULL, 0);
    uint64_t state;

    if (account == NULL)
        return NULL;
    stay_here();
    begin_writing(account);
    if (into) {
        account->flags |= IN_CALL;
        account->system_calls++;
    } else {
        account->flags &= (uint8_t) ~(IN_CALL | FAULT_OF_KERNEL | FAULT_OF_USER);
    }
    state = state_of(account);
    if (on_cpu(state))
        charge(account, task, this_cpu(), state, bpf_ktime_get_ns(), running_state(account));
    end_writing(account);
    may_move();
    return account;
}
