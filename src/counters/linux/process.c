/*
 * The counters of one process or one thread.
 *
 * CPU time is measured: the scheduler adds up the time between context switches
 * (sum_exec_runtime). The kernel reports it in three places:
 * - the CPU clock of the process, in 1 ns, which any user can read by one system call;
 * - schedstat, for a single thread, in 1 ns, together with the run-queue delay;
 * - stat, in ticks of 1/100 s.
 * Only the division of CPU time into user and system time is sampled: the kernel divides the
 * measured time in proportion to the user and system ticks (cputime_adjust() of
 * kernel/sched/cputime.c).
 *
 * Values of a later process with the same pid are never returned. If stat has the expected start
 * time, everything read before stat is of the expected process or thread. schedstat, status and io
 * of a process are read after stat, because stat shows whether the process has several threads. So
 * these three files are opened through the directory of the process, which is kept open (see
 * process_files.c).
 */
#include "process.h"

#include "../clock.h"
#include "../error.h"
#include "../usual.h"

#include <errno.h>
#include <sys/types.h>
#include <unistd.h>

#define CPUCLOCK_SCHED 2
#define OF_STAT                                                                                    \
    (CAMP_TASK_USER | CAMP_TASK_SYSTEM | CAMP_TASK_MINOR_FAULTS | CAMP_TASK_MAJOR_FAULTS |         \
     CAMP_TASK_FAULTS | CAMP_TASK_VIRTUAL | CAMP_TASK_RESIDENT | CAMP_TASK_THREADS |               \
     CAMP_TASK_START | CAMP_TASK_STATE | CAMP_TASK_NAME | CAMP_TASK_PARENT | CAMP_TASK_CHILDREN)

/* Returns the same clock id as clock_getcpuclockid(3), without its system call to check that the
 * process exists. */
static clockid_t clock_of_process(int32_t pid)
{
    return (clockid_t)(~(uint32_t)pid << 3 | CPUCLOCK_SCHED);
}

bool camp_process_clock(int32_t pid, uint64_t *ret_ns)
{
    struct timespec time;

    if (clock_gettime(clock_of_process(pid), &time) != 0)
        return false;
    *ret_ns = ns_of_timespec(time);
    return true;
}

int camp_pid_cpu_ns(int32_t pid, uint64_t *ret_ns)
{
    if (pid <= 0 || ret_ns == NULL)
        return CAMP_E_INVALID;
    /* The only possible error is EINVAL: no process has this pid. */
    return camp_process_clock(pid, ret_ns) ? CAMP_OK : CAMP_E_GONE;
}

int camp_stat_read(const struct camp_source *source, int32_t pid, int32_t tid,
                   struct stat_line *ret, struct camp_error *error)
{
    char path[PATH_SIZE], text[STAT_SIZE];
    size_t length;
    int r = camp_task_path(path, source, pid, tid, "stat", error);

    if (r < 0)
        return r;
    r = camp_read_file_once(path, text, sizeof text, &length, error);
    if (r < 0)
        return r;
    if (!camp_stat_parse(cursor_of(text, length), ret))
        return camp_fail(error, CAMP_E_FORMAT, 0, "%s is not a stat line", path);
    return CAMP_OK;
}

int camp_stat_read_folder(const struct task_folder *folder, int32_t tid, struct stat_line *ret,
                          struct camp_error *error)
{
    char text[STAT_SIZE];
    size_t length;
    int system_error = camp_folder_read(folder, tid, "stat", text, sizeof text, &length);

    if (system_error != 0)
        return camp_folder_fail(folder, tid, "stat", system_error, error);
    if (!camp_stat_parse(cursor_of(text, length), ret))
        return camp_folder_fail(folder, tid, "stat", EBADMSG, error);
    return CAMP_OK;
}

int camp_stat_check(const struct stat_line *line, uint64_t start, struct camp_error *error)
{
    if (line->start != start)
        return camp_fail(error, CAMP_E_GONE, 0, "it has ended; its number belongs to another now");
    /* The kernel prints 0 threads, and times of 0, for a task that it is removing (do_task_stat()).
     */
    if (line->threads == 0)
        return camp_fail(error, CAMP_E_GONE, 0, "it is ending at this moment");
    return CAMP_OK;
}

