/*
 * Verifies microstates on a CPU and in the run queue. The states of a thread must add up to its
 * elapsed time. The time of all threads must match the time of the CPUs. User time must be
 * distinguished from system time.
 *
 * The states of a thread add up almost by construction. So the states are also compared with
 * independent measurements: the scheduler's CPU time and run-queue time, and the clock of an act
 * that measures its own system calls.
 */
#include "verify_trials.h"

#include "counters/clock.h"
#include "counters/error.h"
#include "load/load.h"
#include "load/load_tools.h"
#include "microstates/table.h"
#include "program/command.h"
#include "program/tick.h"
#include "verify_subject.h"
#include "verify_watch.h"
#include "verify_witness.h"

#include <fcntl.h>
#include <math.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static double ms(uint64_t ns)
{
    return (double)ns / NS_PER_MS;
}

static double system_percent(uint64_t user_ns, uint64_t system_ns)
{
    return user_ns + system_ns > 0 ? 100 * (double)system_ns / (double)(user_ns + system_ns) : 0;
}

#define BURN_NS (600ull * NS_PER_MS)

/* Two loads that compete for one CPU. `most` has upper bounds for subjects[0] (subject_since()). */
struct burners {
    struct subject subjects[2];
    struct act_record most;
    int32_t cpu;
    double taken_ns; /* time that was stolen from the CPU, or used by interrupts on it */
};

static int watch_burners(struct watch *watch, struct burners *burners, struct camp_error *error)
{
    const struct load_cpu_plan plan = { .percent = 100,
                                        .cpu = load_last_cpu(),
                                        .duration_ns = BURN_NS };
    struct subject *subjects = burners->subjects;
    uint64_t taken_ns = verify_off_task_ns(plan.cpu);
    struct act_record mark;
    int r = CAMP_OK;

    for (int i = 0; i < 2 && r == CAMP_OK; i++)
        r = subject_open(&subjects[i], load_cpu, &plan, sizeof(struct load_cpu_truth), error);
    if (r != CAMP_OK)
        return r;
    mark = subject_mark(&subjects[0]);
    r = watch_before(watch, error);
    for (int i = 0; i < 2 && r == CAMP_OK; i++)
        subject_start(&subjects[i]);
    for (int i = 0; i < 2 && r == CAMP_OK; i++)
        r = subject_wait(&subjects[i], error);
    if (r == CAMP_OK)
        r = watch_after(watch, error);
    burners->taken_ns = verify_off_task_since_ns(plan.cpu, taken_ns);
    return r == CAMP_OK ? subject_since(&subjects[0], &mark, &burners->most, error) : r;
}

/* Compares the sum of a thread's states with its elapsed time. The thread with the largest error
 * decides. */
static void judge_sum(struct verification *verification, const struct watch *watch)
{
    double expected = 0, reported = 0;
    size_t compared = 0;

    for (size_t i = 0; i < watch->threads.count; i++) {
        const struct camp_thread_states *did = &watch->threads.threads[i];
        const double elapsed = ms(did->time_ns - did->begin_ns);
        uint64_t sum = 0;

        if ((did->flags & (CAMP_THREAD_ENDED | THREAD_NEW)) != 0)
            continue;
        for (int state = 0; state < CAMP_STATE_COUNT; state++)
            sum += did->state_ns[state];
        if (compared++ == 0 || fabs(ms(sum) - elapsed) > fabs(reported - expected)) {
            expected = elapsed;
            reported = ms(sum);
        }
    }
    if (compared == 0)
        not_tested(verification, "states-sum", "no thread was in both snapshots");
    decide(verification, "states-sum", expected, reported, 0);
}

/* Compares the CPU time of all threads with the busy time of the CPUs. Each snapshot reads the CPUs
 * before and after the threads. So the CPU time of the threads is at least the busy time from
 * before.later to after.earlier, and at most the busy time from before.earlier to after.later. The
 * clock of a hidden thread (hidden_ns) may lag by a tick. */
