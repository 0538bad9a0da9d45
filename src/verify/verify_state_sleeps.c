/*
 * Microstates off the CPU: is each kind of sleep what a load measures itself?
 *
 * The loads (docs/loads.md) know how long they slept in a futex, a pipe, a timer, by their own
 * clocks. Of a wait for a disk or a page a load knows the time off its CPU; the scheduler's own
 * count has its run-queue part.
 *
 * Between the two snapshots a subject waits for the start and the end of its act: that is a lock (a
 * semaphore is a futex) of known length, because the act measures its own.
 */
#include "verify.h"

#include "counters/error.h"
#include "counters/units.h"
#include "load/load.h"
#include "load/load_tools.h"
#include "program/command.h"
#include "verify_subject.h"
#include "verify_watch.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <unistd.h>

static double percent_of(double part_ns, uint64_t whole_ns)
{
    return whole_ns > 0 ? 100 * part_ns / (double)whole_ns : 0;
}

#define SLEEP_PERCENT 60
#define SLEEP_NS (400ull * NS_PER_MS)

static const struct sleep_row {
    const char *row;
    enum load_sleep_kind kind;
    enum camp_state state;
} sleeps[] = {
    { "states-lock", LOAD_SLEEP_LOCK, CAMP_STATE_LOCK },
    { "states-pipe", LOAD_SLEEP_PIPE, CAMP_STATE_PIPE },
    { "states-timer", LOAD_SLEEP_TIMER, CAMP_STATE_TIMER },
};

/* The time for falling asleep and waking is sleep by the load's clocks, but time on a CPU by its
 * states. The subject also waits for locks outside of the load's own sleeps: for its act to start,
 * and at the end of the act for its waker. A preemption before the sleep is sleep by the load's
 * clocks, but run queue by its states. */
static void judge_sleep(struct verification *verification, const struct sleep_row *sleep,
                        const struct subject *subject, const struct camp_thread_states *did)
{
    const struct load_sleep_truth *truth = subject_truth(subject);
    uint64_t act_ns = subject_record(subject)->wall_ns;
    double asleep = (double)did->state_ns[sleep->state];
    double slew = 100 * SLEW_MAX;
    double unsure = percent_of((double)truth->unsure_ns, truth->wall_ns);

    if (sleep->state == CAMP_STATE_LOCK) {
        asleep -= (double)did->time_ns - (double)act_ns;
        unsure += percent_of((double)act_ns - (double)truth->wall_ns, truth->wall_ns);
    }
    decide_between(
        verification, sleep->row, percent_of((double)truth->asleep_ns, truth->wall_ns),
        percent_of(asleep, truth->wall_ns),
        slew + percent_of((double)(truth->call_own_ns + truth->preempted_ns), truth->wall_ns),
        slew + unsure);
}

static int run_sleep(struct verification *verification, const struct sleep_row *sleep,
                     struct watch *watch, struct camp_error *error)
{
    const struct load_sleep_plan plan = { sleep->kind, SLEEP_PERCENT, 0, -1, SLEEP_NS };
    struct subject subject = SUBJECT_NONE;
    struct camp_thread_states did;
    int r = subject_open(&subject, load_sleep, &plan, sizeof(struct load_sleep_truth), error);

    if (r == CAMP_OK)
        r = watch_act(watch, &subject, &did, error);
    if (r == CAMP_OK)
        judge_sleep(verification, sleep, &subject, &did);
    subject_end(&subject);
    return r;
}

#define FILE_BYTES (8u << 20)
#define READ_BYTES (16ull * FILE_BYTES)
#define READ_BLOCK (1u << 20) /* large enough that the disk has to be waited for */
#define FAULT_PAGES 2048u

/* A load's waits by its own clocks: for the disk or a page, and then for a CPU. */
struct wait {
    uint64_t waited_ns, wall_ns;
};

static int act_io(const void *plan, void *truth, struct camp_error *error)
{
    const struct load_io_plan io = {
        .file = plan, .bytes = READ_BYTES, .block = READ_BLOCK, .direct = true
    };
    struct load_io_truth known;
    int r = load_io(&io, &known, error);

    *(struct wait *)truth = (struct wait){ known.wall_ns - known.own_ns, known.wall_ns };
    return r;
}

static int act_fault(bool in_call, const char *path, struct wait *ret, struct camp_error *error)
{
    const struct load_fault_plan plan = { path, FAULT_PAGES, in_call };
    struct load_fault_truth known;
    int r = load_fault(&plan, &known, error);

    *ret = (struct wait){ known.touch_ns - known.own_ns, known.touch_ns };
    return r;
}

static int act_data_fault(const void *plan, void *truth, struct camp_error *error)
{
    return act_fault(false, plan, truth, error);
}

