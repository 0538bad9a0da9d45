/*
 * A load that uses a known share of one CPU: at random times, between the kernel's clock ticks, or
 * across them. This choice is called the phase.
 *
 * Theory. A kernel that samples CPU time charges each whole tick to the task that runs at the tick.
 * A task that runs only between ticks is charged nothing. A task that runs for a moment around each
 * tick is charged all the time.
 *
 * In each period the load sleeps, uses the CPU in user mode, and sleeps again. It uses the CPU
 * until its CPU clock (load_process_ns(), which is measured) has reached the wanted share of the
 * wall time since the start. So CPU time that was missed in one period is used in later
 * periods, as far as the phase allows.
 *
 * To check its phase, the load reads tick_clock_ns() before and after it uses the CPU. This clock
 * advances at ticks only.
 *
 * The load takes precedence over other threads (load_become_realtime()) only after these have kept
 * it off the CPU, and only for shares up to 90 %, so that other tasks still get some time. If that
 * is not permitted, the load continues without it.
 */
#include "load_command.h"

#include "counters/error.h"
#include "load_tools.h"
#include "program/tick.h"

#include <math.h>
#include <stdio.h>
#include <time.h>

/* Safe distances from a tick: in a virtual machine, the load wakes up about 50 us late, and a tick
 * is up to 60 us late. */
#define AFTER_TICK_NS 80000u
#define BEFORE_TICK_NS 100000u
#define SLEEP_MARGIN_NS 20000u
#define PAST_TICK_NS 50000u

#define DEFAULT_PERIOD_NS (10u * NS_PER_MS)
#define PERIOD_MIN_NS NS_PER_MS
#define PERIOD_MAX_NS (10ull * NS_PER_S)
#define LOCK_TICKS 16u
#define RELOCK_TICKS 6u
#define REALTIME_PERCENT_MAX 90.0
#define MISSED_MAX 0.05 /* if the share of missed periods is larger, a remark says so */

/* In the order of enum load_phase. */
static const char *const phases[] = { "any", "between-ticks", "across-ticks", NULL };

/* How long before a tick a load across it starts. */
static uint64_t lead_min_ns(void)
{
    return 100000 + load_timer_delay_ns();
}

static uint64_t lead_max_ns(void)
{
    return 400000 + load_timer_delay_ns();
}

/* The shortest load across a tick, and one that is easy to place. */
static uint64_t across_min_ns(void)
{
    return lead_min_ns() + PAST_TICK_NS;
}

static uint64_t across_easy_ns(void)
{
    return 400000 + load_timer_delay_ns();
}

struct cpu_run {
    const struct load_cpu_plan *plan;
    struct load_cpu_truth *truth;
    struct tick tick;
    uint64_t start_ns, began_own_ns, period_ns;
    uint64_t random;
    uint64_t window_cycles, window_missed; /* since restore_phase() last checked them */
};

static uint64_t own_target(const struct cpu_run *run, uint64_t time_ns)
{
    double share = run->plan->percent / 100 * (double)(time_ns - run->start_ns);

    return run->began_own_ns + (uint64_t)share;
}

static uint64_t next_random(struct cpu_run *run)
{
    /* xorshift64 */
    run->random ^= run->random << 13;
    run->random ^= run->random >> 7;
    run->random ^= run->random << 17;
    return run->random;
}

/* A period in which the load runs at a random time. */
static uint64_t cycle_any(struct cpu_run *run, uint64_t start)
{
    uint64_t end = start + run->period_ns, target = own_target(run, end), own = load_process_ns();
    uint64_t need = target > own ? target - own : 0;

    if (need == 0)
        return end;
    if (need < run->period_ns && !sleep_until(start + next_random(run) % (run->period_ns - need)))
        return end;
    run->truth->cycles++;
    load_burn(load_process_ns, target, 0, end);
    if (load_process_ns() + run->period_ns / 100 < target)
        run->truth->missed++;
    return end;
}

