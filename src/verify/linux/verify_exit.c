/*
 * Verifies the exit records of processes that are too short for sampling tools.
 *
 * Children run for BURN_NS each and exit. Each child must leave one record. The expected CPU time
 * comes from the child's CPU clock, read while the child is a zombie.
 *
 * When a child reads its own clock, the kernel also updates the CPU time that the record will have.
 * So half of the children do not read their clocks. Like those of other programs, their records end
 * at the last tick or switch, and measured_ns (struct camp_task_exit) misses more than half of
 * their time. If a child never slept, at_most_ns is its CPU time plus the part of fork(2) before
 * the child first ran.
 *
 * The zombie's clock also includes the part of the exit that follows the record, in which the
 * kernel frees memory. This time depends on the program and on the machine's load, so it is
 * measured in the same trial. The other half of the children read their clocks just before they
 * exit; the zombie's clock minus this reading is the time of the exit. The records of these
 * children are counted, but their times are not added up.
 */
#include "verify_trials.h"

#include "counters/clock.h"
#include "counters/error.h"
#include "program/command.h"
#include "verify_subject.h"
#include "verify_witness.h"

#include <camp/linux.h>

#include <errno.h>
#include <math.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define DURATION_NS (800ull * NS_PER_MS)
#define EXITS_AT_ONCE 64
#define READ_EVERY_NS (50u * NS_PER_MS)
#define BURN_NS (5u * NS_PER_MS)
#define PERIOD_NS (8u * NS_PER_MS)
#define SELF_TIMED_NAME "camp-timed"

struct records {
    struct camp_taskstats listen;
    int32_t parent;
    double count, ns;
    struct camp_error library;
};

/* Sums over the children, in memory that they share with their parent. */
struct fork_truth {
    /* number of children that read their own clocks, and sum of their exits' CPU times */
    uint64_t self_timed, exits_ns;
    double exits_square;
    /* number of children that do not read their clocks, and sum of these clocks, read from the
     * zombies */
    uint64_t untimed, clocks_ns;
    /* sum of the CPU times of fork() for the untimed children; at_most_ns includes it */
    uint64_t forks_ns;
    uint64_t last_reading_ns;
};

static void child_run(struct fork_truth *truth, bool self_timed)
{
    uint64_t end = now_ns(CLOCK_MONOTONIC) + BURN_NS;

    if (self_timed)
        prctl(PR_SET_NAME, SELF_TIMED_NAME);
    while (now_ns(CLOCK_MONOTONIC) < end)
        continue;
    if (self_timed)
        truth->last_reading_ns = now_ns(CLOCK_PROCESS_CPUTIME_ID);
    _exit(0);
}

static bool fork_one(struct fork_truth *truth)
{
    bool self_timed = truth->self_timed < truth->untimed;
    uint64_t fork_ns = now_ns(CLOCK_THREAD_CPUTIME_ID), clock_ns;
    pid_t pid = fork();
    siginfo_t info;

    if (pid == 0)
        child_run(truth, self_timed);
    fork_ns = now_ns(CLOCK_THREAD_CPUTIME_ID) - fork_ns;
    if (pid < 0)
        return false;
    while (waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT) != 0 && errno == EINTR)
        continue;
    if (camp_pid_cpu_ns((int32_t)pid, &clock_ns) != CAMP_OK)
        clock_ns = 0;
    while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
        continue;
    if (self_timed) {
        truth->self_timed++;
        truth->exits_ns += clock_ns - truth->last_reading_ns;
        truth->exits_square += pow((double)(clock_ns - truth->last_reading_ns), 2);
    } else {
        truth->untimed++;
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

/* Each child has one thread, so it has one record. In versions of taskstats before
 * CAMP_TASKSTATS_WITH_PROCESSES, this record looks like that of a thread. */
static bool is_of_child(const struct records *records, const struct camp_task_exit *exit)
{
    return exit->is_process == (records->listen.version >= CAMP_TASKSTATS_WITH_PROCESSES);
}

static void read_records(struct records *records)
{
    struct camp_task_exit exits[EXITS_AT_ONCE];
    size_t count = EXITS_AT_ONCE;

    while (count == EXITS_AT_ONCE) {
        if (records->library.code != CAMP_OK ||
            camp_taskstats_exits(&records->listen, exits, sizeof *exits, EXITS_AT_ONCE, &count,
                                 &records->library) != CAMP_OK)
            return;
        for (size_t i = 0; i < count; i++) {
            const struct camp_task_exit *exit = &exits[i];

            if (exit->parent != records->parent || !is_of_child(records, exit))
                continue;
            records->count++;
            if (strcmp(exit->name, SELF_TIMED_NAME) == 0)
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
    for (now += READ_EVERY_NS; now < end && sleep_until(now); now += READ_EVERY_NS)
        read_records(records);
    r = subject_wait(subject, error);
    read_records(records);
    return r;
}

/* For a child that does not read its clock, the time of the exit is estimated as the mean time of
 * the children that read their clocks. Returns the allowed error of the sum of these estimates. */
static double exits_error_ns(const struct fork_truth *truth)
{
    double self_timed = (double)truth->self_timed, untimed = (double)truth->untimed;
    double mean = (double)truth->exits_ns / self_timed;
    double variance = fmax(truth->exits_square / self_timed - mean * mean, 0);

    return self_timed > 0 ? DEVIATIONS * sqrt(variance * untimed * (1 + untimed / self_timed)) : 0;
}

static void judge(struct verification *verification, const struct records *records,
                  const struct fork_truth *truth, double taken_ns)
{
    double untimed = (double)truth->untimed, self_timed = (double)truth->self_timed;
    double untimed_exits_ns = self_timed > 0 ? untimed * (double)truth->exits_ns / self_timed : 0;
    double expected_ns = (double)truth->clocks_ns - untimed_exits_ns;

    if (records->listen.overruns > 0) {
        interfered(verification, "exits-count", "the kernel dropped records for lack of space");
        interfered(verification, "exits-time", "the kernel dropped records for lack of space");
        return;
    }
    decide(verification, "exits-count", untimed + self_timed, records->count, 0);
    /* at_most_ns is elapsed time without run delay. It includes stolen time and interrupts, which a
     * CPU clock does not include (docs/counters.md). */
    decide_between(verification, "exits-time", expected_ns / NS_PER_MS, records->ns / NS_PER_MS,
                   exits_error_ns(truth) / NS_PER_MS,
                   (exits_error_ns(truth) + (double)truth->forks_ns + taken_ns) / NS_PER_MS);
}

void verify_exits(struct verification *verification)
{
    struct records records = { .listen = CAMP_TASKSTATS_NONE };
    struct subject subject = { 0 };
    struct camp_error error = { 0 };
    uint64_t before = verify_off_task_ns(CAMP_CPU_TOTAL);
    int r = CAMP_OK;

    if (camp_taskstats_open(&records.listen, &records.library) == CAMP_OK &&
        camp_taskstats_listen(&records.listen, &records.library) == CAMP_OK) {
        r = subject_open(&subject, act_fork, NULL, sizeof(struct fork_truth), &error);
        if (r == CAMP_OK)
            r = collect(&subject, &records, &error);
    }
    if (trial_succeeded(verification, r, &error, &records.library))
        judge(verification, &records, subject_truth(&subject),
              verify_off_task_since_ns(CAMP_CPU_TOTAL, before));
    subject_end(&subject);
    camp_taskstats_close(&records.listen);
}
