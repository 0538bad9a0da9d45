// SPDX-License-Identifier: (MIT OR GPL-2.0)
/*
 * Microstates: each change of a thread's state charges the time since the previous change to the
 * previous state.
 *
 * The account of a thread is in task storage, and is freed with the thread. The next event of any
 * kind closes the open interval (state, since_ns). No interval depends on a matching pair of
 * events.
 *
 * 0.02 to 1 % of the switches have no event, not even in the kernel's own trace. They are counted
 * as unseen. If a thread came to a CPU or left it by an unseen switch, its running time is the
 * growth of its sum_exec_runtime.
 */
#include "account.bpf.h"
#include "changes.bpf.h"
#include "cpu.bpf.h"
#include "cross.bpf.h"
#include "ended.bpf.h"
#include "interrupt.bpf.h"
#include "migrate.bpf.h"
#include "record.bpf.h"
#include "sleep.bpf.h"
#include "stacks.bpf.h"
#include "trap.bpf.h"
#include "wake.bpf.h"
#include "wakers.bpf.h"

char LICENSE[] SEC("license") = "Dual MIT/GPL";

/* `throttle` is the reading of the clock of the thread's run queue at `now` (throttle.bpf.h). */
static __always_inline void arrive(struct account *account, struct task_struct *task,
                                   struct cpu_account *cpu, const struct throttle *throttle,
                                   uint64_t now)
{
    take_out_throttled(account, throttle, now);
    change(account, task, NULL, now, running_state(account));
    account->cpu = bpf_get_smp_processor_id();
    account->irq_before_ns = interrupts_ns(cpu, now);
    if (account->trap_since != 0)
        account->trap_since = running_clock(cpu, now);
    account->arrived_ns = now;
    account->throttle = *throttle;
}

/* Returns when a thread entered the run queue, if no event reported its wakeup. The run queue's
 * clock tells for how long the thread has been in the queue. If the kernel lacks
 * CONFIG_FAIR_GROUP_SCHED, this clock cannot be read, and the result is `now`. */
static __always_inline uint64_t queued_at(const struct account *account,
                                          const struct task_struct *task, uint64_t now)
{
    uint64_t since = account->since_ns, queued = task->sched_info.last_queued, waited;

    if (!bpf_core_field_exists(task->se.cfs_rq) || queued == 0 || now < since)
        return now;
    waited = BPF_CORE_READ(task, se.cfs_rq, rq, clock) - queued;
    if ((int64_t)waited < 0)
        return now;
    return waited < now - since ? now - waited : since;
}

/* Returns when a thread entered the run queue, if no event reported its wakeup and its arrival on
 * the CPU at `came`. The scheduler's run_delay tells how long the thread was in the queue. */
static __always_inline uint64_t delayed_since(const struct account *account,
                                              const struct task_struct *task, uint64_t came)
{
    uint64_t delay = task->sched_info.run_delay - account->delay_ns, since = account->since_ns;

    if (came < since)
        return came;
    return delay < came - since ? came - delay : since;
}

/* Handles a thread that left its CPU and came back without an event, and now leaves it with an
 * event. The scheduler's counts tell how long the thread waited in the run queue meanwhile, but not
 * when. So this time is charged at the end of the open interval. */
static __always_inline void take_out_absence(struct account *account, struct task_struct *task,
                                             struct cpu_account *cpu,
                                             const struct throttle *throttle, uint64_t now)
{
    uint64_t ran = task->se.sum_exec_runtime - account->run_ns, here = now - account->arrived_ns;
    uint64_t delay = task->sched_info.run_delay - account->delay_ns, open = now - account->since_ns;
    uint64_t away = here > ran ? here - ran : 0;

    cpu->unseen++;
    away = away < delay ? away : delay;
    away = away < open ? away : open;
    if ((int64_t)open <= 0 || away == 0)
        return;
    change(account, task, cpu, now - away, CAMP_STATE_RUN_QUEUE);
    take_out_throttled(account, throttle, now);
    change(account, task, NULL, now, running_state(account));
}

/* Handles the current thread, which leaves its CPU. `clock` is the time of the scheduler's clock.
 * If no event reported that the thread came to this CPU, returns how long it ran, otherwise 0. A
 * global function, which the verifier checks once and not at each path of on_switch(). */
