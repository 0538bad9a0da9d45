/*
 * The account of a thread: its maps, its creation, and how intervals are charged to states.
 *
 * An account is written by the thread itself, by the switches of its CPU, and by threads that wake
 * it. The scheduler's own locks order these writers, so there is no lock here. Readers do not wait
 * for writers: order.bpf.h says how a reader gets a whole account.
 *
 * Interrupts may come at any moment, so they write only to the account of their CPU. When the
 * interval of the interrupted thread is closed, the interrupt time is subtracted from the interval.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <linux/bpf.h>

#include <bpf/bpf_helpers.h>

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_tracing.h>

#include "../layout.h"
#include "account_map.bpf.h"
#include "change_list.bpf.h"
#include "culprits.bpf.h"
#include "ids.bpf.h"
#include "kernel.h"
#include "order.bpf.h"
#include "throttle.bpf.h"
#include "wait.bpf.h"

const volatile uint8_t kind_of_call[CALLS_MAX];
const volatile bool split_calls = true;

/* Set of the system calls whose first argument is the object that a thread sleeps for. In all
 * others it may be an address or a time, of which there are too many values. */
const volatile uint64_t calls_with_argument[CALLS_MAX / 64];

/* What the records of threads have: enum camp_thread_states_field, and the states that the session
 * measures as bits of enum camp_state. The session sets both before it attaches the programs. */
uint32_t known_fields, known_states;

/* True once the first snapshot has visited all threads. Until then, a thread without an account is
 * older than the session. */
bool all_accounted;

/* Numbers of the current and of the previous snapshot, counted from 1. snapshot_before is 0 if the
 * session does not have all threads of the previous snapshot. */
uint32_t snapshot_now, snapshot_before;
bool snapshot_brief; /* whether a snapshot writes only the tids of idle threads */

static __always_inline uint64_t page_faults(const struct task_struct *task)
{
    return task->min_flt + task->maj_flt;
}

/* Returns the time of traps in the open interval, which is `interval` long. `clock` is the
 * running_clock() at its end. A fault that the kernel has counted has ended, even if no event
 * reported the end of the trap. */
static __always_inline uint64_t trapped_ns(const struct account *account,
                                           const struct task_struct *task, uint64_t clock,
                                           uint64_t interval)
{
    uint64_t traps = *(const volatile uint64_t *)&account->traps_ns, since;

    keep_order();
    since = *(const volatile uint64_t *)&account->trap_since;
    if (since != 0 && (int64_t)(clock - since) > 0 && account->faults == page_faults(task))
        traps += clock - since;
    return traps < interval ? traps : interval;
}

/* Charges the time of the traps in the open interval to CAMP_STATE_TRAP, and subtracts it from
 * *interval. Returns this time. */
static __always_inline uint64_t take_out_traps(struct account *account,
                                               const struct task_struct *task, uint64_t clock,
                                               uint64_t *interval)
{
    const uint64_t traps = trapped_ns(account, task, clock, *interval);

    account->state_ns[CAMP_STATE_TRAP] += traps;
    *interval -= traps;
    account->traps_ns = 0;
    if (account->trap_since != 0)
        account->trap_since = clock;
    return traps;
}

/* Subtracts interrupt time from *interval_ns: total - *before, but at most the whole interval.
 * Returns the subtracted time, and adds it to *before. */
static __always_inline uint64_t without_interrupts(uint64_t *interval_ns, uint64_t *before,
                                                   uint64_t total)
{
    uint64_t taken = total - *before;

    if ((int64_t)taken < 0)
        taken = 0;
    if (taken > *interval_ns)
        taken = *interval_ns;
    *interval_ns -= taken;
    *before += taken;
    return taken;
}

static __always_inline bool is_outside(const struct account *account)
{
    return own_namespace != 0 && account->tid == 0;
}

/* Copies the ids of a thread to its account, because the thread loses them when it exits: first
 * that of the thread, then that of the process, perhaps between the two readings here. */
static __always_inline void note_ids(struct account *account, const struct task_struct *task)
{
    int32_t tid, pid;

    if (own_namespace == 0)
        return;
    tid = thread_id(task);
    pid = process_id(task);
    if (tid != 0 && pid != 0) {
        account->tid = tid;
        account->pid = pid;
    }
}

/* Returns the pid of the parent process, or 0 if it is outside. A parent that waited for the thread
 * may be gone before the last switch of the thread. */
static __always_inline int32_t last_parent_id(const struct account *account,
                                              const struct task_struct *task)
{
    const int32_t parent = parent_id(task);

    return parent != 0 ? parent : account->exit_parent;
}

