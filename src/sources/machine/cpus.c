/*
 * The time of each CPU by the kernel's own counters (Linux: /proc/stat). The columns are disjoint
 * states of the CPU. Some are sampled and others measured, so they do not add up exactly to the
 * elapsed time. The difference is unaccounted time, which is negative if the sum is larger.
 *
 * The provenance of idle and iowait depends on the kernel, so each source has its own columns. On
 * Windows idle time is that of the cycles, which is measured; the time that ticks sample is not
 * shown, because together with the other samples it is always the wall time.
 */
#include "cpu_list.h"
#include "idle_time.h"
#include "sources/source.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

static const struct column columns[] = {
    { "user_ns", "user", "user code", COLUMN_STATE, CAMP_SAMPLED, CLASS_CPU, "usr" },
    { "nice_ns", "nice", "user code of niced tasks", COLUMN_STATE, CAMP_SAMPLED, CLASS_CPU, NULL },
    { "system_ns", "system", "the kernel for a task", COLUMN_STATE, CAMP_SAMPLED, CLASS_CPU,
      "sys" },
    { "irq_ns", "irq", "hard interrupts", COLUMN_STATE, CAMP_SAMPLED, CLASS_CPU, NULL },
    { "softirq_ns", "softirq", "soft interrupts", COLUMN_STATE, CAMP_SAMPLED, CLASS_CPU, "soft" },
    { "guest_ns", "guest", "CPUs of virtual machines", COLUMN_STATE, CAMP_SAMPLED, CLASS_CPU,
      NULL },
    { "guest_nice_ns", "guest nice", "the same, niced", COLUMN_STATE, CAMP_SAMPLED, CLASS_CPU,
      "gnice" },
    { "idle_ns", "idle", "nothing to run", COLUMN_STATE, CAMP_MEASURED, CLASS_IDLE, NULL },
    { "iowait_ns", "iowait", "idle, a disk is waited for", COLUMN_STATE, CAMP_MEASURED, CLASS_IO,
      "iow" },
    { "steal_ns", "steal", "the hypervisor ran something else", COLUMN_STATE, CAMP_MEASURED,
      CLASS_READY, "stl" },
};

_Static_assert(sizeof columns / sizeof columns[0] == CPUS_COLUMN_COUNT, "a column was forgotten");

const struct schema cpus_schema = {
    .name = "cpus",
    .columns = columns,
    .column_count = CPUS_COLUMN_COUNT,
    .state_count = CPUS_COLUMN_COUNT,
};

struct cpus_source {
    /* must be the first member, because functions cast it to struct cpus_source */
    struct source source;
    const volatile sig_atomic_t *stop;
    struct camp_reader reader;
    struct cpu_list before, now;
    bool has_idle_cycles; /* the idle time is measured by cycles */
    struct column columns[CPUS_COLUMN_COUNT];
    struct schema schema;
    struct frame frame;
};

static const struct schema *describe(const struct source *source)
{
    return &((const struct cpus_source *)source)->schema;
}

/* Returns whether the system counts the cycles of the idle threads. */
static bool has_idle_cycles(const struct cpu_list *list)
{
    for (size_t i = 0; i < list->count; i++) {
        if ((list->cpus[i].known & CAMP_CPU_IDLE_CYCLES) != 0)
            return true;
    }
    return false;
}

/* Copies cpus_schema with the provenance that idle and iowait have on this kernel. It is unknown if
 * the kernel's facts cannot be read. The provenance of a column that this system does not count is
 * CAMP_UNKNOWN, too, and so is each column of a system that is imitated. */
static void make_schema(struct cpus_source *source, const struct camp_source *root)
{
    struct camp_kernel kernel = { 0 };
    uint64_t unused_ns;

    (void)camp_kernel_read(root, &kernel, sizeof kernel, NULL);
    memcpy(source->columns, columns, sizeof columns);
    source->columns[CPUS_IDLE].provenance = idle_time_provenance(&kernel);
    source->columns[CPUS_IOWAIT].provenance = source->columns[CPUS_IDLE].provenance;
    source->has_idle_cycles = has_idle_cycles(&source->before);
    if (source->has_idle_cycles)
        source->columns[CPUS_IDLE].provenance = CAMP_MEASURED;
    for (size_t i = 0; i < CPUS_COLUMN_COUNT; i++) {
        if (kernel.imitation ||
            !cpu_list_column(source->before.cpus, (enum cpus_column)i, &unused_ns))
            source->columns[i].provenance = CAMP_UNKNOWN;
    }
    source->schema = cpus_schema;
    source->schema.columns = source->columns;
}

/* Fills the newest row of the frame with the difference of two readings of a CPU. A column that is
 * missing in either reading is 0. */
