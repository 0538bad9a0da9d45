/*
 * The microstates of CPUs, measured at each switch and interrupt. Idle time of a CPU is I/O wait
 * while a thread waits for a disk, if that thread was on this CPU when its wait began. Further
 * columns show I/O wait by other definitions, such as the kernel's.
 */
#include "cpus_states.h"

#include "cpu_list.h"
#include "ledger/array.h"
#include "sources/measured_column.h"
#include "sources/source.h"

#include <stdlib.h>
#include <string.h>

static const struct column columns[] = {
    STATE("user", "user", "usr", CLASS_CPU,
          "a thread outside system calls: in its own code, or a page fault"),
    STATE("system", "system", "sys", CLASS_CPU, "a thread in a system call, or a kernel thread"),
    STATE("irq", "irq", NULL, CLASS_CPU, "interrupts of devices and of the timer"),
    STATE("softirq", "softirq", "soft", CLASS_CPU, "deferred work of interrupts"),
    STATE("iowait", "iowait", "iow", CLASS_IO,
          "idle, and a thread that slept here waits for a disk (own)"),
    STATE("idle", "idle", NULL, CLASS_IDLE, "nothing to run, and nobody of here waits for a disk"),
    COUNTER("any_wait_ns", "any", "idle, and a thread anywhere waits for a disk"),
    COUNTER("kernel_wait_ns", "kernel", "iowait of /proc/stat, as it stands"),
    COUNTER("steal_ns", "steal", "a hypervisor ran something else: within the states"),
    COUNTER("switches", "switches", "context switches that were seen"),
    COUNTER("outside_ns", "outside",
            "part of user and system: threads outside of the PID namespace"),
    COUNTER("outside_system_ns", "outside system", "part of it: in system calls"),
};

_Static_assert(sizeof columns / sizeof columns[0] == CPUS_STATES_COLUMN_COUNT,
               "a column was forgotten");

const struct schema cpus_states_schema = {
    .name = "cpus",
    .columns = columns,
    .column_count = CPUS_STATES_COLUMN_COUNT,
    .state_count = CPUS_STATES_ANY_WAIT,
};

struct reading {
    int32_t cpu;
    uint64_t time_ns, begin_ns;
    uint64_t values[CPUS_STATES_COLUMN_COUNT];
};

struct readings {
    struct reading *list; /* [count] */
    size_t count, capacity;
};

struct cpus_states {
    struct camp_reader reader;
    struct cpu_list kernel;
    struct camp_cpu_states *states;
    size_t state_count, state_capacity;
    struct readings before, now;
    struct column columns[CPUS_STATES_COLUMN_COUNT];
    struct schema schema;
    struct frame frame;
};

/* The provenance of a column is CAMP_UNKNOWN if the session does not know it. */
static void note_known(struct cpus_states *cpus, const struct camp_states *session)
{
    static const struct {
        enum cpus_states_column column;
        uint32_t known; /* enum camp_cpu_states_field */
    } fields[] = {
        { CPUS_STATES_SYSTEM, CAMP_CPU_STATES_SYSTEM },
        { CPUS_STATES_IRQ, CAMP_CPU_STATES_IRQ },
        { CPUS_STATES_SOFTIRQ, CAMP_CPU_STATES_SOFTIRQ },
        { CPUS_STATES_IOWAIT, CAMP_CPU_STATES_OWN_WAIT },
        { CPUS_STATES_ANY_WAIT, CAMP_CPU_STATES_ANY_WAIT },
        { CPUS_STATES_SWITCHES, CAMP_CPU_STATES_SWITCHES },
        { CPUS_STATES_OUTSIDE, CAMP_CPU_STATES_OUTSIDE },
        { CPUS_STATES_OUTSIDE_SYSTEM, CAMP_CPU_STATES_OUTSIDE_SYSTEM },
    };
    struct camp_states_known known = { 0 };

    camp_states_known(session, &known, sizeof known, NULL);
    for (size_t i = 0; i < ARRAY_COUNT(fields); i++)
        cpus->columns[fields[i].column].provenance =
            (known.cpu & fields[i].known) != 0 ? CAMP_MEASURED : CAMP_UNKNOWN;
}

