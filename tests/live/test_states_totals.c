/* Tests threads that exit faster than they are read. If the ring has no space, they are added up by
 * parent and name, and none of their time is lost. */
#include "states_session.h"

#include "sources/source.h"

#include <pthread.h>
#include <string.h>

#define FLOOD 10000u /* more than the ring holds */
#define KNOWN 20u

static void *be_brief(void *unused)
{
    (void)unused;
    prctl(PR_SET_NAME, "brief");
    return NULL;
}

static void be_a_flood(void *unused)
{
    (void)unused;
    for (unsigned i = 0; i < FLOOD; i++) {
        pthread_t thread;

        if (pthread_create(&thread, NULL, be_brief, NULL) != 0)
            _exit(1);
        pthread_join(thread, NULL);
    }
}

static uint32_t count_brief(const struct threads *ended)
{
    uint32_t count = 0;

    for (size_t i = 0; i < ended->count; i++)
        count += strcmp(ended->of[i].name, "brief") == 0 ? ended->of[i].count : 0;
    return count;
}

/* Reads until all exited threads are reported. A total is reported only by a later call, and a
 * thread may still be on its CPU when pthread_join() returns. */
static void take_all(struct camp_states *session, struct threads *ended)
{
    uint64_t began_ns = now_ns(CLOCK_MONOTONIC);

    do
        add_exited(session, ended);
    while (count_brief(ended) < FLOOD && wait_on(began_ns));
}

/* A switch moves time between the CPU and the run queue, so the sum of both is compared. A switch
 * changes this sum only when a thread falls asleep or wakes up. */
static void exited_threads_that_overflow_the_ring_buffer_are_reported_as_a_sum(void **state)
{
    struct camp_states *session = open_states_or_skip(0);
    struct camp_states_losses losses;
    struct threads ended = { 0 };
    uint64_t told_ns = 0, scheduler_ns = 0;
    uint64_t steal = steal_ns(), switches = 0, irq_ns = 0, tolerance;
    uint32_t totals = 0;
    pid_t child = start(be_a_flood, NULL);

    (void)state;
    reap_well(child);
    take_all(session, &ended);
    for (size_t i = 0; i < ended.count; i++) {
        const struct camp_thread_states *thread = &ended.of[i];
        bool total = (thread->flags & CAMP_THREAD_TOTAL) != 0;

        if (thread->pid != child && (!total || thread->parent != getpid()))
            continue;
        assert_int_equal(sum_ns(thread), thread->time_ns - thread->begin_ns);
        assert_int_equal(thread->known_states, states_measured(session));
        assert_int_equal((thread->known & CAMP_THREAD_STATES_START) == 0, total);
        irq_ns += thread->state_ns[CAMP_STATE_IRQ];
        told_ns += on_cpu_ns(thread) + waited_for_cpu_ns(thread);
        scheduler_ns += thread->cpu_ns + thread->run_delay_ns;
        switches += thread->voluntary_switches + thread->involuntary_switches;
        totals += total ? thread->count : 0;
    }
    assert_int_equal(camp_states_losses(session, &losses, sizeof losses, NULL), CAMP_OK);
    tolerance = switches * switch_cost_ns() + measure_wakeups().longest_ns + stolen_since(steal);
    print_message("%u threads in totals: %.3f ms, by the scheduler %.3f; tolerance %.3f\n", totals,
                  (double)told_ns / 1e6, (double)scheduler_ns / 1e6, (double)tolerance / 1e6);
    assert_int_equal(count_brief(&ended), FLOOD);
    assert_at_least("in totals", totals, 1, 0);
    assert_at_least("counted", losses.exits_added_up, totals, 0);
    assert_at_least("on a CPU and run queue", told_ns, scheduler_ns, tolerance);
    assert_at_most("on a CPU and run queue", told_ns, scheduler_ns, tolerance + irq_ns);
    free(ended.of);
    close_states(session);
}

struct gang {
    int begin[2], flood[2], end[2]; /* pipes on which the threads wait */
    uint64_t end_ns;                /* time just before the threads may exit */
};

static void *be_known(void *truth)
{
    struct gang *gang = truth;
    char byte;

    prctl(PR_SET_NAME, "known");
    if (write(gang->begin[1], "", 1) != 1 || read(gang->end[0], &byte, 1) != 1)
        _exit(1);
    return NULL;
}

