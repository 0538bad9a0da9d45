#include "threads_schedstat.h"

#include "counters/error.h"
#include "ledger/array.h"
#include "sources/machine/proc_clock.h"
#include "sources/measured_column.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define SLICE_NS 100000000u
#define KTHREADD 2 /* pid of kthreadd, the parent of all other kernel threads */
#define AT_FIRST 256

enum { COLUMN_CPU, COLUMN_RUN_QUEUE, COLUMN_OFF_CPU, COLUMN_COUNT };

static const struct column columns[COLUMN_COUNT] = {
    STATE("cpu", "cpu", NULL, CLASS_CPU, "on a CPU, by the scheduler's own count"),
    STATE("run_queue", "run queue", "runq", CLASS_READY,
          "runnable, and no CPU runs it, by the scheduler's own count"),
    { "off_cpu_ns", "off CPU", "the rest: asleep, or stopped", COLUMN_STATE, CAMP_DERIVED,
      CLASS_IDLE, "off" },
};

const struct schema threads_schedstat_schema = {
    .name = "threads",
    .columns = columns,
    .column_count = COLUMN_COUNT,
    .state_count = COLUMN_COUNT,
};

struct known_thread {
    struct camp_thread thread;
    struct proc_clock clock;
    uint64_t started_ns; /* CLOCK_BOOTTIME, with a resolution of 10 ms */
    struct entity entity;
};

/* A struct of zeros is an empty snapshot. */
struct snapshot {
    struct known_thread *threads; /* [count] sorted by pid, then by tid */
    size_t count, capacity;
    uint64_t forks;
};

struct schedstat_source {
    /* must be the first member, because functions cast it to struct schedstat_source */
    struct source source;
    struct schedstat_selection selection;
    const volatile sig_atomic_t *stop;
    struct snapshot now, before;
    struct camp_pid *pids;
    size_t pid_capacity;
    struct camp_thread *listed;
    size_t listed_capacity;
    struct frame frame;
};

static const struct schema *describe(const struct source *source)
{
    (void)source;
    return &threads_schedstat_schema;
}

static void close_threads(struct source *base)
{
    struct schedstat_source *source = (struct schedstat_source *)base;

    free(source->now.threads);
    free(source->before.threads);
    free(source->pids);
    free(source->listed);
    frame_release(&source->frame);
    free(source);
}

/* Returns the owner of /proc/PID: the effective user of the process, or root if the process is not
 * dumpable (prctl(2)). */
static uint32_t user_of(int32_t pid)
{
    struct stat status;
    char path[40];

    snprintf(path, sizeof path, "/proc/%d", pid);
    return stat(path, &status) == 0 ? status.st_uid : 0;
}

static bool is_of_kernel(int32_t pid, int32_t parent)
{
    return pid == KTHREADD || parent == KTHREADD;
}

static const struct known_thread *find(const struct snapshot *snapshot,
                                       const struct camp_thread *thread, size_t *at)
{
    const struct known_thread *known;

    while (*at < snapshot->count && (snapshot->threads[*at].thread.pid < thread->pid ||
                                     (snapshot->threads[*at].thread.pid == thread->pid &&
                                      snapshot->threads[*at].thread.tid < thread->tid)))
        ++*at;
    if (*at == snapshot->count)
        return NULL;
    known = &snapshot->threads[*at];
    return known->thread.pid == thread->pid && known->thread.tid == thread->tid &&
                   known->thread.start == thread->start
               ? known
               : NULL;
}