void camp_task_set_cpu(struct camp_task *task, uint64_t cpu_ns, uint64_t resolution_ns)
{
    task->known |= CAMP_TASK_CPU;
    task->cpu_ns = cpu_ns;
    task->cpu_provenance = CAMP_MEASURED;
    task->cpu_resolution_ns = resolution_ns;
}

int camp_task_of_stat(const struct stat_line *line, bool with_cpu, struct camp_task *task,
                      struct camp_error *error)
{
    const uint64_t page_bytes = (uint64_t)getpagesize();
    const uint64_t tick_ns = proc_time_unit_ns();
    uint64_t cpu_ns;

    if (__builtin_mul_overflow(line->start, tick_ns, &task->started_ns) ||
        __builtin_mul_overflow(line->user_ticks, tick_ns, &task->user_ns) ||
        __builtin_mul_overflow(line->system_ticks, tick_ns, &task->system_ns) ||
        __builtin_add_overflow(task->user_ns, task->system_ns, &cpu_ns) ||
        __builtin_mul_overflow(line->children_ticks, tick_ns, &task->children_ns) ||
        __builtin_mul_overflow(line->resident_pages, page_bytes, &task->resident_bytes))
        return camp_fail(error, CAMP_E_FORMAT, 0, "a number of stat has more than 64 bits");
    task->known |= OF_STAT;
    task->parent = line->parent;
    task->start = line->start;
    task->split_provenance = camp_usual.split;
    task->minor_faults = line->minor_faults;
    task->major_faults = line->major_faults;
    task->faults = line->minor_faults + line->major_faults;
    task->virtual_bytes = line->virtual_bytes;
    task->threads = line->threads;
    task->state = line->state;
    memcpy(task->name, line->name, sizeof task->name);
    if (with_cpu)
        camp_task_set_cpu(task, cpu_ns, tick_ns);
    return CAMP_OK;
}

static int read_stat_alone(const struct camp_source *source, int32_t pid, int32_t tid,
                           uint64_t start, bool with_cpu, struct camp_task *task,
                           struct camp_error *error)
{
    struct stat_line line;
    int r = camp_stat_read(source, pid, tid, &line, error);

    if (r == CAMP_OK)
        r = camp_stat_check(&line, start, error);
    return r == CAMP_OK ? camp_task_of_stat(&line, with_cpu, task, error) : r;
}

/* Reads the files of an open directory. `start` is NULL if any start time is expected. */
static int read_below(const struct task_folder *folder, int32_t pid, const uint64_t *start,
                      uint32_t wanted, bool with_cpu, struct camp_task *task,
                      struct camp_error *error)
{
    struct beside_stat beside = { 0 };
    struct stat_line line = { 0 };
    int r = camp_stat_read_folder(folder, 0, &line, error);

    if (r == CAMP_OK)
        r = camp_stat_check(&line, start != NULL ? *start : line.start, error);
    if (r == CAMP_OK)
        r = camp_task_of_stat(&line, with_cpu, task, error);
    if (r == CAMP_OK && (wanted & BESIDE_STAT) != 0)
        r = camp_task_read_beside(folder, wanted, task->threads > 1 ? pid : 0, &beside, error);
    if (r == CAMP_OK)
        camp_task_of_beside(&beside, task);
    return r;
}

static int read_process_folder(const struct camp_source *source, const struct camp_process *process,
                               uint32_t wanted, bool with_cpu, struct camp_task *task,
                               struct camp_error *error)
{
    struct task_folder folder;
    int r = camp_folder_open(&folder, source, process->pid, 0, error);

    if (r < 0)
        return r;
    r = read_below(&folder, process->pid, &process->start, wanted, with_cpu, task, error);
    camp_folder_close(&folder);
    return r;
}

