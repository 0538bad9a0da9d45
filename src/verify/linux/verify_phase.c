/*
 * Compares sampled with measured CPU time, for loads that are synchronised with the kernel's tick.
 *
 * Sampling charges a whole tick to the task that runs when the tick comes. So a load that runs only
 * between ticks is never sampled, and a load that runs across ticks is always sampled. The load
 * counts the ticks that came while it ran, with CLOCK_MONOTONIC_COARSE. Its expected sampled time
 * is this count times the length of a tick. So the error of sampling is as large as possible, and
 * it is known. The sampled and the measured time come in one message of taskstats (CAP_NET_ADMIN).
 * Any user can also read the measured time from the load's CPU clock.
 *
 * Without the capability, the sampled time of the load's CPU is compared instead. Other activity on
 * this CPU widens the bounds.
 */
#include "verify_trials.h"

#include <camp/catalogue.h>

#include "counters/units.h"
#include "load/load.h"
#include "load/load_tools.h"
#include "verify_subject.h"
#include "verify_witness.h"

#include <math.h>
#include <time.h>

#define DURATION_NS (800ull * NS_PER_MS)
#define CUT_TICKS 2 /* the ticks in which the search for the tick starts and ends */

struct phase_rows {
    const char *measured, *sampled;
    struct load_cpu_plan plan;
};

struct phase_sample {
    struct camp_taskstat task;
    struct camp_cpu cpu;
};

struct phase_trial {
    struct observed load; /* measured time, read through the library from the CPU clock */
    struct phase_sample before, after;
    struct camp_taskstats taskstats;
    struct camp_error clock_error, task_error, cpu_error;
};

static void read_sample(struct phase_trial *trial, struct phase_sample *ret, int32_t cpu)
{
    int32_t pid = (int32_t)trial->load.subject.pid;

    if (trial->task_error.code == CAMP_OK &&
        camp_taskstats_read(&trial->taskstats, &pid, 1, &ret->task, sizeof ret->task,
                            &trial->task_error) == CAMP_OK)
        trial->task_error.code = ret->task.result;
    if (trial->cpu_error.code == CAMP_OK)
        camp_cpu_read(NULL, cpu, &ret->cpu, sizeof ret->cpu, &trial->cpu_error);
}

static void judge_measured(struct verification *verification, const struct phase_trial *trial,
                           const char *row)
{
    const struct observed *load = &trial->load;
    double own = (double)subject_record(&load->subject)->own_ns / NS_PER_MS;
    double clock = (double)(load->after.cpu_ns - load->before.cpu_ns) / NS_PER_MS;
    double task =
        (double)(trial->after.task.measured_ns - trial->before.task.measured_ns) / NS_PER_MS;
    double reported = clock;

    if (has_failed(verification, row, &trial->clock_error))
        return;
    if (trial->task_error.code == CAMP_OK && fabs(task - own) > fabs(clock - own))
        /* The library reads the CPU time from the clock and from taskstats. The number with the
         * larger error is judged. */
        reported = task;
    decide_between(verification, row, own, reported, 0,
                   (double)load->most.own_ns / NS_PER_MS - own);
}

/* Judges the error of sampling by the sampled time of the load's CPU, which every user may read. */
static void judge_by_cpu(struct verification *verification, const struct phase_trial *trial,
                         const char *row, double expected, double misplaced_ns)
{
    const struct act_record *own = subject_record(&trial->load.subject);
    const struct load_cpu_truth *truth = subject_truth(&trial->load.subject);
    struct camp_utilisation of;
    double percent = 100 * (double)own->own_ns / (double)own->wall_ns;
    struct camp_error failure = trial->cpu_error;
    double others;

    if (failure.code == CAMP_OK)
        failure.code =
            camp_cpu_difference(&trial->before.cpu, &trial->after.cpu, 1, NULL, &of, sizeof of);
    if (has_failed(verification, row, &failure))
        return;
    if (verify_busy_doubt() != NULL) {
        not_tested(verification, row, "CAP_NET_ADMIN is missing, and %s", verify_busy_doubt());
        return;
    }
    others = fmax(of.measured_busy_percent - percent, 0);
    remark(verification, row, "judged by CPU %d, because CAP_NET_ADMIN is missing", truth->cpu);
    decide(verification, row, expected, 100 * (of.sampled_busy_percent - percent) / percent,
           100 * (others + of.resolution_percent + 100 * misplaced_ns / (double)own->wall_ns) /
               percent);
}

