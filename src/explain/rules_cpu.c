/* Rules about CPUs: who waits for one, who uses them, and for what. */
#include "rule.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define FULL 0.9             /* the share of their time from which the CPUs together are full */
#define CPU_FULL 0.9         /* the same of one CPU beside an idle one */
#define CPU_IDLE 0.5         /* the share from which such a CPU is idle */
#define WAITING_SHARE 0.1    /* the share of its time from which a thread waits for that CPU */
#define BESIDE_MOST 0.5      /* how much the other threads of a process run beside a serial one */
#define SHORT_LIVED_LEAST 10 /* threads a second, below which they are no storm */
#define STARVED_LEAST_S                                                                            \
    0.3                     /* seconds a second on the run queue, below which it is no starvation  \
                             */
#define KERNEL_FACTOR 2     /* system time is notable from so many times the user time */
#define SLICE_MOST_S 100e-6 /* CPU time for each switch, above which slices are not small */

static struct measure class_of_processes(const struct evidence *evidence, enum column_class class)
{
    return measure_class(&evidence->processes, evidence_seconds(evidence), class);
}

/* The time of all entities in a class, also of short-lived threads. */
static double all_in(const struct evidence *evidence, enum column_class class)
{
    const double seconds = evidence_seconds(evidence);
    const struct measure rows = measure_class(&evidence->rows.frame, seconds, class);
    const struct measure others = measure_class(&evidence->short_lived.frame, seconds, class);

    return measure_all(&rows) + measure_all(&others);
}

/* Names the process that ran most in ret->other. */
static void name_busiest(struct finding *ret, const struct evidence *evidence)
{
    const struct measure cpu = class_of_processes(evidence, CLASS_CPU);
    const size_t most = measure_most_task(&cpu);

    snprintf(ret->other, sizeof ret->other, "others");
    finding_name_other(ret, evidence, cpu.frame, most);
}

/* Says who ran most, unless only some processes are known. */
static void add_busiest(struct finding *ret, const struct evidence *evidence)
{
    if (evidence->is_part)
        return;
    name_busiest(ret, evidence);
    if (strcmp(ret->other, ret->who) == 0)
        snprintf(ret->clause, sizeof ret->clause, " and ran most");
    else
        snprintf(ret->clause, sizeof ret->clause, ", %s ran most", ret->other);
}

void find_full_cpus(const struct evidence *evidence, struct finding *ret)
{
    const struct evidence_machine *machine = &evidence->machine;
    const struct measure ready = class_of_processes(evidence, CLASS_READY);

    finding_sum(ret, evidence, &ready);
    finding_explain(ret, evidence, ready.frame, measure_most(&ready), 1u << CAMP_STATE_RUN_QUEUE);
    add_busiest(ret, evidence);
    ret->lost_s = all_in(evidence, CLASS_READY);
    ret->second = machine->busy;
    ret->count = machine->cpus;
    ret->value = machine->busy >= FULL ? ret->lost_s / (double)machine->cpus : 0;
}

void find_uneven_cpus(const struct evidence *evidence, struct finding *ret)
{
    const struct evidence_machine *machine = &evidence->machine;
    const struct frame *rows = &evidence->rows.frame;
    const struct measure ready = measure_class(rows, evidence_seconds(evidence), CLASS_READY);
    size_t found = SIZE_MAX;
    double most = 0;

    for (size_t i = 0; i < rows->entity_count; i++) {
        const double waited = measure_row(&ready, i);

        if (rows->entities[i].count != 1 || measure_share(&ready, i) < WAITING_SHARE)
            continue;
        ret->lost_s += waited;
        if (waited <= most)
            continue;
        most = waited;
        found = i;
    }
    finding_name(ret, evidence, rows, found);
    finding_explain(ret, evidence, rows, found, 1u << CAMP_STATE_RUN_QUEUE);
    ret->provenance = measure_provenance(&ready);
    snprintf(ret->other, sizeof ret->other, "CPU %" PRId64, machine->emptiest.id);
    ret->count = (uint64_t)machine->fullest.id;
    ret->second = machine->emptiest.share;
    ret->lost_s = fmin(ret->lost_s, machine->emptiest.share);
    ret->value =
        machine->fullest.share >= CPU_FULL && machine->emptiest.share >= CPU_IDLE ? ret->lost_s : 0;
}

void find_throttled(const struct evidence *evidence, struct finding *ret)
{
    const struct measure throttled = class_of_processes(evidence, CLASS_THROTTLED);

    finding_sum(ret, evidence, &throttled);
    finding_explain(ret, evidence, throttled.frame, measure_most(&throttled),
                    1u << CAMP_STATE_RUN_QUEUE);
}

