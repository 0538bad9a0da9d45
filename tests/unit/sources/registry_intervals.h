/* Intervals of a registry of threads, from a scripted session. */
#pragma once

#include "sources/machine/thread_registry.h"

#include "../scripted_session.h"
#include "sources/source.h"

/* The sums of what all threads did in an interval. */
struct did {
    size_t rows, new_rows, ended_rows, idle_threads;
    uint64_t slept_ns, cpu_ns;
    uint32_t group; /* of the last row */
};

static struct did did;
static struct thread_registry registry;

static int add_up(void *context, const struct camp_thread_states *since, uint32_t group)
{
    (void)context;
    assert_int_equal(since->time_ns - since->begin_ns, since->state_ns[CAMP_STATE_TIMER]);
    did.rows++;
    did.new_rows += (since->flags & THREAD_NEW) != 0;
    did.ended_rows += (since->flags & CAMP_THREAD_ENDED) != 0;
    did.slept_ns += since->state_ns[CAMP_STATE_TIMER];
    did.cpu_ns += since->cpu_ns;
    did.group = group;
    return CAMP_OK;
}

static int add_idle(void *context, uint32_t group, uint32_t state, uint64_t threads,
                    uint64_t wait_ns)
{
    (void)context;
    assert_int_equal(state, CAMP_STATE_TIMER);
    did.idle_threads += (size_t)threads;
    did.slept_ns += wait_ns;
    did.group = group;
    return CAMP_OK;
}

static int open_registry(void **state)
{
    (void)state;
    script.now = 1000;
    thread_registry_init(&registry, &(struct thread_user){ .did = add_up, .idle = add_idle });
    registry.snapshot_ns = 0;
    return 0;
}

static int close_registry(void **state)
{
    (void)state;
    thread_registry_release(&registry);
    script_release();
    return 0;
}

/* Returns a reading of a thread named "worker", which slept for `slept` since it was attached at
 * `begin`. */
static struct camp_thread_states worker(int32_t pid, int32_t parent, uint64_t begin, uint64_t slept)
{
    struct camp_thread_states thread = { .tid = pid,
                                         .pid = pid,
                                         .parent = parent,
                                         .state = CAMP_STATE_TIMER,
                                         .count = 1,
                                         .name = "worker",
                                         .begin_ns = begin,
                                         .time_ns = begin + slept,
                                         .cpu_ns = slept };

    thread.state_ns[CAMP_STATE_TIMER] = slept;
    return thread;
}

static struct camp_thread_states total_of(uint32_t count, int32_t parent, uint64_t slept)
{
    struct camp_thread_states total = worker(0, parent, 0, slept);

    total.flags = CAMP_THREAD_TOTAL;
    total.count = count;
    return total;
}

static void exit_as(struct camp_thread_states last)
{
    script_add_exit(&script.exits, last);
}

static void remove_tid(int32_t tid)
{
    script.living[tid].tid = 0;
}

/* Ends the interval, and returns what all threads did in it. `did` is then empty. */
static struct did next(void)
{
    struct did ret;

    assert_int_equal(thread_registry_read(&registry, NULL, NULL), CAMP_OK);
    script.now += 1000;
    registry.snapshot_ns = script.now - 900;
    ret = did;
    did = (struct did){ 0 };
    return ret;
}