/* With CONFIG_VIRT_CPU_ACCOUNTING_NATIVE (s390x, POWER) and on nohz_full CPUs, the kernel measures
 * user and system time instead of sampling them. */
static bool samples_no_time(int32_t cpu)
{
    const struct camp_counter user = { .rule = CAMP_RULE_TICK };
    struct camp_kernel kernel;

    return camp_kernel_read(NULL, &kernel, sizeof kernel, NULL) == CAMP_OK &&
           camp_counter_provenance(&user, &kernel, cpu, NULL) == CAMP_MEASURED;
}

/* Judges the error of the load's sampled time, in percent of its CPU time. */
static void judge_sampled(struct verification *verification, const struct phase_trial *trial,
                          const char *row)
{
    const struct load_cpu_truth *truth = subject_truth(&trial->load.subject);
    double own = (double)subject_record(&trial->load.subject)->own_ns,
           tick = (double)truth->tick_ns;
    /* The load first searches for the tick. It does not sleep meanwhile, so all ticks during the
     * search are charged to it. */
    double searched = own - (double)truth->own_ns;
    double charged = (double)truth->ticks_met * tick + searched;
    double expected = 100 * (charged - own) / own;
    double sampled = (double)(trial->after.task.sampled_ns - trial->before.task.sampled_ns);
    /* The charging of some ticks is uncertain. While the load waited for the CPU, ticks were
     * charged to another task. The load counts the ticks of the CPU that keeps the time; the tick
     * of its own CPU may come slightly earlier or later, when the load does not run. */
    double delay = (double)(trial->load.after.run_delay_ns - trial->load.before.run_delay_ns);
    double misplaced = delay + (double)(2 * truth->missed + CUT_TICKS) * tick;
    /* At each preemption during the search, one tick may have been charged to another task. */
    double uncharged =
        fmin(searched, (double)subject_record(&trial->load.subject)->involuntary_switches * tick);

    if (samples_no_time(truth->cpu))
        not_tested(verification, row,
                   "this kernel measures user and system time of CPU %d: none is sampled",
                   truth->cpu);
    else if (truth->locks > 1)
        interfered(verification, row, "the load had to search for the tick again, on the CPU");
    else if (trial->task_error.code == CAMP_E_PERM || trial->task_error.code == CAMP_E_NOTSUP)
        judge_by_cpu(verification, trial, row, expected, misplaced);
    else if (!has_failed(verification, row, &trial->task_error))
        decide_between(verification, row, expected, 100 * (sampled - own) / own,
                       100 * (misplaced + uncharged) / own, 100 * misplaced / own);
}

static void run_phase(struct verification *verification, struct phase_rows rows)
{
    struct phase_trial trial = { .taskstats = CAMP_TASKSTATS_NONE };
    struct camp_error error = { 0 };
    int r;

    rows.plan.cpu = load_last_cpu();
    if (rows.plan.cpu < 0) /* read_sample() must know the CPU. */
        rows.plan.cpu = 0;
    rows.plan.duration_ns = DURATION_NS;
    camp_taskstats_open(&trial.taskstats, &trial.task_error);
    r = observed_open(&trial.load, 1, load_cpu, &rows.plan, sizeof(struct load_cpu_truth),
                      CAMP_TASK_CPU, &trial.clock_error, &error);
    if (r == CAMP_OK) {
        read_sample(&trial, &trial.before, rows.plan.cpu);
        r = observed_act(&trial.load, 1, CAMP_TASK_CPU, &trial.clock_error, &error);
    }
    if (r == CAMP_OK) {
        read_sample(&trial, &trial.after, rows.plan.cpu);
        r = observed_bound(&trial.load, 1, &error);
    }
    if (trial_succeeded(verification, r, &error, NULL)) {
        judge_measured(verification, &trial, rows.measured);
        judge_sampled(verification, &trial, rows.sampled);
    }
    subject_end(&trial.load.subject);
    camp_taskstats_close(&trial.taskstats);
}

void verify_between_ticks(struct verification *verification)
{
    run_phase(verification, (struct phase_rows){ "phase-between-measured",
                                                 "phase-between-sampled",
                                                 { .percent = 80, .phase = LOAD_BETWEEN_TICKS } });
}

void verify_across_ticks(struct verification *verification)
{
    run_phase(verification, (struct phase_rows){ "phase-across-measured",
                                                 "phase-across-sampled",
                                                 { .percent = 20, .phase = LOAD_ACROSS_TICKS } });
}