void find_stolen(const struct evidence *evidence, struct finding *ret)
{
    const struct frame *cpus = &evidence->cpus.frame;
    const struct measure steal = measure_columns(cpus, evidence_seconds(evidence), "steal_ns");

    for (size_t i = 0; i < cpus->entity_count; i++)
        ret->lost_s += cpus->entities[i].id != CAMP_CPU_TOTAL ? measure_row(&steal, i) : 0;
    ret->count = evidence->machine.cpus;
    ret->provenance = measure_provenance(&steal);
    if (ret->count > 0)
        ret->value = ret->lost_s / (double)ret->count;
}

/* Returns the row of a process's thread that alone runs much, or SIZE_MAX if there is none. */
static size_t serial_thread(const struct measure *cpu, const struct evidence_process *process)
{
    const struct entity *entities = cpu->frame->entities;
    size_t found = SIZE_MAX;
    double most = 0, beside = 0;

    for (size_t i = 0; i < process->count; i++) {
        const size_t row = process->members[i].row;
        const double used = measure_row(cpu, row);

        beside = fmax(beside, fmin(used, most));
        if (used <= most)
            continue;
        most = used;
        found = row;
    }
    if (found == SIZE_MAX || beside > BESIDE_MOST * most || most > 1.05 ||
        entities[found].count != 1 || (entities[found].flags & ENTITY_KERNEL) != 0 ||
        !row_is_task(cpu->frame, found))
        return SIZE_MAX;
    return found;
}

void find_serial(const struct evidence *evidence, struct finding *ret)
{
    const struct evidence_machine *machine = &evidence->machine;
    const struct frame *rows = &evidence->rows.frame;
    const struct measure cpu = measure_class(rows, evidence_seconds(evidence), CLASS_CPU);
    const double idle = (1 - machine->busy) * (double)machine->cpus;
    struct evidence_process process = { 0 };
    double most = 0;

    while ((process = evidence_process_next(evidence, &process)).count > 0) {
        const size_t row = serial_thread(&cpu, &process);

        if (row == SIZE_MAX || measure_row(&cpu, row) <= most)
            continue;
        most = measure_row(&cpu, row);
        finding_name(ret, evidence, rows, row);
    }
    ret->provenance = measure_provenance(&cpu);
    ret->second = idle;
    ret->lost_s = fmin(most, idle);
    ret->value = idle >= CPU_IDLE ? most : 0;
}

void find_short_lived(const struct evidence *evidence, struct finding *ret)
{
    const double seconds = evidence_seconds(evidence);
    const struct frame *rows = &evidence->short_lived.frame;
    const bool is_check = evidence->kind == EVIDENCE_CHECK;
    const struct measure cpu = is_check ? measure_columns(rows, seconds, "measured_ns")
                                        : measure_class(rows, seconds, CLASS_CPU);
    const struct measure others =
        is_check ? measure_columns(&evidence->rows.frame, seconds, "measured_ns")
                 : measure_class(&evidence->rows.frame, seconds, CLASS_CPU);
    const double used = measure_all(&cpu), all = used + measure_all(&others);

    finding_sum(ret, evidence, &cpu);
    for (size_t i = 0; i < rows->entity_count; i++)
        ret->count += rows->entities[i].count;
    ret->second = seconds > 0 ? (double)ret->count / seconds : 0;
    snprintf(ret->other, sizeof ret->other, "%.3g s",
             seconds / fmax((double)evidence->intervals, 1));
    ret->value = all > 0 && ret->second >= SHORT_LIVED_LEAST ? used / all : 0;
}

/* The priority of a thread is unknown here. That of a kernel thread is often high. */
static const char *why_starved(const struct entity *entity)
{
    return (entity->flags & ENTITY_KERNEL) != 0
               ? "It is a kernel thread, and may be bound to a CPU on which others run."
               : "Its priority may be low (nice, weight, policy), or its CPU has more threads than "
                 "others.";
}

/* Without priorities each thread has about the same share of its ready time on a CPU. The value is
 * how far below the share of all threads that of one thread is. */
void find_starved(const struct evidence *evidence, struct finding *ret)
{
    const struct frame *rows = &evidence->rows.frame;
    const double seconds = evidence_seconds(evidence);
    const struct measure ready = measure_class(rows, seconds, CLASS_READY);
    const struct measure cpu = measure_class(rows, seconds, CLASS_CPU);
    const double all = all_in(evidence, CLASS_CPU);
    const double fair = all > 0 ? all / (all + all_in(evidence, CLASS_READY)) : 1;
    size_t found = SIZE_MAX;

    for (size_t i = 0; i < rows->entity_count; i++) {
        const double waited = measure_row(&ready, i), used = measure_row(&cpu, i);
        const double below = waited > 0 ? 1 - used / (waited + used) / fair : 0;

        if (rows->entities[i].count != 1 || waited < STARVED_LEAST_S || below <= ret->value)
            continue;
        ret->value = below;
        ret->lost_s = waited;
        ret->second = used;
        found = i;
    }
    finding_name(ret, evidence, rows, found);
    finding_explain(ret, evidence, rows, found, 1u << CAMP_STATE_RUN_QUEUE);
    name_busiest(ret, evidence);
    if (found != SIZE_MAX)
        snprintf(ret->clause, sizeof ret->clause, "%s", why_starved(&rows->entities[found]));
    ret->provenance = measure_provenance(&ready);
}

