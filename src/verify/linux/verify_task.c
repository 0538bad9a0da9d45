/*
 * Verifies counts of a process: threads, context switches, run delay, and the sum of its times.
 *
 * The kernel counts each switch. The subject reads the same counters with getrusage(2), so both
 * counts must agree. Between the subject's last reading and its sleep there is one more voluntary
 * switch, which the bounds allow. For run delay, two loads that never sleep compete for one CPU.
 * All wall time in which a load is not on the CPU is run delay.
 */
#include "verify_trials.h"

#include "counters/clock.h"
#include "counters/error.h"
#include "load/load.h"
#include "load/load_tools.h"
#include "program/command.h"
#include "verify_subject.h"
#include "verify_witness.h"

#include <math.h>
#include <pthread.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#define THREADS 8
#define LISTED_MAX 64

static void *live_on(void *nothing)
{
    for (;;)
        pause();
    return nothing;
}

static int act_thread(const void *plan, void *truth, struct camp_error *error)
{
    pthread_t thread;

    (void)plan;
    (void)truth;
    if (pthread_create(&thread, NULL, live_on, NULL) == 0)
        return CAMP_OK;
    return camp_fail(error, CAMP_E_NOMEM, 0, "no thread could be made");
}

struct thread_counts {
    /* growth of the number of threads in one step: the value of all steps that differs most from 1
     */
    double worst_step;
    size_t listed_before, listed_after;
};

static size_t list_threads(const struct subject *subject, struct camp_error *library)
{
    struct camp_thread threads[LISTED_MAX];
    size_t count = 0;

    if (library->code == CAMP_OK)
        camp_thread_list(NULL, &subject->process, threads, sizeof *threads, LISTED_MAX, &count,
                         library);
    return count;
}

static int count_threads(struct subject *subject, struct thread_counts *counts,
                         struct camp_error *library, struct camp_error *error)
{
    struct camp_task before = { 0 }, after = { 0 };
    int r = CAMP_OK;

    counts->worst_step = 1;
    counts->listed_before = list_threads(subject, library);
    for (int i = 0; i < THREADS && r == CAMP_OK && library->code == CAMP_OK; i++) {
        double step;

        subject_read(subject, CAMP_TASK_THREADS, &before, library);
        r = subject_do(subject, error);
        if (r == CAMP_OK)
            subject_read(subject, CAMP_TASK_THREADS, &after, library);
        step = (double)after.threads - (double)before.threads;
        if (fabs(step - 1) > fabs(counts->worst_step - 1))
            counts->worst_step = step;
    }
    if (r == CAMP_OK)
        counts->listed_after = list_threads(subject, library);
    return r;
}

void verify_threads(struct verification *verification)
{
    struct subject subject = { 0 };
    struct thread_counts counts = { 0 };
    struct camp_error error = { 0 }, library = { 0 };
    int r = subject_open(&subject, act_thread, NULL, 0, &error);

    if (r == CAMP_OK)
        r = count_threads(&subject, &counts, &library, &error);
    if (trial_succeeded(verification, r, &error, &library)) {
        decide(verification, "threads-step", 1, counts.worst_step, 0);
        decide(verification, "threads-listed", THREADS,
               (double)counts.listed_after - (double)counts.listed_before, 0);
    }
    subject_end(&subject);
}

#define SLEEPS 500

static int act_sleeps(const void *plan, void *truth, struct camp_error *error)
{
    const struct timespec moment = { .tv_nsec = 50000 };

    (void)plan;
    (void)truth;
    (void)error;
    for (int i = 0; i < SLEEPS; i++)
        clock_nanosleep(CLOCK_MONOTONIC, 0, &moment, NULL);
    return CAMP_OK;
}

void verify_voluntary(struct verification *verification)
{
    struct observed sleeper = { 0 };
    struct camp_error error = { 0 }, library = { 0 };
    int r =
        observe(&sleeper, 1, act_sleeps, NULL, 0,
                CAMP_TASK_VOLUNTARY_SWITCHES | CAMP_TASK_INVOLUNTARY_SWITCHES, &library, &error);

    if (trial_succeeded(verification, r, &error, &library)) {
        const uint64_t least = subject_record(&sleeper.subject)->voluntary_switches;

        decide_between(
            verification, "switches-voluntary", (double)least,
            (double)(sleeper.after.voluntary_switches - sleeper.before.voluntary_switches), 0,
            (double)(sleeper.most.voluntary_switches - least));
    }
    subject_end(&sleeper.subject);
}

#define BURN_NS (600ull * NS_PER_MS)
#define DELAY_FIELDS                                                                               \
    (CAMP_TASK_VOLUNTARY_SWITCHES | CAMP_TASK_INVOLUNTARY_SWITCHES | CAMP_TASK_RUN_DELAY |         \
     CAMP_TASK_CPU)

/* Returns the length of the time outside of the act. Run delay in this time is not measured by the
 * subject's own clocks. */
