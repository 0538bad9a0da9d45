/*
 * Processes, each with two measures of its CPU time: its cycles, which the scheduler adds up at
 * each switch (measured), and the ticks that were charged to it (sampled).
 *
 * Theory: all living processes are read in one call (camp_process_read_all()). Windows keeps no
 * record of a process that ended, but as long as a program has it open, its final cycles and times
 * can still be read. So each process is opened when it is first listed, and is closed after the
 * interval in which it ended. A process is identified by its pid and the moment of its creation.
 *
 * What is unknown: processes that start and end between two snapshots, and how many they are; the
 * cycles of a process that this user may not open, and its last interval. Cycles need a rate to be
 * times. Without the rate, there are only the sampled times. Wine has neither: it makes its times
 * from those of Linux.
 */
#include "ledger/array.h"
#include "sources/machine/tasks_frame.h"
#include "windows.h"

#include "counters/error.h"
#include "counters/units.h"

#include <stdlib.h>

#define NS_PER_UNIT 100u /* of FILETIME */
#define KERNEL_PID 4     /* the process "System", which has the threads of the kernel */

struct known_process {
    struct camp_process identity;
    HANDLE opened; /* NULL if this user may not open it */
    bool is_new, has_ended;
    bool is_measured, is_sampled; /* the times below are known, and those before them */
    uint64_t measured_ns, sampled_ns;
    uint64_t measured_before_ns, sampled_before_ns;
    char name[CAMP_NAME_SIZE];
};

struct tasks_source {
    /* must be the first member, because functions cast it to struct tasks_source */
    struct tasks_common common;
    const volatile sig_atomic_t *stop;
    enum tasks_tier tier;
    uint64_t cycles_hz;
    struct camp_process_usage *usages; /* [usage_count] the newest snapshot, ascending by pid */
    size_t usage_count, usage_capacity;
    struct known_process *processes; /* [count] ascending by pid; of one pid the oldest first */
    size_t count;
    /* [capacity] memory for the next merge(), which swaps it with `processes` */
    struct known_process *merged;
    size_t capacity; /* of `processes` and `merged` */
    struct frame frame;
};

const char *const tasks_tier_choices[] = { "auto", "cycles", NULL };
const char tasks_tier_help[] =
    "How processes are read: auto (cycles where their rate is known, otherwise only ticks), or "
    "cycles.";
const char tasks_status_help[] =
    "this system measures no CPU time, so that\n"
    "nothing can be compared. This is the case on arm64, whose cycles have no rate,\n"
    "and on Wine.";

static const struct schema *describe(const struct source *source)
{
    (void)source;
    return &tasks_schema;
}

static int read_usages(struct tasks_source *source, struct camp_error *error)
{
    uint32_t wanted = CAMP_TASK_NAME | CAMP_TASK_SAMPLED;

    if (source->tier == TASKS_CYCLES)
        wanted |= CAMP_TASK_CPU;
    for (;;) {
        const int r = camp_process_read_all(NULL, wanted, source->usages, sizeof *source->usages,
                                            source->usage_capacity, &source->usage_count, error);

        if (r != CAMP_E_SPACE)
            return r;
        if (!ARRAY_RESERVE(source->usages, source->usage_capacity, source->usage_count))
            return CAMP_E_NOMEM;
    }
}

static uint64_t native_of(FILETIME time)
{
    return (uint64_t)time.dwHighDateTime << 32 | time.dwLowDateTime;
}

/* Opens a process, unless its pid belongs to another one now. */
static HANDLE open_process(const struct camp_process *identity)
{
    FILETIME created, ended, kernel, user;
    HANDLE opened = OpenProcess(PROCESS_QUERY_LIMITED_INFORMATION, FALSE, (DWORD)identity->pid);

    if (opened != NULL && (!GetProcessTimes(opened, &created, &ended, &kernel, &user) ||
                           native_of(created) != identity->start)) {
        CloseHandle(opened);
        opened = NULL;
    }
    return opened;
}