static __always_inline void begin_writing(struct account *account)
{
    ADD_IN_ORDER(&account->sequence, 1);
}

static __always_inline void end_writing(struct account *account)
{
    ADD_IN_ORDER(&account->sequence, 1);
}

/* Lists a thread that no longer sleeps. For a wakeup it is called after begin_writing() and before
 * the time is read: changes.bpf.h says why. on_exit() reports no change of state, so it needs no
 * order. */
static __always_inline void list_awake(struct account *account, const struct task_struct *task)
{
    if (lists_changes && __sync_lock_test_and_set(&account->known_asleep, 0) != 0)
        list_change(task->pid, CHANGE_OF_STATE);
}

/* Adds `by` waits for a disk to the clocks of the machine and of CPU `number`. count_wait() says
 * why such a function is global. */
__noinline int count_disk_wait(uint32_t number, uint64_t now, int by)
{
    struct cpu_account *cpu = cpu_of(number), *here = this_cpu();
    bool counted = count_wait(&disk_waits.clock, now, by);

    if (cpu != NULL)
        counted &= count_wait(&cpu->own_clock, now, by);
    if (!counted && here != NULL)
        here->lost++;
    return 0;
}

static __always_inline void begin_disk_wait(const struct account *account, struct task_struct *task,
                                            uint64_t now)
{
    count_disk_wait(account->cpu, now, 1);
    if (tell_disks && !is_outside(account))
        disk_wait_begins(task, account->device, now);
}

static __always_inline void end_disk_wait(const struct account *account, struct task_struct *task,
                                          uint64_t now)
{
    count_disk_wait(account->cpu, now, -1);
    if (tell_disks && !is_outside(account))
        disk_wait_ends(task, account->device, now);
}

/* Charges the time since account->since_ns to account->state, which is `state`, and starts the
 * state `next`. `cpu` is the CPU on which the thread ran in this time, or NULL if it did not run.
 * Events of two CPUs may arrive out of the order of their timestamps. Then the time would be
 * negative and counts as 0, so the states add up exactly. Returns the time at which `next` starts.
 *
 * cross() calls charge() and not change(), because change() calls global functions, which is not
 * allowed between stay_here() and may_move(). */
static __always_inline uint64_t charge(struct account *account, const struct task_struct *task,
                                       struct cpu_account *cpu, uint64_t state, uint64_t now,
                                       uint8_t next)
{
    uint64_t interval = now - account->since_ns;

    if ((int64_t)interval < 0) {
        interval = 0;
        now = account->since_ns;
    }
    if (on_cpu(state) && cpu != NULL) {
        account->state_ns[CAMP_STATE_IRQ] +=
            without_interrupts(&interval, &account->irq_before_ns, interrupts_ns(cpu, now));
        const uint64_t system =
            state == CAMP_STATE_SYSTEM
                ? interval
                : take_out_traps(account, task, running_clock(cpu, now), &interval);

        cpu->system_ns += system;
        if (is_outside(account))
            cpu->outside_system_ns += system;
    }
    account->state_ns[state] += interval;
    account->state = next;
    account->since_ns = now;
    return now;
}

/* Calls charge(), counts waits for a disk, and charges the causes of a wait. */
static __always_inline void change(struct account *account, struct task_struct *task,
                                   struct cpu_account *cpu, uint64_t now, uint8_t next)
{
    const uint64_t state = state_of(account), since = account->since_ns;

    now = charge(account, task, cpu, state, now, next);
    if (has_culprits && !on_cpu(state))
        charge_cause(account, state, since, now, next);
    if (state == CAMP_STATE_DISK)
        end_disk_wait(account, task, now);
    if (next == CAMP_STATE_DISK)
        begin_disk_wait(account, task, now);
}

/* Moves the throttled part of an open wait from CAMP_STATE_RUN_QUEUE to CAMP_STATE_THROTTLED. The
 * caller then charges the whole wait to CAMP_STATE_RUN_QUEUE by change(). */
static __always_inline void take_out_throttled(struct account *account, const struct throttle *end,
                                               uint64_t now)
{
    uint64_t throttled;

    if (account->state != CAMP_STATE_RUN_QUEUE || now < account->since_ns)
        return;
    throttled = throttled_part(&account->throttle, end, account->since_ns, now);
    account->state_ns[CAMP_STATE_THROTTLED] += throttled;
    account->state_ns[CAMP_STATE_RUN_QUEUE] -= throttled;
    if (has_culprits && throttled != 0)
        correct_wait(account, throttled);
}

/* Starts the wait of a runnable thread for its CPU. `clock` is the time of the scheduler's clock,
 * and `throttle` the reading of the clock of the thread's run queue at `now`. */
