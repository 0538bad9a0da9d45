/* Law 3: microstates on a CPU and in the run queue, against the scheduler's own counts and a load
 * that knows how it splits its time. */
#include "states_session.h"

#include <fcntl.h>
#include <string.h>

/* ------------------------------------------------------------------ On a CPU, run queue -- */

static void burn_beside_another(void *cpu)
{
    stay_on(*(size_t *)cpu);
    burn(CLOCK_PROCESS_CPUTIME_ID, 300 * (uint64_t)NS_PER_MS);
}

/* Each of two that share a CPU waits about as long as it runs. The witnesses are written at
 * switches as well, by the scheduler; stolen time is in the wall time of a thread that runs. */
static void the_scheduler_counts_the_same(void **state)
{
    struct camp_states *session = open_states_or_skip(0);
    struct threads ended = { 0 };
    size_t cpu = last_cpu();
    uint64_t steal = steal_ns(), stolen;
    pid_t burners[2];

    (void)state;
    for (int i = 0; i < 2; i++)
        burners[i] = start(burn_beside_another, &cpu);
    for (int i = 0; i < 2; i++)
        reap_well(burners[i]);
    stolen = stolen_since(steal);
    for (int i = 0; i < 2; i++) {
        struct camp_thread_states last = last_of(session, &ended, burners[i]);
        uint64_t run_queue = last.state_ns[CAMP_STATE_RUN_QUEUE];

        print_message("on a CPU %.3f ms (scheduler %.3f), run queue %.3f ms (%.3f)\n",
                      (double)on_cpu_ns(&last) / 1e6, (double)last.cpu_ns / 1e6,
                      (double)run_queue / 1e6, (double)last.run_delay_ns / 1e6);
        assert_at_least("run queue", run_queue, 100 * (uint64_t)NS_PER_MS, 0);
        assert_at_least("on a CPU", on_cpu_ns(&last), last.cpu_ns, near_ns(last.cpu_ns, 1));
        assert_at_most("on a CPU", on_cpu_ns(&last), last.cpu_ns, near_ns(last.cpu_ns, 1) + stolen);
        assert_near("run queue", run_queue, last.run_delay_ns, near_ns(last.run_delay_ns, 1));
    }
    free(ended.of);
    close_states(session);
}

static void sleep_beside_another(void *cpu)
{
    struct sched_param last = { 0 };

    stay_on(*(size_t *)cpu);
    if (sched_setscheduler(0, SCHED_IDLE, &last) != 0)
        _exit(1);
    for (int i = 0; i < 60; i++)
        usleep(1000);
}

/* It does not drive the other away when it is woken: its wait is not part of its sleep. */
static void who_is_woken_beside_another_waits_in_the_run_queue(void **state)
{
    struct camp_states *session = open_states_or_skip(0);
    struct threads ended = { 0 };
    size_t cpu = last_cpu();
    pid_t burner = start(burn_beside_another, &cpu), sleeper = start(sleep_beside_another, &cpu);
    struct camp_thread_states last;
    uint64_t run_queue;

    (void)state;
    reap_well(burner);
    reap_well(sleeper);
    last = last_of(session, &ended, sleeper);
    run_queue = last.state_ns[CAMP_STATE_RUN_QUEUE];
    print_message("run queue %.3f ms (scheduler %.3f), timer %.3f ms\n", (double)run_queue / 1e6,
                  (double)last.run_delay_ns / 1e6, (double)last.state_ns[CAMP_STATE_TIMER] / 1e6);
    assert_at_least("run queue", last.run_delay_ns, 2 * NEAR_NS, 0);
    assert_near("run queue", run_queue, last.run_delay_ns, last.run_delay_ns / 100 + NEAR_NS / 4);
    free(ended.of);
    close_states(session);
}

/* ---------------------------------------------------------------------- User and system -- */

/* Calls so long that entering and leaving them, which is user, is little: 0.5 to 1.5 us each. */
#define READ_BYTES (16u << 20)

struct split {
    uint64_t user_ns, system_ns;
};

