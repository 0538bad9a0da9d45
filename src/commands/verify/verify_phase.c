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

#include "commands/command.h"
#include "commands/load/load.h"
#include "commands/load/load_place.h"
#include "counters/error.h"
#include "counters/units.h"
#include "verify_subject.h"

#include <math.h>
#include <time.h>

#define DURATION_NS (1600ull * NS_PER_MS)
#define TICKS_ALLOWED 0.02 /* of the ticks met: the moments of waking and falling asleep */
#define WAKEUP_MS 0.5      /* CPU time between its own reading of its clock and its sleep */
#define KEPT_MIN_PERCENT 60.0
#define STRAYED_MAX 0.1 /* of what it used, or of what it was charged */
#define OTHERS_MAX_PERCENT 5.0

struct phase_rows {
    const char *measured, *sampled;
    struct load_cpu_plan plan;
};

struct phase_trial {
    struct subject subject;
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
    book(verification, row, own, reported, WAKEUP_MS);
}

/* By the columns of its CPU: anybody may. */
static void judge_by_cpu(struct verification *verification, const struct phase_trial *trial,
                         const char *row, double expected)
{
    const struct act_record *own = subject_record(&trial->subject);
    const struct load_cpu_truth *truth = subject_truth(&trial->subject);
    struct camp_utilisation of;
    double percent = 100 * (double)own->own_ns / (double)own->wall_ns;
    double others, ticks;

    if (trial->cpu_result != CAMP_OK ||
        camp_cpu_difference(&trial->cpu_before, &trial->cpu_after, 1, &of, sizeof of) != CAMP_OK) {
        book_failure(verification, row, trial->cpu_result, &trial->cpu_error);
        return;
    }
    others = of.measured_busy_percent - percent;
    ticks = 100 * (double)(truth->ticks_met * truth->tick_ns) / (double)own->wall_ns;
    remark(verification, row, "by CPU %d, for want of CAP_NET_ADMIN", truth->cpu);
    if (others > OTHERS_MAX_PERCENT)
        interfered(verification, row, "CPU %d was %.0f %% busy with other tasks", truth->cpu,
                   others);
    else
        book(verification, row, expected, 100 * (of.sampled_busy_percent - percent) / percent,
             100 * (OTHERS_MAX_PERCENT + of.resolution_percent + TICKS_ALLOWED * ticks) / percent);
}

/* Its sampled time's error, in percent of what it ran. */
static void judge_sampled(struct verification *verification, const struct phase_trial *trial,
                          const char *row, enum load_phase phase)
{
    const struct load_cpu_truth *truth = subject_truth(&trial->subject);
    double own = (double)subject_record(&trial->subject)->own_ns, tick = (double)truth->tick_ns;
    /* Before, it looks for the tick: all on the CPU, so what it uses is what is charged. */
    double searched = own - (double)truth->own_ns;
    double charged = (double)truth->ticks_met * tick + searched;
    double expected = 100 * (charged - own) / own;
    double sampled = (double)(trial->told_after.sampled_ns - trial->told_before.sampled_ns);
    /* Ticks that came while it wanted the CPU and another had it were charged to that one. And
     * where it missed its place it saw the tick of the CPU that keeps the time: its own came
     * before. */
    double strayed = (double)(trial->after.run_delay_ns - trial->before.run_delay_ns) +
                     (double)truth->missed * tick;
    bool kept =
        phase == LOAD_BETWEEN_TICKS ? expected < -KEPT_MIN_PERCENT : expected > KEPT_MIN_PERCENT;

    if (!kept)
        interfered(verification, row, "its place in the tick was not kept: %llu of %llu missed",
                   (unsigned long long)truth->missed, (unsigned long long)truth->cycles);
    else if (truth->locks > 1)
        interfered(verification, row, "the tick had to be looked for again, on the CPU");
    else if (strayed > STRAYED_MAX * fmax(own, charged))
        interfered(verification, row, "others had its CPU for %.0f ms", strayed / NS_PER_MS);
    else if (trial->sampled_result == CAMP_E_PERM || trial->sampled_result == CAMP_E_NOTSUP)
        judge_by_cpu(verification, trial, row, expected);
    else if (trial->sampled_result != CAMP_OK)
        book_failure(verification, row, trial->sampled_result, &trial->sampled_error);
    else
        book(verification, row, expected, 100 * (sampled - own) / own,
             100 * ((TICKS_ALLOWED * (double)truth->cycles + 2) * tick + strayed) / own);
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
        look(&trial, &taskstats, &trial.before, &trial.told_before, &trial.cpu_before,
             rows->plan.cpu);
        r = subject_do(&trial.subject, &error);
    }
    if (r == CAMP_OK)
        look(&trial, &taskstats, &trial.after, &trial.told_after, &trial.cpu_after, rows->plan.cpu);
    if (r != CAMP_OK) {
        trial_not_tested(verification, &error);
    } else {
        judge_measured(verification, &trial, rows->measured);
        judge_sampled(verification, &trial, rows->sampled, rows->plan.phase);
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
