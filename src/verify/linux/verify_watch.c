/*
 * Takes snapshots of all threads through a session of microstates.
 *
 * Reading all threads takes some time, so each snapshot reads the CPUs before and after the
 * threads. The CPU time of the threads is between these two readings. The reading thread has
 * real-time priority (SCHED_FIFO) if that is permitted.
 */
#include "verify_watch.h"

#include "counters/clock.h"
#include "counters/error.h"
#include "ledger/array.h"
#include "load/linux/cpu_set.h"
#include "microstates/table.h"
#include "program/command.h"

#include <errno.h>
#include <glob.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

/* A thread that exits during a snapshot has its exit record after at most this time. */
#define END_NS (50u * NS_PER_MS)

/* Runs on each CPU once, because the session knows a CPU only after its first switch. */
static void visit_every_cpu(void)
{
    struct cpu_set allowed;

    if (!cpu_set_read(&allowed))
        return;
    for (int cpu = cpu_set_next(&allowed, -1); cpu >= 0; cpu = cpu_set_next(&allowed, cpu))
        cpu_set_use_one(cpu);
    cpu_set_use(&allowed);
    cpu_set_release(&allowed);
}

int watch_read_cpus(struct camp_states *session, struct watch_cpu_list *ret,
                    struct camp_error *error)
{
    for (;;) {
        const int r = camp_states_cpus(session, ret->cpus, sizeof *ret->cpus, ret->capacity,
                                       &ret->count, error);

        if (r != CAMP_E_SPACE)
            return r;
        if (!ARRAY_RESERVE(ret->cpus, ret->capacity, ret->count))
            return camp_fail(error, CAMP_E_NOMEM, ENOMEM, "no memory for lists of CPUs");
    }
}

/* Reads all lists once, so that no later reading allocates memory. */
static int enlarge_lists(struct watch *watch, struct camp_error *error)
{
    struct watch_cpu_list *const lists[] = { &watch->before.earlier, &watch->before.later,
                                             &watch->after.earlier, &watch->after.later };
    int r = CAMP_OK;

    for (size_t i = 0; i < ARRAY_COUNT(lists) && r == CAMP_OK; i++)
        r = watch_read_cpus(watch->session, lists[i], error);
    return r;
}

/* Keeps what began at the first snapshot or later. What a thread did that exited during the first
 * snapshot begins earlier. The start of a total means nothing. */
static int add_thread(void *context, const struct camp_thread_states *since, uint32_t group)
{
    struct watch *watch = context;

    (void)group;
    watch->shows_process_1 |= since->tid == 1;
    return since->begin_ns >= watch->before.time_ns || (since->flags & CAMP_THREAD_TOTAL) != 0
               ? thread_list_add(&watch->threads, since)
               : CAMP_OK;
}

static int add_idle(void *context, const struct camp_states_wait *wait, uint32_t group)
{
    const struct camp_thread_states since = thread_waited(wait);

    return add_thread(context, &since, group);
}

int watch_open(struct watch *watch, struct camp_error *error)
{
    int r;

    *watch = (struct watch)WATCH_NONE;
    thread_registry_init(
        &watch->registry,
        &(struct thread_user){ .context = watch, .did = add_thread, .waited = add_idle });
    r = camp_states_open(&watch->session, 0, error);
    if (r != CAMP_OK)
        return r;
    visit_every_cpu();
    sleep_until(now_ns(CLOCK_MONOTONIC) + 20 * NS_PER_MS);
    return enlarge_lists(watch, error);
}

/* Has no effect without permission. */
static void set_policy(int policy)
{
    const struct sched_param priority = { .sched_priority = policy == SCHED_FIFO };

    sched_setscheduler(0, policy | SCHED_RESET_ON_FORK, &priority);
}

uint64_t watch_process_1_ns(void)
{
    uint64_t sum = 0;
    glob_t found;

    if (glob("/proc/1/task/*/schedstat", 0, NULL, &found) != 0)
        return 0;
    for (size_t i = 0; i < found.gl_pathc; i++) {
        FILE *file = fopen(found.gl_pathv[i], "re");
        unsigned long long ns = 0;

        if (file != NULL && fscanf(file, "%llu", &ns) == 1)
            sum += ns;
        if (file != NULL)
            fclose(file);
    }
    globfree(&found);
    return sum;
}