static double unseen_delay_ns(const struct act_record *own)
{
    return (double)own->start_delay_ns + (double)own->until_asleep_ns;
}

/* Stolen time and interrupts are in the load's wall time, but not in its run delay. */
static void judge_delay(struct verification *verification, const struct observed *burner,
                        double taken_ns)
{
    const struct act_record *own = subject_record(&burner->subject);
    double expected = (double)(own->wall_ns - own->own_ns) / NS_PER_MS;
    double reported =
        (double)(burner->after.run_delay_ns - burner->before.run_delay_ns) / NS_PER_MS;
    double slew_ns = SLEW_MAX * (double)own->wall_ns;

    decide_between(verification, "run-delay", expected, reported, (slew_ns + taken_ns) / NS_PER_MS,
                   (slew_ns + unseen_delay_ns(own)) / NS_PER_MS);
}

void verify_burners(struct verification *verification)
{
    struct observed burners[2] = { 0 };
    struct load_cpu_plan plan = { .percent = 100, .cpu = load_last_cpu(), .duration_ns = BURN_NS };
    struct camp_error error = { 0 }, library = { 0 };
    uint64_t off_task_ns = verify_off_task_ns(plan.cpu);
    int r = observe(burners, 2, load_cpu, &plan, sizeof(struct load_cpu_truth), DELAY_FIELDS,
                    &library, &error);

    if (trial_succeeded(verification, r, &error, &library)) {
        const uint64_t least = subject_record(&burners[0].subject)->involuntary_switches;

        judge_delay(verification, &burners[0], verify_off_task_since_ns(plan.cpu, off_task_ns));
        decide_between(verification, "switches-involuntary", (double)least,
                       (double)(burners[0].after.involuntary_switches -
                                burners[0].before.involuntary_switches),
                       0, (double)(burners[0].most.involuntary_switches - least));
    }
    for (int i = 0; i < 2; i++)
        subject_end(&burners[i].subject);
}

#define TURNS 20
#define TURN_NS (20u * NS_PER_MS)

struct sum_truth {
    uint64_t slept_ns;    /* sum of the requested sleeps */
    uint64_t late_ns;     /* sum of the delays of the subject's wakeups */
    uint64_t call_own_ns; /* CPU time of falling asleep and waking, which slept_ns includes too */
};

static int act_turns(const void *plan, void *truth, struct camp_error *error)
{
    struct sum_truth *sum = truth;

    (void)plan;
    (void)error;
    prctl(PR_SET_TIMERSLACK, 1, 0, 0, 0);
    for (int i = 0; i < TURNS && !stop_requested; i++) {
        uint64_t own, due, now;

        load_burn(load_process_ns, UINT64_MAX, 0, now_ns(CLOCK_MONOTONIC) + TURN_NS);
        own = now_ns(CLOCK_PROCESS_CPUTIME_ID);
        due = now_ns(CLOCK_MONOTONIC) + TURN_NS;
        if (sleep_until(due))
            sum->slept_ns += TURN_NS;
        now = now_ns(CLOCK_MONOTONIC);
        sum->late_ns += now > due ? now - due : 0;
        sum->call_own_ns += now_ns(CLOCK_PROCESS_CPUTIME_ID) - own;
    }
    return CAMP_OK;
}

/* Compares the sum of CPU time, run delay and requested sleep with the wall time. The sum may be
 * too small by the delays of the wakeups. It may be too large by the CPU time of the sleep calls
 * and by the time outside of the act. */
static void judge_sum(struct verification *verification, const struct observed *burner,
                      double taken_ns)
{
    const struct act_record *own = subject_record(&burner->subject);
    const struct sum_truth *truth = subject_truth(&burner->subject);
    double accounted = (double)(burner->after.cpu_ns - burner->before.cpu_ns) +
                       (double)(burner->after.run_delay_ns - burner->before.run_delay_ns) +
                       (double)truth->slept_ns;
    double wall = (double)own->wall_ns, slew_ns = SLEW_MAX * wall;
    double outside_ns = (double)(burner->most.own_ns - own->own_ns) + unseen_delay_ns(own);

    decide_between(verification, "sum-rule", 100, 100 * accounted / wall,
                   100 * (slew_ns + taken_ns + (double)truth->late_ns) / wall,
                   100 * (slew_ns + outside_ns + (double)truth->call_own_ns) / wall);
}

void verify_sum(struct verification *verification)
{
    struct observed burner = { 0 };
    struct camp_error error = { 0 }, library = { 0 };
    uint64_t off_task_ns = verify_off_task_ns(CAMP_CPU_TOTAL);
    int r = observe(&burner, 1, act_turns, NULL, sizeof(struct sum_truth), DELAY_FIELDS, &library,
                    &error);

    if (trial_succeeded(verification, r, &error, &library))
        judge_sum(verification, &burner, verify_off_task_since_ns(CAMP_CPU_TOTAL, off_task_ns));
    subject_end(&burner.subject);
}
