/*
 * The counters of one process or one thread, from psinfo (lwpsinfo) and usage (lwpusage).
 *
 * All times of usage are measured: the kernel takes a timestamp at each change of a thread's
 * microstate, and includes the state that has not ended (prgetusage() of uts/common/fs/proc/
 * prsubr.c). CPU time is user + system + trap time. A trap is time in the kernel outside of a
 * system call, so it counts as system time here. The times of a process include its exited threads.
 *
 * The time of children is added up in clock ticks, so its resolution is one tick (1/100 s).
 * pr_inblk and pr_oublk are numbers of requests, and pr_ioch is the number of bytes of all read and
 * write calls together, so read_bytes and written_bytes are unknown.
 *
 * A zombie has no start time in psinfo, so it is another process than before its exit.
 *
 * Values of a later process with the same pid are never returned: usage is opened first, and then
 * psinfo must have the expected start time.
 */
#include "process.h"

#include "../error.h"
#include "../platform.h"
#include "../usual.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#define KIB 1024u
#define USAGE_FIELDS                                                                               \
    (CAMP_TASK_CPU | CAMP_TASK_USER | CAMP_TASK_SYSTEM | CAMP_TASK_RUN_DELAY |                     \
     CAMP_TASK_MINOR_FAULTS | CAMP_TASK_MAJOR_FAULTS | CAMP_TASK_FAULTS |                          \
     CAMP_TASK_VOLUNTARY_SWITCHES | CAMP_TASK_INVOLUNTARY_SWITCHES | CAMP_TASK_SWITCHES)

/* Returns a state of proc(5) of Linux, or 0. A thread on a CPU ('O'), on a run queue ('R'), or held
 * back by the CPU cap of its zone ('W') is runnable. */
static char state_of(char name)
{
    switch (name) {
    case 'O':
    case 'R':
    case 'W':
        return 'R';
    case 'S':
    case 'T':
    case 'Z':
        return name;
    default:
        return 0;
    }
}

void camp_task_of_lwpsinfo(const lwpsinfo_t *lwpsinfo, struct camp_task *task)
{
    task->state = state_of(lwpsinfo->pr_sname);
    if (task->state != 0)
        task->known |= CAMP_TASK_STATE;
}

void camp_task_of_psinfo(const psinfo_t *psinfo, struct camp_task *task)
{
    const bool is_zombie = psinfo->pr_lwp.pr_sname == 'Z';

    camp_task_of_lwpsinfo(&psinfo->pr_lwp, task);
    task->known |= CAMP_TASK_THREADS | CAMP_TASK_PARENT | CAMP_TASK_CHILDREN;
    task->threads = (uint64_t)psinfo->pr_nlwp;
    task->parent = psinfo->pr_ppid;
    task->children_ns = camp_proc_ns(psinfo->pr_ctime);
    if (is_zombie)
        return; /* psinfo has no name, sizes and start of a zombie */
    task->known |= CAMP_TASK_VIRTUAL | CAMP_TASK_RESIDENT | CAMP_TASK_NAME;
    task->virtual_bytes = (uint64_t)psinfo->pr_size * KIB;
    task->resident_bytes = (uint64_t)psinfo->pr_rssize * KIB;
    memcpy(task->name, psinfo->pr_fname, sizeof psinfo->pr_fname);
}

void camp_task_of_usage(const prusage_t *usage, struct camp_task *task)
{
    task->known |= USAGE_FIELDS | CAMP_TASK_START;
    task->time_ns = camp_proc_ns(usage->pr_tstamp);
    task->started_ns = camp_proc_ns(usage->pr_create);
    task->user_ns = camp_proc_ns(usage->pr_utime);
    task->system_ns = camp_proc_ns(usage->pr_stime) + camp_proc_ns(usage->pr_ttime);
    task->cpu_ns = task->user_ns + task->system_ns;
    task->cpu_provenance = CAMP_MEASURED;
    task->split_provenance = camp_usual.split;
    task->cpu_resolution_ns = 1;
    task->run_delay_ns = camp_proc_ns(usage->pr_wtime);
    task->minor_faults = usage->pr_minf;
    task->major_faults = usage->pr_majf;
    task->faults = task->minor_faults + task->major_faults;
    task->voluntary_switches = usage->pr_vctx;
    task->involuntary_switches = usage->pr_ictx;
    task->switches = task->voluntary_switches + task->involuntary_switches;
}

/* Reads usage. If it may not be read, its fields stay unknown. */
static int read_usage(const struct camp_source *source, int32_t pid, int32_t tid,
                      struct camp_task *task, struct camp_error *error)
{
    prusage_t usage;
    int r = camp_usage_read(source, pid, tid, &usage, error);

    task->time_ns = camp_now_ns();
    if (r == CAMP_OK)
        camp_task_of_usage(&usage, task);
    return r == CAMP_E_PERM ? CAMP_OK : r;
}