__noinline uint64_t leave(struct cpu_account *cpu, uint64_t now, uint64_t clock, bool runnable,
                          unsigned int why)
{
    struct task_struct *task = bpf_get_current_task_btf();
    const struct throttle throttle = read_throttle(task, clock);
    struct account *account = account_of(task, now, CAMP_STATE_USER, true);
    uint64_t ran = 0, run_ns = task->se.sum_exec_runtime;
    uint8_t next;

    if (cpu == NULL || account == NULL)
        return 0;
    next = runnable                 ? CAMP_STATE_RUN_QUEUE
           : is_stopped(task, why)  ? CAMP_STATE_STOPPED
           : (why & TASK_DEAD) != 0 ? CAMP_STATE_OTHER_SLEEP
                                    : own_sleeping_state(account->flags, account->faults);
    if (has_culprits)
        keep_group_of_leaving(account, task, cpu->running_task == (uint64_t)task, runnable);
    begin_writing(account);
    if (!on_cpu(account->state)) {
        list_awake(account, task);
        ran = run_ns - account->run_ns;
        if (ran > now - account->since_ns)
            ran = now - account->since_ns;
        if (account->state != CAMP_STATE_RUN_QUEUE) /* No event reported the thread's wakeup. */
            change(account, task, NULL, delayed_since(account, task, now - ran),
                   CAMP_STATE_RUN_QUEUE);
        arrive(account, task, cpu, &throttle, now - ran);
        if (has_culprits) /* The thread has had the CPU since then. */
            charge_queue(now - ran, culprit_of(account, task), waker_of(account, task));
    } else if (times_left(task) - account->left > 1) {
        take_out_absence(account, task, cpu, &throttle, now);
    }
    if (runnable) {
        queue_up(account, task, cpu, &throttle, now, clock);
    } else {
        change(account, task, cpu, now, next);
        account->throttle.queue = NO_QUEUE;
        if (has_culprits)
            note_call(account, task);
    }
    account->left = times_left(task);
    account->run_ns = run_ns;
    account->delay_ns = task->sched_info.run_delay;
    if ((why & TASK_DEAD) != 0)
        account->flags |= DEAD;
    end_writing(account);
    if ((why & TASK_DEAD) != 0) {
        list_orphans(account, task);
        emit_last(account->since_ns);
        end_exit(account);
    }
    return ran;
}

SEC("tp_btf/sched_switch")
int BPF_PROG(on_switch, bool preempt, struct task_struct *prev, struct task_struct *next,
             unsigned int prev_state)
{
    struct cpu_account *cpu = this_cpu();
    struct account *account = NULL;
    uint64_t now = bpf_ktime_get_ns(), clock = scheduler_clock(next), ran = 0;
    struct throttle came;

    if (cpu == NULL)
        return 0;
    /* No switch happens in an interrupt. If `depth` is above 0, no event reported the end of an
     * interrupt. */
    cpu->depth = 0;
    cpu->interrupt_since_ns = 0;
    if (cpu->begin_ns != 0 && cpu->running_task != (uint64_t)prev)
        cpu->unseen++;
    if (prev->pid != 0)
        ran = leave(cpu, now, clock, preempt || prev_state == 0, prev_state);
    /* This account starts 1 ns later than one that leave() made, so that two threads of a process
     * never have the same begin_ns. */
    if (next->pid != 0)
        account = account_of(next, now + 1, CAMP_STATE_RUN_QUEUE, true);
    if (has_culprits) {
        if (account != NULL)
            keep_group_of_arriving(account, next);
        if (prev->pid == 0)
            charge_unless_idle();
        charge_queue(now, culprit_of(account, next), waker_of(account, next));
    }
    switch_cpu(cpu, prev, next, running_id(next, account), now, clock, ran);
    if (next->pid != 0) {
        if (account == NULL)
            return 0;
        begin_writing(account);
        /* No event reported that the thread left its CPU. No event reported a wakeup either, so the
         * thread did not sleep. */
        if (on_cpu(account->state)) {
            change(account, next, NULL, ran_until(account, next, now), CAMP_STATE_RUN_QUEUE);
        } else if (account->state != CAMP_STATE_RUN_QUEUE) {
            /* No event reported the thread's wakeup. */
            cpu->unseen++;
            list_awake(account, next);
            if (has_culprits)
                note_call(account, next);
            change(account, next, NULL, queued_at(account, next, now), CAMP_STATE_RUN_QUEUE);
        }
        account->run_ns = cpu->run_ns;
        came = read_throttle(next, clock);
        arrive(account, next, cpu, &came, now);
        end_writing(account);
    }
    return 0;
}

SEC("tp_btf/sched_wakeup")
int BPF_PROG(on_wakeup, struct task_struct *task)
{
    wake(task);
    return 0;
}

/* A new thread is in CAMP_STATE_OTHER_SLEEP from its creation until it may run. It starts within a
 * system call, because a child of fork(2) first returns from this call. */
SEC("tp_btf/sched_wakeup_new")
int BPF_PROG(on_wakeup_new, struct task_struct *task)
{
    struct account *account =
        make_account(task, task->start_time, CAMP_STATE_OTHER_SLEEP, is_worker(task) ? 0 : IN_CALL);

    const uint64_t clock = scheduler_clock(task);
    const struct throttle throttle = read_throttle(task, clock);

    if (account == NULL)
        return 0;
    if (has_culprits) {
        keep_group(account, task);
        account->waker = running_waker(this_queue(), this_cpu());
    }
    begin_writing(account);
    if (lists_changes) {
        account->known_asleep = 0;
        list_change(task->pid, CHANGE_OF_STATE);
    }
    queue_up(account, task, NULL, &throttle, bpf_ktime_get_ns(), clock);
    end_writing(account);
    return 0;
}