/* Uses the CPU and counts the ticks meanwhile. Returns whether their number is expected_ticks. */
static bool burn_watched(struct cpu_run *run, uint64_t target, uint64_t least, uint64_t limit,
                         uint64_t expected_ticks)
{
    uint64_t before = tick_clock_ns(), start = now_ns(CLOCK_MONOTONIC), ticks;
    const long preemptions = load_preemptions();

    load_burn(load_process_ns, target, least, limit);
    run->truth->runnable_ns += now_ns(CLOCK_MONOTONIC) - start;
    ticks = tick_count_between(before, tick_clock_ns(), run->tick.length_ns);
    run->truth->ticks_met += ticks;
    if (ticks != expected_ticks || load_preemptions() != preemptions)
        run->truth->ticks_unsure += ticks;
    run->truth->cycles++;
    return ticks == expected_ticks;
}

static void judge(struct cpu_run *run, bool kept)
{
    run->window_cycles++;
    if (!kept) {
        run->window_missed++;
        run->truth->missed++;
    }
}

/* `start` is the time of a tick. The load stops before the next tick. */
static uint64_t cycle_between(struct cpu_run *run, uint64_t start)
{
    uint64_t end = start + run->period_ns, target = own_target(run, end);
    uint64_t limit = start + run->tick.length_ns - BEFORE_TICK_NS;

    if (!sleep_until(start + AFTER_TICK_NS) || load_process_ns() >= target)
        return end;
    if (now_ns(CLOCK_MONOTONIC) >= limit)
        judge(run, false);
    else
        judge(run, burn_watched(run, target, 0, limit, 0));
    return end;
}

/* `start` is the time of a tick. The load starts before the tick and stops after it. */
static uint64_t cycle_across(struct cpu_run *run, uint64_t start)
{
    uint64_t end = start + run->period_ns, target = own_target(run, end), own = load_process_ns();
    uint64_t need = target > own ? target - own : 0,
             lead = need > PAST_TICK_NS ? need - PAST_TICK_NS : 0;

    if (need < across_min_ns() * 9 / 10)
        return end; /* the load has used more than its share, so it skips this tick */
    lead = lead > lead_max_ns() ? lead_max_ns() : lead < lead_min_ns() ? lead_min_ns() : lead;
    if (!sleep_until(start - lead))
        return end;
    if (now_ns(CLOCK_MONOTONIC) >= start)
        judge(run, false);
    else
        judge(run, burn_watched(run, target, start + PAST_TICK_NS, end - lead_max_ns(), 1));
    return end;
}

/* The search does not sleep, so its wall time is added to runnable_ns. */
static bool search_for_tick(struct cpu_run *run, unsigned matches)
{
    uint64_t start = now_ns(CLOCK_MONOTONIC);
    struct tick tick;
    bool found = tick_lock(&tick, matches);

    run->truth->runnable_ns += now_ns(CLOCK_MONOTONIC) - start;
    if (!found)
        return false;
    run->tick = tick;
    run->truth->locks++;
    return true;
}

static bool become_realtime(const struct load_cpu_plan *plan)
{
    return plan->percent <= REALTIME_PERCENT_MAX && load_become_realtime();
}

/* Checks after some periods whether the load kept its phase. If other tasks had the CPU, precedence
 * helps. If it does not help, the ticks probably come at other times now, for example because a
 * virtual machine was suspended or migrated. The load then searches for the tick again. */
static void restore_phase(struct cpu_run *run)
{
    if (run->window_cycles < (run->truth->realtime ? 100 : 25))
        return;
    if (run->window_missed * 50 > run->window_cycles && !run->truth->realtime &&
        become_realtime(run->plan)) {
        run->truth->realtime = true;
    } else if (run->window_missed * 10 > run->window_cycles) {
        search_for_tick(run, RELOCK_TICKS);
    }
    run->window_cycles = run->window_missed = 0;
}

