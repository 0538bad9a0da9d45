/*
 * A thread, the sleeper, that is asleep for a known share of its time, in one kind of sleep.
 *
 * Theory. A thread cannot measure alone how long it slept: after the wakeup it waits on the run
 * queue, and only then can it read the clock. So a second thread, the waker, reads the clock just
 * before it wakes the sleeper. The time asleep begins when the sleeper reads the clock, just before
 * the call in which it sleeps, and ends when the waker reads the clock. A sleep by timer needs no
 * waker, because it lasts at least until the requested time.
 *
 * In each period, the thread sleeps until it has slept its share of the wall time since the start.
 * For the rest of the period it uses the CPU, in user mode. So if one sleep lasts too long, because
 * the waker had no CPU, the next sleeps are shorter.
 */
#include "load_command.h"

#include "counters/error.h"
#include "load_alarm.h"
#include "load_tools.h"

#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#define DEFAULT_PERIOD_NS (10u * NS_PER_MS)
#define PERIOD_MIN_NS NS_PER_MS
#define PERIOD_MAX_NS NS_PER_S
#define SLEEP_MIN_NS (100u * NS_PER_US) /* a shorter sleep is postponed to the next period */

struct pair {
    const struct load_sleep_plan *plan;
    struct load_sleep_truth *truth; /* written only by the sleeping thread */
    pthread_t waker;
    long preemptions; /* of the sleeper, just before its latest sleep */
    sem_t ask;        /* posted to ask the waker for a wakeup at wake_at_ns */
    _Atomic uint64_t wake_at_ns;
    _Atomic uint64_t start_ns; /* start of the sleep; 0 after its time was added to asleep_ns */
    _Atomic uint64_t woke_ns;  /* clock just before the latest wakeup */
    _Atomic uint64_t after_ns; /* clock just after the latest wakeup; 0 during it */
    _Atomic uint64_t asleep_ns, missed;
    _Atomic bool over;
    struct load_alarm alarm;
};

static void wake(struct pair *pair)
{
    uint64_t start = atomic_exchange(&pair->start_ns, 0), before = now_ns(CLOCK_MONOTONIC);

    if (start == 0)
        atomic_fetch_add(&pair->missed, 1);
    else
        atomic_fetch_add(&pair->asleep_ns, before - start);
    atomic_store(&pair->woke_ns, before);
    atomic_store(&pair->after_ns, 0);
    load_alarm_wake(&pair->alarm);
    atomic_store(&pair->after_ns, now_ns(CLOCK_MONOTONIC));
}

static void *wake_when_asked(void *argument)
{
    struct pair *pair = argument;

    for (;;) {
        while (sem_wait(&pair->ask) != 0)
            continue;
        if (atomic_load(&pair->over))
            return NULL;
        sleep_until(atomic_load(&pair->wake_at_ns));
        if (!atomic_load(&pair->over)) /* the load may have ended during sleep_until() */
            wake(pair);
    }
}

static int start_waker(struct pair *pair, struct camp_error *error)
{
    int failed = load_alarm_open(&pair->alarm, pair->plan->kind, error);

    if (failed != CAMP_OK)
        return failed;
    sem_init(&pair->ask, 0, 0);
    failed = load_helper_start(&pair->waker, wake_when_asked, pair);
    if (failed == 0)
        return CAMP_OK;
    load_alarm_close(&pair->alarm);
    return camp_fail(error, CAMP_E_NOMEM, failed,
                     "no thread could be made; end other programs, or raise the limit of threads");
}

static void end_waker(struct pair *pair)
{
    atomic_store(&pair->over, true);
    sem_post(&pair->ask);
    pthread_join(pair->waker, NULL);
    load_alarm_close(&pair->alarm);
}

/* The sleeper woke up at an unknown time: after the waker read `woke`, before the waker read
 * `after`, and before the sleeper read `now`. */
static void account_waking(struct pair *pair, uint64_t now)
{
    uint64_t woke = atomic_load(&pair->woke_ns), after = atomic_load(&pair->after_ns);

    pair->truth->late_ns += now - woke;
    pair->truth->unsure_ns += (after != 0 && after < now ? after : now) - woke;
}

