/*
 * Sampled against measured, under loads whose place in the kernel's tick is known.
 *
 * Between ticks a load is never seen by one, across ticks by each: it knows how many ticks came
 * while it ran (it looks at CLOCK_MONOTONIC_COARSE), and a tick charged whole is what sampling is.
 * So its sampled time is ticks x the length of a tick, which its measured time has nothing to do
 * with: the error of sampling is as large here as it gets, and known. Both numbers come in one
 * message of taskstats (CAP_NET_ADMIN); the measured one is read of its CPU clock by anybody.
 *
 * Without the capability the sampled columns of the CPU it is pinned to must do; what else ran
 * there then counts as error, and when that was much, nothing is said.
 */
#include "verify.h"

#include "counters/error.h"
#include "counters/units.h"
#include "load/load.h"
#include "load/load_place.h"
#include "program/command.h"
#include "verify_subject.h"

#include <math.h>
#include <time.h>

#define DURATION_NS (800ull * NS_PER_MS)
#define CUT_TICKS 2 /* the search for the tick starts and ends within a tick */

struct phase_rows {
    const char *measured, *sampled;
    struct load_cpu_plan plan;
};

struct phase_trial {
    struct subject subject;
    struct act_record mark, most;   /* bounds of its CPU time (verify_subject.h) */
    struct camp_task before, after; /* its CPU clock */
    struct camp_taskstat told_before, told_after;
    struct camp_cpu cpu_before, cpu_after;
    int measured_result, sampled_result, cpu_result; /* of the library */
    struct camp_error measured_error, sampled_error, cpu_error;
};

static int act_phase(const void *plan, void *truth, struct camp_error *error)
{
    return load_cpu(plan, truth, error);
}

static void look(struct phase_trial *trial, struct camp_taskstats *taskstats,
                 struct camp_task *clock, struct camp_taskstat *told, struct camp_cpu *cpu,
                 int32_t number)
{
    int32_t pid = (int32_t)trial->subject.pid;

    if (trial->measured_result == CAMP_OK)
        trial->measured_result = camp_process_read(NULL, &trial->subject.process, CAMP_TASK_CPU,
                                                   clock, sizeof *clock, &trial->measured_error);
    if (trial->sampled_result == CAMP_OK)
        trial->sampled_result =
            camp_taskstats_read(taskstats, &pid, 1, told, sizeof *told, &trial->sampled_error);
    if (trial->sampled_result == CAMP_OK)
        trial->sampled_result = told->result;
    if (trial->cpu_result == CAMP_OK)
        trial->cpu_result = camp_cpu_read(NULL, number, cpu, sizeof *cpu, &trial->cpu_error);
}

static void judge_measured(struct verification *verification, const struct phase_trial *trial,
                           const char *row)
{
    double own = (double)subject_record(&trial->subject)->own_ns / NS_PER_MS;
    double clock = (double)(trial->after.cpu_ns - trial->before.cpu_ns) / NS_PER_MS;
    double told =
        (double)(trial->told_after.measured_ns - trial->told_before.measured_ns) / NS_PER_MS;
    double reported = clock;

    if (trial->measured_result != CAMP_OK) {
        book_failure(verification, row, trial->measured_result, &trial->measured_error);
        return;
    }
    if (trial->sampled_result == CAMP_OK && fabs(told - own) > fabs(clock - own))
        reported = told; /* two ways to the same number: the worse one is judged */
    book_between(verification, row, own, reported, 0, (double)trial->most.own_ns / NS_PER_MS - own);
}

/* Judges by the columns of the load's CPU, which every user may read. */
static void judge_by_cpu(struct verification *verification, const struct phase_trial *trial,
                         const char *row, double expected, double strayed_ns)
{
    const struct act_record *own = subject_record(&trial->subject);
    const struct load_cpu_truth *truth = subject_truth(&trial->subject);
    struct camp_utilisation of;
    double percent = 100 * (double)own->own_ns / (double)own->wall_ns;
    double others;

    if (trial->cpu_result != CAMP_OK ||
        camp_cpu_difference(&trial->cpu_before, &trial->cpu_after, 1, &of, sizeof of) != CAMP_OK) {
        book_failure(verification, row, trial->cpu_result, &trial->cpu_error);
        return;
    }
    others = fmax(of.measured_busy_percent - percent, 0);
    remark(verification, row, "judged by CPU %d, because CAP_NET_ADMIN is missing", truth->cpu);
    book(verification, row, expected, 100 * (of.sampled_busy_percent - percent) / percent,
         100 * (others + of.resolution_percent + 100 * strayed_ns / (double)own->wall_ns) /
             percent);
}