int camp_process_read(const struct camp_source *source, const struct camp_process *process,
                      uint32_t wanted, struct camp_task *ret, size_t size, struct camp_error *error)
{
    struct camp_task task = { 0 };
    psinfo_t psinfo;
    int r;

    (void)wanted; /* the two files have all fields */
    if (camp_is_null(error, process, ret) || camp_is_outside(error, process->pid, 0, INT32_MAX))
        return CAMP_E_INVALID;
    r = read_usage(source, process->pid, 0, &task, error);
    if (r == CAMP_OK)
        r = camp_psinfo_expect(source, process, &psinfo, error);
    if (r != CAMP_OK)
        return r;
    task.start = process->start;
    camp_task_of_psinfo(&psinfo, &task);
    camp_hand_out(ret, size, &task, sizeof task);
    return CAMP_OK;
}

/* Reads a process whose usage is open. The kernel ties the descriptor to the process: reading it
 * fails after the exit. So if usage can be read after psinfo, both are of one process. */
static int read_opened(const struct camp_source *source, int32_t pid, int usage_descriptor,
                       const char *usage_path, struct camp_process_usage *ret,
                       struct camp_error *error)
{
    prusage_t usage;
    psinfo_t psinfo;
    int r = camp_psinfo_read(source, pid, &psinfo, error);

    ret->task.time_ns = camp_now_ns();
    if (r == CAMP_OK && usage_descriptor >= 0)
        r = camp_usage_pread(usage_descriptor, usage_path, &usage, error);
    if (r != CAMP_OK)
        return r;
    ret->process.pid = pid;
    ret->process.start = camp_proc_ns(psinfo.pr_start);
    ret->task.start = ret->process.start;
    camp_task_of_psinfo(&psinfo, &ret->task);
    if (usage_descriptor >= 0)
        camp_task_of_usage(&usage, &ret->task);
    return CAMP_OK;
}

int camp_process_read_any(const struct camp_source *source, int32_t pid,
                          struct camp_process_usage *ret, struct camp_error *error)
{
    char path[PATH_SIZE];
    int descriptor, r = camp_proc_path(path, source, pid, 0, "usage", error);

    if (r != CAMP_OK)
        return r;
    *ret = (struct camp_process_usage){ 0 };
    descriptor = open(path, O_RDONLY | O_CLOEXEC);
    if (descriptor < 0 && errno != EACCES && errno != EPERM)
        return camp_fail_errno(error, errno, path);
    r = read_opened(source, pid, descriptor, path, ret, error);
    if (descriptor >= 0)
        close(descriptor);
    return r;
}

int camp_thread_read(const struct camp_source *source, const struct camp_thread *thread,
                     uint32_t wanted, struct camp_task *ret, size_t size, struct camp_error *error)
{
    struct camp_task task = { 0 };
    lwpsinfo_t lwpsinfo;
    psinfo_t psinfo;
    int r;

    (void)wanted;
    if (camp_is_null(error, thread, ret) || camp_is_outside(error, thread->pid, 0, INT32_MAX) ||
        camp_is_outside(error, thread->tid, 1, INT32_MAX))
        return CAMP_E_INVALID;
    r = read_usage(source, thread->pid, thread->tid, &task, error);
    if (r == CAMP_OK)
        r = camp_lwpsinfo_read(source, thread->pid, thread->tid, &lwpsinfo, error);
    if (r == CAMP_OK)
        r = camp_start_check(lwpsinfo.pr_start, thread->start, error);
    if (r == CAMP_OK)
        r = camp_psinfo_read(source, thread->pid, &psinfo, error);
    if (r != CAMP_OK)
        return r;
    task.start = thread->start;
    camp_task_of_lwpsinfo(&lwpsinfo, &task);
    task.parent = psinfo.pr_ppid;
    task.known |= CAMP_TASK_PARENT;
    camp_hand_out(ret, size, &task, sizeof task);
    return CAMP_OK;
}

int camp_pid_cpu_ns(int32_t pid, uint64_t *ret_ns)
{
    struct camp_task task = { 0 };
    prusage_t usage;
    int r;

    if (pid < 0 || ret_ns == NULL)
        return CAMP_E_INVALID;
    r = camp_usage_read(NULL, pid, 0, &usage, NULL);
    if (r != CAMP_OK)
        return r;
    camp_task_of_usage(&usage, &task);
    *ret_ns = task.cpu_ns;
    return CAMP_OK;
}

int camp_process_cpu_ns(const struct camp_source *source, const struct camp_process *process,
                        uint64_t *ret_ns, struct camp_error *error)
{
    struct camp_task task;
    int r;

    if (camp_is_null(error, process, ret_ns))
        return CAMP_E_INVALID;
    r = camp_process_read(source, process, CAMP_TASK_CPU, &task, sizeof task, error);
    if (r != CAMP_OK)
        return r;
    if ((task.known & CAMP_TASK_CPU) == 0)
        return camp_fail(error, CAMP_E_PERM, 0, "process %d does not show its usage%s",
                         (int)process->pid, CAMP_ADVICE_PRIVILEGE);
    *ret_ns = task.cpu_ns;
    return CAMP_OK;
}