static int read_states(struct cpus_states *cpus, struct camp_states *session,
                       struct camp_error *error)
{
    int r;

    do {
        r = camp_states_cpus(session, cpus->states, sizeof *cpus->states, cpus->state_capacity,
                             &cpus->state_count, error);
        if (r == CAMP_E_SPACE &&
            !ARRAY_RESERVE(cpus->states, cpus->state_capacity, cpus->state_count))
            return CAMP_E_NOMEM;
    } while (r == CAMP_E_SPACE);
    return r;
}

static int compare_ids(int32_t cpu, int32_t other)
{
    return (cpu > other) - (cpu < other);
}

static int compare_states(const void *key, const void *element)
{
    return compare_ids(*(const int32_t *)key, ((const struct camp_cpu_states *)element)->cpu);
}

static int compare_reading(const void *key, const void *element)
{
    return compare_ids(*(const int32_t *)key, ((const struct reading *)element)->cpu);
}

static const struct camp_cpu_states *states_of(const struct cpus_states *cpus, int32_t cpu)
{
    return ARRAY_FIND(&cpu, cpus->states, cpus->state_count, compare_states);
}

/* Makes a reading of one CPU. Before the CPU's first switch `switched` is NULL: the reading then
 * has only the kernel's own counters, and begin_ns is 0. */
static struct reading reading_of(const struct camp_cpu *kernel,
                                 const struct camp_cpu_states *switched)
{
    const struct camp_cpu_states none = { .cpu = kernel->cpu, .time_ns = kernel->time_ns };
    const struct camp_cpu_states *states = switched != NULL ? switched : &none;
    const uint64_t own = states->own_wait_ns;
    struct reading reading = { states->cpu, states->time_ns, states->begin_ns, { 0 } };

    reading.values[CPUS_STATES_USER] =
        states->busy_ns -
        (states->system_ns < states->busy_ns ? states->system_ns : states->busy_ns);
    reading.values[CPUS_STATES_SYSTEM] = states->busy_ns - reading.values[CPUS_STATES_USER];
    reading.values[CPUS_STATES_IRQ] = states->irq_ns;
    reading.values[CPUS_STATES_SOFTIRQ] = states->softirq_ns;
    reading.values[CPUS_STATES_IOWAIT] = own;
    reading.values[CPUS_STATES_IDLE] = states->idle_ns - own;
    reading.values[CPUS_STATES_ANY_WAIT] = states->any_wait_ns;
    reading.values[CPUS_STATES_KERNEL_WAIT] = kernel->iowait_ns;
    reading.values[CPUS_STATES_STEAL] = kernel->steal_ns;
    reading.values[CPUS_STATES_SWITCHES] = states->switches;
    reading.values[CPUS_STATES_OUTSIDE] = states->outside_ns;
    reading.values[CPUS_STATES_OUTSIDE_SYSTEM] = states->outside_system_ns;
    return reading;
}

/* Makes the readings of all online CPUs, which are the CPUs in the kernel's list. In microstates an
 * offline CPU looks like a CPU without switches. */
static int read_all(struct cpus_states *cpus)
{
    if (!ARRAY_RESERVE(cpus->now.list, cpus->now.capacity, cpus->kernel.count))
        return CAMP_E_NOMEM;
    cpus->now.count = 0;
    for (size_t i = 0; i < cpus->kernel.count; i++) {
        const struct camp_cpu *kernel = &cpus->kernel.cpus[i];

        if (kernel->cpu != CAMP_CPU_TOTAL)
            cpus->now.list[cpus->now.count++] = reading_of(kernel, states_of(cpus, kernel->cpu));
    }
    return CAMP_OK;
}

static const struct reading *find(const struct readings *readings, int32_t cpu)
{
    return ARRAY_FIND(&cpu, readings->list, readings->count, compare_reading);
}

static void add_to_total(struct frame *frame, size_t at)
{
    uint64_t *total = frame_values(frame, 0);
    const uint64_t *values = frame_values(frame, at);

    frame->elapsed_ns[0] += frame->elapsed_ns[at];
    for (size_t i = 0; i < CPUS_STATES_COLUMN_COUNT; i++)
        total[i] += values[i];
}

