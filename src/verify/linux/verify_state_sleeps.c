/*
 * Verifies the microstates of sleep: each state must have as much time as the load measured itself.
 *
 * The loads (docs/loads.md) measure with their own clocks how long they slept in a futex, a pipe or
 * a timer. For waits for a disk or a page, a load can measure only how long it was off its CPU. The
 * part of this time in the run queue is known from the scheduler.
 *
 * Between the snapshots, the subject also waits for a semaphore, before and after its act. This
 * wait is in CAMP_STATE_LOCK, because a semaphore is a futex. Its length is the time between the
 * snapshots minus the duration of the act, which the act measures.
 */
#include "verify_trials.h"

#include "counters/error.h"
#include "counters/units.h"
#include "ledger/array.h"
#include "load/load.h"
#include "load/load_file.h"
#include "microstates/table.h"
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

#define FILE_BYTES (8u << 20)
#define READ_BYTES (16ull * FILE_BYTES)
#define READ_BLOCK (1u << 20) /* A read of this size must wait for the disk. */
#define FAULT_PAGES 2048u

/* The file is written before a trial, because writing waits for the disk too. The path is
 * /proc/self/fd/N, and the subject inherits the open file. */
static char file_path[32];

static const struct load_sleep_plan lock = { LOAD_SLEEP_LOCK, SLEEP_PERCENT, 0, -1, SLEEP_NS };
static const struct load_sleep_plan pipe_ = { LOAD_SLEEP_PIPE, SLEEP_PERCENT, 0, -1, SLEEP_NS };
static const struct load_sleep_plan timer = { LOAD_SLEEP_TIMER, SLEEP_PERCENT, 0, -1, SLEEP_NS };
static const struct load_io_plan disk = {
    .file = file_path, .bytes = READ_BYTES, .block = READ_BLOCK, .direct = true
};
static const struct load_fault_plan data_fault = { file_path, FAULT_PAGES };
static const struct load_fault_plan kernel_fault = { file_path, FAULT_PAGES, .in_call = true };

struct state_row;
typedef void judge_function(struct verification *verification, const struct state_row *row,
                            const struct subject *subject, const struct camp_thread_states *did,
                            uint64_t unseen);
static judge_function judge_sleep, judge_disk, judge_fault;

static const struct state_row {
    const char *name;
    enum camp_state state;
    load_function *load;
    const void *plan;
    size_t truth_size;
    judge_function *judge;
} rows[] = {
    { "states-lock", CAMP_STATE_LOCK, load_sleep, &lock, sizeof(struct load_sleep_truth),
      judge_sleep },
    { "states-pipe", CAMP_STATE_PIPE, load_sleep, &pipe_, sizeof(struct load_sleep_truth),
      judge_sleep },
    { "states-timer", CAMP_STATE_TIMER, load_sleep, &timer, sizeof(struct load_sleep_truth),
      judge_sleep },
    { "states-disk", CAMP_STATE_DISK, load_io, &disk, sizeof(struct load_io_truth), judge_disk },
    { "states-data-fault", CAMP_STATE_DATA_FAULT, load_fault, &data_fault,
      sizeof(struct load_fault_truth), judge_fault },
    { "states-kernel-fault", CAMP_STATE_KERNEL_FAULT, load_fault, &kernel_fault,
      sizeof(struct load_fault_truth), judge_fault },
};

/* The states may show less sleep than the load's own clocks. These clocks also count falling
 * asleep, waking, and a preemption before the sleep, which are CPU time and run queue. For
 * CAMP_STATE_LOCK, the subject's waits outside of the act (verify_subject.h) are subtracted. At the
 * end of its act, the load also waits for its waker thread; the upper bound includes this wait. If
 * no event reported that the load fell asleep, this sleep is in CAMP_STATE_OTHER_SLEEP. `unseen` is
 * the number of switches without an event. */
static void judge_sleep(struct verification *verification, const struct state_row *row,
                        const struct subject *subject, const struct camp_thread_states *did,
                        uint64_t unseen)
{
    const struct load_sleep_truth *truth = subject_truth(subject);
    uint64_t act_ns = subject_record(subject)->wall_ns;
    double asleep = (double)did->state_ns[row->state];
    double slew = 100 * SLEW_MAX;
    double unsure = percent_of((double)truth->late_ns, truth->wall_ns);
    double of_unseen_ns =
        truth->sleeps > 0 ? (double)unseen * (double)truth->asleep_ns / (double)truth->sleeps : 0;

    if (row->state == CAMP_STATE_LOCK) {
        asleep -= (double)(did->time_ns - did->begin_ns) - (double)act_ns;
        unsure += percent_of((double)act_ns - (double)truth->wall_ns, truth->wall_ns);
    }
    decide_between(verification, row->name, percent_of((double)truth->asleep_ns, truth->wall_ns),
                   percent_of(asleep, truth->wall_ns),
                   slew +
                       percent_of((double)(truth->call_own_ns + truth->preempted_ns) + of_unseen_ns,
                                  truth->wall_ns),
                   slew + unsure);
}

