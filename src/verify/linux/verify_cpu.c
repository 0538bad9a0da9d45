/*
 * Verifies CPU time under the loads of the CAMP paper: idle, half of a CPU, a full CPU, and two
 * processes of 30 % each.
 *
 * Processes: the library samples the utilisation of the process every 50 ms. The expected value
 * comes from the CPU clock of the process. The samples have no gaps, and the process sleeps at the
 * first and the last sample. So the weighted mean of the samples covers the same time as the clock.
 * The 95 % interval of the mean comes from the scatter of the samples.
 *
 * Machine: the busy time of all CPUs is the wall time without idle and iowait. The expected value
 * is the CPU time of all processes, including the loads and exited processes (verify_witness.c). So
 * other activity does not disturb the trial. The allowed error has three parts: the resolution of
 * /proc/stat (1/100 s) at both ends, up to a tick of each task that runs during a reading, and the
 * rounding of cutime. The rows are not tested on kernels that sample idle time.
 */
#include "verify_trials.h"

#include "counters/clock.h"
#include "load/load.h"
#include "load/load_tools.h"
#include "program/command.h"
#include "program/tick.h"
#include "sources/machine/cpu_list.h"
#include "verify_subject.h"
#include "verify_witness.h"

#include <math.h>
#include <stdlib.h>
#include <time.h>

#define DURATION_NS (800ull * NS_PER_MS)
#define SAMPLE_NS (50ull * NS_PER_MS)
#define SAMPLES (DURATION_NS / SAMPLE_NS)
#define STUDENT_95 2.13 /* 97.5 % point of Student's t for 15 degrees of freedom */

struct samples {
    size_t count;
    double percent[SAMPLES];
    double weight[SAMPLES]; /* length of each sample in ns */
};

/* readings of CLOCK_MONOTONIC before and after a call of the library */
struct moment {
    uint64_t before_ns, after_ns;
};

struct watched {
    struct subject subject;
    struct load_cpu_plan plan;
    struct camp_task previous;
    struct samples samples;
    struct moment first, last;
    /* `most` is the growth of the load's counts since `mark` (subject_since()). */
    struct act_record mark, most;
    struct camp_error error;
};

/* Times are in ns. */
struct machine {
    double wall;
    size_t cpus;
    double busy;     /* busy time of all CPUs, from the line "cpu" of /proc/stat */
    double sum_busy; /* sum of the busy times in the lines "cpuN" */
    double steal;
    struct camp_cpu pinned_first; /* first reading of the CPU to which a load is pinned */
    struct camp_utilisation pinned;
    struct testimony seen;
    struct camp_error seen_error;
    struct camp_error error, pinned_error;
};

static int act_sleep(const void *plan, void *truth, struct camp_error *error)
{
    (void)truth;
    (void)error;
    sleep_until(now_ns(CLOCK_MONOTONIC) + ((const struct load_cpu_plan *)plan)->duration_ns);
    return CAMP_OK;
}

static double mean(const struct samples *samples)
{
    double sum = 0, weight = 0;

    for (size_t i = 0; i < samples->count; i++) {
        sum += samples->percent[i] * samples->weight[i];
        weight += samples->weight[i];
    }
    return weight > 0 ? sum / weight : NAN;
}

static double confidence(const struct samples *samples)
{
    double middle = mean(samples), square = 0, count = (double)samples->count;

    for (size_t i = 0; i < samples->count; i++)
        square += pow(samples->percent[i] - middle, 2);
    return count > 1 ? STUDENT_95 * sqrt(square / (count - 1) / count) : NAN;
}

static void take_sample(struct watched *watched)
{
    struct samples *samples = &watched->samples;
    struct camp_task_utilisation now;

    if (watched->error.code != CAMP_OK || samples->count == SAMPLES)
        return;
    watched->last.before_ns = now_ns(CLOCK_MONOTONIC);
    camp_process_utilisation(NULL, &watched->subject.process, 0, &watched->previous, &now,
                             sizeof now, &watched->error);
    watched->last.after_ns = now_ns(CLOCK_MONOTONIC);
    if (watched->error.code != CAMP_OK)
        return;
    samples->percent[samples->count] = now.cpu_percent;
    samples->weight[samples->count++] = (double)now.elapsed_ns;
}

