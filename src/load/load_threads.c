/*
 * Threads that each use a known share of a CPU.
 *
 * Each keeps its share by its own clock (CLOCK_THREAD_CPUTIME_ID), in periods that start at
 * different times, and reads that clock as its first and its last act. So the sum of the threads is
 * a little less than the CPU time of the process: creating, starting and ending a thread is
 * outside.
 */
#include "load.h"

#include "counters/error.h"
#include "counters/units.h"
#include "load_tools.h"
#include "program/command.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

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
        load_burn(CLOCK_THREAD_CPUTIME_ID, target, 0, end);
        next += worker->delay_ns;
        if (!sleep_until(next < end ? next : end))
            return;
    }
}

static void *work(void *argument)
{
    struct worker *worker = argument;
    uint64_t own_ns = now_ns(CLOCK_THREAD_CPUTIME_ID), start_ns = now_ns(CLOCK_MONOTONIC);

    prctl(PR_SET_TIMERSLACK, 1, 0, 0, 0);
    worker->truth.tid = (int32_t)gettid();
    keep_share(worker, start_ns, own_ns);
    worker->truth.wall_ns = now_ns(CLOCK_MONOTONIC) - start_ns;
    worker->truth.own_ns = now_ns(CLOCK_THREAD_CPUTIME_ID) - own_ns;
    return NULL;
}

static int start_all(struct worker *workers, const struct load_threads_plan *plan,
                     struct load_threads_truth *ret, struct camp_error *error)
{
    uint64_t start_ns = now_ns(CLOCK_MONOTONIC);

    while (ret->threads < plan->threads && !stop_requested) {
        struct worker *worker = &workers[ret->threads];
        int failed;

        worker->plan = plan;
        worker->start_ns = start_ns;
        worker->delay_ns = PERIOD_NS * ret->threads / plan->threads;
        failed = pthread_create(&worker->thread, NULL, work, worker);
        if (failed != 0)
            return camp_fail(error, CAMP_E_NOMEM, failed,
                             "only %llu of %llu threads could be made; raise the limit (ulimit -u)",
                             (unsigned long long)ret->threads, (unsigned long long)plan->threads);
        ret->threads++;
    }
    return CAMP_OK;
}

int load_threads(const struct load_threads_plan *plan, struct load_threads_truth *ret,
                 struct camp_error *error)
{
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
    own_ns = now_ns(CLOCK_PROCESS_CPUTIME_ID);
    r = start_all(workers, plan, ret, error);
    for (i = 0; i < ret->threads; i++) {
        struct load_thread_truth *truth = &workers[i].truth;

        pthread_join(workers[i].thread, NULL);
        if (truth->wall_ns > 0)
            truth->percent = 100 * (double)truth->own_ns / (double)truth->wall_ns;
        ret->threads_ns += truth->own_ns;
        ret->each[i] = *truth;
    }
    ret->own_ns = now_ns(CLOCK_PROCESS_CPUTIME_ID) - own_ns;
    ret->wall_ns = now_ns(CLOCK_MONOTONIC) - start_ns;
    free(workers);
    return r;
}
