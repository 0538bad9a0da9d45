/* Tests that the causes of waits add up to the states of those who waited, and that a wait for a
 * CPU is charged to the processes that had the CPU. */
#include "causes_session.h"

#include <sys/resource.h>

#define RUN_NS 1500000000u
#define POINT 10000u /* a percentage point in millionths */

struct runner {
    size_t cpu; /* CPU_SETSIZE: any */
    int nice;
    int sleeps_us; /* 0: it never sleeps */
    uint64_t until_ns;
    uint64_t cpu_ns; /* by its own clock */
};

/* Uses the CPU until its end, and sleeps between bursts of a millisecond. */
static void use_cpu(void *truth)
{
    struct runner *self = truth;

    if (self->cpu < CPU_SETSIZE)
        stay_on(self->cpu);
    if (setpriority(PRIO_PROCESS, 0, self->nice) != 0)
        _exit(1);
    while (now_ns(CLOCK_MONOTONIC) < self->until_ns) {
        const uint64_t burst_ns = now_ns(CLOCK_MONOTONIC) + 1000000;

        while (now_ns(CLOCK_MONOTONIC) < burst_ns)
            continue;
        if (self->sleeps_us != 0)
            usleep((useconds_t)self->sleeps_us);
    }
    self->cpu_ns = now_ns(CLOCK_PROCESS_CPUTIME_ID);
}

#define RUNNERS 4

struct run {
    struct runner *runners; /* [count], shared with the children */
    size_t count;
    struct camp_thread_states last[RUNNERS];
    struct causes causes;
    struct camp_states *session;
};

/* Runs the children at the same time, from before their start to after their end in one session. */
static void run_all(struct run *run)
{
    struct threads ended = { 0 };
    pid_t children[RUNNERS];

    run->session = open_states_or_skip(CAMP_STATES_CULPRITS);
    for (size_t i = 0; i < run->count; i++) {
        run->runners[i].until_ns = now_ns(CLOCK_MONOTONIC) + RUN_NS;
        children[i] = start_named(run->session, i, use_cpu, &run->runners[i]);
    }
    for (size_t i = 0; i < run->count; i++)
        reap_well(children[i]);
    for (size_t i = 0; i < run->count; i++)
        run->last[i] = last_of(run->session, &ended, children[i]);
    run->causes = read_causes(run->session);
    free(ended.of);
}

static void end_run(struct run *run)
{
    close_states(run->session);
    munmap(run->runners, RUNNERS * sizeof *run->runners);
    free(run->causes.of);
}

static struct run make_run(size_t count)
{
    return (struct run){ .runners = shared_memory(RUNNERS * sizeof(struct runner)),
                         .count = count };
}

static void causes_of_threads_on_one_cpu_add_up_to_their_states(void **state)
{
    struct run run = make_run(3);

    (void)state;
    for (size_t i = 0; i < run.count; i++)
        run.runners[i] = (struct runner){ .cpu = last_cpu(), .sleeps_us = i == 2 ? 300 : 0 };
    run_all(&run);
    for (size_t i = 0; i < run.count; i++)
        assert_causes_add_up(&run.causes, &run.last[i]);
    end_run(&run);
}

static void causes_of_threads_that_move_between_cpus_add_up_to_their_states(void **state)
{
    struct run run = make_run(4);

    (void)state;
    for (size_t i = 0; i < run.count; i++)
        run.runners[i] = (struct runner){ .cpu = CPU_SETSIZE, .sleeps_us = i > 1 ? 700 : 0 };
    run_all(&run);
    for (size_t i = 0; i < run.count; i++)
        assert_causes_add_up(&run.causes, &run.last[i]);
    end_run(&run);
}

/* Returns the part of the first of two times, in millionths. */
static uint64_t share_of_first(const uint64_t *ns)
{
    return ns[0] * 100 * POINT / (ns[0] + ns[1]);
}

/* The victim has the lowest priority and never sleeps, so it waits whenever another thread has the
 * CPU. Then each culprit is charged with the time that it ran. */
static void a_victim_charges_two_culprits_with_the_time_that_each_had_the_cpu(void **state)
{
    struct run run = make_run(3);
    uint32_t victim;
    uint64_t charged[2], ran[2];

    (void)state;
    for (size_t i = 0; i < run.count; i++)
        run.runners[i] = (struct runner){ .cpu = last_cpu(), .nice = i == 0 ? 0 : i == 1 ? 2 : 19 };
    run_all(&run);
    victim = group_of_name(&run.causes, run.last[2].name);
    assert_causes_add_up(&run.causes, &run.last[2]);
    for (size_t i = 0; i < 2; i++) {
        const uint32_t culprit = group_of_name(&run.causes, run.last[i].name);

        charged[i] = cause_ns(&run.causes, victim, CAMP_STATE_RUN_QUEUE, CAMP_CAUSE_GROUP, culprit);
        ran[i] = run.runners[i].cpu_ns;
    }
    print_message("charged %.2f %% to the first one, which ran %.2f %%\n",
                  (double)share_of_first(charged) / 1e4, (double)share_of_first(ran) / 1e4);
    assert_true(ran[0] > ran[1]);
    assert_near("charged", share_of_first(charged), share_of_first(ran), POINT);
    end_run(&run);
}

/* What all groups suffered for a culprit is what it inflicted. Of the children on one CPU, each
 * waits for the others only while they run. */