struct readings {
    struct camp_reader reader;
    struct cpu_list before, after;
};

static int readings_open(struct readings *readings, struct camp_error *error)
{
    int r = camp_reader_open_cpus(&readings->reader, NULL, error);

    /* Reads both lists once, so that no later reading allocates memory. */
    if (r == CAMP_OK)
        r = cpu_list_read(&readings->before, &readings->reader, error);
    return r == CAMP_OK ? cpu_list_read(&readings->after, &readings->reader, error) : r;
}

static void readings_release(struct readings *readings)
{
    camp_reader_close(&readings->reader);
    free(readings->before.cpus);
    free(readings->after.cpus);
}

static double busy_ns(const struct camp_utilisation *cpu, double wall)
{
    return cpu->measured_busy_percent / 100 * wall;
}

static void judge_cpus(struct machine *machine, const struct readings *readings)
{
    const struct camp_cpu *all = readings->before.cpus, *all_after = readings->after.cpus;
    struct camp_utilisation of = { 0 };
    int r;

    machine->cpus = readings->after.count - 1;
    r = readings->before.count == readings->after.count
            ? camp_cpu_difference(all, all_after, machine->cpus, NULL, &of, sizeof of)
            : CAMP_E_GONE;
    machine->wall = (double)of.elapsed_ns;
    machine->busy = busy_ns(&of, machine->wall * (double)machine->cpus);
    for (size_t i = 1; i <= machine->cpus && r == CAMP_OK; i++) {
        const struct camp_cpu *before = &all[i], *after = &all_after[i];

        r = before->cpu == after->cpu ? camp_cpu_difference(before, after, 1, NULL, &of, sizeof of)
                                      : CAMP_E_GONE;
        machine->sum_busy += busy_ns(&of, (double)of.elapsed_ns);
        machine->steal += of.steal_percent / 100 * (double)of.elapsed_ns;
    }
    machine->error.code = r;
}

struct cpu_reading {
    struct camp_reader *reader;
    struct cpu_list *list;
    struct camp_error error;
};

static void read_cpus(void *context)
{
    struct cpu_reading *reading = context;

    reading->error.code = cpu_list_read(reading->list, reading->reader, &reading->error);
}

/* Reads all processes and all CPUs at one moment. If the processes cannot be read, reads only the
 * CPUs. */
static void read_machine(struct machine *machine, struct witness *witness,
                         struct camp_reader *reader, struct cpu_list *list)
{
    struct cpu_reading reading = { .reader = reader, .list = list };

    if (machine->seen_error.code != CAMP_OK ||
        witness_read(witness, read_cpus, &reading, &machine->seen_error) != CAMP_OK)
        read_cpus(&reading);
    if (machine->error.code == CAMP_OK)
        machine->error = reading.error;
}

/* Reads the CPU to which the load is pinned. machine->pinned covers the time since the first of
 * these readings. */
static void sample_pinned(struct machine *machine, int32_t cpu)
{
    struct camp_cpu now;

    if (machine->pinned_error.code != CAMP_OK ||
        camp_cpu_read(NULL, cpu, &now, sizeof now, &machine->pinned_error) != CAMP_OK)
        return;
    if (machine->pinned_first.time_ns == 0)
        machine->pinned_first = now;
    else
        machine->pinned_error.code = camp_cpu_difference(&machine->pinned_first, &now, 1, NULL,
                                                         &machine->pinned, sizeof machine->pinned);
}

static int sample_all(struct watched *watched, size_t count, struct machine *machine,
                      struct camp_error *error)
{
    uint64_t now = now_ns(CLOCK_MONOTONIC), end = now + DURATION_NS;
    int r = CAMP_OK;