static int add_cpu(struct frame *frame, const struct reading *before, const struct reading *now)
{
    struct entity *entity = frame_add(frame);
    const size_t at = frame->entity_count - 1;
    uint64_t *values;

    if (entity == NULL)
        return CAMP_E_NOMEM;
    cpu_list_entity(entity, now->cpu);
    frame->elapsed_ns[at] = now->time_ns - before->time_ns;
    values = frame_values(frame, at);
    states_since(values, before->values, now->values, CPUS_STATES_ANY_WAIT);
    for (size_t i = CPUS_STATES_ANY_WAIT; i < CPUS_STATES_COLUMN_COUNT; i++)
        values[i] = counted_since(before->values[i], now->values[i]);
    add_to_total(frame, at);
    return CAMP_OK;
}

/* A CPU is measured from its first switch on, because it is unknown what it did before. A CPU that
 * came online or went offline within the interval has no row, and is counted in losses.partial. */
static int fill_frame(struct cpus_states *cpus)
{
    struct frame *frame = &cpus->frame;
    int r = CAMP_OK;

    frame_clear(frame);
    frame->start_ns = frame->end_ns;
    frame->end_ns = cpus->kernel.cpus[0].time_ns;
    frame->wall_clock_ns = (int64_t)source_clock_ns(CLOCK_REALTIME);
    if (cpus->before.count == 0)
        return CAMP_OK;
    if (frame_add(frame) == NULL)
        return CAMP_E_NOMEM;
    cpu_list_entity(&frame->entities[0], CAMP_CPU_TOTAL);
    for (size_t i = 0; i < cpus->now.count && r == CAMP_OK; i++) {
        const struct reading *now = &cpus->now.list[i];
        const struct reading *before = find(&cpus->before, now->cpu);
        struct reading first;

        if (before == NULL || now->begin_ns == 0) {
            frame->losses.partial++;
            continue;
        }
        first = *before;
        if (before->begin_ns == 0)
            first.time_ns = now->begin_ns;
        r = add_cpu(frame, &first, now);
        frame->entities[0].count = (uint32_t)frame->entity_count - 1;
    }
    for (size_t i = 0; i < cpus->before.count; i++)
        frame->losses.partial += find(&cpus->now, cpus->before.list[i].cpu) == NULL;
    return r;
}

int cpus_states_read(struct cpus_states *cpus, struct camp_states *session,
                     struct camp_error *error)
{
    const struct readings last = cpus->before;
    int r;

    cpus->before = cpus->now;
    cpus->now = last;
    r = cpu_list_read(&cpus->kernel, &cpus->reader, error);
    if (r == CAMP_OK)
        r = read_states(cpus, session, error);
    note_known(cpus, session);
    if (r == CAMP_OK)
        r = read_all(cpus);
    return r == CAMP_OK ? fill_frame(cpus) : r;
}

const struct frame *cpus_states_frame(const struct cpus_states *cpus)
{
    return &cpus->frame;
}

void cpus_states_close(struct cpus_states *cpus)
{
    if (cpus == NULL)
        return;
    camp_reader_close(&cpus->reader);
    free(cpus->kernel.cpus);
    free(cpus->states);
    free(cpus->before.list);
    free(cpus->now.list);
    frame_release(&cpus->frame);
    free(cpus);
}

int cpus_states_open(struct cpus_states **ret, struct camp_error *error)
{
    struct cpus_states *cpus = calloc(1, sizeof *cpus);
    int r;

    if (cpus == NULL)
        return CAMP_E_NOMEM;
    cpus->reader = (struct camp_reader){ { 0 } };
    memcpy(cpus->columns, columns, sizeof columns);
    cpus->schema = cpus_states_schema;
    cpus->schema.columns = cpus->columns;
    frame_init(&cpus->frame, &cpus->schema);
    r = camp_reader_open_cpus(&cpus->reader, NULL, error);
    if (r == CAMP_OK)
        *ret = cpus;
    else
        cpus_states_close(cpus);
    return r;
}