static void a_culprit_is_charged_with_no_more_than_it_ran_for_each_waiting_thread(void **state)
{
    struct run run = make_run(2);

    (void)state;
    for (size_t i = 0; i < run.count; i++)
        run.runners[i] = (struct runner){ .cpu = last_cpu() };
    run_all(&run);
    for (size_t i = 0; i < run.count; i++) {
        const uint32_t victim = group_of_name(&run.causes, run.last[i].name);
        const uint32_t culprit = group_of_name(&run.causes, run.last[1 - i].name);
        const uint64_t ns =
            cause_ns(&run.causes, victim, CAMP_STATE_RUN_QUEUE, CAMP_CAUSE_GROUP, culprit);

        assert_at_least("charged", ns, 1, 0);
        assert_at_most("charged", ns, on_cpu_ns(&run.last[1 - i]), tolerance_of(&run.last[i]));
        assert_int_equal(
            cause_ns(&run.causes, victim, CAMP_STATE_RUN_QUEUE, CAMP_CAUSE_GROUP, victim), 0);
    }
    end_run(&run);
}

/* In a frame of a session that goes on, the two are read one after the other. */
static void causes_of_a_living_thread_are_those_of_its_states_when_they_are_read(void **state)
{
    struct camp_states *session = open_states_or_skip(CAMP_STATES_CULPRITS);
    struct runner *runners = shared_memory(2 * sizeof *runners);
    struct camp_wait_lengths *lengths = calloc(64 * CAMP_STATE_COUNT, sizeof *lengths);
    struct camp_error error;
    uint64_t waits = 0, least_ns = 0;
    pid_t children[2];
    struct causes causes;
    size_t count;
    uint32_t group = 0;

    (void)state;
    assert_non_null(lengths);
    for (size_t i = 0; i < 2; i++) {
        runners[i] =
            (struct runner){ .cpu = last_cpu(), .until_ns = now_ns(CLOCK_MONOTONIC) + RUN_NS };
        children[i] = start(use_cpu, &runners[i]);
        assert_int_equal(camp_states_watch_process(session, children[i], &error), CAMP_OK);
    }
    usleep(500000);
    causes = read_causes(session);
    for (size_t i = 0; i < causes.group_count; i++)
        group = causes.groups[i].pid == children[0] ? causes.groups[i].number : group;
    print_causes(&causes, group);
    assert_at_least("waited", all_causes_ns(&causes, group, CAMP_STATE_RUN_QUEUE), 1, 0);
    assert_int_equal(camp_states_wait_lengths(session, lengths, sizeof *lengths,
                                              64 * CAMP_STATE_COUNT, &count, &error),
                     CAMP_OK);
    for (size_t i = 0; i < count; i++) {
        if (lengths[i].group != group || lengths[i].state != CAMP_STATE_RUN_QUEUE)
            continue;
        for (size_t j = 0; j < CAMP_WAIT_BUCKETS; j++) {
            waits += lengths[i].counts[j];
            least_ns += lengths[i].counts[j] << j;
        }
        print_message("%llu waits of %.3f ms, the longest %.3f ms\n", (unsigned long long)waits,
                      (double)lengths[i].total_ns / 1e6, (double)lengths[i].longest_ns / 1e6);
        assert_at_least("sum of the lengths", lengths[i].total_ns, least_ns, 0);
        assert_at_most("sum of the lengths", lengths[i].total_ns, 2 * least_ns + 1, 0);
        assert_at_least("sum of the lengths", lengths[i].total_ns, lengths[i].longest_ns, 0);
        assert_int_equal(lengths[i].longest_tid, children[0]);
        assert_at_most("longest", lengths[i].longest_ns,
                       all_causes_ns(&causes, group, CAMP_STATE_RUN_QUEUE), RUN_NS);
    }
    assert_at_least("waits", waits, 1, 0);
    for (size_t i = 0; i < 2; i++)
        reap_well(children[i]);
    munmap(runners, 2 * sizeof *runners);
    free(causes.of);
    free(lengths);
    close_states(session);
}

static void a_session_without_causes_refuses_to_report_them(void **state)
{
    struct camp_states *session = open_states_or_skip(0);
    struct camp_wait_cause cause;
    struct camp_error error;
    uint64_t time_ns;
    size_t count;

    (void)state;
    assert_int_equal(camp_states_causes(session, &cause, sizeof cause, 1, &count, &time_ns, &error),
                     CAMP_E_INVALID);
    assert_string_equal(
        error.message, "this session keeps no ledger of causes: open it with CAMP_STATES_CULPRITS");
    assert_int_equal(camp_states_watch_process(session, 1, &error), CAMP_E_INVALID);
    assert_int_equal(camp_states_watch_name(session, "name", &error), CAMP_E_INVALID);
    close_states(session);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(causes_of_threads_on_one_cpu_add_up_to_their_states),
        cmocka_unit_test(causes_of_threads_that_move_between_cpus_add_up_to_their_states),
        cmocka_unit_test(a_victim_charges_two_culprits_with_the_time_that_each_had_the_cpu),
        cmocka_unit_test(a_culprit_is_charged_with_no_more_than_it_ran_for_each_waiting_thread),
        cmocka_unit_test(causes_of_a_living_thread_are_those_of_its_states_when_they_are_read),
        cmocka_unit_test(a_session_without_causes_refuses_to_report_them),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
