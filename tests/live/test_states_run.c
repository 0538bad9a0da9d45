/* Compares microstates on a CPU and in the run queue with the scheduler's counts. Compares user and
 * system time with those of a load that measures both. */
#include "states_session.h"

#include <string.h>
#include <sys/random.h>

struct worker {
    size_t cpu;
    struct stretch own;
};

static void burn_beside_another(void *truth)
{
    struct worker *self = truth;

    stay_on(self->cpu);
    begin_stretch(&self->own);
    burn(CLOCK_PROCESS_CPUTIME_ID, 200 * (uint64_t)NS_PER_MS);
    end_stretch(&self->own);
}

/* Two threads share a CPU. Their wall time without their CPU time must be run-queue time. */
static void cpu_time_and_run_queue_equal_the_counts_of_the_scheduler(void **state)
{
    struct camp_states *session = open_states_or_skip(0);
    struct worker *workers = shared_memory(2 * sizeof *workers);
    struct threads ended = { 0 };
    uint64_t steal = steal_ns(), stolen;
    pid_t burners[2];

    (void)state;
    for (int i = 0; i < 2; i++) {
        workers[i].cpu = last_cpu();
        burners[i] = start(burn_beside_another, &workers[i]);
    }
    for (int i = 0; i < 2; i++)
        reap_well(burners[i]);
    stolen = stolen_since(steal);
    for (int i = 0; i < 2; i++) {
        struct camp_thread_states last = last_of(session, &ended, burners[i]);

        assert_scheduled(&last, stolen, 0);
        assert_at_least("run queue", waited_for_cpu_ns(&last),
                        less(workers[i].own.wall_ns, workers[i].own.cpu_ns),
                        stolen + tolerance_of(&last));
    }
    munmap(workers, 2 * sizeof *workers);
    free(ended.of);
    close_states(session);
}

static void sleep_beside_another(void *truth)
{
    struct worker *self = truth;
    struct sched_param last = { 0 };

    stay_on(self->cpu);
    if (sched_setscheduler(0, SCHED_IDLE, &last) != 0)
        _exit(1);
    begin_stretch(&self->own);
    for (int i = 0; i < 60; i++)
        usleep(1000);
    end_stretch(&self->own);
    /* Without SCHED_IDLE, the thread can exit under any load. */
    sched_setscheduler(0, SCHED_OTHER, &last);
}

/* A woken thread with SCHED_IDLE does not preempt the busy thread. It waits in the run queue, which
 * is not part of its sleep. */
static void a_woken_thread_waits_in_the_run_queue_of_a_busy_cpu(void **state)
{
    struct camp_states *session = open_states_or_skip(0);
    struct worker *workers = shared_memory(2 * sizeof *workers);
    struct threads ended = { 0 };
    struct camp_thread_states last;
    uint64_t steal = steal_ns(), stolen, tolerance, most;
    pid_t burner, sleeper;

    (void)state;
    workers[0].cpu = workers[1].cpu = last_cpu();
    burner = start(burn_beside_another, &workers[0]);
    sleeper = start(sleep_beside_another, &workers[1]);
    reap_well(burner);
    reap_well(sleeper);
    stolen = stolen_since(steal);
    last = last_of(session, &ended, sleeper);
    assert_scheduled(&last, stolen, 0);
    tolerance = stolen + tolerance_of(&last);
    most = less(last.time_ns - last.start_ns, last.run_delay_ns + last.cpu_ns);
    print_message("timer %.3f ms, by its own clocks %.3f, at most %.3f\n",
                  (double)last.state_ns[CAMP_STATE_TIMER] / 1e6,
                  (double)least_asleep_ns(&workers[1].own) / 1e6, (double)most / 1e6);
    assert_at_least("timer", last.state_ns[CAMP_STATE_TIMER], least_asleep_ns(&workers[1].own),
                    tolerance);
    assert_at_most("timer", last.state_ns[CAMP_STATE_TIMER], most, tolerance);
    munmap(workers, 2 * sizeof *workers);
    free(ended.of);
    close_states(session);
}

/* Entering and leaving a system call is accounted as user time. In long calls this time is a small
 * share. The buffer fits into the caches: after a call that displaces them, the way back to the
 * thread's own code took 11 us more, which is user time, too. */
#define RANDOM_BYTES (256u << 10)

struct split {
    uint64_t user_ns, system_ns;
    uint64_t crossing_ns; /* time of an empty system call before each getrandom(2) */
    uint64_t cpu_ns;      /* CPU time of all three parts */
    uint64_t calls;       /* number of calls to getrandom(2) */
};

/* Spends nine tenths of the time in getrandom(2) and one tenth in its own code. CLOCK_MONOTONIC
 * needs no system call. The child has real-time priority if permitted, because the time of other
 * tasks would be counted in one of the parts. */