static int add_thread(struct schedstat_source *source, const struct camp_thread *thread,
                      size_t *before_at, struct camp_error *error)
{
    const uint32_t wanted = CAMP_TASK_CPU | CAMP_TASK_RUN_DELAY;
    struct snapshot *now = &source->now;
    const struct known_thread *before = find(&source->before, thread, before_at);
    struct known_thread *known;
    struct camp_task task;
    int r =
        camp_thread_read(NULL, thread, wanted | CAMP_TASK_NAME | CAMP_TASK_PARENT | CAMP_TASK_START,
                         &task, sizeof task, error);

    if (r == CAMP_E_GONE)
        return CAMP_OK;
    if (r == CAMP_OK && (task.known & wanted) != wanted)
        return camp_fail(error, CAMP_E_NOTSUP, 0,
                         "this kernel keeps no schedstat of a thread (CONFIG_SCHED_INFO)");
    if (r != CAMP_OK)
        return r;
    if (!ARRAY_RESERVE(now->threads, now->capacity, now->count + 1))
        return CAMP_E_NOMEM;
    known = &now->threads[now->count++];
    *known = (struct known_thread){
        .thread = *thread,
        .clock = { .time_ns = task.time_ns,
                   .cpu_ns = task.cpu_ns,
                   .run_queue_ns = task.run_delay_ns },
        .started_ns = task.started_ns,
        .entity = { .id = thread->tid, .pid = thread->pid, .parent = task.parent, .count = 1 },
    };
    known->entity.flags = is_of_kernel(thread->pid, task.parent) ? ENTITY_KERNEL : 0;
    known->entity.uid = before != NULL ? before->entity.uid : user_of(thread->pid);
    memcpy(known->entity.name, task.name, sizeof known->entity.name);
    return CAMP_OK;
}

static int add_process(struct schedstat_source *source, int32_t pid, size_t *before_at,
                       struct camp_error *error)
{
    struct camp_process process;
    size_t count = 0;
    int r = camp_process_identify(NULL, pid, &process, sizeof process, error);

    while (r == CAMP_OK) {
        r = camp_thread_list(NULL, &process, source->listed, sizeof *source->listed,
                             source->listed_capacity, &count, error);
        if (r != CAMP_E_SPACE)
            break;
        if (!ARRAY_RESERVE(source->listed, source->listed_capacity, count))
            return CAMP_E_NOMEM;
        r = CAMP_OK;
    }
    if (r == CAMP_E_GONE)
        return CAMP_OK;
    for (size_t i = 0; i < count && r == CAMP_OK; i++)
        r = add_thread(source, &source->listed[i], before_at, error);
    return r;
}

static int list_pids(struct schedstat_source *source, size_t *ret_count, struct camp_error *error)
{
    int r;

    do {
        r = camp_pid_list(NULL, source->pids, sizeof *source->pids, source->pid_capacity, ret_count,
                          error);
        if (r != CAMP_E_SPACE)
            return r;
        if (!ARRAY_RESERVE(source->pids, source->pid_capacity, *ret_count))
            return CAMP_E_NOMEM;
    } while (true);
}

static int read_snapshot(struct schedstat_source *source, struct camp_error *error)
{
    size_t count = 0, before_at = 0;
    int r = list_pids(source, &count, error);

    source->now.count = 0;
    if (r == CAMP_OK)
        r = camp_fork_count(NULL, &source->now.forks, error);
    for (size_t i = 0; i < count && r == CAMP_OK; i++)
        r = add_process(source, source->pids[i].pid, &before_at, error);
    return r;
}

/* Returns the elapsed time of a thread that is new in this interval: the time since the thread
 * started, but at most the time since start_ns, the start of the interval. The result is at least
 * the time that the scheduler has counted, because start times have a resolution of 10 ms. */
static uint64_t elapsed_of_new(const struct known_thread *thread, uint64_t start_ns)
{
    const uint64_t boot_ns = source_clock_ns(CLOCK_BOOTTIME);
    const uint64_t age_ns = counted_since(thread->started_ns, boot_ns);
    const uint64_t most_ns = counted_since(start_ns, thread->clock.time_ns);
    const uint64_t counted_ns = thread->clock.cpu_ns + thread->clock.run_queue_ns;
    const uint64_t elapsed_ns = age_ns < most_ns ? age_ns : most_ns;

    return elapsed_ns > counted_ns ? elapsed_ns : counted_ns;
}