static int act_kernel_fault(const void *plan, void *truth, struct camp_error *error)
{
    return act_fault(true, plan, truth, error);
}

static const struct wait_row {
    const char *row;
    enum camp_state state;
    subject_act *act;
} waits[] = {
    { "states-disk", CAMP_STATE_DISK, act_io },
    { "states-data-fault", CAMP_STATE_DATA_FAULT, act_data_fault },
    { "states-kernel-fault", CAMP_STATE_KERNEL_FAULT, act_kernel_fault },
};

/* The difference between scheduler and states in the thread's CPU time and run queue, which other
 * rows judge. At each wait one of them sees the CPU leave and enter idle later than the other. */
static double differ_ns(const struct camp_thread_states *did)
{
    double on_cpu_ns = (double)(did->state_ns[CAMP_STATE_USER] + did->state_ns[CAMP_STATE_SYSTEM] +
                                did->state_ns[CAMP_STATE_IRQ]);

    return fabs(on_cpu_ns - (double)did->cpu_ns) +
           fabs((double)did->state_ns[CAMP_STATE_RUN_QUEUE] - (double)did->run_delay_ns);
}

/* The scheduler's run delay covers all the time between the snapshots. The part outside of the
 * load's waits makes the expected number too small. */
static void judge_wait(struct verification *verification, const struct wait_row *row,
                       const struct subject *subject, const struct camp_thread_states *did)
{
    const struct act_record *own = subject_record(subject);
    const struct wait *wait = subject_truth(subject);
    double expected =
        percent_of((double)wait->waited_ns - (double)did->run_delay_ns, wait->wall_ns);
    double allowed = 100 * SLEW_MAX + percent_of(differ_ns(did), wait->wall_ns);
    uint64_t beside = own->woken_ns + own->wall_ns - wait->wall_ns;

    if (beside > did->run_delay_ns)
        beside = did->run_delay_ns;
    if (expected <= 0)
        not_tested(verification, row->row, "%.60s: reading a file there does not wait for a disk",
                   load_folder());
    else
        decide_between(verification, row->row, expected,
                       percent_of((double)did->state_ns[row->state], wait->wall_ns), allowed,
                       allowed + percent_of((double)beside, wait->wall_ns));
}

static int watch_wait(struct verification *verification, const struct wait_row *row,
                      const char *path, struct watch *watch, struct camp_error *error)
{
    struct subject subject = SUBJECT_NONE;
    struct camp_thread_states did;
    int r = subject_open(&subject, row->act, path, sizeof(struct wait), error);

    if (r == CAMP_OK)
        r = watch_act(watch, &subject, &did, error);
    if (r == CAMP_OK)
        judge_wait(verification, row, &subject, &did);
    subject_end(&subject);
    return r;
}

/* The file is written before, because writing waits for the disk as well. The subject has it open.
 */
static int run_wait(struct verification *verification, const struct wait_row *row,
                    struct watch *watch, struct camp_error *error)
{
    int file = load_make_filled(FILE_BYTES), r;
    char path[32];

    if (file < 0)
        return camp_fail_errno(error, errno, load_folder());
    snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    r = watch_wait(verification, row, path, watch, error);
    close(file);
    return r;
}

static void run_all(struct verification *verification)
{
    struct camp_error error = { 0 };
    struct watch watch;
    int r = watch_open(&watch, &error);

    for (size_t i = 0; i < sizeof sleeps / sizeof *sleeps && r == CAMP_OK; i++)
        if (is_open(verification, sleeps[i].row))
            r = run_sleep(verification, &sleeps[i], &watch, &error);
    for (size_t i = 0; i < sizeof waits / sizeof *waits && r == CAMP_OK; i++)
        if (is_open(verification, waits[i].row))
            r = run_wait(verification, &waits[i], &watch, &error);
    if (r != CAMP_OK)
        trial_not_tested(verification, &error);
    watch_close(&watch);
}

static const struct row_spec rows[] = {
    { "states-lock", "% of wall", "asleep in futex(2) : by the clocks of sleeper and waker" },
    { "states-pipe", "% of wall", "asleep in read(2) of a pipe : likewise" },
    { "states-timer", "% of wall", "asleep in clock_nanosleep(2) : until the time it asked for" },
    { "states-disk", "% of wall", "waits of direct reads : wall - CPU time - run delay" },
    { "states-data-fault", "% of wall", "waits for pages of a file : wall - CPU time - run delay" },
    { "states-kernel-fault", "% of wall", "the same, touched in write(2) : likewise" },
};
static const struct trial trials[] = {
    { rows, sizeof rows / sizeof *rows, run_all },
};
const struct trial_list state_sleep_trials = { trials, sizeof trials / sizeof *trials, true };