int camp_process_read_any(const struct camp_source *source, int32_t pid, uint32_t wanted,
                          struct camp_task *ret, struct camp_error *error)
{
    const bool want_cpu = (wanted & CAMP_TASK_CPU) != 0;
    struct task_folder folder;
    uint64_t cpu_ns;
    bool clock;
    int r = camp_folder_open(&folder, source, pid, 0, error);

    if (r < 0)
        return r;
    *ret = (struct camp_task){ .time_ns = now_ns(CLOCK_MONOTONIC) };
    clock = want_cpu && source == NULL && camp_process_clock(pid, &cpu_ns);
    r = read_below(&folder, pid, NULL, wanted, want_cpu && !clock, ret, error);
    camp_folder_close(&folder);
    if (r == CAMP_OK && clock)
        camp_task_set_cpu(ret, cpu_ns, 1);
    return r;
}

int camp_process_read(const struct camp_source *source, const struct camp_process *process,
                      uint32_t wanted, struct camp_task *ret, size_t size, struct camp_error *error)
{
    struct camp_task task = { 0 };
    bool want_cpu = (wanted & CAMP_TASK_CPU) != 0, clock;
    uint64_t cpu_ns = 0;
    int r;

    if (camp_is_null(error, process, ret) || camp_is_outside(error, process->pid, 1, INT32_MAX))
        return CAMP_E_INVALID;
    task.time_ns = now_ns(CLOCK_MONOTONIC);
    clock = want_cpu && source == NULL && camp_process_clock(process->pid, &cpu_ns);
    if ((wanted & BESIDE_STAT) != 0)
        r = read_process_folder(source, process, wanted, want_cpu && !clock, &task, error);
    else
        r = read_stat_alone(source, process->pid, 0, process->start, want_cpu && !clock, &task,
                            error);
    if (r < 0)
        return r;
    if (clock)
        camp_task_set_cpu(&task, cpu_ns, 1);
    camp_hand_out(ret, size, &task, sizeof task);
    return CAMP_OK;
}

/* CPU time is the first number of schedstat, so schedstat is read if CPU time is wanted. */
static int read_thread_beside(const struct camp_source *source, const struct camp_thread *thread,
                              uint32_t wanted, struct camp_task *task, struct camp_error *error)
{
    const bool want_cpu = (wanted & CAMP_TASK_CPU) != 0;
    struct beside_stat beside;
    struct task_folder folder;
    int r = camp_folder_at(&folder, source, thread->pid, thread->tid, error);

    if (r == CAMP_OK)
        r = camp_task_read_beside(&folder, wanted | (want_cpu ? CAMP_TASK_RUN_DELAY : 0u), 0,
                                  &beside, error);
    if (r == CAMP_OK)
        r = read_stat_alone(source, thread->pid, thread->tid, thread->start, want_cpu, task, error);
    if (r != CAMP_OK)
        return r;
    camp_task_of_beside(&beside, task);
    if (want_cpu && (task->known & CAMP_TASK_RUN_DELAY) != 0)
        camp_task_set_cpu(task, beside.run_ns, 1);
    return CAMP_OK;
}

int camp_thread_read(const struct camp_source *source, const struct camp_thread *thread,
                     uint32_t wanted, struct camp_task *ret, size_t size, struct camp_error *error)
{
    struct camp_task task = { 0 };
    int r;

    if (camp_is_null(error, thread, ret) || camp_is_outside(error, thread->pid, 1, INT32_MAX) ||
        camp_is_outside(error, thread->tid, 1, INT32_MAX))
        return CAMP_E_INVALID;
    task.time_ns = now_ns(CLOCK_MONOTONIC);
    if ((wanted & (BESIDE_STAT | CAMP_TASK_CPU)) != 0)
        r = read_thread_beside(source, thread, wanted, &task, error);
    else
        r = read_stat_alone(source, thread->pid, thread->tid, thread->start, false, &task, error);
    if (r < 0)
        return r;
    /* The kernel prints the children of the process for each of its threads. */
    task.known &= ~(uint32_t)CAMP_TASK_CHILDREN;
    task.children_ns = 0;
    camp_hand_out(ret, size, &task, sizeof task);
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
    if (r == CAMP_OK)
        *ret_ns = task.cpu_ns;
    return r;
}