static void read_random_bytes(void *truth)
{
    struct sched_param first = { .sched_priority = 1 };
    struct split *split = truth, own = { 0 };
    char *bytes = malloc(RANDOM_BYTES);
    uint64_t now, then;

    memset(bytes, 1, RANDOM_BYTES);
    stay_on(last_cpu());
    sched_setscheduler(0, SCHED_FIFO, &first);
    raise(SIGSTOP);
    own.cpu_ns = now_ns(CLOCK_THREAD_CPUTIME_ID);
    now = then = now_ns(CLOCK_MONOTONIC);
    while (own.system_ns < 200 * (uint64_t)NS_PER_MS) {
        getppid();
        now = now_ns(CLOCK_MONOTONIC);
        own.crossing_ns += now - then;
        then = now;
        if (getrandom(bytes, RANDOM_BYTES, 0) != RANDOM_BYTES)
            _exit(1);
        own.calls++;
        now = now_ns(CLOCK_MONOTONIC);
        own.system_ns += now - then;
        then = now;
        while (own.user_ns + now - then < own.system_ns / 9)
            now = now_ns(CLOCK_MONOTONIC);
        own.user_ns += now - then;
        then = now;
    }
    own.cpu_ns = now_ns(CLOCK_THREAD_CPUTIME_ID) - own.cpu_ns;
    *split = own;
    raise(SIGSTOP);
}

/* Returns the growth of the reader's states between its two stops. */
static struct camp_thread_states watch_reader(uint32_t options, struct split *ret)
{
    struct camp_states *session = open_states_or_skip(options);
    struct split *truth = shared_memory(sizeof *truth);
    pid_t reader = start(read_random_bytes, truth);
    struct camp_thread_states before = stopped(session, reader), after = stopped(session, reader);

    reap_well(reader);
    *ret = *truth;
    munmap(truth, sizeof *truth);
    close_states(session);
    for (int i = 0; i < CAMP_STATE_COUNT; i++)
        after.state_ns[i] -= before.state_ns[i];
    after.cpu_ns -= before.cpu_ns;
    after.run_delay_ns -= before.run_delay_ns;
    after.voluntary_switches -= before.voluntary_switches;
    after.involuntary_switches -= before.involuntary_switches;
    after.system_calls -= before.system_calls;
    return after;
}

/* Between the snapshots, the thread also used CPU time outside of its own measurement. This time is
 * the scheduler's count without the thread's own CPU clock. The measured time of the calls includes
 * interrupts and run delay. */
static void the_reported_user_and_system_time_of_a_thread_equal_its_own_measurement(void **state)
{
    struct split own;
    struct camp_thread_states last = watch_reader(0, &own);
    const uint64_t outside = less(last.cpu_ns, own.cpu_ns) + last.state_ns[CAMP_STATE_IRQ];
    const uint64_t away = last.state_ns[CAMP_STATE_IRQ] + last.run_delay_ns;
    const uint64_t tolerance = own.crossing_ns + tolerance_of(&last);

    (void)state;
    print_message(
        "system %.3f ms, by its own clock %.3f; user %.3f (%.3f); outside %.3f, tolerance "
        "%.3f\n",
        (double)last.state_ns[CAMP_STATE_SYSTEM] / 1e6, (double)own.system_ns / 1e6,
        (double)last.state_ns[CAMP_STATE_USER] / 1e6, (double)own.user_ns / 1e6,
        (double)outside / 1e6, (double)tolerance / 1e6);
    assert_at_least("system", last.state_ns[CAMP_STATE_SYSTEM], own.system_ns, away + tolerance);
    assert_at_most("system", last.state_ns[CAMP_STATE_SYSTEM], own.system_ns, outside + tolerance);
    assert_at_least("user", last.state_ns[CAMP_STATE_USER], own.user_ns, away + tolerance);
    assert_at_most("user", last.state_ns[CAMP_STATE_USER], own.user_ns, outside + tolerance);
    assert_at_least("system calls", last.system_calls, own.calls, 0);
    assert_int_equal(last.known, CAMP_THREAD_STATES_ALL);
    assert_int_equal(last.known_states & (1u << CAMP_STATE_SYSTEM | 1u << CAMP_STATE_SLEEP),
                     1u << CAMP_STATE_SYSTEM);
}

static void without_system_call_accounting_all_cpu_time_is_user_time(void **state)
{
    const uint64_t steal = steal_ns();
    struct split own;
    struct camp_thread_states last = watch_reader(CAMP_STATES_NO_SYSCALLS, &own);

    (void)state;
    assert_int_equal(last.state_ns[CAMP_STATE_SYSTEM], 0);
    assert_int_equal(last.known_states & 1u << CAMP_STATE_SYSTEM, 0);
    assert_int_equal(last.system_calls, 0);
    assert_int_equal(last.known, CAMP_THREAD_STATES_ALL & ~CAMP_THREAD_STATES_SYSTEM_CALLS);
    assert_scheduled(&last, stolen_since(steal), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cpu_time_and_run_queue_equal_the_counts_of_the_scheduler),
        cmocka_unit_test(a_woken_thread_waits_in_the_run_queue_of_a_busy_cpu),
        cmocka_unit_test(the_reported_user_and_system_time_of_a_thread_equal_its_own_measurement),
        cmocka_unit_test(without_system_call_accounting_all_cpu_time_is_user_time),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
