/* The state of a thread that leaves its CPU to sleep. */
#pragma once

#include "account.bpf.h"

/* False if the kernel has no event of page faults. Then each sleep outside of system calls is
 * CAMP_STATE_DATA_FAULT. */
const volatile bool sees_faults = true;

/* Returns whether a thread sleeps in a page fault. `flag` says in which: a fault of its own code
 * (FAULT_OF_USER), or of a system call (FAULT_OF_KERNEL). The kernel counts a fault only when it
 * has served the fault, so during the fault the count is still account->faults. */
static __always_inline bool in_fault(const struct account *account, const struct task_struct *task,
                                     uint8_t flag)
{
    return (account->flags & flag) != 0 && account->faults == page_faults(task);
}

/* `why` is the task's state in the kernel (__state). */
static __always_inline bool is_frozen(const struct task_struct *task, unsigned int why)
{
    if ((why & TASK_FROZEN) != 0)
        return true;
    if (LINUX_KERNEL_VERSION < VERSION_OF_TASK_FROZEN && (task->flags & PF_FROZEN) != 0)
        return true;
    return bpf_core_field_exists(task->frozen) && (task->jobctl & JOBCTL_TRAP_FREEZE) != 0 &&
           BPF_CORE_READ_BITFIELD(task, frozen) != 0;
}

static __always_inline bool is_stopped(const struct task_struct *task, unsigned int why)
{
    return (why & TASK_STOPPED_OR_TRACED) != 0 || is_frozen(task, why);
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

/* The functions by which restart_syscall(2) continues an interrupted call. The kernel hides their
 * addresses without CAP_SYSLOG, or if kernel.kptr_restrict is 2. A sleep in a continued call is
 * then CAMP_STATE_OTHER_SLEEP. */
extern const void do_restart_poll __ksym __weak;
extern const void do_no_restart_syscall __ksym __weak;
extern const void hrtimer_nanosleep_restart __ksym __weak;
extern const void posix_cpu_nsleep_restart __ksym __weak;
extern const void alarm_timer_nsleep_restart __ksym __weak;

static __always_inline uint8_t kind_of_restarted(const struct task_struct *task)
{
    const void *goes_on = (const void *)task->restart_block.fn;

    if (goes_on == NULL)
        return CAMP_STATE_OTHER_SLEEP;
    if (goes_on == &do_restart_poll)
        return CAMP_STATE_POLL;
    /* futex_wait_restart() sets restart_block.fn to do_no_restart_syscall before it sleeps. */
    if (goes_on == &do_no_restart_syscall)
        return CAMP_STATE_LOCK;
    return goes_on == &hrtimer_nanosleep_restart || goes_on == &posix_cpu_nsleep_restart ||
                   goes_on == &alarm_timer_nsleep_restart
               ? CAMP_STATE_TIMER
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
    if (call < 0 && sees_faults && !in_fault(account, task, FAULT_OF_USER))
        return disk ? CAMP_STATE_DISK : CAMP_STATE_OTHER_SLEEP;
    if (call < 0)
        return (account->flags & FAULT_OF_TEXT) != 0 ? CAMP_STATE_TEXT_FAULT
                                                     : CAMP_STATE_DATA_FAULT;
    if (in_fault(account, task, FAULT_OF_KERNEL))
        return CAMP_STATE_KERNEL_FAULT;
    if (disk)
        return CAMP_STATE_DISK;
    if (call >= CALLS_MAX)
        return CAMP_STATE_OTHER_SLEEP;
    kind = kind_of_call[call & (CALLS_MAX - 1)];
    if (kind == KIND_BY_RESTART)
        return kind_of_restarted(task);
    return kind == KIND_BY_DESCRIPTOR ? kind_of_descriptor(task, first_argument(regs)) : kind;
}
