/*
 * Counts of a process: threads, context switches, run-queue delay, and the sum of its times.
 *
 * The kernel counts switches and faults at each event, and getrusage(2) reads the same counters
 * from within: they agree exactly, except for what happens between the subject's own reading and
 * its sleep (one voluntary switch, which is expected). Two loads that never sleep compete for one
 * CPU: the wall time of each that is not on the CPU is run-queue delay.
 */
#include "verify.h"

#include "counters/units.h"
#include "load/load.h"
#include "load/load_tools.h"
#include "program/command.h"
#include "verify_subject.h"
#include "verify_witness.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

/* Reads the wanted members of a sleeping subject. */
static int read_subject(const struct subject *subject, uint32_t wanted, struct camp_task *ret,
                        struct camp_error *error)
{
    int r = camp_process_read(NULL, &subject->process, wanted, ret, sizeof *ret, error);

    if (r == CAMP_OK && (ret->known & wanted) != wanted) {
        snprintf(error->message, sizeof error->message,
                 "this kernel does not count it, or you lack the permission to read it");
        return CAMP_E_NOTSUP;
    }
    return r;
}

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
    snprintf(error->message, sizeof error->message, "no thread could be made");
    return CAMP_E_NOMEM;
}

struct thread_counts {
    double worst_step; /* the step whose growth differs most from 1 */
    size_t listed_before, listed_after;
};

static int count_threads(struct subject *subject, struct thread_counts *counts, int *ret_library,
                         struct camp_error *error)
{
    struct camp_thread threads[LISTED_MAX];
    struct camp_task before, after;
    int r = CAMP_OK;

    counts->worst_step = 1;
    *ret_library = camp_thread_list(NULL, &subject->process, threads, sizeof *threads, LISTED_MAX,
                                    &counts->listed_before, error);
    for (int i = 0; i < THREADS && r == CAMP_OK && *ret_library == CAMP_OK; i++) {
        double step;

        *ret_library = read_subject(subject, CAMP_TASK_THREADS, &before, error);
        r = subject_do(subject, error);
        if (r == CAMP_OK && *ret_library == CAMP_OK)
            *ret_library = read_subject(subject, CAMP_TASK_THREADS, &after, error);
        step = (double)after.threads - (double)before.threads;
        if (fabs(step - 1) > fabs(counts->worst_step - 1))
            counts->worst_step = step;
    }
    if (r == CAMP_OK && *ret_library == CAMP_OK)
        *ret_library = camp_thread_list(NULL, &subject->process, threads, sizeof *threads,
                                        LISTED_MAX, &counts->listed_after, error);
    return r;
}

