/*
 * Sampled against measured time, under loads with a known place in the kernel's tick.
 *
 * A load between ticks is never sampled, one across ticks always: it knows how many ticks came
 * while it ran (by CLOCK_MONOTONIC_COARSE), and sampling charges each of them whole. So its sampled
 * time is ticks x the length of a tick, independent of its measured time: the error of sampling is
 * at its largest here, and known. Both numbers come in one message of taskstats (CAP_NET_ADMIN);
 * the measured one can also be read from its CPU clock by any user.
 *
 * Without the capability the sampled columns of its CPU have to do; other activity there then
 * counts as error, and if that was much, nothing is judged.
 */
#include "verify.h"

#include "counters/error.h"
#include "counters/units.h"
#include "load/load.h"
#include "load/load_tools.h"
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
    struct camp_taskstat stat_before, stat_after;
    struct camp_cpu cpu_before, cpu_after;
    int measured_result, sampled_result, cpu_result; /* of the library */
    struct camp_error measured_error, sampled_error, cpu_error;
};

static void read_all(struct phase_trial *trial, struct camp_taskstats *taskstats,
                     struct camp_task *clock, struct camp_taskstat *stat, struct camp_cpu *cpu,
                     int32_t number)
{
    int32_t pid = (int32_t)trial->subject.pid;

    if (trial->measured_result == CAMP_OK)
        trial->measured_result = camp_process_read(NULL, &trial->subject.process, CAMP_TASK_CPU,
                                                   clock, sizeof *clock, &trial->measured_error);
    if (trial->sampled_result == CAMP_OK)
        trial->sampled_result =
            camp_taskstats_read(taskstats, &pid, 1, stat, sizeof *stat, &trial->sampled_error);
    if (trial->sampled_result == CAMP_OK)
        trial->sampled_result = stat->result;
    if (trial->cpu_result == CAMP_OK)
        trial->cpu_result = camp_cpu_read(NULL, number, cpu, sizeof *cpu, &trial->cpu_error);
}

static void judge_measured(struct verification *verification, const struct phase_trial *trial,
                           const char *row)
{
    double own = (double)subject_record(&trial->subject)->own_ns / NS_PER_MS;
    double clock = (double)(trial->after.cpu_ns - trial->before.cpu_ns) / NS_PER_MS;
    double stat =
        (double)(trial->stat_after.measured_ns - trial->stat_before.measured_ns) / NS_PER_MS;
    double reported = clock;

    if (trial->measured_result != CAMP_OK) {
        decide_failure(verification, row, trial->measured_result, &trial->measured_error);
        return;
    }
    if (trial->sampled_result == CAMP_OK && fabs(stat - own) > fabs(clock - own))
        reported = stat; /* two ways to the same number: the worse one is judged */
    decide_between(verification, row, own, reported, 0,
                   (double)trial->most.own_ns / NS_PER_MS - own);
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
        decide_failure(verification, row, trial->cpu_result, &trial->cpu_error);
        return;
    }
    others = fmax(of.measured_busy_percent - percent, 0);
    remark(verification, row, "judged by CPU %d, because CAP_NET_ADMIN is missing", truth->cpu);
    decide(verification, row, expected, 100 * (of.sampled_busy_percent - percent) / percent,
           100 * (others + of.resolution_percent + 100 * strayed_ns / (double)own->wall_ns) /
               percent);
}

/* Judges the error of the load's sampled time, in percent of its CPU time. */
static void judge_sampled(struct verification *verification, const struct phase_trial *trial,
                          const char *row)
{
    const struct load_cpu_truth *truth = subject_truth(&trial->subject);
    double own = (double)subject_record(&trial->subject)->own_ns, tick = (double)truth->tick_ns;
    /* The load first searches for the tick, without leaving its CPU by itself. If another task has
     * that CPU meanwhile, the ticks charge all of that time. */
    double searched = own - (double)truth->own_ns;
    double charged = (double)truth->ticks_met * tick + searched;
    double expected = 100 * (charged - own) / own;
    double sampled = (double)(trial->stat_after.sampled_ns - trial->stat_before.sampled_ns);
    /* Ticks during the load's run delay were charged to another task. A burn out of phase counts
     * the ticks of the timekeeping CPU: at both of its ends, a tick of its own CPU may be on the
     * other side. */
    double delay = (double)(trial->after.run_delay_ns - trial->before.run_delay_ns);
    double strayed = delay + (double)(2 * truth->missed + CUT_TICKS) * tick;
    /* At each preemption of the search, a tick may have been charged to the other task. */
    double uncharged =
        fmin(searched, (double)subject_record(&trial->subject)->involuntary_switches * tick);

    if (truth->locks > 1)
        interfered(verification, row, "the load had to search for the tick again, on the CPU");
    else if (trial->sampled_result == CAMP_E_PERM || trial->sampled_result == CAMP_E_NOTSUP)
        judge_by_cpu(verification, trial, row, expected, strayed);
    else if (trial->sampled_result != CAMP_OK)
        decide_failure(verification, row, trial->sampled_result, &trial->sampled_error);
    else
        decide_between(verification, row, expected, 100 * (sampled - own) / own,
                       100 * (strayed + uncharged) / own, 100 * strayed / own);
}

static void run_phase(struct verification *verification, struct phase_rows *rows)
{
    struct camp_taskstats taskstats = CAMP_TASKSTATS_NONE;
    struct phase_trial trial = { .subject = SUBJECT_NONE };
    struct camp_error error = { 0 };
    int r;

    rows->plan.cpu = load_last_cpu();
    if (rows->plan.cpu < 0) /* a CPU is needed, to read its columns as well */
        rows->plan.cpu = 0;
    rows->plan.duration_ns = DURATION_NS;
    trial.sampled_result = camp_taskstats_open(&taskstats, &trial.sampled_error);
    r = subject_open(&trial.subject, load_cpu, &rows->plan, sizeof(struct load_cpu_truth), &error);
    if (r == CAMP_OK) {
        trial.mark = subject_mark(&trial.subject);
        read_all(&trial, &taskstats, &trial.before, &trial.stat_before, &trial.cpu_before,
                 rows->plan.cpu);
        r = subject_do(&trial.subject, &error);
    }
    if (r == CAMP_OK)
        read_all(&trial, &taskstats, &trial.after, &trial.stat_after, &trial.cpu_after,
                 rows->plan.cpu);
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