/* Returns when the next period starts: at `end`, or, if `end` has passed, as soon as possible. With
 * a phase, skipped periods count as missed. */
static uint64_t next_start(struct cpu_run *run, uint64_t end)
{
    uint64_t now = now_ns(CLOCK_MONOTONIC);

    if (run->plan->phase == LOAD_ANY_PHASE)
        return end + (now > end ? (now - end) / run->period_ns * run->period_ns : 0);
    restore_phase(run);
    now = now_ns(CLOCK_MONOTONIC);
    if (now < end + run->tick.length_ns / 2)
        now = end - run->tick.length_ns / 2;
    else
        run->truth->missed += (now - end) / run->period_ns;
    return tick_after(&run->tick, now);
}

static void run_cycles(struct cpu_run *run)
{
    uint64_t start = run->start_ns;

    if (run->plan->phase != LOAD_ANY_PHASE)
        start = tick_after(&run->tick, start);
    while (!stop_requested) {
        if (run->plan->duration_ns != 0 && start - run->start_ns >= run->plan->duration_ns)
            break;
        switch (run->plan->phase) {
        case LOAD_BETWEEN_TICKS:
            start = cycle_between(run, start);
            break;
        case LOAD_ACROSS_TICKS:
            start = cycle_across(run, start);
            break;
        default:
            start = cycle_any(run, start);
        }
        start = next_start(run, start);
    }
    if (run->plan->duration_ns != 0)
        sleep_until(run->start_ns + run->plan->duration_ns);
}

static double available_ns(enum load_phase phase, uint64_t tick_ns, uint64_t period_ns)
{
    uint64_t lost = phase == LOAD_BETWEEN_TICKS ? AFTER_TICK_NS + BEFORE_TICK_NS + SLEEP_MARGIN_NS
                                                : lead_max_ns();
    uint64_t whole = phase == LOAD_BETWEEN_TICKS ? tick_ns : period_ns;

    return whole > lost ? (double)(whole - lost) : 0;
}

double load_cpu_maximum_percent(enum load_phase phase, uint64_t period_ns)
{
    uint64_t tick_ns = tick_length_ns();

    if (phase == LOAD_ANY_PHASE)
        return 100;
    if (tick_ns == 0)
        return 0;
    if (period_ns == 0)
        period_ns = tick_ns;
    return 100 * available_ns(phase, tick_ns, period_ns) / (double)period_ns;
}

/* A load with a small share would have to run too briefly at each tick, so it runs at each nth tick
 * only. */
static uint64_t default_period(const struct load_cpu_plan *plan, uint64_t tick_ns)
{
    double burn_ns = plan->percent / 100 * (double)tick_ns;

    if (plan->phase == LOAD_ANY_PHASE)
        return DEFAULT_PERIOD_NS;
    if (plan->phase == LOAD_BETWEEN_TICKS || burn_ns >= (double)across_min_ns())
        return tick_ns;
    return tick_ns * (uint64_t)ceil((double)across_easy_ns() / burn_ns);
}

static int check_plan(const struct load_cpu_plan *plan, struct camp_error *error)
{
    uint64_t tick_ns = tick_length_ns();
    double maximum = load_cpu_maximum_percent(plan->phase, plan->period_ns);

    if (!(plan->percent > 0 && plan->percent <= 100))
        return camp_fail(error, CAMP_E_INVALID, 0, "a percentage is above 0 and at most 100");
    if (plan->period_ns != 0 &&
        (plan->period_ns < PERIOD_MIN_NS || plan->period_ns > PERIOD_MAX_NS))
        return camp_fail(error, CAMP_E_INVALID, 0, "a period is 1 ms to 10 s");
    if (plan->phase == LOAD_ANY_PHASE)
        return CAMP_OK;
    if (tick_ns == 0)
        return camp_fail(error, CAMP_E_NOTSUP, 0, "%s: --phase is unavailable",
                         load_refusal(LOAD_TICK) != NULL ? load_refusal(LOAD_TICK)
                                                         : "this kernel does not report its tick");
    if (plan->period_ns % tick_ns != 0)
        return camp_fail(error, CAMP_E_INVALID, 0,
                         "with a phase the period is a multiple of the tick, here %.3f ms",
                         (double)tick_ns / NS_PER_MS);
    if (plan->percent > maximum)
        return camp_fail(error, CAMP_E_INVALID, 0,
                         "%.1f%% does not fit %s: at most %.1f%% with this period", plan->percent,
                         plan->phase == LOAD_BETWEEN_TICKS ? "between two ticks" : "across a tick",
                         maximum);
    return CAMP_OK;
}