static void sleep_until_woken(struct pair *pair, uint64_t wake_at_ns)
{
    const uint32_t wakes = atomic_load(&pair->alarm.wakes);
    uint64_t now, start;

    atomic_store(&pair->wake_at_ns, wake_at_ns);
    sem_post(&pair->ask);
    pair->preemptions = load_preemptions(); /* On one CPU, the waker preempts sem_post(). */
    atomic_store(&pair->start_ns, now_ns(CLOCK_MONOTONIC));
    load_alarm_wait(&pair->alarm, wakes);
    now = now_ns(CLOCK_MONOTONIC);
    start = atomic_exchange(&pair->start_ns, 0);
    if (start != 0) /* not added by the waker, because of a stop or a wakeup that came too early */
        atomic_fetch_add(&pair->asleep_ns, now - start);
    else
        account_waking(pair, now);
}

static void sleep_by_timer(struct pair *pair, uint64_t wake_at_ns)
{
    uint64_t start, now;

    pair->preemptions = load_preemptions();
    start = now_ns(CLOCK_MONOTONIC);
    sleep_until(wake_at_ns);
    now = now_ns(CLOCK_MONOTONIC);
    if (start >= wake_at_ns) /* The thread lost its CPU after it had computed wake_at_ns. */
        atomic_fetch_add(&pair->missed, 1);
    atomic_fetch_add(&pair->asleep_ns, load_slept_ns(start, wake_at_ns, now));
    pair->truth->late_ns += now > wake_at_ns ? now - wake_at_ns : 0;
    pair->truth->unsure_ns = pair->truth->late_ns;
}

/* How much sleep the thread still lacks, to be asleep for its share of the time from start_ns to
 * end_ns. */
static uint64_t needed_ns(const struct pair *pair, uint64_t start_ns, uint64_t end_ns)
{
    uint64_t share = (uint64_t)(pair->plan->percent / 100 * (double)(end_ns - start_ns));
    uint64_t asleep = atomic_load(&pair->asleep_ns);

    return share > asleep ? share - asleep : 0;
}

static void alternate(struct pair *pair, uint64_t start_ns)
{
    const struct load_sleep_plan *plan = pair->plan;
    uint64_t period = plan->period_ns != 0 ? plan->period_ns : DEFAULT_PERIOD_NS;
    uint64_t end = plan->duration_ns != 0 ? start_ns + plan->duration_ns : UINT64_MAX;
    uint64_t now = start_ns;

    while (now < end && !stop_requested) {
        uint64_t next = start_ns + (now - start_ns + period) / period * period, need;

        next = next < end ? next : end;
        need = needed_ns(pair, start_ns, next);
        need = need < next - now ? need : next - now;
        if (need >= SLEEP_MIN_NS) {
            uint64_t own = load_thread_ns();

            pair->truth->sleeps++;
            if (plan->kind == LOAD_SLEEP_TIMER)
                sleep_by_timer(pair, now + need);
            else
                sleep_until_woken(pair, now + need);
            pair->truth->call_own_ns += load_thread_ns() - own;
            if (load_preemptions() != pair->preemptions)
                pair->truth->preempted_ns += now_ns(CLOCK_MONOTONIC) - now;
        }
        load_burn(load_thread_ns, UINT64_MAX, 0, next);
        now = now_ns(CLOCK_MONOTONIC);
    }
}

static void fill_truth(const struct pair *pair)
{
    struct load_sleep_truth *truth = pair->truth;

    truth->asleep_ns = pair->asleep_ns;
    truth->missed = pair->missed;
    truth->percent =
        truth->wall_ns > 0 ? 100 * (double)truth->asleep_ns / (double)truth->wall_ns : 0;
}

static int run_pair(struct pair *pair, struct camp_error *error)
{
    bool woken = pair->plan->kind != LOAD_SLEEP_TIMER;
    uint64_t start_ns, own_ns;
    int r = woken ? start_waker(pair, error) : CAMP_OK;

    if (r == CAMP_OK) {
        start_ns = now_ns(CLOCK_MONOTONIC);
        own_ns = load_thread_ns();
        alternate(pair, start_ns);
        pair->truth->own_ns = load_thread_ns() - own_ns;
        pair->truth->wall_ns = now_ns(CLOCK_MONOTONIC) - start_ns;
        if (woken)
            end_waker(pair);
        fill_truth(pair);
    }
    return r;
}

static int check_plan(const struct load_sleep_plan *plan, struct camp_error *error)
{
    if (!(plan->percent > 0 && plan->percent <= 100))
        return camp_fail(error, CAMP_E_INVALID, 0, "a percentage is above 0 and at most 100");
    if (plan->period_ns != 0 &&
        (plan->period_ns < PERIOD_MIN_NS || plan->period_ns > PERIOD_MAX_NS))
        return camp_fail(error, CAMP_E_INVALID, 0, "a period is 1 ms to 1 s");
    return CAMP_OK;
}