static __always_inline void queue_up(struct account *account, struct task_struct *task,
                                     struct cpu_account *cpu, const struct throttle *throttle,
                                     uint64_t now, uint64_t clock)
{
    change(account, task, cpu, now, CAMP_STATE_RUN_QUEUE);
    account->throttle = *throttle;
    begin_throttle(&account->throttle, task, now, clock);
    if (has_culprits)
        wait_for(account, task->thread_info.cpu,
                 account->throttle.queue != OWN_BUDGET && !is_group_throttled(task));
}

static __always_inline uint8_t running_state(const struct account *account)
{
    return split_calls && (account->flags & (WORKER | IN_CALL)) != 0 ? CAMP_STATE_SYSTEM
                                                                     : CAMP_STATE_USER;
}

static __always_inline bool is_worker(const struct task_struct *task)
{
    return (task->flags & (PF_KTHREAD | PF_IO_WORKER | PF_USER_WORKER)) != 0;
}

static __always_inline long call_now(struct task_struct *task)
{
    struct pt_regs *regs = (struct pt_regs *)bpf_task_pt_regs(task);

    return regs != NULL ? call_of(regs) : -1;
}

static __always_inline uint32_t times_left(const struct task_struct *task)
{
    return (uint32_t)(task->nvcsw + task->nivcsw);
}

/* Makes the account of a thread, or returns the one that it has. Returns NULL if there is no
 * memory, or if a switch interrupts the first snapshot while it makes another account on this CPU.
 * Failures during the first snapshot are not counted as lost, because it visits all threads. */
static __always_inline struct account *make_account(struct task_struct *task, uint64_t begin_ns,
                                                    uint8_t state, uint8_t flags)
{
    struct account *account =
        bpf_task_storage_get(&accounts, task, NULL, BPF_LOCAL_STORAGE_GET_F_CREATE);
    struct cpu_account *cpu;

    if (account == NULL) {
        cpu = this_cpu();
        if (cpu != NULL && all_accounted && thread_id(task) != 0)
            cpu->lost++;
        return NULL;
    }
    if (account->begin_ns != 0)
        return account;
    if (is_worker(task))
        flags |= WORKER;
    begin_writing(account);
    note_ids(account, task);
    account->flags = flags;
    account->state = state;
    account->since_ns = begin_ns;
    account->begin_ns = begin_ns;
    account->arrived_ns = begin_ns;
    account->run_ns = task->se.sum_exec_runtime;
    account->delay_ns = task->sched_info.run_delay;
    account->left = times_left(task);
    account->cpu = task->thread_info.cpu;
    if (has_culprits)
        account->call = -1;
    cpu = cpu_of(account->cpu);
    if (cpu != NULL)
        account->irq_before_ns = interrupts_ns(cpu, begin_ns);
    end_writing(account);
    return account;
}

/* Returns the account of a thread. A thread without an account is older than the session, or its
 * account was lost. It gets an account that starts at `now`; its earlier time is unknown. If it is
 * outside of a system call, it is taken to be in a page fault, the likeliest reason for a sleep.
 * With `lists`, a new account is put into the list of changes: the iterator may have passed the
 * thread. */
static __always_inline struct account *account_of(struct task_struct *task, uint64_t now,
                                                  uint8_t state, bool lists)
{
    struct account *account = bpf_task_storage_get(&accounts, task, NULL, 0);

    if (account != NULL)
        return account;
    account = make_account(task, now, state,
                           OLDER | (is_worker(task)       ? 0
                                    : call_now(task) >= 0 ? IN_CALL
                                                          : FAULT_OF_USER));
    if (account == NULL)
        return NULL;
    account->faults = page_faults(task);
    if (lists_changes && lists)
        list_change(task->pid, CHANGE_OF_STATE);
    return account;
}

/* Returns the time at which the thread stopped running: arrived_ns plus the growth of its
 * sum_exec_runtime, but at most `now`. */
static __always_inline uint64_t ran_until(const struct account *account,
                                          const struct task_struct *task, uint64_t now)
{
    uint64_t end = account->arrived_ns + (task->se.sum_exec_runtime - account->run_ns);

    return end < account->since_ns ? account->since_ns : end > now ? now : end;
}

/* Returns whether the thread left its CPU without an event, because the CPU now runs another
 * thread. Before the first switch of the CPU in the session, its running thread is unknown, and the
 * result is false. */
static __always_inline bool has_left(const struct account *account, const struct task_struct *task)
{
    const struct cpu_account *cpu = cpu_of(account->cpu);

    return on_cpu(account->state) && cpu != NULL && cpu->begin_ns != 0 &&
           cpu->running_task != (uint64_t)task;
}