/* Nine parts of its time in read(2), one in its own code, by its own clock, which costs no system
 * call. It lets nobody run beside it where it may: whoever did would be in one of the parts. */
static void read_zeros(void *truth)
{
    struct sched_param first = { .sched_priority = 1 };
    struct split *split = truth, own = { 0 };
    int zero = open("/dev/zero", O_RDONLY);
    char *bytes = malloc(READ_BYTES);
    uint64_t now, then;

    memset(bytes, 1, READ_BYTES);
    stay_on(last_cpu());
    sched_setscheduler(0, SCHED_FIFO, &first);
    raise(SIGSTOP);
    now = then = now_ns(CLOCK_MONOTONIC);
    while (own.system_ns < 250 * (uint64_t)NS_PER_MS) {
        if (read(zero, bytes, READ_BYTES) != READ_BYTES)
            _exit(1);
        now = now_ns(CLOCK_MONOTONIC);
        own.system_ns += now - then;
        then = now;
        while (own.user_ns + now - then < own.system_ns / 9)
            now = now_ns(CLOCK_MONOTONIC);
        own.user_ns += now - then;
        then = now;
    }
    *split = own;
    raise(SIGSTOP);
}

/* What the session says of a child that stopped itself; it goes on then. */
static struct camp_thread_states stopped(struct camp_states *session, pid_t child)
{
    const struct camp_thread_states *found;
    struct camp_thread_states states;
    struct threads threads;
    int status;

    assert_int_equal(waitpid(child, &status, WUNTRACED), child);
    assert_true(WIFSTOPPED(status));
    threads = look(session);
    found = find_tid(&threads, child);
    assert_non_null(found);
    states = *found;
    free(threads.of);
    kill(child, SIGCONT);
    return states;
}

/* What the reader did while it looked at its clock. */
static struct camp_thread_states watch_reader(uint32_t options, struct split *ret)
{
    struct camp_states *session = open_states_or_skip(options);
    struct split *truth = shared_memory(sizeof *truth);
    pid_t reader = start(read_zeros, truth);
    struct camp_thread_states before = stopped(session, reader), after = stopped(session, reader);

    reap_well(reader);
    *ret = *truth;
    munmap(truth, sizeof *truth);
    close_states(session);
    for (int i = 0; i < CAMP_STATE_COUNT; i++)
        after.state_ns[i] -= before.state_ns[i];
    after.cpu_ns -= before.cpu_ns;
    after.system_calls -= before.system_calls;
    return after;
}

static double system_percent(uint64_t user_ns, uint64_t system_ns)
{
    return 100.0 * (double)system_ns / (double)(user_ns + system_ns);
}

static void a_load_that_knows_its_system_time_is_told_the_same(void **state)
{
    struct split known;
    struct camp_thread_states last = watch_reader(0, &known);
    double told = system_percent(last.state_ns[CAMP_STATE_USER], last.state_ns[CAMP_STATE_SYSTEM]);
    double own = system_percent(known.user_ns, known.system_ns);

    (void)state;
    print_message("system %.2f %% of user and system, by its own clock %.2f %%\n", told, own);
    assert_true(own > 80 && own < 92);
    assert_true(told > own - 1 && told < own + 1);
    assert_true(last.system_calls > 20);
}

static void without_system_calls_user_is_all_of_it(void **state)
{
    struct split known;
    struct camp_thread_states last = watch_reader(CAMP_STATES_NO_SYSCALLS, &known);

    (void)state;
    assert_int_equal(last.state_ns[CAMP_STATE_SYSTEM], 0);
    assert_int_equal(last.system_calls, 0);
    assert_at_least("user", last.state_ns[CAMP_STATE_USER] + last.state_ns[CAMP_STATE_IRQ],
                    last.cpu_ns, near_ns(last.cpu_ns, 1));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_scheduler_counts_the_same),
        cmocka_unit_test(who_is_woken_beside_another_waits_in_the_run_queue),
        cmocka_unit_test(a_load_that_knows_its_system_time_is_told_the_same),
        cmocka_unit_test(without_system_calls_user_is_all_of_it),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