int load_sleep(const void *wanted, void *ret_truth, struct camp_error *error)
{
    const struct load_sleep_plan *plan = wanted;
    struct load_sleep_truth *ret = ret_truth;
    struct pair pair = { .plan = plan, .truth = ret };
    int r = check_plan(plan, error);

    memset(ret, 0, sizeof *ret);
    if (r != CAMP_OK)
        return r;
    ret->tid = load_thread_id();
    ret->wanted_percent = plan->percent;
    ret->counts_preemptions = load_preemptions() >= 0;
    r = load_place_set(plan->cpu, error);
    if (r == CAMP_OK)
        r = run_pair(&pair, error);
    load_place_restore();
    return r;
}

#define TRUTH(member, ...) FACT(struct load_sleep_truth, member, __VA_ARGS__)

static const struct fact facts[] = {
    TRUTH(tid, "thread that sleeps", "and uses the CPU otherwise"),
    TRUTH(wanted_percent, "wanted", "of its time it was to be asleep", 3),
    TRUTH(percent, "asleep", "asleep_ns of wall_ns", 3),
    TRUTH(asleep_ns, "time asleep", "from its clock before the call to the clock of its waker"),
    TRUTH(unsure_ns, "perhaps also asleep", "while it was being woken"),
    TRUTH(late_ns, "from there till it ran again", "run queue, way back from the call"),
    TRUTH(own_ns, "CPU time of its own", "by the CPU clock of the thread"),
    TRUTH(call_own_ns, "of this, falling asleep and waking", "also in asleep_ns or late_ns"),
    TRUTH(preempted_ns, "sleeps with a preemption", "wall time of these calls",
          .known_if = offsetof(struct load_sleep_truth, counts_preemptions)),
    TRUTH(wall_ns, "wall time", "over the same interval"),
    TRUTH(sleeps, "sleeps", "one a period"),
    TRUTH(missed, "missed", "it came too late to sleep"),
};

static void remark(const void *wanted, const void *ret_truth, char ret[REMARK_SIZE])
{
    const struct load_sleep_plan *plan = wanted;
    const struct load_sleep_truth *truth = ret_truth;

    if (!stop_requested && truth->percent < plan->percent * NEARLY)
        snprintf(ret, REMARK_SIZE,
                 "only %.2f%% of %.2f%% was spent asleep: the CPU was in use when the thread was "
                 "due",
                 truth->percent, plan->percent);
}

/* In the order of enum load_sleep_kind. */
static const struct sleep_command {
    const char *name, *about;
} commands[] = {
    { "lock", "A thread that sleeps for a known share of its time, until another one wakes it\n"
              "(futex(2); on Windows a condition variable). The rest of the time it uses a CPU." },
    { "pipe", "A thread that sleeps in a read of a pipe for a known share of its time, until\n"
              "another one writes to it. The rest of the time it uses a CPU." },
    { "sleep", "A thread that sleeps until a timer ends for a known share of its time\n"
               "(clock_nanosleep(2); on Windows a waitable timer). The rest of the time it uses\n"
               "a CPU." },
};

static enum load_sleep_kind kind_of(const char *name)
{
    size_t kind = 0;

    while (strcmp(commands[kind].name, name) != 0)
        kind++;
    return (enum load_sleep_kind)kind;
}

int load_sleep_command(int argc, char **argv)
{
    struct load_sleep_plan plan = { kind_of(argv[0]), 50, 0, -1, DEFAULT_DURATION_NS };
    uint64_t cpu = UINT64_MAX;
    const struct option_spec specs[] = {
        COMMON_OPTION(COMMON_PERCENT, &plan.percent,
                      .help = "The time asleep, in percent of the wall time (50)."),
        COMMON_OPTION(COMMON_PERIOD, &plan.period_ns,
                      .help = "The thread sleeps once in each period (10 ms).", .minimum = 0.001,
                      .maximum = 1),
        COMMON_OPTION(COMMON_CPU, &cpu),
        LOAD_DURATION,
        LOAD_FORMAT,
    };
    struct load_sleep_truth truth;
    const struct load_command command = {
        commands[plan.kind].name, load_sleep, &plan, &truth, facts, ARRAY_COUNT(facts), remark
    };
    int r = load_parse(commands[plan.kind].about, specs, ARRAY_COUNT(specs), argc, argv);

    if (r != OPTIONS_GO_ON)
        return r;
    plan.cpu = cpu == UINT64_MAX ? -1 : (int32_t)cpu;
    return load_run(&command);
}