static void judge_cpus(struct verification *verification, const struct watch *watch)
{
    struct watch_cpus least = watch_cpus(watch, false), most = watch_cpus(watch, true);
    double wall = (least.wall_ns + most.wall_ns) / 2, least_busy_ns, most_busy_ns, tasks_ns, lag_ns;
    struct camp_states_losses losses = { 0 };

    if (camp_states_losses(watch->session, &losses, sizeof losses, NULL) == CAMP_OK)
        remark(verification, "states-cpus",
               "%llu switches, %.2f %% unseen; %.1f ms of hidden threads",
               (unsigned long long)losses.switches,
               100 * (double)losses.unseen / (double)(losses.switches + losses.unseen),
               ms(watch->after.hidden_ns - watch->before.hidden_ns));
    least_busy_ns = least.wall_ns - least.rest_ns;
    most_busy_ns = most.wall_ns - most.rest_ns;
    tasks_ns = (double)watch_threads_ns(watch);
    lag_ns = watch->after.hidden_ns > 0 ? (double)tick_length_ns() : 0;
    decide(verification, "states-cpus", 100,
           100 * (tasks_ns + (least.rest_ns + most.rest_ns) / 2) / wall,
           100 * ((most_busy_ns - least_busy_ns) / 2 + lag_ns) / wall);
}

/* Compares the states of the first load with its own clocks. The load never slept in its act, so
 * all wall time that is not CPU time was run queue, stolen time or interrupts. The states change
 * when the CPU switches tasks. The scheduler's clock changes slightly earlier, when the scheduler
 * chooses the next task. But this difference is the same at the start and at the end of a run, so
 * the length of a run is the same. */
static void judge_witnesses(struct verification *verification, const struct watch *watch,
                            const struct burners *burners)
{
    const struct act_record *own = subject_record(&burners->subjects[0]);
    double slew_ns = SLEW_MAX * (double)own->wall_ns, outside_ns;
    struct camp_thread_states did;
    double on_cpu, run_queue;

    if (!watch_process(watch, burners->subjects[0].pid, &did)) {
        not_tested(verification, "states-on-cpu", "its subject was not shown");
        not_tested(verification, "states-run-queue", "its subject was not shown");
        return;
    }
    on_cpu = ms(states_busy_ns(did.state_ns) + did.state_ns[CAMP_STATE_IRQ]);
    run_queue = ms(did.state_ns[CAMP_STATE_RUN_QUEUE] + did.state_ns[CAMP_STATE_THROTTLED]);
    outside_ns = (double)(burners->most.own_ns - own->own_ns);
    decide_between(verification, "states-on-cpu", ms(own->own_ns), on_cpu, slew_ns / NS_PER_MS,
                   (slew_ns + outside_ns + burners->taken_ns) / NS_PER_MS);
    decide_between(verification, "states-run-queue", ms(own->wall_ns - own->own_ns), run_queue,
                   (slew_ns + burners->taken_ns) / NS_PER_MS,
                   (slew_ns + (double)own->start_delay_ns + (double)own->until_asleep_ns) /
                       NS_PER_MS);
}

static int run_sums(struct verification *verification, struct watch *watch,
                    struct camp_error *error)
{
    struct burners burners = { 0 };
    int r = watch_burners(watch, &burners, error);

    if (r == CAMP_OK) {
        judge_sum(verification, watch);
        judge_cpus(verification, watch);
        judge_witnesses(verification, watch, &burners);
    }
    for (int i = 0; i < 2; i++)
        subject_end(&burners.subjects[i]);
    return r;
}

/* The time to enter and leave a system call is accounted as user time. So the act makes long calls,
 * and measures this time by an empty call after each long call. */
#define READ_BYTES (16u << 20)
#define SYSTEM_NS (250ull * NS_PER_MS)

struct split {
    bool prepared;
    uint64_t user_ns, system_ns;
    /* time of the empty calls, an upper bound of the time for entering and leaving read(2), and of
     * readings of the clock that are as many as half of those in user_ns */
    uint64_t empty_ns;
};

static void compute(void)
{
    for (volatile unsigned i = 0; i < 10000; i++)
        continue;
}

