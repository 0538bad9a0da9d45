/*
 * Tests that a snapshot copies whole accounts (src/microstates/linux/programs/order.bpf.h): of
 * threads that switch on other CPUs, and of threads that lose their CPU while the kernel accounts
 * for a system call.
 *
 * A copy with values of before and after a change has states that do not add up to its time. A copy
 * that is older than the one of the previous snapshot has fewer system calls.
 */
#include "states_session.h"

#define SNAPSHOTS 2000
#define ENOUGH_NS (10 * NS_PER_S) /* for as many snapshots as a busy machine allows */
#define PAIRS 2u

static size_t first_cpu(void)
{
    cpu_set_t allowed;
    size_t first = 0;

    assert_int_equal(sched_getaffinity(0, sizeof allowed, &allowed), 0);
    while (!CPU_ISSET(first, &allowed))
        first++;
    return first;
}

struct end {
    int in, out;
    size_t cpu;
};

static void answer(void *truth)
{
    const struct end *self = truth;
    char byte;

    stay_on(self->cpu);
    while (read(self->in, &byte, 1) == 1 && write(self->out, &byte, 1) == 1)
        continue;
}

/* Starts two processes that pass a byte back and forth. On two CPUs, each one is woken by the other
 * CPU. */
static void start_pair(size_t cpu, size_t other_cpu, pid_t ret[2])
{
    int there[2], back[2];
    struct end ends[2];

    assert_int_equal(pipe(there), 0);
    assert_int_equal(pipe(back), 0);
    ends[0] = (struct end){ back[0], there[1], cpu };
    ends[1] = (struct end){ there[0], back[1], other_cpu };
    for (int i = 0; i < 2; i++)
        ret[i] = start(answer, &ends[i]);
    assert_int_equal(write(there[1], "", 1), 1);
}

static void every_snapshot_of_switching_threads_is_consistent(void **state)
{
    struct camp_states *session = open_states_or_skip(0);
    struct camp_thread_states before[2 * PAIRS] = { 0 };
    const uint64_t began_ns = now_ns(CLOCK_MONOTONIC);
    pid_t children[2 * PAIRS];
    uint64_t whole = 0, unsure = 0, switches = 0;

    (void)state;
    start_pair(last_cpu(), last_cpu(), children);
    start_pair(first_cpu(), last_cpu(), children + 2);
    for (int i = 0; i < SNAPSHOTS && now_ns(CLOCK_MONOTONIC) - began_ns < ENOUGH_NS; i++) {
        struct threads threads = read_threads(session);

        for (size_t j = 0; j < 2 * PAIRS; j++) {
            const struct camp_thread_states *now = find_tid(&threads, children[j]);

            assert_non_null(now);
            if ((now->flags & CAMP_THREAD_UNSURE) != 0) {
                unsure++;
                continue;
            }
            assert_int_equal(sum_ns(now), now->time_ns - now->begin_ns);
            assert_true(now->time_ns >= before[j].time_ns);
            assert_true(now->system_calls >= before[j].system_calls);
            switches += now->voluntary_switches - before[j].voluntary_switches;
            before[j] = *now;
            whole++;
        }
        free(threads.of);
    }
    print_message("%llu whole records, %llu switches; %llu records changed while they were read\n",
                  (unsigned long long)whole, (unsigned long long)switches,
                  (unsigned long long)unsure);
    assert_true(whole > 0 && switches > 0);
    for (size_t i = 0; i < 2 * PAIRS; i++) {
        kill(children[i], SIGKILL);
        waitpid(children[i], NULL, 0);
    }
    close_states(session);
}

static void call_forever(void *unused)
{
    (void)unused;
    stay_on(last_cpu());
    for (;;)
        getppid();
}

static void interrupt_forever(void *unused)
{
    const struct sched_param first = { .sched_priority = 1 };
    const struct timespec pause = { .tv_nsec = 20000 };

    (void)unused;
    stay_on(last_cpu());
    sched_setscheduler(0, SCHED_FIFO, &first);
    for (;;)
        nanosleep(&pause, NULL);
}

/* Since Linux 7 a thread can lose its CPU while a program runs for one of its system calls. */
static void the_states_of_a_thread_preempted_in_system_calls_add_up_to_its_time(void **state)
{
    struct camp_states *session = open_states_or_skip(0);
    const pid_t children[] = { start(call_forever, NULL), start(interrupt_forever, NULL) };
    const uint64_t began_ns = now_ns(CLOCK_MONOTONIC);
    uint64_t preempted = 0;

    (void)state;
    while (now_ns(CLOCK_MONOTONIC) - began_ns < 2 * NS_PER_S) {
        struct threads threads = read_threads(session);
        const struct camp_thread_states *caller = find_tid(&threads, children[0]);

        assert_non_null(caller);
        if ((caller->flags & CAMP_THREAD_UNSURE) == 0)
            assert_int_equal(sum_ns(caller), caller->time_ns - caller->begin_ns);
        preempted = caller->involuntary_switches;
        free(threads.of);
    }
    assert_true(preempted > 0);
    for (size_t i = 0; i < 2; i++) {
        kill(children[i], SIGKILL);
        waitpid(children[i], NULL, 0);
    }
    close_states(session);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_snapshot_of_switching_threads_is_consistent),
        cmocka_unit_test(the_states_of_a_thread_preempted_in_system_calls_add_up_to_its_time),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