SEC("tp_btf/sys_enter")
int BPF_PROG(on_sys_enter)
{
    cross(true);
    return 0;
}

SEC("tp_btf/sys_exit")
int BPF_PROG(on_sys_exit)
{
    cross(false);
    return 0;
}

static __always_inline struct account *own_account(void)
{
    return bpf_task_storage_get(&accounts, bpf_get_current_task_btf(), NULL, 0);
}

SEC("tp_btf/page_fault_user")
int BPF_PROG(on_fault_user, unsigned long address, struct pt_regs *regs)
{
    struct task_struct *task = bpf_get_current_task_btf();
    struct account *account = bpf_task_storage_get(&accounts, task, NULL, 0);

    if (account == NULL)
        return 0;
    account->flags |= FAULT_OF_USER;
    account->faults = page_faults(task);
    if (instruction(regs) == address)
        account->flags |= FAULT_OF_TEXT;
    else
        account->flags &= (uint8_t)~FAULT_OF_TEXT;
    return 0;
}

/* Notes a fault in a system call. While page faults are disabled, the kernel does not serve or
 * count faults, so they are not noted. */
SEC("tp_btf/page_fault_kernel")
int BPF_PROG(on_fault_kernel)
{
    struct task_struct *task = bpf_get_current_task_btf();
    struct account *account = bpf_task_storage_get(&accounts, task, NULL, 0);

    if (account == NULL || task->pagefault_disabled != 0)
        return 0;
    account->flags |= FAULT_OF_KERNEL;
    account->faults = page_faults(task);
    return 0;
}

/* Notes the disk that the thread uses, because its next wait for a disk is taken to be for this
 * disk. If a running thread is in CAMP_STATE_DISK, no event reported that it came to its CPU. Its
 * wait is still open, and must end with the disk with which it began, so `device` is kept. */
SEC("tp_btf/block_bio_queue")
int BPF_PROG(on_bio, struct bio *bio)
{
    struct account *account = own_account();

    if (account != NULL && account->state != CAMP_STATE_DISK)
        account->device = bio->bi_bdev->bd_dev;
    return 0;
}

SEC("tp_btf/signal_deliver")
int BPF_PROG(on_signal)
{
    struct account *account = own_account();

    if (account != NULL)
        account->signals++;
    return 0;
}

/* The first snapshot calls this function for each thread that started before the session. */
static __always_inline struct account *account_existing(struct task_struct *task)
{
    unsigned int why = task->__state;
    uint8_t state = task->on_cpu ? CAMP_STATE_USER
                    : why == 0   ? CAMP_STATE_RUN_QUEUE
                                 : CAMP_STATE_OTHER_SLEEP;
    struct account *account = account_of(task, bpf_ktime_get_ns(), state, false);

    if (account == NULL)
        return NULL;
    if (account->state == CAMP_STATE_RUN_QUEUE) {
        const uint64_t clock = scheduler_clock(task);

        account->throttle = read_throttle(task, clock);
        begin_throttle(&account->throttle, task, account->since_ns, clock);
        if (has_culprits) {
            keep_group(account, task);
            wait_since_start(account, task->thread_info.cpu);
        }
    }
    if (account->state != CAMP_STATE_OTHER_SLEEP)
        return account;
    account->state = is_stopped(task, why) ? CAMP_STATE_STOPPED
                                           : sleeping_state(task, account->flags, account->faults);
    if (account->state == CAMP_STATE_DISK)
        begin_disk_wait(account, task, account->since_ns);
    return account;
}

/* The records that a snapshot writes. They are not on the stack, which has 512 bytes only. A
 * session takes one snapshot at a time. */
static struct camp_thread_states record;
static struct unchanged_thread unchanged;

SEC("iter/task")
int snapshot(struct bpf_iter__task *ctx)
{
    struct task_struct *task = ctx->task;
    struct account *account;

    if (task == NULL)
        return 0;
    account = bpf_task_storage_get(&accounts, task, NULL, 0);
    if (account == NULL) {
        if (all_accounted || task->exit_state != 0)
            return 0;
        account = account_existing(task);
    }
    if (account == NULL || (account->flags & DEAD) != 0)
        return 0;
    if (snapshot_brief && is_unchanged(account)) {
        int32_t tid = copy_tid(task, account);

        bpf_seq_write(ctx->meta->seq, &tid, sizeof tid);
        return 0;
    }
    if (!snapshot_brief && copy_unchanged(&unchanged, task, account)) {
        bpf_seq_write(ctx->meta->seq, &unchanged, sizeof unchanged);
        return 0;
    }
    __builtin_memset(&record, 0, sizeof record);
    identify(&record, task, account);
    copy(&record, task, account);
    bpf_seq_write(ctx->meta->seq, &record, sizeof record);
    return 0;
}
