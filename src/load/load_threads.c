/*
 * Threads that each use a known share of a CPU.
 *
 * Each thread keeps its share by its own clock (load_thread_ns()). The periods of the
 * threads start at different times. threads_ns is a little less than own_ns of the process, which
 * includes the creation and the end of the threads.
 */
#include "load_command.h"

#include "counters/error.h"
#include "load_tools.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PERIOD_NS (10u * NS_PER_MS)

struct worker {
    pthread_t thread;
    const struct load_threads_plan *plan;
    uint64_t start_ns, delay_ns;
    struct load_thread_truth truth;
};

static void keep_share(const struct worker *worker, uint64_t start_ns, uint64_t own_ns)
{
    double share = worker->plan->percent / 100;
    uint64_t end = worker->plan->duration_ns, start, target;

    end = end != 0 ? worker->start_ns + end : UINT64_MAX;
    if (!sleep_until(start_ns + worker->delay_ns < end ? start_ns + worker->delay_ns : end))
        return;
    for (start = start_ns; start < end && !stop_requested; start += PERIOD_NS) {
        uint64_t next = start + PERIOD_NS < end ? start + PERIOD_NS : end;

        target = own_ns + (uint64_t)(share * (double)(next - start_ns));
        load_burn(load_thread_ns, target, 0, end);
        next += worker->delay_ns;
        if (!sleep_until(next < end ? next : end))
            return;
    }
}

static void *work(void *argument)
{
    struct worker *worker = argument;
    uint64_t own_ns = load_thread_ns(), start_ns = now_ns(CLOCK_MONOTONIC);

    load_precise_timers();
    worker->truth.tid = load_thread_id();
    keep_share(worker, start_ns, own_ns);
    worker->truth.wall_ns = now_ns(CLOCK_MONOTONIC) - start_ns;
    worker->truth.own_ns = load_thread_ns() - own_ns;
    return NULL;
}

static int start_all(struct worker *workers, const struct load_threads_plan *plan,
                     struct load_threads_truth *ret, struct camp_error *error)
{
    uint64_t start_ns = now_ns(CLOCK_MONOTONIC);

    while (ret->thread_count < plan->threads && !stop_requested) {
        struct worker *worker = &workers[ret->thread_count];
        int failed;

        worker->plan = plan;
        worker->start_ns = start_ns;
        worker->delay_ns = PERIOD_NS * ret->thread_count / plan->threads;
        failed = pthread_create(&worker->thread, NULL, work, worker);
        if (failed != 0)
            return camp_fail(error, CAMP_E_NOMEM, failed,
                             "only %llu of %llu threads could be made; raise the limit of threads",
                             (unsigned long long)ret->thread_count,
                             (unsigned long long)plan->threads);
        ret->thread_count++;
    }
    return CAMP_OK;
}

int load_threads(const void *wanted, void *ret_truth, struct camp_error *error)
{
    const struct load_threads_plan *plan = wanted;
    struct load_threads_truth *ret = ret_truth;
    struct worker *workers;
    uint64_t start_ns, own_ns, i;
    int r;

    memset(ret, 0, sizeof *ret);
    if (plan->threads < 1 || plan->threads > LOAD_THREADS_MAX ||
        !(plan->percent > 0 && plan->percent <= 100))
        return camp_fail(error, CAMP_E_INVALID, 0,
                         "1 to %u threads, a percentage above 0 and at most 100", LOAD_THREADS_MAX);
    workers = calloc((size_t)plan->threads, sizeof *workers);
    if (workers == NULL)
        return camp_fail(error, CAMP_E_NOMEM, 0, "no memory; ask for fewer threads");
    start_ns = now_ns(CLOCK_MONOTONIC);
    own_ns = load_process_ns();
    r = start_all(workers, plan, ret, error);
    for (i = 0; i < ret->thread_count; i++) {
        struct load_thread_truth *truth = &workers[i].truth;

        pthread_join(workers[i].thread, NULL);
        if (truth->wall_ns > 0)
            truth->percent = 100 * (double)truth->own_ns / (double)truth->wall_ns;
        ret->threads_ns += truth->own_ns;
        ret->each[i] = *truth;
    }
    ret->own_ns = load_process_ns() - own_ns;
    ret->wall_ns = now_ns(CLOCK_MONOTONIC) - start_ns;
    free(workers);
    return r;
}

#define TRUTH(member, ...) FACT(struct load_threads_truth, member, __VA_ARGS__)
#define THREAD(member, ...) FACT(struct load_thread_truth, member, __VA_ARGS__)

static const struct fact facts[] = {
    TRUTH(thread_count, "threads", "run"),
    TRUTH(threads_ns, "CPU time of the threads", "sum of their clocks"),
    TRUTH(own_ns, "CPU time of the process", "the same, and making and ending them"),
    TRUTH(wall_ns, "wall time", "from the first to the last"),
};
static const struct fact thread_facts[] = {
    THREAD(tid, "tid", "thread"),
    THREAD(percent, "used %", "own_ns of wall_ns", 3),
    THREAD(own_ns, "CPU time ns", "by the CPU clock of the thread"),
    THREAD(wall_ns, "wall time ns", "over the same interval"),
};

static void remark(const void *wanted, const void *ret_truth, char ret[REMARK_SIZE])
{
    const struct load_threads_plan *plan = wanted;
    const struct load_threads_truth *truth = ret_truth;
    double wanted_percent = plan->percent * (double)plan->threads;
    double percent = 100 * (double)truth->threads_ns / (double)truth->wall_ns;

    if (!stop_requested && percent < wanted_percent * NEARLY)
        snprintf(ret, REMARK_SIZE, "only %.2f%% of %.2f%% was reached: the CPUs were in use",
                 percent, wanted_percent);
}

int load_threads_command(int argc, char **argv)
{
    struct load_threads_plan plan = { 4, 20, DEFAULT_DURATION_NS };
    const struct option_spec specs[] = {
        { "threads", 0, OPTION_COUNT, &plan.threads, "N", "The number of threads (4).", 1,
          LOAD_THREADS_MAX, NULL },
        COMMON_OPTION(COMMON_PERCENT, &plan.percent,
                      .help = "The CPU time that each thread uses, in percent of one CPU (20)."),
        LOAD_DURATION,
        LOAD_FORMAT,
    };
    static struct load_threads_truth truth;
    static const struct load_rows rows = {
        "threads",  thread_facts,         ARRAY_COUNT(thread_facts),
        truth.each, sizeof truth.each[0], &truth.thread_count
    };
    const struct load_command command = { "threads", load_threads,       &plan,  &truth,
                                          facts,     ARRAY_COUNT(facts), remark, &rows };
    int r = load_parse("Runs threads that each use a known share of a CPU.", specs,
                       ARRAY_COUNT(specs), argc, argv);

    return r == OPTIONS_GO_ON ? load_run(&command) : r;
}
