/*
 * Exit records: what tools that look now and then never see.
 *
 * Children of BURN_NS each come and go. Each must have left one record, and the truth of its time
 * is its CPU clock as a zombie. They do not look at their own CPU clocks, for that would bring them
 * up to date: so their records are as of their last tick or switch, as those of other programs are,
 * and more than half of such a child is not in measured_ns (struct camp_task_exit). As it never
 * slept, at_most_ns is what it ran, but for the moment before it first ran, and for its end after
 * the record, of which the zombie's clock knows and no record does (freeing its memory).
 *
 * What such an end costs depends on the program and on what else runs, so it is measured in
 * between: every other child looks at its clock as its last act. The rest of its zombie's clock is
 * its end. The records of these count, but are not added up.
 */
#include "verify.h"

#include "counters/error.h"
#include "counters/units.h"
#include "program/command.h"
#include "verify_subject.h"
#include "verify_witness.h"

#include <errno.h>
#include <math.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define DURATION_NS (800ull * NS_PER_MS)
#define EXITS_AT_ONCE 64
#define ATTEND_NS (50u * NS_PER_MS)
#define BURN_NS (5u * NS_PER_MS)
#define PERIOD_NS (8u * NS_PER_MS)
#define KNOWING_NAME "camp-knowing"

struct records {
    struct camp_taskstats listen;
    int32_t parent;
    double count, ns;
    int result; /* of the library */
    struct camp_error error;
};

/* In memory that the children share. */
struct fork_truth {
    uint64_t knowing, ends_ns; /* children that looked at their clocks, and what came after */
    double ends_square;        /* the sum of the squares of these */
    uint64_t blind, clocks_ns; /* the others, and their CPU clocks, once they had ended */
    uint64_t forks_ns;         /* what it took their parent to fork them, which is in elapsed_ns */
    uint64_t last_look_ns;
};

static void child_life(struct fork_truth *truth, bool knowing)
{
    uint64_t end = now_ns(CLOCK_MONOTONIC) + BURN_NS;

    if (knowing)
        prctl(PR_SET_NAME, KNOWING_NAME);
    while (now_ns(CLOCK_MONOTONIC) < end)
        continue;
    if (knowing)
        truth->last_look_ns = now_ns(CLOCK_PROCESS_CPUTIME_ID);
    _exit(0);
}

static bool fork_one(struct fork_truth *truth)
{
    bool knowing = truth->knowing < truth->blind;
    uint64_t fork_ns = now_ns(CLOCK_THREAD_CPUTIME_ID), clock_ns;
    pid_t pid = fork();
    siginfo_t info;

    if (pid == 0)
        child_life(truth, knowing);
    fork_ns = now_ns(CLOCK_THREAD_CPUTIME_ID) - fork_ns;
    if (pid < 0)
        return false;
    while (waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT) != 0 && errno == EINTR)
        continue;
    if (camp_pid_cpu_ns((int32_t)pid, &clock_ns) != CAMP_OK)
        clock_ns = 0;
    while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
        continue;
    if (knowing) {
        truth->knowing++;
        truth->ends_ns += clock_ns - truth->last_look_ns;
        truth->ends_square += pow((double)(clock_ns - truth->last_look_ns), 2);
    } else {
        truth->blind++;
        truth->clocks_ns += clock_ns;
        truth->forks_ns += fork_ns;
    }
    return true;
}

static int act_fork(const void *plan, void *truth, struct camp_error *error)
{
    uint64_t due = now_ns(CLOCK_MONOTONIC), end = due + DURATION_NS;

    (void)plan;
    while (due < end && sleep_until(due)) {
        if (!fork_one(truth))
            return camp_fail(error, CAMP_E_NOMEM, 0, "no process could be forked");
        due += PERIOD_NS;
        if (now_ns(CLOCK_MONOTONIC) > due)
            due = now_ns(CLOCK_MONOTONIC);
    }
    return CAMP_OK;
}