/* Judges the error of the load's sampled time, in percent of its CPU time. */
static void judge_sampled(struct verification *verification, const struct phase_trial *trial,
                          const char *row)
{
    const struct load_cpu_truth *truth = subject_truth(&trial->subject);
    double own = (double)subject_record(&trial->subject)->own_ns, tick = (double)truth->tick_ns;
    /* The load first searches for the tick, without leaving its CPU by itself. If no other task has
     * that CPU meanwhile, the ticks charge all of that time. */
    double searched = own - (double)truth->own_ns;
    double charged = (double)truth->ticks_met * tick + searched;
    double expected = 100 * (charged - own) / own;
    double sampled = (double)(trial->told_after.sampled_ns - trial->told_before.sampled_ns);
    /* Ticks during the load's run delay were charged to another task. And where the load missed its
     * place, it saw the tick of the CPU that keeps the time, after its own CPU's tick. */
    double delay = (double)(trial->after.run_delay_ns - trial->before.run_delay_ns);
    double strayed = delay + (double)(truth->missed + CUT_TICKS) * tick;
    /* Each time that another task preempted the search, a tick may have been charged to that task.
     */
    double uncharged =
        fmin(searched, (double)subject_record(&trial->subject)->involuntary_switches * tick);

    if (truth->locks > 1)
        interfered(verification, row, "the load had to search for the tick again, on the CPU");
    else if (trial->sampled_result == CAMP_E_PERM || trial->sampled_result == CAMP_E_NOTSUP)
        judge_by_cpu(verification, trial, row, expected, strayed);
    else if (trial->sampled_result != CAMP_OK)
        book_failure(verification, row, trial->sampled_result, &trial->sampled_error);
    else
        book_between(verification, row, expected, 100 * (sampled - own) / own,
                     100 * (strayed + uncharged) / own, 100 * strayed / own);
}

static void run_phase(struct verification *verification, struct phase_rows *rows)
{
    struct camp_taskstats taskstats = CAMP_TASKSTATS_NONE;
    struct phase_trial trial = { .subject = SUBJECT_NONE };
    struct camp_error error = { 0 };
    int r;

    rows->plan.cpu = load_last_cpu();
    if (rows->plan.cpu < 0) /* it must be one, whose columns are read beside it */
        rows->plan.cpu = 0;
    rows->plan.duration_ns = DURATION_NS;
    trial.sampled_result = camp_taskstats_open(&taskstats, &trial.sampled_error);
    r = subject_begin(&trial.subject, act_phase, &rows->plan, sizeof(struct load_cpu_truth),
                      &error);
    if (r == CAMP_OK) {
        trial.mark = subject_mark(&trial.subject);
        look(&trial, &taskstats, &trial.before, &trial.told_before, &trial.cpu_before,
             rows->plan.cpu);
        r = subject_do(&trial.subject, &error);
    }
    if (r == CAMP_OK)
        look(&trial, &taskstats, &trial.after, &trial.told_after, &trial.cpu_after, rows->plan.cpu);
    if (r == CAMP_OK)
        r = subject_since(&trial.subject, &trial.mark, &trial.most, &error);
    if (r != CAMP_OK) {
        trial_not_tested(verification, &error);
    } else {
        judge_measured(verification, &trial, rows->measured);
        judge_sampled(verification, &trial, rows->sampled);
    }
    subject_end(&trial.subject);
    camp_taskstats_close(&taskstats);
}

static void run_between(struct verification *verification)
{
    static struct phase_rows rows = { "phase-between-measured",
                                      "phase-between-sampled",
                                      { .percent = 80, .phase = LOAD_BETWEEN_TICKS } };

    run_phase(verification, &rows);
}

static void run_across(struct verification *verification)
{
    static struct phase_rows rows = { "phase-across-measured",
                                      "phase-across-sampled",
                                      { .percent = 20, .phase = LOAD_ACROSS_TICKS } };

    run_phase(verification, &rows);
}

static const struct row_spec between_rows[] = {
    { "phase-between-measured", "ms", "CPU time of a load between ticks : its own clock" },
    { "phase-between-sampled", "% error", "of its sampled time : by the ticks it met" },
};
static const struct row_spec across_rows[] = {
    { "phase-across-measured", "ms", "CPU time of a load across ticks : its own clock" },
    { "phase-across-sampled", "% error", "of its sampled time : by the ticks it met" },
};
static const struct trial trials[] = {
    { between_rows, sizeof between_rows / sizeof *between_rows, run_between },
    { across_rows, sizeof across_rows / sizeof *across_rows, run_across },
};
const struct trial_list phase_trials = { trials, sizeof trials / sizeof *trials, true };