/* Returns by how much the scheduler's CPU time and run-queue time differ from those of the states.
 * They differ because the scheduler and the states do not see a switch at the same moment. */
static double differ_ns(const struct camp_thread_states *did)
{
    const double waited_ns =
        (double)did->state_ns[CAMP_STATE_RUN_QUEUE] + (double)did->state_ns[CAMP_STATE_THROTTLED];
    double on_cpu_ns = (double)(states_busy_ns(did->state_ns) + did->state_ns[CAMP_STATE_IRQ]);

    return fabs(on_cpu_ns - (double)did->cpu_ns) + fabs(waited_ns - (double)did->run_delay_ns);
}

/* Compares the state with the wait that the load measured with its own clocks. The load's number
 * includes the time in the run queue after a wait, so the run delay is subtracted. But the run
 * delay is that of all the time between the snapshots. The run delay outside of the load's waits
 * makes the expected number too small. */
static void judge_wait(struct verification *verification, const struct state_row *row,
                       const struct subject *subject, const struct camp_thread_states *did,
                       uint64_t waited_ns, uint64_t wall_ns)
{
    const struct act_record *own = subject_record(subject);
    double expected = percent_of((double)waited_ns - (double)did->run_delay_ns, wall_ns);
    double allowed = 100 * SLEW_MAX + percent_of(differ_ns(did), wall_ns);
    uint64_t outside_ns = own->start_delay_ns + own->wall_ns - wall_ns;

    if (outside_ns > did->run_delay_ns)
        outside_ns = did->run_delay_ns;
    if (expected <= 0)
        not_tested(verification, row->name, "%.60s: reading a file there does not wait for a disk",
                   load_folder());
    else
        decide_between(verification, row->name, expected,
                       percent_of((double)did->state_ns[row->state], wall_ns), allowed,
                       allowed + percent_of((double)outside_ns, wall_ns));
}

static void judge_disk(struct verification *verification, const struct state_row *row,
                       const struct subject *subject, const struct camp_thread_states *did,
                       uint64_t unseen)
{
    const struct load_io_truth *truth = subject_truth(subject);

    (void)unseen;
    judge_wait(verification, row, subject, did, truth->waited_ns, truth->wall_ns);
}

static void judge_fault(struct verification *verification, const struct state_row *row,
                        const struct subject *subject, const struct camp_thread_states *did,
                        uint64_t unseen)
{
    const struct load_fault_truth *truth = subject_truth(subject);

    (void)unseen;
    judge_wait(verification, row, subject, did, truth->waited_ns, truth->touch_ns);
}

static uint64_t unseen_switches(const struct watch *watch)
{
    struct camp_states_losses losses = { 0 };

    camp_states_losses(watch->session, &losses, sizeof losses, NULL);
    return losses.unseen;
}

static int run_row(struct verification *verification, const struct state_row *row,
                   struct watch *watch, struct camp_error *error)
{
    struct subject subject = { 0 };
    struct camp_thread_states did;
    int r = subject_open(&subject, row->load, row->plan, row->truth_size, error);
    uint64_t unseen = unseen_switches(watch);

    if (r == CAMP_OK)
        r = watch_act(watch, &subject, &did, error);
    if (r == CAMP_OK)
        row->judge(verification, row, &subject, &did, unseen_switches(watch) - unseen);
    subject_end(&subject);
    return r;
}

/* Each row gets a new file, because a file stays in memory after it was read. */
static int run_row_with_file(struct verification *verification, const struct state_row *row,
                             struct watch *watch, struct camp_error *error)
{
    int file = load_make_filled(FILE_BYTES), r;

    if (file < 0)
        return camp_fail_errno(error, errno, load_folder());
    snprintf(file_path, sizeof file_path, "/proc/self/fd/%d", file);
    r = run_row(verification, row, watch, error);
    close(file);
    return r;
}

void verify_state_sleeps(struct verification *verification)
{
    struct camp_error error = { 0 };
    struct watch watch;
    int r = watch_open(&watch, &error);

    for (size_t i = 0; i < ARRAY_COUNT(rows) && r == CAMP_OK; i++) {
        if ((states_measured(watch.session) & 1u << rows[i].state) == 0)
            not_tested(verification, rows[i].name, "this kernel does not show this state");
        if (is_open(verification, rows[i].name))
            r = rows[i].judge == judge_sleep
                    ? run_row(verification, &rows[i], &watch, &error)
                    : run_row_with_file(verification, &rows[i], &watch, &error);
    }
    trial_succeeded(verification, r, &error, NULL);
    watch_close(&watch);
}
