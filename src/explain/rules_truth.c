/* Rules about numbers: what the system misreports, and what camp itself does not know. */
#include "rule.h"

#include "counters/units.h"

#include <math.h>
#include <stdio.h>

/* The slowest clock that kernels tick with. A faster one gives more samples, and a smaller error of
 * chance, so a rule that assumes this rate never fires by chance. */
#define TICKS_A_SECOND 100
#define UNSEEN_LEAST 100   /* fewer switches without an event are usual */
#define ERRORS_OF_CHANCE 4 /* a difference of fewer standard errors may be chance */

/* Returns the variance of the count of one tick on all CPUs, of something that runs for used_s a
 * second and has at_once CPUs at most: that of at_once threads that run equally long, each of which
 * a tick finds running or not. Threads that do not run equally long have a smaller one. */
static double variance_of(double used_s, double at_once)
{
    return at_once > 0 ? used_s * fmax(1 - used_s / at_once, 0) : used_s;
}

/* Returns the standard error of the sampled CPU time of a process, in seconds a second. `measured`
 * has the CPU time of `rows`. Threads of one process run at the same time or not as chance has it,
 * so their variances are added up. Where the threads are unknown, as in `check`, a process may run
 * on all CPUs. */
static double chance_of(const struct evidence *evidence, const struct measure *measured,
                        const struct entity *process, double used_s)
{
    const double seconds = evidence_seconds(evidence);
    struct evidence_process threads = { 0 };
    double variance = 0;

    if (process->id != 0 && evidence->kind == EVIDENCE_THREADS)
        threads = evidence_process_find(evidence, process->id);
    for (size_t i = 0; i < threads.count; i++) {
        const size_t row = threads.members[i].row;
        const double present = (double)measured->frame->elapsed_ns[row] / NS_PER_S / seconds;

        variance += variance_of(measure_row(measured, row), present);
    }
    if (threads.count == 0)
        variance = variance_of(used_s, (double)evidence->machine.cpus);
    return seconds > 0 ? sqrt(variance / (seconds * TICKS_A_SECOND)) : 0;
}

void find_sampling_error(const struct evidence *evidence, struct finding *ret)
{
    const bool is_check = evidence->kind == EVIDENCE_CHECK;
    const double seconds = evidence_seconds(evidence);
    const struct frame *rows = &evidence->processes;
    const struct measure sampled = measure_columns(rows, seconds, "sampled_ns");
    const char *column = is_check ? "measured_ns" : "cpu_ns";
    const struct measure measured = measure_columns(rows, seconds, column);
    const struct measure of_rows = measure_columns(&evidence->rows.frame, seconds, column);

    for (size_t i = 0; i < rows->entity_count; i++) {
        const double of_ticks = measure_row(&sampled, i), true_s = measure_row(&measured, i);
        const double error = fabs(of_ticks - true_s);

        if ((rows->entities[i].flags & (ENTITY_UNMEASURED | ENTITY_UNSAMPLED)) != 0 ||
            error <= ret->value || !row_is_task(rows, i) ||
            error < ERRORS_OF_CHANCE * chance_of(evidence, &of_rows, &rows->entities[i], true_s))
            continue;
        ret->value = ret->lost_s = error;
        ret->second = of_ticks;
        finding_name(ret, evidence, rows, i);
        snprintf(ret->other, sizeof ret->other, "%.1f %%", 100 * true_s);
    }
    ret->provenance = CAMP_SAMPLED;
}

/* Fills *ret with I/O wait by /proc/stat and with the waits of threads that it should have: those
 * for disks, and those for pages, which are read from disks, too. */
static void compare_iowait(const struct evidence *evidence, struct finding *ret, double *ret_kernel,
                           double *ret_threads)
{
    const double seconds = evidence_seconds(evidence);
    const struct frame *cpus = &evidence->cpus.frame;
    const struct measure kernel = measure_columns(cpus, seconds, "kernel_wait_ns");
    const char *columns = "disk_ns text_fault_ns data_fault_ns kernel_fault_ns";
    const struct measure disk = measure_columns(&evidence->processes, seconds, columns);
    const struct measure others = measure_columns(&evidence->short_lived.frame, seconds, columns);

    *ret_kernel = 0;
    *ret_threads = measure_all(&disk) + measure_all(&others);
    for (size_t i = 0; i < cpus->entity_count; i++)
        *ret_kernel += cpus->entities[i].id != CAMP_CPU_TOTAL ? measure_row(&kernel, i) : 0;
    finding_name(ret, evidence, disk.frame, measure_most(&disk));
    ret->provenance = measure_provenance(&kernel);
}