int load_cpu(const void *wanted, void *ret_truth, struct camp_error *error)
{
    const struct load_cpu_plan *plan = wanted;
    struct load_cpu_truth *ret = ret_truth;
    struct cpu_run run = { .plan = plan, .truth = ret };
    int r;

    *ret = (struct load_cpu_truth){ .phase = phases[plan->phase],
                                    .wanted_percent = plan->percent,
                                    .phased = plan->phase != LOAD_ANY_PHASE,
                                    .has_ticks_unsure =
                                        plan->phase != LOAD_ANY_PHASE && load_preemptions() >= 0,
                                    .cpu = -1 };
    r = check_plan(plan, error);
    if (r != CAMP_OK)
        return r;
    ret->cpu = plan->cpu < 0 && plan->phase != LOAD_ANY_PHASE ? load_tick_cpu() : plan->cpu;
    r = load_place_set(ret->cpu, error);
    if (r != CAMP_OK)
        goto out;
    ret->search_ns = load_process_ns();
    run.tick.length_ns = tick_length_ns();
    run.period_ns =
        plan->period_ns != 0 ? plan->period_ns : default_period(plan, run.tick.length_ns);
    if (plan->phase != LOAD_ANY_PHASE && !search_for_tick(&run, LOCK_TICKS) && !stop_requested) {
        r = camp_fail(error, CAMP_E_NOTSUP, 0,
                      "no clock tick could be detected: --phase is unavailable on this machine");
        goto out;
    }
    run.start_ns = now_ns(CLOCK_MONOTONIC);
    run.began_own_ns = load_process_ns();
    ret->search_ns = run.began_own_ns - ret->search_ns;
    run.random = run.start_ns | 1;
    run_cycles(&run);
    ret->own_ns = load_process_ns() - run.began_own_ns;
    ret->wall_ns = now_ns(CLOCK_MONOTONIC) - run.start_ns;
    ret->percent = ret->wall_ns > 0 ? 100 * (double)ret->own_ns / (double)ret->wall_ns : 0;
    ret->period_ns = run.period_ns;
    ret->has_tick = run.tick.length_ns > 0;
    ret->tick_ns = run.tick.length_ns;
    ret->tick_phase_ns = run.tick.phase_ns;
    if (ret->wall_ns > 0)
        ret->sampled_percent =
            100.0 * (double)(ret->ticks_met * ret->tick_ns) / (double)ret->wall_ns;
out:
    load_place_restore();
    return r;
}

#define TRUTH(member, ...) FACT(struct load_cpu_truth, member, __VA_ARGS__)
#define IF_PHASED .known_if = offsetof(struct load_cpu_truth, phased)