void find_interrupts(const struct evidence *evidence, struct finding *ret)
{
    const struct frame *cpus = &evidence->cpus.frame;
    const struct measure busy =
        measure_columns(cpus, evidence_seconds(evidence), "irq_ns softirq_ns");

    for (size_t i = 0; i < cpus->entity_count; i++) {
        const double share = measure_share(&busy, i);

        if (cpus->entities[i].id == CAMP_CPU_TOTAL || share <= ret->value)
            continue;
        ret->value = ret->lost_s = share;
        snprintf(ret->who, sizeof ret->who, "CPU %" PRId64, cpus->entities[i].id);
    }
    ret->provenance = measure_provenance(&busy);
}

struct candidates {
    const struct evidence *evidence;
    struct measure measure, user, system;
    bool (*is_meant)(const struct candidates *candidates, size_t row);
};

/* Chooses the process with the largest `measure` of those that are no kernel threads and for which
 * is_meant() holds. Sets the value to the measure. Returns its row, or SIZE_MAX. */
static size_t choose(const struct candidates *candidates, struct finding *ret)
{
    const struct frame *processes = &candidates->evidence->processes;
    size_t found = SIZE_MAX;

    for (size_t i = 0; i < processes->entity_count; i++) {
        const double value = measure_row(&candidates->measure, i);

        if ((processes->entities[i].flags & ENTITY_KERNEL) != 0 || value <= ret->value ||
            !row_is_task(processes, i) || !candidates->is_meant(candidates, i))
            continue;
        ret->value = value;
        found = i;
    }
    if (found != SIZE_MAX)
        ret->lost_s = measure_row(&candidates->system, found);
    finding_name(ret, candidates->evidence, processes, found);
    ret->provenance = measure_provenance(&candidates->measure);
    return found;
}

static struct candidates candidates_of(const struct evidence *evidence, const char *columns,
                                       bool (*is_meant)(const struct candidates *, size_t))
{
    return (struct candidates){ evidence, evidence_of_processes(evidence, columns),
                                evidence_of_processes(evidence, "user_ns"),
                                evidence_of_processes(evidence, "system_ns trap_ns"), is_meant };
}

static bool is_mostly_system(const struct candidates *candidates, size_t row)
{
    return measure_row(&candidates->measure, row) >=
           KERNEL_FACTOR * measure_row(&candidates->user, row);
}

void find_system_time(const struct evidence *evidence, struct finding *ret)
{
    const struct candidates candidates = candidates_of(evidence, "system_ns", is_mostly_system);
    const size_t row = choose(&candidates, ret);

    ret->lost_s = ret->value;
    if (row != SIZE_MAX)
        ret->second = measure_row(&candidates.user, row);
}

static bool is_any(const struct candidates *candidates, size_t row)
{
    (void)candidates, (void)row;
    return true;
}

void find_system_calls(const struct evidence *evidence, struct finding *ret)
{
    const struct candidates candidates = candidates_of(evidence, "system_calls", is_any);
    const size_t row = choose(&candidates, ret);

    if (row != SIZE_MAX && ret->value > 0)
        ret->second = ret->lost_s / ret->value;
}

/* Returns the CPU time for each context switch of a process. */
static double slice_s(const struct candidates *candidates, size_t row)
{
    const double switches = measure_row(&candidates->measure, row);

    return (measure_row(&candidates->user, row) + measure_row(&candidates->system, row)) /
           fmax(switches, 1e-9);
}

static bool has_small_slices(const struct candidates *candidates, size_t row)
{
    return slice_s(candidates, row) <= SLICE_MOST_S;
}

void find_small_slices(const struct evidence *evidence, struct finding *ret)
{
    const struct candidates candidates =
        candidates_of(evidence, "voluntary_switches involuntary_switches", has_small_slices);
    const size_t row = choose(&candidates, ret);

    if (row != SIZE_MAX)
        ret->second = slice_s(&candidates, row);
}

/* Where the kernel's time of a page fault is not known as a state, it is a part of user time. */
void find_page_faults(const struct evidence *evidence, struct finding *ret)
{
    const bool has_traps = columns_has(evidence->rows.frame.schema, "trap_ns", NULL);
    const struct measure cpu = evidence_of_processes(evidence, has_traps ? "trap_ns" : "user_ns");
    const struct candidates candidates =
        candidates_of(evidence, "minor_faults major_faults", is_any);
    const size_t row = choose(&candidates, ret);

    if (row != SIZE_MAX)
        ret->lost_s = measure_row(&cpu, row);
}
