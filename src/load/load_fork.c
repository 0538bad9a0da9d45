/*
 * Many short processes, which are missed by tools that sample the list of processes.
 *
 * Each child uses the CPU until its CPU clock reaches burn_ns, writes its CPU time to memory shared
 * with the parent, and calls _exit(). The sum of these CPU times is own_ns.
 *
 * The exit itself also uses CPU time, for example to free the address space. The child cannot
 * report this CPU time. But the CPU clock of a zombie still exists, so the parent waits with
 * WNOWAIT, reads the clock of the child, and only then reaps the child. The sum of these CPU times
 * is whole_ns. wait4(2) would report the same CPU time, but truncated to 1 us.
 */
#include "load_command.h"

#include "counters/error.h"
#include "load_tools.h"

#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define LIVING_MAX 256u /* at most this many children live at the same time */
#define RATE_MAX 20000.0
#define BURN_MAX_NS (10ull * NS_PER_S)

struct fork_run {
    const struct load_fork_plan *plan;
    struct load_fork_truth *truth;
    pid_t pids[LIVING_MAX]; /* 0 marks a free place */
    /* [LIVING_MAX] in memory shared with the children: the CPU time that each child reports, 0
     * until the child has reported */
    _Atomic uint64_t *reported;
    unsigned living;
};

static void child_run(_Atomic uint64_t *reported, uint64_t burn_ns)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL); /* if the load is killed, kills the child too */
    load_burn(CLOCK_PROCESS_CPUTIME_ID, burn_ns, 0, UINT64_MAX);
    atomic_store(reported, now_ns(CLOCK_PROCESS_CPUTIME_ID));
    _exit(0);
}

/* The child may still be exiting, so its CPU clock is read until it no longer advances. */
static uint64_t whole_clock(pid_t pid)
{
    uint64_t whole_ns = 0, before = UINT64_MAX;
    clockid_t clock;

    if (clock_getcpuclockid(pid, &clock) == 0)
        for (; whole_ns != before; whole_ns = now_ns(clock))
            before = whole_ns;
    return whole_ns;
}

static void reap(struct fork_run *run, unsigned place)
{
    uint64_t reported = atomic_load(&run->reported[place]),
             whole_ns = whole_clock(run->pids[place]);

    while (waitpid(run->pids[place], NULL, 0) < 0 && errno == EINTR)
        continue;
    run->pids[place] = 0;
    run->living--;
    run->truth->children++;
    run->truth->whole_ns += whole_ns;
    run->truth->own_ns += reported;
    if (reported == 0)
        run->truth->unreported++;
}

static void reap_exited(struct fork_run *run, int flags)
{
    unsigned place;

    for (place = 0; place < LIVING_MAX && run->living > 0; place++) {
        siginfo_t info = { 0 };
        int r;

        if (run->pids[place] == 0)
            continue;
        do
            r = waitid(P_PID, (id_t)run->pids[place], &info, WEXITED | WNOWAIT | flags);
        while (r < 0 && errno == EINTR);
        if (r < 0 || info.si_pid == run->pids[place])
            reap(run, place);
    }
}

static void fork_one(struct fork_run *run)
{
    unsigned place = 0;
    pid_t pid;

    while (place < LIVING_MAX && run->pids[place] != 0)
        place++;
    if (place == LIVING_MAX)
        return;
    atomic_store(&run->reported[place], 0);
    pid = fork();
    if (pid == 0)
        child_run(&run->reported[place], run->plan->burn_ns);
    if (pid < 0) {
        run->truth->failed++;
        return;
    }
    run->pids[place] = pid;
    run->living++;
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
        reap_exited(run, WNOHANG);
        while (run->living == LIVING_MAX && sleep_until(now_ns(CLOCK_MONOTONIC) + NS_PER_MS))
            reap_exited(run, WNOHANG);
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
    size_t size = LIVING_MAX * sizeof *run.reported;
    uint64_t start_ns, own_ns, forked_ns;

    memset(ret, 0, sizeof *ret);
    if (!(plan->rate > 0 && plan->rate <= RATE_MAX) || plan->burn_ns > BURN_MAX_NS)
        return camp_fail(error, CAMP_E_INVALID, 0,
                         "a rate is above 0 and at most %.0f a second, a burn at most 10 s",
                         RATE_MAX);
    run.reported = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (run.reported == MAP_FAILED)
        return camp_fail_errno(error, errno, "memory shared with the children");
    start_ns = now_ns(CLOCK_MONOTONIC);
    own_ns = now_ns(CLOCK_PROCESS_CPUTIME_ID);
    fork_at_rate(&run, start_ns);
    forked_ns = now_ns(CLOCK_MONOTONIC) - start_ns;
    reap_exited(&run, 0);
    ret->parent_ns = now_ns(CLOCK_PROCESS_CPUTIME_ID) - own_ns;
    ret->wall_ns = now_ns(CLOCK_MONOTONIC) - start_ns;
    ret->rate = forked_ns > 0 ? (double)ret->children * NS_PER_S / (double)forked_ns : 0;
    munmap(run.reported, size);
    if (ret->children == 0 && ret->failed > 0)
        return camp_fail(error, CAMP_E_NOMEM, 0,
                         "no process could be forked; raise the limit (ulimit -u)");
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
          "sum of their CPU clocks after their exit: what exit records should add up to"),
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