    for (size_t i = 0; i < count; i++)
        subject_start(&watched[i].subject);
    for (now += SAMPLE_NS; now < end && sleep_until(now); now += SAMPLE_NS) {
        for (size_t i = 0; i < count; i++)
            take_sample(&watched[i]);
        if (watched[0].plan.cpu >= 0)
            sample_pinned(machine, watched[0].plan.cpu);
    }
    for (size_t i = 0; i < count && r == CAMP_OK; i++) {
        r = subject_wait(&watched[i].subject, error);
        take_sample(&watched[i]);
    }
    return r;
}

static int begin_all(struct watched *watched, size_t count, struct camp_error *error)
{
    int r = CAMP_OK;

    for (size_t i = 0; i < count && r == CAMP_OK; i++) {
        struct watched *one = &watched[i];

        one->plan.duration_ns = DURATION_NS;
        r = subject_open(&one->subject, one->plan.percent > 0 ? load_cpu : act_sleep, &one->plan,
                         sizeof(struct load_cpu_truth), error);
        if (r == CAMP_OK)
            one->mark = subject_mark(&one->subject);
        one->first.before_ns = now_ns(CLOCK_MONOTONIC);
        if (r == CAMP_OK)
            camp_process_read(NULL, &one->subject.process,
                              CAMP_TASK_CPU | CAMP_TASK_USER | CAMP_TASK_SYSTEM, &one->previous,
                              sizeof one->previous, &one->error);
        one->first.after_ns = now_ns(CLOCK_MONOTONIC);
    }
    return r;
}

/* Runs the loads, and fills `watched` and `machine`. After an error, their values are not valid. */
static int watch(struct watched *watched, size_t count, struct machine *machine,
                 struct camp_error *error)
{
    struct readings readings = { 0 };
    struct witness before = { 0 }, after = { 0 };
    int r = begin_all(watched, count, error);

    *machine = (struct machine){ 0 };
    if (r == CAMP_OK)
        r = readings_open(&readings, error);
    if (r != CAMP_OK)
        goto out;
    read_machine(machine, &before, &readings.reader, &readings.before);
    r = sample_all(watched, count, machine, error);
    read_machine(machine, &after, &readings.reader, &readings.after);
    for (size_t i = 0; i < count && r == CAMP_OK; i++)
        r = subject_since(&watched[i].subject, &watched[i].mark, &watched[i].most, error);
    if (r == CAMP_OK && machine->error.code == CAMP_OK)
        judge_cpus(machine, &readings);
    if (machine->seen_error.code == CAMP_OK)
        witness_compare(&before, &after, &machine->seen);
out:
    witness_release(&before);
    witness_release(&after);
    readings_release(&readings);
    return r;
}

static double middle(const struct moment *moment)
{
    return (double)moment->before_ns / 2 + (double)moment->after_ns / 2;
}

static double width(const struct moment *moment)
{
    return (double)(moment->after_ns - moment->before_ns);
}

/* Compares the utilisation of the process with its own CPU clock. If `idle` is set, both numbers
 * are subtracted from 100 %. */
static void judge_process(struct verification *verification, const char *row,
                          struct watched *watched, bool idle)
{
    const struct act_record *own = subject_record(&watched->subject);
    double wall = middle(&watched->last) - middle(&watched->first);
    double truth = 100 * (double)own->own_ns / wall, reported = mean(&watched->samples);
    double uncertain = truth / 100 * (width(&watched->first) + width(&watched->last)) / 2;
    double below = 100 * uncertain / wall;
    double above = below + 100 * (double)(watched->most.own_ns - own->own_ns) / wall;

    if (has_failed(verification, row, &watched->error))
        return;
    set_confidence(verification, row, confidence(&watched->samples));
    decide_between(verification, row, idle ? 100 - truth : truth, idle ? 100 - reported : reported,
                   idle ? above : below, idle ? below : above);
}

/* Returns by how much the reported busy time may be too small, in percent of a CPU. If a CPU waits
 * to be woken while its time is stolen, the kernel counts this time as idle and as stolen. For
 * example, a CPU that was 34 % busy was reported as 0 % busy when 40 % was stolen. */
static double below_by_steal(const struct machine *machine, double slack_ns)
{
    return (slack_ns + machine->steal) * 100 / machine->wall;
}