static void add_new(struct tasks_source *source, size_t *count,
                    const struct camp_process_usage *usage)
{
    struct known_process *process = &source->merged[(*count)++];

    *process = (struct known_process){ .identity = usage->process, .is_new = true };
    process->is_measured = source->tier == TASKS_CYCLES;
    process->is_sampled = source->tier != TASKS_NOTHING;
    if (source->tier != TASKS_NOTHING)
        process->opened = open_process(&usage->process);
    memcpy(process->name, usage->task.name, sizeof process->name);
}

/* A time that is once unknown stays so: its growth could not be computed. */
static void update(struct tasks_source *source, struct known_process *process,
                   const struct camp_task *task)
{
    process->is_measured &= (task->known & CAMP_TASK_CPU) != 0;
    process->is_sampled &= (task->known & CAMP_TASK_SAMPLED) != 0;
    process->measured_ns = task->cpu_ns;
    process->sampled_ns = task->sampled_ns;
    source->common.living++;
    source->common.unmeasured += source->tier == TASKS_CYCLES && !process->is_measured;
}

static void read_final_times(const struct tasks_source *source, struct known_process *process)
{
    FILETIME created, ended, kernel, user;
    ULONG64 cycles = 0;

    process->has_ended = true;
    process->is_measured &=
        process->opened != NULL && QueryProcessCycleTime(process->opened, &cycles) && cycles != 0;
    if (process->is_measured)
        process->measured_ns = cycles / source->cycles_hz * NS_PER_S +
                               cycles % source->cycles_hz * NS_PER_S / source->cycles_hz;
    process->is_sampled &= process->opened != NULL &&
                           GetProcessTimes(process->opened, &created, &ended, &kernel, &user);
    if (process->is_sampled)
        process->sampled_ns = (native_of(kernel) + native_of(user)) * NS_PER_UNIT;
}

/* Merges the newest snapshot, which is sorted by pid, into the known processes. */
static int merge(struct tasks_source *source)
{
    struct known_process *swap;
    size_t known = 0, merged = 0;

    if (!ARRAYS_RESERVE(source->capacity, source->count + source->usage_count,
                        ARRAY(source->processes), ARRAY(source->merged)))
        return CAMP_E_NOMEM;
    source->common.living = source->common.unmeasured = 0;
    for (size_t i = 0; i <= source->usage_count; i++) {
        const struct camp_process_usage *usage =
            i < source->usage_count ? &source->usages[i] : NULL;
        bool found = false;

        while (known < source->count &&
               (usage == NULL || source->processes[known].identity.pid <= usage->process.pid)) {
            struct known_process *process = &source->merged[merged++];

            *process = source->processes[known++];
            found = usage != NULL && process->identity.pid == usage->process.pid &&
                    process->identity.start == usage->process.start;
            if (!found)
                read_final_times(source, process);
        }
        if (usage == NULL)
            break;
        if (!found)
            add_new(source, &merged, usage);
        update(source, &source->merged[merged - 1], &usage->task);
    }
    swap = source->processes;
    source->processes = source->merged;
    source->merged = swap;
    source->count = merged;
    return CAMP_OK;
}

/* The current times become those at the start of the next interval. */
static void start_interval(struct tasks_source *source)
{
    size_t kept = 0;

    for (size_t i = 0; i < source->count; i++) {
        struct known_process process = source->processes[i];

        if (process.has_ended) {
            if (process.opened != NULL)
                CloseHandle(process.opened);
            continue;
        }
        process.is_new = false;
        process.measured_before_ns = process.measured_ns;
        process.sampled_before_ns = process.sampled_ns;
        source->processes[kept++] = process;
    }
    source->count = kept;
}

static uint32_t flags_of(const struct known_process *process)
{
    return (process->is_new ? ENTITY_NEW : 0) | (process->has_ended ? ENTITY_ENDED : 0) |
           (process->identity.pid == KERNEL_PID ? ENTITY_KERNEL : 0) |
           (process->is_measured ? 0 : ENTITY_UNMEASURED) |
           (process->is_sampled ? 0 : ENTITY_UNSAMPLED);
}