static void fill_entity(struct cpus_source *source, const struct camp_cpu *before,
                        const struct camp_cpu *now, size_t cpus)
{
    struct frame *frame = &source->frame;
    const size_t at = frame->entity_count - 1;

    cpu_list_entity(&frame->entities[at], now->cpu);
    frame->elapsed_ns[at] = (now->time_ns - before->time_ns) * cpus;
    for (size_t i = 0; i < CPUS_COLUMN_COUNT; i++) {
        uint64_t then_ns, now_ns;

        if (cpu_list_column(before, (enum cpus_column)i, &then_ns) &&
            cpu_list_column(now, (enum cpus_column)i, &now_ns))
            frame_values(frame, at)[i] = counted_since(then_ns, now_ns);
    }
    if (source->has_idle_cycles)
        frame_values(frame, at)[CPUS_IDLE] =
            counted_since(before->idle_cycles_ns, now->idle_cycles_ns);
}

/* A CPU that has not been idle since boot has no idle cycles. */
static bool is_known(const struct cpus_source *source, const struct camp_cpu *before,
                     const struct camp_cpu *now)
{
    return before != NULL && (!source->has_idle_cycles || now->cpu == CAMP_CPU_TOTAL ||
                              (before->known & now->known & CAMP_CPU_IDLE_CYCLES) != 0);
}

/* Makes the first row, the total, the sum of the other rows. The kernel's own total is the same
 * sum, but each number of /proc/stat is truncated to 1/100 s, so its total would contradict the
 * rows. */
static void add_up_total(struct frame *frame)
{
    if (frame->entity_count < 2 || frame->entities[0].id != CAMP_CPU_TOTAL)
        return;
    memset(frame_values(frame, 0), 0, CPUS_COLUMN_COUNT * sizeof(uint64_t));
    frame->elapsed_ns[0] = 0;
    for (size_t i = 1; i < frame->entity_count; i++) {
        frame->elapsed_ns[0] += frame->elapsed_ns[i];
        for (size_t j = 0; j < CPUS_COLUMN_COUNT; j++)
            frame_values(frame, 0)[j] += frame_values(frame, i)[j];
    }
}

static int fill_frame(struct cpus_source *source)
{
    struct frame *frame = &source->frame;
    const struct cpu_list *now = &source->now;

    frame_clear(frame);
    frame->start_ns = source->before.cpus[0].time_ns;
    frame->end_ns = now->cpus[0].time_ns;
    frame->wall_clock_ns = (int64_t)source_clock_ns(CLOCK_REALTIME);
    for (size_t i = 0; i < now->count; i++) {
        const struct camp_cpu *before = cpu_list_find(&source->before, now->cpus[i].cpu);

        if (!is_known(source, before, &now->cpus[i])) {
            frame->losses.partial++;
            continue;
        }
        if (frame_add(frame) == NULL)
            return CAMP_E_NOMEM;
        fill_entity(source, before, &now->cpus[i],
                    now->cpus[i].cpu == CAMP_CPU_TOTAL ? now->count - 1 : 1);
    }
    add_up_total(frame);
    for (size_t i = 0; i < source->before.count; i++)
        frame->losses.partial += cpu_list_find(now, source->before.cpus[i].cpu) == NULL;
    return CAMP_OK;
}

static int next(struct source *base, uint64_t deadline_ns, const struct frame **ret_frame,
                struct camp_error *error)
{
    struct cpus_source *source = (struct cpus_source *)base;
    struct cpu_list swap;
    int r;

    while (source_wait(deadline_ns, UINT64_MAX, source->stop))
        ;
    r = cpu_list_read(&source->now, &source->reader, error);
    if (r == CAMP_OK)
        r = fill_frame(source);
    if (r != CAMP_OK)
        return r;
    swap = source->before;
    source->before = source->now;
    source->now = swap;
    *ret_frame = &source->frame;
    return CAMP_OK;
}

static void close_cpus(struct source *base)
{
    struct cpus_source *source = (struct cpus_source *)base;

    camp_reader_close(&source->reader);
    free(source->before.cpus);
    free(source->now.cpus);
    frame_release(&source->frame);
    free(source);
}

int cpus_source_open(const struct camp_source *root, const volatile sig_atomic_t *stop,
                     struct source **ret, struct camp_error *error)
{
    struct cpus_source *source = calloc(1, sizeof *source);
    int r;

    if (source == NULL)
        return CAMP_E_NOMEM;
    source->source = (struct source){ describe, next, close_cpus };
    source->reader = (struct camp_reader){ { 0 } };
    source->stop = stop;
    frame_init(&source->frame, &source->schema);
    r = camp_reader_open_cpus(&source->reader, root, error);
    if (r == CAMP_OK)
        r = cpu_list_read(&source->before, &source->reader, error);
    if (r != CAMP_OK) {
        close_cpus(&source->source);
        return r;
    }
    make_schema(source, root);
    *ret = &source->source;
    return CAMP_OK;
}