/* Compares the busy time of the machine with the CPU time of all processes, in percent of one CPU.
 * If `idle` is set and the CPUs are mostly idle, compares the idle time instead. */
static void judge_machine(struct verification *verification, const char *row,
                          const struct machine *machine, bool idle)
{
    double percent = 100 / machine->wall, all = 100 * (double)machine->cpus;
    double truth = machine->seen.tasks_ns * percent, reported = machine->busy * percent;
    double slack_ns =
        2.0 * (double)proc_time_unit_ns() +
        (2.0 * (double)tick_length_ns() + machine->seen.moments_ns) * (double)machine->cpus +
        machine->seen.uncertain_ns;

    /* Time stolen from a busy CPU counts as busy, but belongs to no process. So the busy time may
     * also be too large by the stolen time. */
    double allowed = below_by_steal(machine, slack_ns);
    const char *doubt = verify_busy_doubt();

    idle = idle && truth < all / 2;
    if (has_failed(verification, row, &machine->error))
        return;
    if (doubt != NULL)
        not_tested(verification, row, "%s", doubt);
    else if (machine->seen_error.code != CAMP_OK)
        interfered(verification, row, "%s", machine->seen_error.message);
    else
        decide(verification, row, idle ? all - truth : truth, idle ? all - reported : reported,
               allowed);
}

static void judge_sum(struct verification *verification, const struct machine *machine)
{
    double percent = 100 / machine->wall;

    /* The kernel truncates idle, iowait and steal to 1/100 s, for each CPU and for the total. */
    if (!has_failed(verification, "cpu-sum", &machine->error))
        decide(verification, "cpu-sum", machine->sum_busy * percent, machine->busy * percent,
               below_by_steal(machine, (double)proc_time_unit_ns() * (double)(machine->cpus + 1)));
}

struct cpu_trial {
    size_t loads;
    double percent;      /* CPU time of each load in percent of a CPU; with 0 the load sleeps. */
    const char *rows[2]; /* names of the rows of the processes */
    const char *machine_row;
    bool pinned; /* The load is pinned to a CPU, which has its own row. */
};

static void judge_pinned(struct verification *verification, const struct machine *machine)
{
    judge_sum(verification, machine);
    if (!has_failed(verification, "cpu-full-cpu", &machine->pinned_error))
        /* The load never sleeps, so its CPU is never idle. */
        decide(verification, "cpu-full-cpu", 100, machine->pinned.measured_busy_percent,
               machine->pinned.resolution_percent);
}

static void run_loads(struct verification *verification, struct cpu_trial trial)
{
    struct watched watched[2] = { 0 };
    struct machine machine;
    struct camp_error error = { 0 };
    const bool idle = trial.percent == 0;

    for (size_t i = 0; i < trial.loads; i++)
        watched[i].plan = (struct load_cpu_plan){ .percent = trial.percent,
                                                  .cpu = trial.pinned ? load_last_cpu() : -1 };
    if (trial_succeeded(verification, watch(watched, trial.loads, &machine, &error), &error,
                        NULL)) {
        for (size_t i = 0; i < trial.loads; i++)
            judge_process(verification, trial.rows[i], &watched[i], idle);
        judge_machine(verification, trial.machine_row, &machine, idle);
        if (trial.pinned)
            judge_pinned(verification, &machine);
    }
    for (size_t i = 0; i < trial.loads; i++)
        subject_end(&watched[i].subject);
}

void verify_idle(struct verification *verification)
{
    run_loads(verification,
              (struct cpu_trial){ 1, 0, { "cpu-idle-process" }, "cpu-idle-machine", false });
}

void verify_half(struct verification *verification)
{
    run_loads(verification,
              (struct cpu_trial){ 1, 50, { "cpu-half-process" }, "cpu-half-machine", false });
}

void verify_full(struct verification *verification)
{
    run_loads(verification,
              (struct cpu_trial){ 1, 100, { "cpu-full-process" }, "cpu-full-machine", true });
}

void verify_two(struct verification *verification)
{
    run_loads(verification,
              (struct cpu_trial){
                  2, 30, { "cpu-two-first", "cpu-two-second" }, "cpu-two-machine", false });
}
