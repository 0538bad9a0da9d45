// SPDX-License-Identifier: (MIT OR GPL-2.0)
/*
 * Microstates: at each change of state of a thread, the time since the last one is booked.
 *
 * The account of a thread is in task storage, and goes with it. Its open interval (state, since_ns)
 * is closed by whatever comes next, never by a pair of events. Of some switches the kernel tells
 * nobody (0.02-1 % of them; its own trace lacks them too): they are counted as unseen, and who came
 * or left without a word has run as long as the scheduler's count of its CPU time has grown.
 *
 * Who writes an account: the thread itself, the switch of its CPU, and whoever wakes it; these are
 * one after the other by the scheduler's own rules. Interrupts write to their CPU's account alone,
 * so that they may come at any moment; the thread that they hit takes it out of its interval when
 * that is closed.
 */
#include <stdbool.h>
#include <stdint.h>

#include <linux/bpf.h>

#include <bpf/bpf_helpers.h>

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_tracing.h>

#include "kernel.h"
#include "layout.h"

char LICENSE[] SEC("license") = "Dual MIT/GPL";

/* Set before loading. */
const volatile uint8_t kind_of_call[CALLS_MAX];
const volatile bool split_calls = true;

/* Until the first snapshot has met all threads, who is unknown is older than the session. */
bool all_met;

enum account_flag {
    IN_CALL = 1u << 0,
    WORKER = 1u << 1, /* no user code: kernel threads, io_uring's workers */
    FAULT_OF_TEXT = 1u << 2,
    OLDER = 1u << 3,
    DEAD = 1u << 4,
    FAULT_OF_KERNEL = 1u << 5
};

struct account {
    uint32_t sequence; /* odd while it is written */
    uint8_t state;     /* enum camp_state of the open interval */
    uint8_t flags;
    uint16_t cpu; /* it runs on, or ran on last */
    uint64_t since_ns;
    uint64_t irq_before_ns; /* interrupts of that CPU that are booked */
    uint64_t arrived_ns;    /* on that CPU */
    uint64_t run_ns;        /* the scheduler's count of its CPU time then */
    uint64_t begin_ns;
    uint64_t system_calls, signals;
    uint64_t faults; /* that the kernel had served when a system call ran into one */
    uint64_t state_ns[CAMP_STATE_COUNT];
};

struct {
    __uint(type, BPF_MAP_TYPE_TASK_STORAGE);
    __uint(map_flags, BPF_F_NO_PREALLOC);
    __type(key, int);
    __type(value, struct account);
} accounts SEC(".maps");

struct {
    __uint(type, BPF_MAP_TYPE_ARRAY);
    __uint(map_flags, BPF_F_MMAPABLE);
    __uint(max_entries, CPUS_MAX);
    __type(key, uint32_t);
    __type(value, struct cpu_account);
} cpus SEC(".maps");

struct {
    __uint(type, BPF_MAP_TYPE_RINGBUF);
    __uint(max_entries, EXITS_BYTES);
} exits SEC(".maps");

static __always_inline struct cpu_account *cpu_of(uint32_t cpu)
{
    return bpf_map_lookup_elem(&cpus, &cpu);
}

static __always_inline struct cpu_account *this_cpu(void)
{
    return cpu_of(bpf_get_smp_processor_id());
}

/* USER and SYSTEM. IRQ is never the state of an interval: it is what is taken out of one. */
static __always_inline bool on_cpu(uint8_t state)
{
    return state <= CAMP_STATE_SYSTEM;
}

static __always_inline uint64_t interrupts_ns(const struct cpu_account *cpu, uint64_t now)
{
    uint64_t since = cpu->interrupt_since_ns;

    return cpu->irq_ns + cpu->softirq_ns + (since != 0 && now > since ? now - since : 0);
}

/* Takes what interrupts took since *before out of an interval. */
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

/* --------------------------------------------------------------------------- Accounts -- */