/* Adds a row for a process, if it ran, started or ended in the interval. */
static int add_row(struct tasks_source *source, const struct known_process *process)
{
    const uint64_t measured_ns = counted_since(process->measured_before_ns, process->measured_ns);
    const uint64_t sampled_ns = counted_since(process->sampled_before_ns, process->sampled_ns);
    const bool ran =
        (process->is_measured && measured_ns > 0) || (process->is_sampled && sampled_ns > 0);
    struct accuracy sum = { 0 };

    if (process->has_ended && process->opened == NULL)
        source->frame.losses.partial++;
    if (!ran && !process->is_new && !process->has_ended &&
        !tasks_is_kept(&source->common, process->identity.pid))
        return CAMP_OK;
    accuracy_add(&sum, process->is_measured ? (double)measured_ns : 0,
                 process->is_sampled ? (double)sampled_ns : 0);
    return tasks_add_row(&source->frame, process->identity.pid, flags_of(process), 1, process->name,
                         &sum);
}

static int fill_frame(struct tasks_source *source)
{
    int r = CAMP_OK;

    source->frame.losses.partial = source->common.unmeasured;
    for (size_t i = 0; i < source->count && r == CAMP_OK; i++)
        r = add_row(source, &source->processes[i]);
    return r;
}

static int take_snapshot(struct tasks_source *source, struct camp_error *error)
{
    const int r = read_usages(source, error);

    return r == CAMP_OK ? merge(source) : r;
}

static int next(struct source *base, uint64_t deadline_ns, const struct frame **ret_frame,
                struct camp_error *error)
{
    struct tasks_source *source = (struct tasks_source *)base;
    int r;

    while (source_wait(deadline_ns, UINT64_MAX, source->stop))
        ;
    frame_clear(&source->frame);
    source->frame.start_ns = source->frame.end_ns;
    source->frame.end_ns = source_clock_ns(CLOCK_MONOTONIC);
    source->frame.wall_clock_ns = (int64_t)source_clock_ns(CLOCK_REALTIME);
    r = take_snapshot(source, error);
    if (r == CAMP_OK)
        r = fill_frame(source);
    start_interval(source);
    *ret_frame = &source->frame;
    return r;
}

static void close_tasks(struct source *base)
{
    struct tasks_source *source = (struct tasks_source *)base;

    for (size_t i = 0; i < source->count; i++) {
        if (source->processes[i].opened != NULL)
            CloseHandle(source->processes[i].opened);
    }
    free(source->processes);
    free(source->merged);
    free(source->usages);
    frame_release(&source->frame);
    free(source);
}

static int choose_tier(struct tasks_source *source, enum tasks_tier tier, struct camp_error *error)
{
    struct camp_kernel kernel;
    int r = camp_kernel_read(NULL, &kernel, sizeof kernel, error);

    if (r != CAMP_OK)
        return r;
    source->cycles_hz = kernel.cycles_hz;
    source->tier = kernel.imitation        ? TASKS_NOTHING
                   : kernel.cycles_hz == 0 ? TASKS_TICKS
                                           : TASKS_CYCLES;
    if (tier == TASKS_AUTOMATIC || tier == source->tier)
        return CAMP_OK;
    return camp_fail(error, CAMP_E_NOTSUP, 0, "--tier %s: %s", tasks_tiers[tier].name,
                     tier != TASKS_CYCLES ? "Windows has only the tier cycles"
                     : kernel.imitation   ? "Wine counts no cycles"
                                          : "the rate of the cycles is unknown");
}

int tasks_source_open(enum tasks_tier tier, const volatile sig_atomic_t *stop, struct source **ret,
                      enum tasks_tier *ret_tier, struct camp_error *error)
{
    struct tasks_source *source = calloc(1, sizeof *source);
    int r;

    if (source == NULL)
        return CAMP_E_NOMEM;
    source->common.source = (struct source){ describe, next, close_tasks };
    source->stop = stop;
    frame_init(&source->frame, &tasks_schema);
    r = choose_tier(source, tier, error);
    source->frame.end_ns = source_clock_ns(CLOCK_MONOTONIC);
    if (r == CAMP_OK)
        r = take_snapshot(source, error);
    if (r != CAMP_OK) {
        close_tasks(&source->common.source);
        return r;
    }
    start_interval(source);
    *ret_tier = source->tier;
    *ret = &source->common.source;
    return CAMP_OK;
}