/* Starts threads that wait. They exit after many short-lived threads. */
static void be_a_gang(void *truth)
{
    struct gang *gang = truth;
    pthread_t threads[KNOWN];
    char byte;

    for (unsigned i = 0; i < KNOWN; i++) {
        if (pthread_create(&threads[i], NULL, be_known, gang) != 0)
            _exit(1);
    }
    if (read(gang->flood[0], &byte, 1) != 1)
        _exit(1);
    be_a_flood(NULL);
    gang->end_ns = now_ns(CLOCK_MONOTONIC);
    for (unsigned i = 0; i < KNOWN; i++) {
        if (write(gang->end[1], "", 1) != 1)
            _exit(1);
    }
    for (unsigned i = 0; i < KNOWN; i++)
        pthread_join(threads[i], NULL);
}

/* Adds the times of the threads named "known" in the next frame, and the number of lost exits.
 * Returns the number of these threads that exited. */
static uint64_t add_known(struct source *source, uint64_t *elapsed_ns, uint64_t *states_ns,
                          uint64_t *lost)
{
    const struct frame *frame;
    uint64_t ended = 0;

    assert_int_equal(source->next(source, 0, &frame, NULL), CAMP_OK);
    *lost += frame->losses.lost;
    for (size_t i = 0; i < frame->entity_count; i++) {
        if (strcmp(frame->entities[i].name, "known") != 0)
            continue;
        *elapsed_ns += frame->elapsed_ns[i];
        for (size_t k = 0; k < frame->schema->state_count; k++)
            *states_ns += frame_values(frame, i)[k];
        if ((frame->entities[i].flags & ENTITY_ENDED) != 0)
            ended += frame->entities[i].count;
    }
    return ended;
}

static volatile sig_atomic_t stop;

static void a_thread_with_its_own_exit_record_is_not_in_a_sum_of_threads(void **state)
{
    struct gang *gang = shared_memory(sizeof *gang);
    struct camp_states *session = open_states_or_skip(0); /* skips the test without privileges */
    struct source *source;
    uint64_t opened_ns[2], asked_ns[2], began_ns, ended = 0, lost = 0, elapsed_ns = 0,
                                                  states_ns = 0;
    char byte;
    pid_t child;

    (void)state;
    camp_states_close(session);
    assert_int_equal(pipe(gang->begin), 0);
    assert_int_equal(pipe(gang->flood), 0);
    assert_int_equal(pipe(gang->end), 0);
    child = start(be_a_gang, gang);
    for (unsigned i = 0; i < KNOWN; i++)
        assert_int_equal(read(gang->begin[0], &byte, 1), 1);
    opened_ns[0] = now_ns(CLOCK_MONOTONIC);
    assert_int_equal(threads_source_open(0, &stop, &source, NULL), CAMP_OK);
    opened_ns[1] = now_ns(CLOCK_MONOTONIC);
    usleep(50000);
    asked_ns[0] = now_ns(CLOCK_MONOTONIC);
    add_known(source, &elapsed_ns, &states_ns, &lost);
    asked_ns[1] = now_ns(CLOCK_MONOTONIC);
    assert_at_least("before", elapsed_ns, KNOWN * (asked_ns[0] - opened_ns[1]), 0);
    assert_at_most("before", elapsed_ns, KNOWN * (asked_ns[1] - opened_ns[0]), 0);
    assert_int_equal(write(gang->flood[1], "", 1), 1);
    reap_well(child);
    began_ns = now_ns(CLOCK_MONOTONIC);
    do
        ended += add_known(source, &elapsed_ns, &states_ns, &lost);
    while (ended + lost < KNOWN && wait_on(began_ns));
    asked_ns[1] = now_ns(CLOCK_MONOTONIC);
    print_message("known to %.3f ms, of %.3f to %.3f\n", (double)elapsed_ns / 1e6,
                  (double)(KNOWN * (gang->end_ns - opened_ns[1])) / 1e6,
                  (double)(KNOWN * (asked_ns[1] - opened_ns[0])) / 1e6);
    assert_at_most("ended", ended, KNOWN, 0);
    assert_at_least("ended and lost", ended + lost, KNOWN, 0);
    if (ended == KNOWN)
        assert_at_least("elapsed", elapsed_ns, KNOWN * (gang->end_ns - opened_ns[1]), 0);
    assert_at_most("elapsed", elapsed_ns, KNOWN * (asked_ns[1] - opened_ns[0]), 0);
    assert_int_equal(states_ns, elapsed_ns);
    source_close(source);
    munmap(gang, sizeof *gang);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(exited_threads_that_overflow_the_ring_buffer_are_reported_as_a_sum),
        cmocka_unit_test(a_thread_with_its_own_exit_record_is_not_in_a_sum_of_threads),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
