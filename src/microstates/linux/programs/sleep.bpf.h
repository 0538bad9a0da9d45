/* The state of a thread that leaves its CPU to sleep. */
#pragma once

#include "account.bpf.h"

/* False if the kernel has no event of page faults. Then each sleep outside of system calls is
 * CAMP_STATE_DATA_FAULT. */
const volatile bool sees_faults = true;

/* Returns whether a thread sleeps in a page fault. `flag` says in which: a fault of its own code
 * (FAULT_OF_USER), or of a system call (FAULT_OF_KERNEL). The kernel counts a fault only when it
 * has served the fault, so during the fault the count is still `faults`, which is that of the
 * account. */
static __always_inline bool in_fault(const struct task_struct *task, uint32_t flags,
                                     uint64_t faults, uint32_t flag)
{
    return (flags & flag) != 0 && faults == page_faults(task);
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

/* Two reads by a helper take 40 ns, and two loads 2 ns. */
static __always_inline uint16_t mode_of(const struct file *file)
{
    if (!bpf_rdonly_cast)
        return BPF_CORE_READ(file, f_inode, i_mode);
    file = bpf_rdonly_cast(file, bpf_core_type_id_kernel(struct file));
    return file->f_inode->i_mode;
}

static __always_inline uint8_t kind_of_descriptor(const struct task_struct *task, uint64_t number)
{
    const struct files_struct *files = untrusted(task)->files;
    const struct fdtable *table = files != NULL ? files->fdt : NULL;
    struct file *file = NULL;
    uint16_t mode;

    if (table == NULL || number >= table->max_fds)
        return CAMP_STATE_OTHER_SLEEP;
    bpf_probe_read_kernel(&file, sizeof file, table->fd + number);
    if (file == NULL)
        return CAMP_STATE_OTHER_SLEEP;
    mode = mode_of(file) & S_IFMT;
    return mode == S_IFSOCK  ? CAMP_STATE_SOCKET
           : mode == S_IFIFO ? CAMP_STATE_PIPE
                             : CAMP_STATE_OTHER_SLEEP;
}

/* The addresses of the functions by which restart_syscall(2) continues an interrupted call, in the
 * order of enum restart. The kernel hides them without CAP_SYSLOG, or if kernel.kptr_restrict is 2.
 * A hidden address is 0, and a sleep in a continued call is then CAMP_STATE_OTHER_SLEEP. */
enum restart {
    RESTART_POLL,
    RESTART_FUTEX,
    RESTART_SLEEP,
    RESTART_PROCESS_SLEEP,
    RESTART_ALARM_SLEEP,
    RESTART_COUNT
};

static unsigned long long restarts[RESTART_COUNT];

#define FIND_RESTART(which, function)                                                              \
    bpf_kallsyms_lookup_name(#function, sizeof #function, 0, &restarts[which])

/* The session runs this program once, before it attaches the others. As external symbols the
 * functions would cost ten times as much: libbpf then reads all of /proc/kallsyms. */
SEC("syscall")
int find_restarts(void *context)
{
    FIND_RESTART(RESTART_POLL, do_restart_poll);
    /* futex_wait_restart() sets restart_block.fn to do_no_restart_syscall before it sleeps. */
    FIND_RESTART(RESTART_FUTEX, do_no_restart_syscall);
    FIND_RESTART(RESTART_SLEEP, hrtimer_nanosleep_restart);
    FIND_RESTART(RESTART_PROCESS_SLEEP, posix_cpu_nsleep_restart);
    FIND_RESTART(RESTART_ALARM_SLEEP, alarm_timer_nsleep_restart);
    return 0;
}

static __always_inline uint8_t kind_of_restarted(const struct task_struct *task)
{
    const uint64_t goes_on = (uint64_t)task->restart_block.fn;

    if (goes_on == 0)
        return CAMP_STATE_OTHER_SLEEP;
    if (goes_on == restarts[RESTART_POLL])
        return CAMP_STATE_POLL;
    if (goes_on == restarts[RESTART_FUTEX])
        return CAMP_STATE_LOCK;
    return goes_on == restarts[RESTART_SLEEP] || goes_on == restarts[RESTART_PROCESS_SLEEP] ||
                   goes_on == restarts[RESTART_ALARM_SLEEP]
               ? CAMP_STATE_TIMER
               : CAMP_STATE_OTHER_SLEEP;
}

/* Returns the state of a thread that sleeps. `flags` and `faults` are those of its account. */
static __always_inline uint8_t sleeping_state(struct task_struct *task, uint32_t flags,
                                              uint64_t faults)
{
    bool disk = BPF_CORE_READ_BITFIELD(task, in_iowait) != 0;
    struct pt_regs *regs;
    uint8_t kind;
    long call;

    if ((flags & WORKER) != 0)
        return disk ? CAMP_STATE_DISK : CAMP_STATE_OTHER_SLEEP;
    regs = (struct pt_regs *)bpf_task_pt_regs(task);
    call = regs != NULL ? call_of(regs) : -1;
    if (call < 0 && sees_faults && !in_fault(task, flags, faults, FAULT_OF_USER))
        return disk ? CAMP_STATE_DISK : CAMP_STATE_OTHER_SLEEP;
    if (call < 0)
        return (flags & FAULT_OF_TEXT) != 0 ? CAMP_STATE_TEXT_FAULT : CAMP_STATE_DATA_FAULT;
    if (in_fault(task, flags, faults, FAULT_OF_KERNEL))
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

/* Returns the state of the current thread, which goes to sleep. A global function, which the
 * verifier checks once and not at each path that leads to its call. */
__noinline int own_sleeping_state(uint32_t flags, uint64_t faults)
{
    return sleeping_state(bpf_get_current_task_btf(), flags, faults);
}

/* Notes the system call in which the thread sleeps, if the session divides the sleeps of its group
 * by call: when the thread goes to sleep, and again before its sleep is charged, because the
 * session may have started to watch its group meanwhile. The registers of a thread do not change
 * before it runs. */
static __always_inline void note_call(struct account *account, struct task_struct *task)
{
    const struct pt_regs *regs;
    long call;

    if ((watched_groups >> group_of(account) & 1) == 0)
        return;
    regs = (const struct pt_regs *)bpf_task_pt_regs(task);
    account->call = -1;
    account->argument = 0;
    if (regs == NULL || (account->flags & WORKER) != 0)
        return;
    call = call_of(regs);
    if (call < 0)
        return;
    account->call = (int32_t)call;
    if (call < CALLS_MAX &&
        (calls_with_argument[call / 64 & (CALLS_MAX / 64 - 1)] >> call % 64 & 1) != 0)
        account->argument = first_argument(regs);
}