/* Spends nine tenths of the time in read(2) and one tenth in its own code. Reading the clock is a
 * system call where the kernel's clock is not the CPU's, so the own code seldom reads it. The first
 * call of this function only makes `bytes` resident. */
static bool split_time(int zero, struct split *own)
{
    static char bytes[READ_BYTES];
    uint64_t now, then = now_ns(CLOCK_MONOTONIC);

    if (!own->prepared) {
        memset(bytes, 1, sizeof bytes);
        own->prepared = true;
        return true;
    }
    while (own->system_ns < SYSTEM_NS && !stop_requested) {
        if (read(zero, bytes, READ_BYTES) != READ_BYTES)
            return false;
        now = now_ns(CLOCK_MONOTONIC);
        own->system_ns += now - then;
        then = now;
        syscall(SYS_getppid);
        now = now_ns(CLOCK_MONOTONIC);
        own->empty_ns += now - then;
        then = now;
        while (own->user_ns + now - then < own->system_ns / 9) {
            compute();
            now = now_ns(CLOCK_MONOTONIC);
            own->empty_ns += now_ns(CLOCK_MONOTONIC) - now;
        }
        own->user_ns += now - then;
        then = now;
    }
    return true;
}

/* If another task preempted this thread, the other task's time would be counted in user_ns or
 * system_ns. So the thread runs with real-time priority, if that is permitted. */
static int act_split(const void *plan, void *truth, struct camp_error *error)
{
    const struct sched_param first = { .sched_priority = 1 };
    int zero = open("/dev/zero", O_RDONLY | O_CLOEXEC);
    int r = load_place_set(load_last_cpu(), error);

    (void)plan;
    sched_setscheduler(0, SCHED_FIFO, &first);
    if (r == CAMP_OK && (zero < 0 || !split_time(zero, truth)))
        r = camp_fail(error, CAMP_E_NOTSUP, 0, "/dev/zero cannot be read by %u bytes", READ_BYTES);
    load_place_restore();
    if (zero >= 0)
        close(zero);
    return r;
}

/* CPU time that the act did not count may be user or system time. The same holds for the time of
 * other tasks that the act counted as its own. */
static void judge_system(struct verification *verification, const struct subject *subject,
                         const struct camp_thread_states *did)
{
    const struct split *known = subject_truth(subject);
    double own_ns = (double)(known->user_ns + known->system_ns);
    double on_cpu_ns = (double)states_busy_ns(did->state_ns);
    double unsure_ns = fabs(on_cpu_ns - own_ns) + 2 * (double)known->empty_ns +
                       (double)(did->run_delay_ns + did->state_ns[CAMP_STATE_IRQ]);

    decide(verification, "states-system", system_percent(known->user_ns, known->system_ns),
           system_percent(did->state_ns[CAMP_STATE_USER] + did->state_ns[CAMP_STATE_TRAP],
                          did->state_ns[CAMP_STATE_SYSTEM]),
           100 * unsure_ns / on_cpu_ns);
}

static int run_system(struct verification *verification, struct watch *watch,
                      struct camp_error *error)
{
    struct subject subject = { 0 };
    struct camp_thread_states did;
    int r = subject_open(&subject, act_split, NULL, sizeof(struct split), error);

    if (r == CAMP_OK)
        r = subject_do(&subject, error); /* makes `bytes` resident (split_time()) */
    if (r == CAMP_OK)
        r = watch_act(watch, &subject, &did, error);
    if (r == CAMP_OK)
        judge_system(verification, &subject, &did);
    subject_end(&subject);
    return r;
}

void verify_states(struct verification *verification)
{
    bool sums = is_open(verification, "states-sum") || is_open(verification, "states-cpus") ||
                is_open(verification, "states-on-cpu") || is_open(verification, "states-run-queue");
    struct camp_error error = { 0 };
    struct watch watch;
    int r = watch_open(&watch, &error);

    if (r == CAMP_OK && sums)
        r = run_sums(verification, &watch, &error);
    if (r == CAMP_OK && is_open(verification, "states-system"))
        r = run_system(verification, &watch, &error);
    trial_succeeded(verification, r, &error, NULL);
    watch_close(&watch);
}
