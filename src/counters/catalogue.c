/* Converts the rows of the catalogue to struct camp_counter, and finds the provenance of a counter
 * on this kernel. */
#include "catalogue_row.h"
#include "error.h"
#include "platform.h"
#include "units.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

const char *camp_kind_name(uint32_t kind)
{
    static const char names[][10] = { "cpu",     "memory", "network", "disk",  "partition",
                                      "process", "thread", "kernel",  "system" };

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (kind == 1u << i)
            return names[i];
    }
    return NULL;
}

const char *camp_accounting_name(int accounting)
{
    static const char names[][12] = { "", "tick", "gen", "native", "microstates" };

    return accounting > 0 && (size_t)accounting < sizeof names / sizeof names[0] ? names[accounting]
                                                                                 : NULL;
}

/* The last word of a name is the unit, as in user_ns. A counter whose name has no unit is a count
 * or a fact. */
static const char *unit_of(const struct camp_counter *counter)
{
    static const char units[][8] = { "ns", "bytes", "percent", "hz" };
    const char *last = strrchr(counter->name, '_');

    if (counter->type == CAMP_TYPE_FLAG)
        return "yes/no";
    if (counter->type >= CAMP_TYPE_CHARACTER && counter->type != CAMP_TYPE_CPU)
        return "text";
    for (size_t i = 0; last != NULL && i < sizeof units / sizeof units[0]; i++) {
        if (strcmp(units[i], last + 1) == 0)
            return units[i];
    }
    if (counter->type == CAMP_TYPE_REAL ||
        (counter->nature == CAMP_NATURE_FACT && strcmp(counter->name, "count") != 0))
        return "number";
    return "count";
}

static void unpack_texts(const char *texts, struct camp_counter *ret)
{
    const char **const members[] = { &ret->field, &ret->name, &ret->resolution, &ret->source,
                                     &ret->help };

    for (size_t i = 0; i < sizeof members / sizeof members[0]; i++) {
        *members[i] = texts;
        texts += strlen(texts) + 1;
    }
    if (ret->name[0] == '\0')
        ret->name = ret->field;
    ret->unit = unit_of(ret);
}

static const struct {
    char capability[40];
    char needs[32];
} needs[] = {
    [NEED_TASKSTATS] = { "CAP_NET_ADMIN", "a kernel with taskstats" },
    [NEED_SCHED_INFO] = { "", "a kernel with SCHED_INFO" },
    [NEED_IO] = { "CAP_SYS_PTRACE and CAP_DAC_READ_SEARCH", "" },
    [NEED_ITS_SOURCE] = { "", "its source to be readable here" },
    [NEED_TRACE] = { "CAP_SYS_PTRACE", "" },
};

static const char *text_or_null(const char *text)
{
    return text[0] != '\0' ? text : NULL;
}

static void unpack(const struct catalogue_row *row, struct camp_counter *ret)
{
    *ret = (struct camp_counter){ .kinds = row->kinds,
                                  .record = row->record,
                                  .type = row->type,
                                  .nature = row->nature,
                                  .rule = row->rule,
                                  .offset = row->offset,
                                  .known = row->known,
                                  .wrap_unit_ns = row->wraps_ms * (uint32_t)NS_PER_MS };
    unpack_texts(row->texts, ret);
    if (ret->source[0] == '\0')
        ret->kinds = 0; /* another system counts it */
    ret->capability = text_or_null(needs[row->need].capability);
    ret->needs = text_or_null(needs[row->need].needs);
}

int camp_catalogue_read(struct camp_counter *counters, size_t size, size_t capacity,
                        size_t *ret_count, struct camp_error *error)
{
    struct camp_output output = { counters, size, capacity, 0 };

    if (camp_array_is_null(error, counters, capacity, ret_count))
        return CAMP_E_INVALID;
    for (size_t part = 0; part < CATALOGUE_PARTS; part++) {
        for (size_t i = 0; i < camp_catalogue_parts[part].count; i++) {
            struct camp_counter counter;

            unpack(&camp_catalogue_parts[part].rows[i], &counter);
            camp_output_add(&output, &counter, sizeof counter);
        }
    }
    return camp_output_end(&output, "counters", ret_count, error);
}

/* True if `cpu` is in `list`, such as "1-3,5". */
static bool list_holds(const char *list, int32_t cpu)
{
    while (*list >= '0' && *list <= '9') {
        char *rest;
        unsigned long first = strtoul(list, &rest, 10);
        unsigned long last = *rest == '-' ? strtoul(rest + 1, &rest, 10) : first;

        if (cpu >= 0 && (unsigned long)cpu >= first && (unsigned long)cpu <= last)
            return true;
        if (*rest != ',')
            return false;
        list = rest + 1;
    }
    return false;
}