static int read_snapshot(struct watch *watch, struct watch_snapshot *ret, struct camp_error *error)
{
    int r;

    set_policy(SCHED_FIFO);
    r = watch_read_cpus(watch->session, &ret->earlier, error);
    ret->time_ns = now_ns(CLOCK_MONOTONIC);
    watch->shows_process_1 = false;
    watch->threads.count = 0;
    if (r == CAMP_OK)
        r = thread_registry_read(&watch->registry, watch->session, error);
    if (r == CAMP_OK)
        ret->hidden_ns = watch->shows_process_1 ? 0 : watch_process_1_ns();
    if (r == CAMP_OK)
        r = watch_read_cpus(watch->session, &ret->later, error);
    set_policy(SCHED_OTHER);
    if (r == CAMP_OK && ret->later.count != ret->earlier.count)
        r = camp_fail(error, CAMP_E_NOTSUP, 0, "a CPU came online meanwhile");
    return r;
}

int watch_before(struct watch *watch, struct camp_error *error)
{
    return read_snapshot(watch, &watch->before, error);
}

int watch_after(struct watch *watch, struct camp_error *error)
{
    int r = read_snapshot(watch, &watch->after, error);

    if (r == CAMP_OK && watch->after.later.count != watch->before.later.count)
        r = camp_fail(error, CAMP_E_NOTSUP, 0, "a CPU came online meanwhile");
    if (r != CAMP_OK)
        return r;
    sleep_until(now_ns(CLOCK_MONOTONIC) + END_NS);
    return thread_registry_read_late(&watch->registry, watch->session, error);
}

bool watch_process(const struct watch *watch, pid_t pid, struct camp_thread_states *ret)
{
    for (size_t i = 0; i < watch->threads.count; i++) {
        *ret = watch->threads.threads[i];
        if (ret->tid == pid && (ret->flags & (CAMP_THREAD_ENDED | THREAD_NEW)) == 0)
            return true;
    }
    return false;
}

int watch_act(struct watch *watch, struct subject *subject, struct camp_thread_states *ret,
              struct camp_error *error)
{
    int r = watch_before(watch, error);

    if (r == CAMP_OK)
        r = subject_do(subject, error);
    if (r == CAMP_OK)
        r = watch_after(watch, error);
    if (r == CAMP_OK && !watch_process(watch, subject->pid, ret))
        r = camp_fail(error, CAMP_E_NOTSUP, 0, "the load was not shown among the threads");
    return r;
}

uint64_t watch_threads_ns(const struct watch *watch)
{
    uint64_t sum = watch->after.hidden_ns - watch->before.hidden_ns;

    for (size_t i = 0; i < watch->threads.count; i++)
        sum += states_busy_ns(watch->threads.threads[i].state_ns);
    return sum;
}

struct watch_cpus watch_cpus(const struct watch *watch, bool whole)
{
    const struct camp_cpu_states *then =
        whole ? watch->before.earlier.cpus : watch->before.later.cpus;
    const struct camp_cpu_states *now = whole ? watch->after.later.cpus : watch->after.earlier.cpus;
    struct watch_cpus sum = { 0 };

    for (size_t i = 0; i < watch->after.later.count; i++) {
        sum.wall_ns += (double)(now[i].time_ns - then[i].time_ns);
        sum.rest_ns += (double)(now[i].idle_ns - then[i].idle_ns + now[i].irq_ns - then[i].irq_ns +
                                now[i].softirq_ns - then[i].softirq_ns + now[i].outside_ns -
                                then[i].outside_ns);
    }
    return sum;
}

static void release(struct watch_snapshot *snapshot)
{
    free(snapshot->earlier.cpus);
    free(snapshot->later.cpus);
}

void watch_close(struct watch *watch)
{
    if (watch->session != NULL)
        camp_states_close(watch->session);
    release(&watch->before);
    release(&watch->after);
    thread_list_release(&watch->threads);
    thread_registry_release(&watch->registry);
    *watch = (struct watch)WATCH_NONE;
}