static const struct fact facts[] = {
    TRUTH(phase, "phase", "where in the tick it ran"),
    TRUTH(wanted_percent, "wanted", "CPU time it was to use, of one CPU", 3),
    TRUTH(percent, "used, by its own clock", "own_ns of wall_ns", 3),
    TRUTH(own_ns, "CPU time of its own", "by the CPU clock of the process"),
    TRUTH(wall_ns, "wall time", "over the same interval"),
    TRUTH(cycles, "cycles", "periods in which it ran"),
    TRUTH(missed, "missed", "periods in which it ran late, or out of its phase"),
    TRUTH(ticks_met, "ticks met", "ticks that came while it ran (with a phase)", IF_PHASED),
    TRUTH(ticks_unsure, "of these, perhaps charged to another task",
          "another task took the CPU in the same burn, or the burn missed its place",
          .known_if = offsetof(struct load_cpu_truth, has_ticks_unsure)),
    TRUTH(sampled_percent, "as sampled by ticks", "ticks_met x tick_ns of wall_ns", 3, IF_PHASED),
    TRUTH(period_ns, "period", "one burn in each"),
    TRUTH(tick_ns, "tick", "its length, as the system reports it",
          .known_if = offsetof(struct load_cpu_truth, has_tick)),
    TRUTH(tick_phase_ns, "tick seen after its multiples by", "of CLOCK_MONOTONIC", IF_PHASED),
    TRUTH(locks, "times the phase was looked for", "at first, and when it was not kept", IF_PHASED),
    TRUTH(search_ns, "CPU time to find the tick, before", "not in own_ns", IF_PHASED),
    TRUTH(runnable_ns, "its CPU was not idle for at least",
          "wall time of the search for the tick and of the burns (with a phase)", IF_PHASED),
    TRUTH(cpu, "pinned to CPU", "unknown: to none"),
    TRUTH(realtime, "precedence needed", "others had the CPU when it was due"),
};

static void remark(const void *wanted, const void *ret_truth, char ret[REMARK_SIZE])
{
    const struct load_cpu_plan *plan = wanted;
    const struct load_cpu_truth *truth = ret_truth;
    size_t length = 0;

    if (stop_requested)
        return;
    if (truth->percent < plan->percent * NEARLY)
        length = (size_t)snprintf(ret, REMARK_SIZE,
                                  "only %.2f%% of %.2f%% was reached: the CPU was in use",
                                  truth->percent, plan->percent);
    if (truth->phased && (double)truth->missed > MISSED_MAX * (double)truth->cycles)
        snprintf(ret + length, REMARK_SIZE - length,
                 "%sthe load missed its place between ticks %llu times in %llu cycles, so its "
                 "sampled time is not as promised",
                 length > 0 ? "; " : "", (unsigned long long)truth->missed,
                 (unsigned long long)truth->cycles);
}

int load_cpu_command(int argc, char **argv)
{
    struct load_cpu_plan plan = { .percent = 30, .duration_ns = DEFAULT_DURATION_NS };
    uint64_t cpu = UINT64_MAX;
    int phase = 0, r;
    const struct option_spec specs[] = {
        COMMON_OPTION(COMMON_PERCENT, &plan.percent,
                      .help = "The CPU time to use, in percent of one CPU (30)."),
        { "phase", 0, OPTION_CHOICE, &phase, "PHASE",
          "When to run: any (at random), between-ticks (a sampling kernel sees nothing of the "
          "load), or across-ticks (it sees far too much).",
          0, 0, phases },
        COMMON_OPTION(COMMON_PERIOD, &plan.period_ns,
                      .help = "The load runs once in each period (10 ms; with a phase one tick or "
                              "a few). With a phase the period must be a multiple of the tick."),
        COMMON_OPTION(
            COMMON_CPU, &cpu,
            .help = "Run on this CPU only (with a phase: the last allowed CPU; on Windows the "
                    "first)."),
        LOAD_DURATION,
        LOAD_FORMAT,
    };
    struct load_cpu_truth truth;
    const struct load_command command = { "cpu", load_cpu,           &plan, &truth,
                                          facts, ARRAY_COUNT(facts), remark };

    r = load_parse("Uses a known share of one CPU.", specs, ARRAY_COUNT(specs), argc, argv);
    if (r != OPTIONS_GO_ON)
        return r;
    plan.phase = (enum load_phase)phase;
    plan.cpu = cpu == UINT64_MAX ? -1 : (int32_t)cpu;
    return load_run(&command);
}