static __always_inline void begin_writing(struct account *account)
{
    account->sequence++;
    barrier();
}

static __always_inline void end_writing(struct account *account)
{
    barrier();
    account->sequence++;
}

/* Books the open interval and opens the next. `cpu`: the one it ran on, when it ran. */
static __always_inline void change(struct account *account, struct cpu_account *cpu, uint64_t now,
                                   uint8_t next)
{
    uint8_t state = account->state & (CAMP_STATE_COUNT - 1);
    uint64_t interval = now - account->since_ns;

    if ((int64_t)interval < 0)
        interval = 0;
    if (on_cpu(state) && cpu != NULL) {
        account->state_ns[CAMP_STATE_IRQ] +=
            without_interrupts(&interval, &account->irq_before_ns, interrupts_ns(cpu, now));
        if (state == CAMP_STATE_SYSTEM)
            cpu->system_ns += interval;
    }
    account->state_ns[state] += interval;
    account->state = next;
    account->since_ns = now;
}

static __always_inline uint8_t running_state(const struct account *account)
{
    if ((account->flags & WORKER) != 0)
        return CAMP_STATE_SYSTEM;
    return split_calls && (account->flags & IN_CALL) != 0 ? CAMP_STATE_SYSTEM : CAMP_STATE_USER;
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

/* While another account is being made on this CPU none can be: only the first snapshot may be
 * interrupted by a switch in the midst of it, and it meets that thread itself a moment later. */
static __always_inline struct account *make_account(struct task_struct *task, uint64_t begin_ns,
                                                    uint8_t state, uint8_t flags)
{
    struct account *account =
        bpf_task_storage_get(&accounts, task, NULL, BPF_LOCAL_STORAGE_GET_F_CREATE);

    if (account == NULL) {
        struct cpu_account *cpu = this_cpu();

        if (cpu != NULL && all_met)
            cpu->lost++;
        return NULL;
    }
    if (account->begin_ns != 0)
        return account;
    if (is_worker(task))
        flags |= WORKER;
    begin_writing(account);
    account->flags = flags;
    account->state = state;
    account->since_ns = begin_ns;
    account->begin_ns = begin_ns;
    account->arrived_ns = begin_ns;
    account->run_ns = task->se.sum_exec_runtime;
    end_writing(account);
    return account;
}

/* A thread that nobody has met: it is older than the session, or one of the lost. What it did until
 * now is not known. */
static __always_inline struct account *account_of(struct task_struct *task, uint64_t now,
                                                  uint8_t state)
{
    struct account *account = bpf_task_storage_get(&accounts, task, NULL, 0);

    if (account != NULL)
        return account;
    return make_account(task, now, state,
                        OLDER | (!is_worker(task) && call_now(task) >= 0 ? IN_CALL : 0));
}

/* ------------------------------------------------------------------ Why a thread sleeps -- */

/* The kernel counts a fault when it has been served: until then a system call is in it. */
static __always_inline bool in_kernel_fault(const struct account *account,
                                            const struct task_struct *task)
{
    return (account->flags & FAULT_OF_KERNEL) != 0 &&
           account->faults == task->min_flt + task->maj_flt;
}

static __always_inline uint8_t kind_of_descriptor(const struct task_struct *task, uint64_t number)
{
    const struct files_struct *files = task->files;
    const struct fdtable *table = files != NULL ? files->fdt : NULL;
    struct file *file = NULL;
    uint16_t mode;

    if (table == NULL || number >= table->max_fds)
        return CAMP_STATE_OTHER_SLEEP;
    bpf_probe_read_kernel(&file, sizeof file, table->fd + number);
    if (file == NULL)
        return CAMP_STATE_OTHER_SLEEP;
    mode = BPF_CORE_READ(file, f_inode, i_mode) & S_IFMT;
    return mode == S_IFSOCK  ? CAMP_STATE_SOCKET
           : mode == S_IFIFO ? CAMP_STATE_PIPE
                             : CAMP_STATE_OTHER_SLEEP;
}

static __always_inline uint8_t sleeping_state(struct task_struct *task,
                                              const struct account *account)
{
    bool disk = BPF_CORE_READ_BITFIELD(task, in_iowait) != 0;
    struct pt_regs *regs;
    uint8_t kind;
    long call;

    if ((account->flags & WORKER) != 0)
        return disk ? CAMP_STATE_DISK : CAMP_STATE_OTHER_SLEEP;
    regs = (struct pt_regs *)bpf_task_pt_regs(task);
    call = regs != NULL ? call_of(regs) : -1;
    if (call < 0)
        return (account->flags & FAULT_OF_TEXT) != 0 ? CAMP_STATE_TEXT_FAULT
                                                     : CAMP_STATE_DATA_FAULT;
    if (in_kernel_fault(account, task))
        return CAMP_STATE_KERNEL_FAULT;
    if (disk)
        return CAMP_STATE_DISK;
    if (call >= CALLS_MAX)
        return CAMP_STATE_OTHER_SLEEP;
    kind = kind_of_call[call & (CALLS_MAX - 1)];
    return kind == KIND_BY_DESCRIPTOR ? kind_of_descriptor(task, first_argument(regs)) : kind;
}

/* ---------------------------------------------------------------------------- A record -- */

static __always_inline void fill(struct camp_thread_states *ret, struct task_struct *task,
                                 const struct account *account, uint64_t now)
{
    ret->tid = task->pid;
    ret->pid = task->tgid;
    ret->parent = task->real_parent->tgid;
    ret->flags = ((account->flags & WORKER) != 0 ? CAMP_THREAD_KERNEL : 0) |
                 ((account->flags & OLDER) != 0 ? CAMP_THREAD_OLDER : 0);
    ret->state = account->state;
    ret->uid = task->cred->euid.val;
    ret->count = 1;
    ret->cgroup = task->cgroups->dfl_cgrp->kn->id;
    __builtin_memcpy(ret->name, task->comm, sizeof ret->name);
    ret->start_ns = task->start_time;
    ret->begin_ns = account->begin_ns;
    ret->time_ns = now;
    __builtin_memcpy(ret->state_ns, account->state_ns, sizeof ret->state_ns);
    ret->cpu_ns = task->se.sum_exec_runtime;
    ret->run_delay_ns = task->sched_info.run_delay;
    ret->sampled_ns = task->utime + task->stime;
    ret->minor_faults = task->min_flt;
    ret->major_faults = task->maj_flt;
    ret->voluntary_switches = task->nvcsw;
    ret->involuntary_switches = task->nivcsw;
    ret->system_calls = account->system_calls;
    ret->signals = account->signals;
    ret->read_bytes = task->ioac.read_bytes;
    ret->written_bytes = task->ioac.write_bytes;
    ret->read_chars = task->ioac.rchar;
    ret->written_chars = task->ioac.wchar;
}

/* --------------------------------------------------------------------- Unseen switches -- */

/* How long it has run since it arrived, by the scheduler's count, and at most until now. */
static __always_inline uint64_t ran_until(const struct account *account,
                                          const struct task_struct *task, uint64_t now)
{
    uint64_t end = account->arrived_ns + (task->se.sum_exec_runtime - account->run_ns);

    return end < account->since_ns ? account->since_ns : end > now ? now : end;
}

/* The CPU on which it is booked runs another: it left unseen. */
static __always_inline bool has_left(const struct account *account, const struct task_struct *task)
{
    const struct cpu_account *cpu = cpu_of(account->cpu);

    return on_cpu(account->state) && cpu != NULL && cpu->running_task != (uint64_t)task;
}

/* ----------------------------------------------------------------------------- Switches -- */

static __always_inline void arrive(struct account *account, const struct task_struct *task,
                                   struct cpu_account *cpu, uint64_t now)
{
    change(account, NULL, now, running_state(account));
    account->cpu = bpf_get_smp_processor_id();
    account->irq_before_ns = interrupts_ns(cpu, now);
    account->arrived_ns = now;
}

static __always_inline void emit_last(struct task_struct *task, const struct account *account,
                                      struct cpu_account *cpu, uint64_t now)
{
    struct camp_thread_states *last = bpf_ringbuf_reserve(&exits, sizeof *last, 0);

    if (last == NULL) {
        cpu->exits_lost++;
        return;
    }
    fill(last, task, account, now);
    last->flags |= CAMP_THREAD_ENDED;
    bpf_ringbuf_submit(last, BPF_RB_NO_WAKEUP);
}

/* Returns how long it has run if it had come unseen. */
static __always_inline uint64_t leave(struct task_struct *task, struct cpu_account *cpu,
                                      uint64_t now, bool runnable, unsigned int why)
{
    struct account *account = account_of(task, now, CAMP_STATE_USER);
    uint64_t ran = 0, run_ns = task->se.sum_exec_runtime;
    uint8_t next;

    if (account == NULL)
        return 0;
    next = runnable                              ? CAMP_STATE_RUN_QUEUE
           : (why & TASK_STOPPED_OR_TRACED) != 0 ? CAMP_STATE_STOPPED
           : (why & TASK_DEAD) != 0              ? CAMP_STATE_OTHER_SLEEP
                                                 : sleeping_state(task, account);
    begin_writing(account);
    if (!on_cpu(account->state)) {
        ran = run_ns - account->run_ns;
        if (ran > now - account->since_ns)
            ran = now - account->since_ns;
        arrive(account, task, cpu, now - ran);
    }
    change(account, cpu, now, next);
    account->run_ns = run_ns;
    if ((why & TASK_DEAD) != 0)
        account->flags |= DEAD;
    end_writing(account);
    if ((why & TASK_DEAD) != 0)
        emit_last(task, account, cpu, now);
    return ran;
}

/* The interval since the last switch, of the CPU. `ran`: who leaves now, if it had come unseen. */
static __always_inline void book_cpu(struct cpu_account *cpu, const struct task_struct *prev,
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
    cpu->idle_ns += interval - busy;
}

SEC("tp_btf/sched_switch")
int BPF_PROG(on_switch, bool preempt, struct task_struct *prev, struct task_struct *next,
             unsigned int prev_state)
{
    struct cpu_account *cpu = this_cpu();
    uint64_t now = bpf_ktime_get_ns(), ran = 0;

    if (cpu == NULL)
        return 0;
    cpu->depth = 0; /* no switch is made in an interrupt: one whose end was not seen has ended */
    cpu->interrupt_since_ns = 0;
    if (cpu->begin_ns == 0)
        cpu->begin_ns = now;
    else if (cpu->running_task != (uint64_t)prev)
        cpu->unseen++;
    if (prev->pid != 0)
        ran = leave(prev, cpu, now, preempt || prev_state == 0, prev_state);
    book_cpu(cpu, prev, now, ran);
    cpu->switches++;
    cpu->since_ns = now;
    cpu->irq_before_ns = interrupts_ns(cpu, now);
    cpu->running = next->pid;
    cpu->running_task = (uint64_t)next;
    cpu->run_ns = next->se.sum_exec_runtime;
    if (next->pid != 0) {
        struct account *account = account_of(next, now, CAMP_STATE_RUN_QUEUE);

        if (account == NULL)
            return 0;
        begin_writing(account);
        if (on_cpu(account->state)) /* it left unseen, and nobody woke it */
            change(account, NULL, ran_until(account, next, now), CAMP_STATE_RUN_QUEUE);
        account->run_ns = cpu->run_ns;
        arrive(account, next, cpu, now);
        end_writing(account);
    }
    return 0;
}

SEC("tp_btf/sched_wakeup")
int BPF_PROG(on_wakeup, struct task_struct *task)
{
    struct account *account = bpf_task_storage_get(&accounts, task, NULL, 0);
    uint64_t now;

    if (account == NULL || account->state == CAMP_STATE_RUN_QUEUE)
        return 0;
    now = bpf_ktime_get_ns();
    if (on_cpu(account->state)) {
        if (!has_left(account, task))
            return 0;
        begin_writing(account);
        change(account, NULL, ran_until(account, task, now), CAMP_STATE_OTHER_SLEEP);
        account->run_ns = task->se.sum_exec_runtime;
    } else {
        begin_writing(account);
    }
    change(account, NULL, now, CAMP_STATE_RUN_QUEUE);
    end_writing(account);
    return 0;
}

/* A thread begins when it is made; until it may run it is booked as other sleep. A child of fork(2)
 * begins in the system call that it returns from. */
SEC("tp_btf/sched_wakeup_new")
int BPF_PROG(on_wakeup_new, struct task_struct *task)
{
    struct account *account =
        make_account(task, task->start_time, CAMP_STATE_OTHER_SLEEP, is_worker(task) ? 0 : IN_CALL);

    if (account == NULL)
        return 0;
    begin_writing(account);
    change(account, NULL, bpf_ktime_get_ns(), CAMP_STATE_RUN_QUEUE);
    end_writing(account);
    return 0;
}

/* ------------------------------------------------------------------------- System calls -- */

static __always_inline void cross(bool into)
{
    struct task_struct *task = bpf_get_current_task_btf();
    struct account *account = bpf_task_storage_get(&accounts, task, NULL, 0);

    if (account == NULL)
        return;
    begin_writing(account);
    if (into) {
        account->flags |= IN_CALL;
        account->system_calls++;
    } else {
        account->flags &= (uint8_t) ~(IN_CALL | FAULT_OF_KERNEL);
    }
    if (on_cpu(account->state))
        change(account, this_cpu(), bpf_ktime_get_ns(), running_state(account));
    end_writing(account);
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

/* ------------------------------------------------------------------ Faults and signals -- */

static __always_inline struct account *own_account(void)
{
    return bpf_task_storage_get(&accounts, bpf_get_current_task_btf(), NULL, 0);
}

SEC("tp_btf/page_fault_user")
int BPF_PROG(on_fault_user, unsigned long address, struct pt_regs *regs)
{
    struct account *account = own_account();

    if (account == NULL)
        return 0;
    if (instruction(regs) == address)
        account->flags |= FAULT_OF_TEXT;
    else
        account->flags &= (uint8_t)~FAULT_OF_TEXT;
    return 0;
}

/* Where faults are disabled the kernel serves and counts none: it goes on in another way. */
SEC("tp_btf/page_fault_kernel")
int BPF_PROG(on_fault_kernel)
{
    struct task_struct *task = bpf_get_current_task_btf();
    struct account *account = bpf_task_storage_get(&accounts, task, NULL, 0);

    if (account == NULL || task->pagefault_disabled != 0)
        return 0;
    account->flags |= FAULT_OF_KERNEL;
    account->faults = task->min_flt + task->maj_flt;
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

/* --------------------------------------------------------------------------- Interrupts -- */

static __always_inline void interrupt_begins(void)
{
    struct cpu_account *cpu = this_cpu();

    if (cpu != NULL && cpu->depth++ == 0)
        cpu->interrupt_since_ns = bpf_ktime_get_ns();
}

/* What comes within another is part of the outer one. */
static __always_inline void interrupt_ends(bool soft)
{
    struct cpu_account *cpu = this_cpu();
    uint64_t since;

    if (cpu == NULL || cpu->depth == 0 || --cpu->depth != 0)
        return;
    since = cpu->interrupt_since_ns;
    cpu->interrupt_since_ns = 0;
    barrier();
    if (soft)
        cpu->softirq_ns += bpf_ktime_get_ns() - since;
    else
        cpu->irq_ns += bpf_ktime_get_ns() - since;
}

#define INTERRUPT(kind, soft)                                                                      \
    SEC("tp_btf/" #kind "_entry")                                                                  \
    int BPF_PROG(on_##kind##_entry)                                                                \
    {                                                                                              \
        interrupt_begins();                                                                        \
        return 0;                                                                                  \
    }                                                                                              \
    SEC("tp_btf/" #kind "_exit")                                                                   \
    int BPF_PROG(on_##kind##_exit)                                                                 \
    {                                                                                              \
        interrupt_ends(soft);                                                                      \
        return 0;                                                                                  \
    }

INTERRUPT(irq_handler, false)
INTERRUPT(softirq, true)
INTERRUPT(local_timer, false)

/* ----------------------------------------------------------------------------- Snapshot -- */

#define TRIES 8

/* Books the open interval in a copy. */
static __always_inline void close_copy(struct camp_thread_states *ret,
                                       const struct task_struct *task,
                                       const struct account *account, uint64_t now)
{
    uint8_t state = account->state & (CAMP_STATE_COUNT - 1);
    uint64_t since = account->since_ns, before = account->irq_before_ns, interval;
    struct cpu_account *cpu;

    if (has_left(account, task)) {
        uint64_t end = ran_until(account, task, now);

        ret->state_ns[state] += end - since;
        since = end;
        state = task->__state == 0 ? CAMP_STATE_RUN_QUEUE : CAMP_STATE_OTHER_SLEEP;
        ret->state = state;
    }
    interval = now - since;
    if ((int64_t)interval < 0) {
        interval = 0;
        ret->time_ns = since;
    }
    cpu = on_cpu(state) ? cpu_of(account->cpu) : NULL;
    if (cpu != NULL)
        ret->state_ns[CAMP_STATE_IRQ] +=
            without_interrupts(&interval, &before, interrupts_ns(cpu, now));
    ret->state_ns[state] += interval;
}

/* A thread that changes its state meanwhile is read again. */
static __always_inline bool copy(struct camp_thread_states *ret, struct task_struct *task,
                                 const struct account *account)
{
    for (int i = 0; i < TRIES; i++) {
        uint32_t sequence = *(const volatile uint32_t *)&account->sequence;
        uint64_t now = bpf_ktime_get_ns();

        barrier();
        fill(ret, task, account, now);
        close_copy(ret, task, account, now);
        barrier();
        if ((sequence & 1) == 0 && sequence == *(const volatile uint32_t *)&account->sequence)
            return true;
    }
    return false;
}

/* The first snapshot of a session: in which state is a thread that began before it? */
static __always_inline struct account *meet(struct task_struct *task)
{
    unsigned int why = task->__state;
    uint8_t state = task->on_cpu ? CAMP_STATE_USER
                    : why == 0   ? CAMP_STATE_RUN_QUEUE
                                 : CAMP_STATE_OTHER_SLEEP;
    struct account *account = account_of(task, bpf_ktime_get_ns(), state);

    if (account != NULL && account->state == CAMP_STATE_OTHER_SLEEP)
        account->state = (why & TASK_STOPPED_OR_TRACED) != 0 ? CAMP_STATE_STOPPED
                                                             : sleeping_state(task, account);
    return account;
}

SEC("iter/task")
int snapshot(struct bpf_iter__task *ctx)
{
    struct task_struct *task = ctx->task;
    struct camp_thread_states record;
    struct account *account;

    if (task == NULL)
        return 0;
    account = bpf_task_storage_get(&accounts, task, NULL, 0);
    if (account == NULL) {
        if (all_met || task->exit_state != 0)
            return 0;
        account = meet(task);
    }
    if (account == NULL || (account->flags & DEAD) != 0)
        return 0;
    __builtin_memset(&record, 0, sizeof record);
    if (!copy(&record, task, account))
        record.flags |= CAMP_THREAD_UNSURE;
    bpf_seq_write(ctx->meta->seq, &record, sizeof record);
    return 0;
}