static void run_threads(struct verification *verification)
{
    struct subject subject = SUBJECT_NONE;
    struct thread_counts counts = { 0 };
    struct camp_error error = { 0 };
    int library = CAMP_OK, r = subject_open(&subject, act_thread, NULL, 0, &error);

    if (r == CAMP_OK)
        r = count_threads(&subject, &counts, &library, &error);
    if (r != CAMP_OK) {
        trial_not_tested(verification, &error);
    } else if (library != CAMP_OK) {
        decide_failure(verification, "threads-step", library, &error);
        decide_failure(verification, "threads-listed", library, &error);
    } else {
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

static void run_voluntary(struct verification *verification)
{
    struct subject subject = SUBJECT_NONE;
    struct act_record mark, most;
    struct camp_task before, after;
    struct camp_error error = { 0 };
    int library = CAMP_OK, r = subject_open(&subject, act_sleeps, NULL, 0, &error);

    if (r == CAMP_OK) {
        mark = subject_mark(&subject);
        library = read_subject(&subject, CAMP_TASK_SWITCHES, &before, &error);
        r = subject_do(&subject, &error);
    }
    if (r == CAMP_OK && library == CAMP_OK)
        library = read_subject(&subject, CAMP_TASK_SWITCHES, &after, &error);
    if (r == CAMP_OK && library == CAMP_OK)
        r = subject_since(&subject, &mark, &most, &error);
    if (r != CAMP_OK)
        trial_not_tested(verification, &error);
    else if (library != CAMP_OK)
        decide_failure(verification, "switches-voluntary", library, &error);
    else
        decide_between(
            verification, "switches-voluntary",
            (double)subject_record(&subject)->voluntary_switches,
            (double)(after.voluntary_switches - before.voluntary_switches), 0,
            (double)(most.voluntary_switches - subject_record(&subject)->voluntary_switches));
    subject_end(&subject);
}

#define BURN_NS (600ull * NS_PER_MS)
#define DELAY_FIELDS (CAMP_TASK_SWITCHES | CAMP_TASK_RUN_DELAY | CAMP_TASK_CPU)

struct burner {
    struct subject subject;
    struct act_record mark, most; /* bounds of its counts (verify_subject.h) */
    struct camp_task before, after;
};

/* The library's results go to *ret_library. */
static int burn_both(struct burner *burners, const struct load_cpu_plan *plan, int *ret_library,
                     struct camp_error *error)
{
    int r = CAMP_OK;

    for (int i = 0; i < 2 && r == CAMP_OK; i++)
        r = subject_open(&burners[i].subject, load_cpu, plan, sizeof(struct load_cpu_truth), error);
    for (int i = 0; i < 2 && r == CAMP_OK && *ret_library == CAMP_OK; i++) {
        burners[i].mark = subject_mark(&burners[i].subject);
        *ret_library = read_subject(&burners[i].subject, DELAY_FIELDS, &burners[i].before, error);
    }
    for (int i = 0; i < 2 && r == CAMP_OK; i++)
        subject_start(&burners[i].subject);
    for (int i = 0; i < 2 && r == CAMP_OK; i++)
        r = subject_wait(&burners[i].subject, error);
    for (int i = 0; i < 2 && r == CAMP_OK && *ret_library == CAMP_OK; i++)
        *ret_library = read_subject(&burners[i].subject, DELAY_FIELDS, &burners[i].after, error);
    for (int i = 0; i < 2 && r == CAMP_OK && *ret_library == CAMP_OK; i++)
        r = subject_since(&burners[i].subject, &burners[i].mark, &burners[i].most, error);
    return r;
}

/* Run delay outside of the subject's own clocks: before the start of its act, and after its end. */
static double unseen_delay_ns(const struct act_record *own)
{
    return (double)own->woken_ns + (double)own->rest_ns;
}

/* Stolen time and interrupts are in the load's wall time, but not in its run delay. */
static void judge_delay(struct verification *verification, const struct burner *burner,
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

static void run_burners(struct verification *verification)
{
    struct burner burners[2] = { { .subject = SUBJECT_NONE }, { .subject = SUBJECT_NONE } };
    struct load_cpu_plan plan = { .percent = 100, .cpu = load_last_cpu(), .duration_ns = BURN_NS };
    struct camp_error error = { 0 };
    uint64_t off_task_ns = verify_off_task_ns(plan.cpu);
    int library = CAMP_OK, r = burn_both(burners, &plan, &library, &error);

    if (r != CAMP_OK) {
        trial_not_tested(verification, &error);
    } else if (library != CAMP_OK) {
        decide_failure(verification, "run-delay", library, &error);
        decide_failure(verification, "switches-involuntary", library, &error);
    } else {
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
    uint64_t slept_ns;    /* the requested sleeps */
    uint64_t late_ns;     /* the sum of the delays of its wakeups */
    uint64_t call_own_ns; /* CPU time of falling asleep and waking, which slept_ns includes */
};

static int act_turns(const void *plan, void *truth, struct camp_error *error)
{
    struct sum_truth *sum = truth;

    (void)plan;
    (void)error;
    prctl(PR_SET_TIMERSLACK, 1, 0, 0, 0);
    for (int i = 0; i < TURNS && !stop_requested; i++) {
        uint64_t own, due, now;

        load_burn(CLOCK_PROCESS_CPUTIME_ID, UINT64_MAX, 0, now_ns(CLOCK_MONOTONIC) + TURN_NS);
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

/* CPU time + run delay + the requested sleep is the wall time. The sum may be smaller by the delays
 * of the wakeups, and larger by the CPU time of the calls and by the time outside of the act. */
static void judge_sum(struct verification *verification, const struct burner *burner,
                      double taken_ns)
{
    const struct act_record *own = subject_record(&burner->subject);
    const struct sum_truth *truth = subject_truth(&burner->subject);
    double booked = (double)(burner->after.cpu_ns - burner->before.cpu_ns) +
                    (double)(burner->after.run_delay_ns - burner->before.run_delay_ns) +
                    (double)truth->slept_ns;
    double wall = (double)own->wall_ns, slew_ns = SLEW_MAX * wall;
    double outside_ns = (double)(burner->most.own_ns - own->own_ns) + unseen_delay_ns(own);

    decide_between(verification, "sum-rule", 100, 100 * booked / wall,
                   100 * (slew_ns + taken_ns + (double)truth->late_ns) / wall,
                   100 * (slew_ns + outside_ns + (double)truth->call_own_ns) / wall);
}

static void run_sum(struct verification *verification)
{
    struct burner burner = { .subject = SUBJECT_NONE };
    struct camp_error error = { 0 };
    uint64_t off_task_ns = verify_off_task_ns(CAMP_CPU_TOTAL);
    int library = CAMP_OK,
        r = subject_open(&burner.subject, act_turns, NULL, sizeof(struct sum_truth), &error);

    if (r == CAMP_OK) {
        burner.mark = subject_mark(&burner.subject);
        library = read_subject(&burner.subject, DELAY_FIELDS, &burner.before, &error);
        r = subject_do(&burner.subject, &error);
    }
    if (r == CAMP_OK && library == CAMP_OK)
        library = read_subject(&burner.subject, DELAY_FIELDS, &burner.after, &error);
    if (r == CAMP_OK && library == CAMP_OK)
        r = subject_since(&burner.subject, &burner.mark, &burner.most, &error);
    if (r != CAMP_OK)
        trial_not_tested(verification, &error);
    else if (library != CAMP_OK)
        decide_failure(verification, "sum-rule", library, &error);
    else
        judge_sum(verification, &burner, verify_off_task_since_ns(CAMP_CPU_TOTAL, off_task_ns));
    subject_end(&burner.subject);
}

static const struct row_spec thread_rows[] = {
    { "threads-step", "threads", "growth of threads when one is made (worst of 8) : 1" },
    { "threads-listed", "threads", "threads listed more after 8 were made : 8" },
};
static const struct row_spec voluntary_rows[] = {
    { "switches-voluntary", "switches", "of a process that slept 500 times : getrusage" },
};
static const struct row_spec burner_rows[] = {
    { "run-delay", "ms", "of one of two that want one CPU : its wall time - its CPU time" },
    { "switches-involuntary", "switches", "of the same : getrusage" },
};
static const struct row_spec sum_rows[] = {
    { "sum-rule", "% of wall", "CPU time + run delay + requested sleep : wall time" },
};
static const struct trial trials[] = {
    { burner_rows, sizeof burner_rows / sizeof *burner_rows, run_burners },
    { sum_rows, sizeof sum_rows / sizeof *sum_rows, run_sum },
    { thread_rows, sizeof thread_rows / sizeof *thread_rows, run_threads },
    { voluntary_rows, sizeof voluntary_rows / sizeof *voluntary_rows, run_voluntary },
};
const struct trial_list task_trials = { trials, sizeof trials / sizeof *trials, true };