void find_hidden_iowait(const struct evidence *evidence, struct finding *ret)
{
    double kernel, threads;

    compare_iowait(evidence, ret, &kernel, &threads);
    ret->second = kernel;
    ret->value = ret->lost_s = fmax(threads - kernel, 0);
}

void find_inflated_iowait(const struct evidence *evidence, struct finding *ret)
{
    double kernel, threads;

    compare_iowait(evidence, ret, &kernel, &threads);
    ret->second = kernel;
    ret->value = ret->lost_s = fmax(kernel - threads, 0);
}

/* Returns whether clock ticks sampled the states. Then the states of one interval may lack some
 * ticks, which the next interval has, so only the sum of the intervals means something. */
static bool has_ticks(const struct schema *schema)
{
    for (size_t i = 0; i < schema->state_count; i++) {
        if (schema->columns[i].provenance == CAMP_SAMPLED)
            return true;
    }
    return false;
}

void find_unaccounted(const struct evidence *evidence, struct finding *ret)
{
    const struct frame *rows = &evidence->rows.frame;
    const double seconds = evidence_seconds(evidence);
    const bool is_sum = has_ticks(rows->schema);
    uint64_t most_ns = 0;
    double elapsed_ns = 0, sum_ns = 0;
    size_t most = SIZE_MAX;

    for (size_t i = 0; i < rows->entity_count; i++) {
        const uint64_t size_ns =
            is_sum ? frame_unaccounted_size_ns(rows, i) : evidence->rows.unaccounted_ns[i];

        elapsed_ns += (double)rows->elapsed_ns[i];
        sum_ns += (double)size_ns;
        if (size_ns > most_ns) {
            most_ns = size_ns;
            most = i;
        }
    }
    finding_name(ret, evidence, rows, most);
    ret->lost_s = seconds > 0 ? sum_ns / NS_PER_S / seconds : 0;
    ret->value = elapsed_ns > 0 ? sum_ns / elapsed_ns : 0;
    ret->provenance = CAMP_DERIVED;
}

/* The scheduler's counts alone never have the last times of ended threads (docs/top.md), and
 * without exit records those of processes are always unknown, too (docs/check.md). Then partial
 * counts are as they must be. */
void find_lost(const struct evidence *evidence, struct finding *ret)
{
    const double seconds = evidence_seconds(evidence);
    const bool is_check = evidence->kind == EVIDENCE_CHECK;
    const bool is_usual =
        is_check || !columns_has(evidence->rows.frame.schema, "voluntary_switches", NULL);

    ret->count = evidence->losses.lost + (is_usual ? 0 : evidence->losses.partial);
    ret->value = (double)ret->count;
    snprintf(ret->other, sizeof ret->other, "%s",
             is_check ? "ended processes" : "ended threads or changed CPUs");
    ret->lost_s = seconds > 0 ? (double)evidence->losses.unread_ns / NS_PER_S / seconds : 0;
}

/* In a frame of threads, losses.unseen counts context switches. */
void find_unseen(const struct evidence *evidence, struct finding *ret)
{
    const double seconds = evidence_seconds(evidence);
    const char *columns = "voluntary_switches involuntary_switches";
    const struct measure rows = measure_columns(&evidence->rows.frame, seconds, columns);
    const struct measure others = measure_columns(&evidence->short_lived.frame, seconds, columns);
    const double switches = (measure_all(&rows) + measure_all(&others)) * seconds;

    ret->count = evidence->losses.unseen;
    ret->value = switches > 0 && ret->count >= UNSEEN_LEAST ? (double)ret->count / switches : 0;
}

void find_own_cost(const struct evidence *evidence, struct finding *ret)
{
    const struct frame *processes = &evidence->processes;
    const struct measure cpu = measure_class(processes, evidence_seconds(evidence), CLASS_CPU);

    for (size_t i = 0; i < processes->entity_count && evidence->own_pid != 0; i++) {
        if (processes->entities[i].id != evidence->own_pid)
            continue;
        ret->value = ret->lost_s = measure_row(&cpu, i);
        finding_name(ret, evidence, processes, i);
    }
    ret->provenance = measure_provenance(&cpu);
}
