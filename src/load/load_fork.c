/*
 * Many short processes, which are missed by tools that sample the list of processes.
 *
 * Each child uses the CPU until its CPU clock reaches burn_ns, reports its CPU time to the parent,
 * and exits. The sum of these CPU times is own_ns. The sum of the CPU times that the system knows
 * after the exits is whole_ns.
 */
#include "load_command.h"

#include "counters/error.h"
#include "load_children.h"
#include "load_tools.h"

#include <stdio.h>
#include <string.h>

#define RATE_MAX 20000.0
#define BURN_MAX_NS (10ull * NS_PER_S)

struct fork_run {
    const struct load_fork_plan *plan;
    struct load_fork_truth *truth;
    struct load_children children;
    unsigned living;
};

static void reap_exited(struct fork_run *run, bool wait)
{
    for (unsigned place = 0; place < LOAD_CHILDREN_MAX && run->living > 0; place++) {
        struct load_child_times times;

        if (run->children.processes[place] == 0 ||
            !load_child_reap(&run->children, place, wait, &times))
            continue;
        run->living--;
        run->truth->children++;
        run->truth->whole_ns += times.whole_ns;
        run->truth->has_whole &= times.has_whole;
        run->truth->own_ns += times.reported_ns;
        if (times.reported_ns == 0)
            run->truth->unreported++;
    }
}

static void fork_one(struct fork_run *run)
{
    unsigned place = 0;

    while (place < LOAD_CHILDREN_MAX && run->children.processes[place] != 0)
        place++;
    if (place == LOAD_CHILDREN_MAX)
        return;
    if (load_child_start(&run->children, place, run->plan->burn_ns))
        run->living++;
    else
        run->truth->failed++;
}

static bool is_over(const struct load_fork_plan *plan, uint64_t start_ns, uint64_t time_ns)
{
    return plan->duration_ns != 0 && time_ns - start_ns >= plan->duration_ns;
}

static void fork_at_rate(struct fork_run *run, uint64_t start_ns)
{
    double period_ns = NS_PER_S / run->plan->rate;
    uint64_t number;

    for (number = 0; !stop_requested; number++) {
        uint64_t due = start_ns + (uint64_t)((double)number * period_ns), now;

        if (is_over(run->plan, start_ns, due) || !sleep_until(due))
            break;
        reap_exited(run, false);
        while (run->living == LOAD_CHILDREN_MAX && sleep_until(now_ns(CLOCK_MONOTONIC) + NS_PER_MS))
            reap_exited(run, false);
        now = now_ns(CLOCK_MONOTONIC);
        if (stop_requested || is_over(run->plan, start_ns, now))
            break;
        if ((double)(now - due) > period_ns)
            run->truth->late++;
        fork_one(run);
    }
}

int load_fork(const void *wanted, void *ret_truth, struct camp_error *error)
{
    const struct load_fork_plan *plan = wanted;
    struct load_fork_truth *ret = ret_truth;
    struct fork_run run = { .plan = plan, .truth = ret };
    uint64_t start_ns, own_ns, forked_ns;
    int r;

    memset(ret, 0, sizeof *ret);
    ret->has_whole = true;
    if (!(plan->rate > 0 && plan->rate <= RATE_MAX) || plan->burn_ns > BURN_MAX_NS)
        return camp_fail(error, CAMP_E_INVALID, 0,
                         "a rate is above 0 and at most %.0f a second, a burn at most 10 s",
                         RATE_MAX);
    r = load_children_open(&run.children, error);
    if (r != CAMP_OK)
        return r;
    start_ns = now_ns(CLOCK_MONOTONIC);
    own_ns = load_process_ns();
    fork_at_rate(&run, start_ns);
    forked_ns = now_ns(CLOCK_MONOTONIC) - start_ns;
    reap_exited(&run, true);
    ret->parent_ns = load_process_ns() - own_ns;
    ret->wall_ns = now_ns(CLOCK_MONOTONIC) - start_ns;
    ret->rate = forked_ns > 0 ? (double)ret->children * NS_PER_S / (double)forked_ns : 0;
    load_children_close(&run.children);
    if (ret->children == 0 && ret->failed > 0)
        return camp_fail(error, CAMP_E_NOMEM, 0,
                         "no process could be started; raise the limit of processes");
    return CAMP_OK;
}

#define TRUTH(member, ...) FACT(struct load_fork_truth, member, __VA_ARGS__)

static const struct fact facts[] = {
    TRUTH(children, "children", "forked, and waited for"),
    TRUTH(failed, "forks refused", "by a limit"),
    TRUTH(late, "forks late", "by more than one period"),
    TRUTH(unreported, "children killed", "before they reported their time"),
    TRUTH(rate, "children a second", "achieved", 2),
    TRUTH(own_ns, "CPU time as the children reported it",
          "sum of each one's CPU clock, read as its last act: without its exit"),
    TRUTH(whole_ns, "CPU time with their exit",
          "sum of their CPU clocks after their exit: what exit records should add up to",
          .known_if = offsetof(struct load_fork_truth, has_whole)),
    TRUTH(parent_ns, "CPU time of the parent", "forks and waits; not in the others"),
    TRUTH(wall_ns, "wall time", "from the first fork to the last end"),
};

static void remark(const void *wanted, const void *ret_truth, char ret[REMARK_SIZE])
{
    const struct load_fork_plan *plan = wanted;
    const struct load_fork_truth *truth = ret_truth;

    if (!stop_requested && truth->rate < plan->rate * NEARLY)
        snprintf(ret, REMARK_SIZE, "only %.2f of %.2f children a second were forked", truth->rate,
                 plan->rate);
}

int load_fork_command(int argc, char **argv)
{
    struct load_fork_plan plan = { 400, 2ull * NS_PER_MS, DEFAULT_DURATION_NS };
    const struct option_spec specs[] = {
        COMMON_OPTION(COMMON_RATE, &plan.rate, .type = OPTION_REAL, .argument = "N",
                      .help = "Fork N children a second (400).", .minimum = 0.01, .maximum = 20000),
        { "burn", 0, OPTION_DURATION, &plan.burn_ns, "TIME",
          "The CPU time that each child uses, by its own clock (2 ms).", 0, 10, NULL },
        LOAD_DURATION,
        LOAD_FORMAT,
    };
    struct load_fork_truth truth;
    const struct load_command command = { "fork", load_fork,          &plan, &truth,
                                          facts,  ARRAY_COUNT(facts), remark };
    int r =
        load_parse("Forks children that each use a little CPU time and end. At most 256 of them\n"
                   "live at a time.",
                   specs, ARRAY_COUNT(specs), argc, argv);

    return r == OPTIONS_GO_ON ? load_run(&command) : r;
}