static int add_row(struct schedstat_source *source, struct known_thread *thread,
                   const struct known_thread *before)
{
    static const struct proc_clock nothing;
    struct frame *frame = &source->frame;
    struct entity *entity = frame_add(frame);
    uint64_t *values, elapsed_ns;
    const size_t at = frame->entity_count - 1;

    if (entity == NULL)
        return CAMP_E_NOMEM;
    *entity = thread->entity;
    entity->flags |= before == NULL ? ENTITY_NEW : 0;
    elapsed_ns = before != NULL ? counted_since(before->clock.time_ns, thread->clock.time_ns)
                                : elapsed_of_new(thread, frame->start_ns);
    values = frame_values(frame, at);
    frame->elapsed_ns[at] = elapsed_ns;
    proc_clock_since(before != NULL ? &before->clock : &nothing, &thread->clock, elapsed_ns,
                     &values[COLUMN_CPU], &values[COLUMN_RUN_QUEUE]);
    values[COLUMN_OFF_CPU] = elapsed_ns - values[COLUMN_CPU] - values[COLUMN_RUN_QUEUE];
    return CAMP_OK;
}

static bool is_selected(const struct schedstat_selection *selection, const struct entity *entity)
{
    bool selected = selection->pid_count == 0;

    if (selection->no_kernel_threads && (entity->flags & ENTITY_KERNEL) != 0)
        return false;
    for (size_t i = 0; i < selection->pid_count && !selected; i++)
        selected = selection->pids[i] == entity->pid;
    return selected;
}

/* Fills the frame. The losses are those of all threads of the machine, not only of selected
 * threads. `partial` counts the threads that ended in the interval, because their time since the
 * previous snapshot is unknown. `unseen` counts the threads that were in no snapshot: the kernel's
 * number of forks minus the number of threads that are new in the snapshot. */
static int fill(struct schedstat_source *source)
{
    struct losses *losses = &source->frame.losses;
    const uint64_t started = counted_since(source->before.forks, source->now.forks);
    size_t at = 0, same = 0, first_seen = 0;
    int r = CAMP_OK;

    frame_clear(&source->frame);
    for (size_t i = 0; i < source->now.count && r == CAMP_OK; i++) {
        struct known_thread *thread = &source->now.threads[i];
        const struct known_thread *before = find(&source->before, &thread->thread, &at);

        if (is_selected(&source->selection, &thread->entity))
            r = add_row(source, thread, before);
        same += before != NULL;
        first_seen += before == NULL;
    }
    *losses = (struct losses){ .partial = source->before.count - same,
                               .unseen = started > first_seen ? started - first_seen : 0 };
    return r;
}

static int next(struct source *base, uint64_t deadline_ns, const struct frame **ret_frame,
                struct camp_error *error)
{
    struct schedstat_source *source = (struct schedstat_source *)base;
    const struct snapshot last = source->before;
    struct frame *frame = &source->frame;
    int r;

    while (source_wait(deadline_ns, SLICE_NS, source->stop))
        ;
    source->before = source->now;
    source->now = last;
    r = read_snapshot(source, error);
    frame->start_ns = frame->end_ns;
    frame->end_ns = source_clock_ns(CLOCK_MONOTONIC);
    frame->wall_clock_ns = (int64_t)source_clock_ns(CLOCK_REALTIME);
    if (r == CAMP_OK)
        r = fill(source);
    if (r == CAMP_OK)
        *ret_frame = frame;
    return r;
}

int threads_schedstat_open(const struct schedstat_selection *selection,
                           const volatile sig_atomic_t *stop, struct source **ret,
                           struct camp_error *error)
{
    struct schedstat_source *source = calloc(1, sizeof *source);
    int r;

    if (source == NULL)
        return CAMP_E_NOMEM;
    source->source = (struct source){ describe, next, close_threads, NULL };
    source->selection = *selection;
    source->stop = stop;
    frame_init(&source->frame, &threads_schedstat_schema);
    r = read_snapshot(source, error);
    source->frame.end_ns = source_clock_ns(CLOCK_MONOTONIC);
    if (r != CAMP_OK) {
        close_threads(&source->source);
        return r;
    }
    *ret = &source->source;
    return CAMP_OK;
}