static void attend(struct records *records)
{
    struct camp_task_exit exits[EXITS_AT_ONCE];
    size_t count = EXITS_AT_ONCE;

    while (records->result == CAMP_OK && count == EXITS_AT_ONCE) {
        records->result = camp_taskstats_exits(&records->listen, exits, sizeof *exits,
                                               EXITS_AT_ONCE, &count, &records->error);
        for (size_t i = 0; records->result == CAMP_OK && i < count; i++) {
            const struct camp_task_exit *exit = &exits[i];

            if (exit->parent != records->parent || !exit->is_process)
                continue;
            records->count++;
            if (strcmp(exit->name, KNOWING_NAME) == 0)
                continue;
            records->ns +=
                (double)(exit->voluntary_switches == 0 ? exit->at_most_ns : exit->measured_ns);
        }
    }
}

static int collect(struct subject *subject, struct records *records, struct camp_error *error)
{
    uint64_t now = now_ns(CLOCK_MONOTONIC), end = now + DURATION_NS;
    int r;

    records->parent = (int32_t)subject->pid;
    subject_start(subject);
    for (now += ATTEND_NS; now < end && sleep_until(now); now += ATTEND_NS)
        attend(records);
    r = subject_wait(subject, error);
    attend(records);
    return r;
}

/* How far the total exit time of the children that do not read their clocks may differ from the
 * mean of the children that do. The tolerance is computed from the scatter of the second group. */
static double ends_unsure_ns(const struct fork_truth *truth)
{
    double knowing = (double)truth->knowing, blind = (double)truth->blind;
    double mean = (double)truth->ends_ns / knowing;
    double variance = fmax(truth->ends_square / knowing - mean * mean, 0);

    return knowing > 0 ? DEVIATIONS * sqrt(variance * blind * (1 + blind / knowing)) : 0;
}

static void judge(struct verification *verification, const struct records *records,
                  const struct fork_truth *truth, double taken_ns)
{
    double blind = (double)truth->blind, knowing = (double)truth->knowing;
    double ends_ns = knowing > 0 ? blind * (double)truth->ends_ns / knowing : 0;
    double expected_ns = (double)truth->clocks_ns - ends_ns;

    if (records->result != CAMP_OK) {
        book_failure(verification, "exits-count", records->result, &records->error);
        book_failure(verification, "exits-time", records->result, &records->error);
        return;
    }
    if (records->listen.overruns > 0) {
        interfered(verification, "exits-count", "the kernel dropped records for want of room");
        interfered(verification, "exits-time", "the kernel dropped records for want of room");
        return;
    }
    book(verification, "exits-count", blind + knowing, records->count, 0);
    /* elapsed - run delay includes stolen time and interrupts, a task's clock does not
     * (docs/counters.md). */
    book_between(verification, "exits-time", expected_ns / NS_PER_MS, records->ns / NS_PER_MS,
                 ends_unsure_ns(truth) / NS_PER_MS,
                 (ends_unsure_ns(truth) + (double)truth->forks_ns + taken_ns) / NS_PER_MS);
}

static void run_exits(struct verification *verification)
{
    struct records records = { .listen = CAMP_TASKSTATS_NONE };
    struct subject subject = SUBJECT_NONE;
    struct camp_error error = { 0 };
    uint64_t taken = verify_taken_ns(CAMP_CPU_TOTAL);
    int r = CAMP_OK;

    records.result = camp_taskstats_open(&records.listen, &records.error);
    if (records.result == CAMP_OK)
        records.result = camp_taskstats_listen(&records.listen, &records.error);
    if (records.result == CAMP_OK) {
        r = subject_begin(&subject, act_fork, NULL, sizeof(struct fork_truth), &error);
        if (r == CAMP_OK)
            r = collect(&subject, &records, &error);
    }
    if (r != CAMP_OK)
        trial_not_tested(verification, &error);
    else if (records.result != CAMP_OK)
        judge(verification, &records, &(struct fork_truth){ 0 }, 0);
    else
        judge(verification, &records, subject_truth(&subject),
              verify_taken_since_ns(CAMP_CPU_TOTAL, taken));
    subject_end(&subject);
    camp_taskstats_close(&records.listen);
}

static const struct row_spec rows[] = {
    { "exits-count", "records", "of processes that ended : how many were forked" },
    { "exits-time", "ms", "records' CPU time : clocks of the ended, less their ends" },
};
static const struct trial trials[] = { { rows, sizeof rows / sizeof *rows, run_exits } };
const struct trial_list exit_trials = { trials, sizeof trials / sizeof *trials, true };
