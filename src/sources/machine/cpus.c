/*
 * The time of each CPU in the columns of the system's own counters (Linux: /proc/stat), as disjoint
 * states of its wall time. Sampled and measured columns together do not add up: the difference is
 * the frame's unaccounted time, which is negative if the columns exceed the wall time.
 */
#include "cpu_list.h"
#include "sources/source.h"

#include <errno.h>
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
    struct source source; /* first: a cpus_source is a source */
    const volatile sig_atomic_t *stop;
    struct camp_reader reader;
    struct cpu_list before, now;
    struct frame frame;
};

static const struct schema *describe(const struct source *source)
{
    (void)source;
    return &cpus_schema;
}

/* The growth of a counter; 0 if one of the readings does not have it. */
static uint64_t grown(uint32_t is_known, uint64_t before, uint64_t now)
{
    return is_known != 0 ? counted_since(before, now) : 0;
}

static void fill_entity(struct frame *frame, const struct camp_cpu *before,
                        const struct camp_cpu *now, size_t cpus)
{
    size_t at = frame->entity_count - 1;
    uint64_t *values = frame_values(frame, at);
    uint32_t known = before->known & now->known;

    cpu_list_entity(&frame->entities[at], now->cpu);
    frame->elapsed_ns[at] = (now->time_ns - before->time_ns) * cpus;
    values[CPUS_USER] = grown(known & CAMP_CPU_USER, before->user_ns, now->user_ns);
    values[CPUS_NICE] = grown(known & CAMP_CPU_NICE, before->nice_ns, now->nice_ns);
    values[CPUS_SYSTEM] = grown(known & CAMP_CPU_SYSTEM, before->system_ns, now->system_ns);
    values[CPUS_IRQ] = grown(known & CAMP_CPU_IRQ, before->irq_ns, now->irq_ns);
    values[CPUS_SOFTIRQ] = grown(known & CAMP_CPU_SOFTIRQ, before->softirq_ns, now->softirq_ns);
    values[CPUS_GUEST] = grown(known & CAMP_CPU_GUEST, before->guest_ns, now->guest_ns);
    values[CPUS_GUEST_NICE] =
        grown(known & CAMP_CPU_GUEST_NICE, before->guest_nice_ns, now->guest_nice_ns);
    values[CPUS_IDLE] = grown(known & CAMP_CPU_IDLE, before->idle_ns, now->idle_ns);
    values[CPUS_IOWAIT] = grown(known & CAMP_CPU_IOWAIT, before->iowait_ns, now->iowait_ns);
    values[CPUS_STEAL] = grown(known & CAMP_CPU_STEAL, before->steal_ns, now->steal_ns);
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

        if (before == NULL) {
            frame->losses.partial++;
            continue;
        }
        if (frame_add(frame) == NULL)
            return CAMP_E_NOMEM;
        fill_entity(frame, before, &now->cpus[i],
                    now->cpus[i].cpu == CAMP_CPU_TOTAL ? now->count - 1 : 1);
    }
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
    source->reader = (struct camp_reader)CAMP_READER_NONE;
    source->stop = stop;
    frame_init(&source->frame, &cpus_schema);
    r = camp_reader_open_cpus(&source->reader, root, error);
    if (r == CAMP_OK)
        r = cpu_list_read(&source->before, &source->reader, error);
    if (r != CAMP_OK) {
        close_cpus(&source->source);
        return r;
    }
    *ret = &source->source;
    return CAMP_OK;
}