/* The provenance of the user and system time of a CPU. With CAMP_ACCOUNTING_GEN, the total of all
 * CPUs is CAMP_SAMPLED, because at least one CPU usually is sampled. */
static int tick_provenance(const struct camp_kernel *kernel, int32_t cpu)
{
    if ((kernel->known & CAMP_KERNEL_ACCOUNTING) == 0)
        return CAMP_UNKNOWN;
    switch (kernel->accounting) {
    case CAMP_ACCOUNTING_TICK:
        return CAMP_SAMPLED;
    case CAMP_ACCOUNTING_GEN:
        return list_holds(kernel->measured_cpus, cpu) ? CAMP_MEASURED : CAMP_SAMPLED;
    case CAMP_ACCOUNTING_NATIVE:
    case CAMP_ACCOUNTING_MICROSTATES:
        return CAMP_MEASURED;
    default:
        return CAMP_UNKNOWN;
    }
}

/* The provenance of the idle time of a CPU. Linux 7.2 and later measure only the idle periods in
 * which they stop the tick, and sample the others. On nohz_full CPUs they measure all. */
static int idle_provenance(const struct camp_kernel *kernel, int32_t cpu)
{
    if (kernel->accounting == CAMP_ACCOUNTING_MICROSTATES)
        return CAMP_MEASURED;
    if ((kernel->known & CAMP_KERNEL_SHORT_IDLE) != 0 && kernel->short_idle_sampled == 1)
        return tick_provenance(kernel, cpu);
    if ((kernel->known & CAMP_KERNEL_TICKLESS_IDLE) == 0)
        return CAMP_UNKNOWN;
    if (kernel->tickless_idle != 1)
        return tick_provenance(kernel, cpu);
    return (kernel->known & CAMP_KERNEL_SHORT_IDLE) != 0 ? CAMP_MEASURED : CAMP_UNKNOWN;
}

/* Interrupt time is measured with IRQ_TIME_ACCOUNTING, else like user time. */
static int irq_provenance(const struct camp_kernel *kernel, int32_t cpu)
{
    if ((kernel->known & CAMP_KERNEL_IRQ_TIME) != 0 && kernel->irq_time == 1)
        return CAMP_MEASURED;
    return tick_provenance(kernel, cpu);
}

void camp_cpu_provenance(const struct camp_kernel *kernel, int32_t cpu, uint32_t *ret_measured,
                         uint32_t *ret_sampled)
{
    const struct {
        uint32_t fields;
        int provenance;
    } times[] = {
        { CAMP_CPU_USER | CAMP_CPU_NICE | CAMP_CPU_SYSTEM | CAMP_CPU_GUEST | CAMP_CPU_GUEST_NICE,
          tick_provenance(kernel, cpu) },
        { CAMP_CPU_IDLE | CAMP_CPU_IOWAIT, idle_provenance(kernel, cpu) },
        { CAMP_CPU_IRQ | CAMP_CPU_SOFTIRQ, irq_provenance(kernel, cpu) },
        { CAMP_CPU_STEAL | CAMP_CPU_IDLE_CYCLES, CAMP_MEASURED },
    };

    *ret_measured = *ret_sampled = 0;
    for (size_t i = 0; i < sizeof times / sizeof times[0]; i++) {
        *ret_measured |= times[i].provenance == CAMP_MEASURED ? times[i].fields : 0;
        *ret_sampled |= times[i].provenance == CAMP_SAMPLED ? times[i].fields : 0;
    }
}

int camp_provenance_of(const struct camp_counter *counter, const struct camp_usual *usual,
                       const struct camp_kernel *kernel, int32_t cpu, const struct camp_task *task)
{
    switch (counter->rule) {
    case CAMP_RULE_COUNTED:
        return CAMP_MEASURED;
    case CAMP_RULE_SAMPLED:
        return CAMP_SAMPLED;
    case CAMP_RULE_DERIVED:
        return CAMP_DERIVED;
    case CAMP_RULE_IRQ:
        return irq_provenance(kernel, cpu);
    case CAMP_RULE_TICK:
        return tick_provenance(kernel, cpu);
    case CAMP_RULE_IDLE:
        return idle_provenance(kernel, cpu);
    case CAMP_RULE_CPU:
        return task != NULL ? task->cpu_provenance : CAMP_MEASURED;
    case CAMP_RULE_SPLIT:
        return task != NULL ? task->split_provenance : usual->split;
    case CAMP_RULE_CHILDREN:
        return usual->children;
    default:
        return CAMP_UNKNOWN;
    }
}

int camp_counter_provenance(const struct camp_counter *counter, const struct camp_kernel *kernel,
                            int32_t cpu, const struct camp_task *task)
{
    return camp_provenance_of(counter, &camp_usual, kernel, cpu, task);
}
