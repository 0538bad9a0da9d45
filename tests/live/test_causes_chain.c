/* Tests what ends a sleep: a chain of processes, each of which waits for the next one by another
 * means: a pipe, a futex, a socket, and a timer. */
#include "causes_session.h"

#include <linux/futex.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#define ROUNDS 100
#define PAUSE_US 5000

struct chain {
    int pipe[2];
    int socket[2];
    uint32_t word;  /* the futex */
    uint32_t stage; /* enum stage of the child that awaits signals */
};

static void check(bool good)
{
    if (!good)
        _exit(1);
}

static void read_pipe(void *truth)
{
    struct chain *chain = truth;
    char byte;

    for (int i = 0; i < ROUNDS; i++)
        check(read(chain->pipe[0], &byte, 1) == 1);
}

/* The futex' word counts the rounds. */
static void await_futex(void *truth)
{
    struct chain *chain = truth;

    for (uint32_t i = 0; i < ROUNDS; i++) {
        while (__atomic_load_n(&chain->word, __ATOMIC_SEQ_CST) == i)
            syscall(SYS_futex, &chain->word, FUTEX_WAIT, i, NULL, NULL, 0);
        check(write(chain->pipe[1], "", 1) == 1);
    }
}

static void read_socket(void *truth)
{
    struct chain *chain = truth;
    char byte;

    for (int i = 0; i < ROUNDS; i++) {
        check(recv(chain->socket[0], &byte, 1, 0) == 1);
        __atomic_fetch_add(&chain->word, 1, __ATOMIC_SEQ_CST);
        syscall(SYS_futex, &chain->word, FUTEX_WAKE, 1, NULL, NULL, 0);
    }
}

static void await_timer(void *truth)
{
    struct chain *chain = truth;

    for (int i = 0; i < ROUNDS; i++) {
        usleep(PAUSE_US);
        check(send(chain->socket[1], "", 1, 0) == 1);
    }
}

/* Asserts that a cause ended at least nine tenths of the sleeps in a state. The rest is before the
 * chain runs, and when it ends. */
static void assert_woken(const struct causes *causes, uint32_t group, uint32_t state, uint32_t kind,
                         uint32_t id)
{
    const uint64_t all = all_causes_ns(causes, group, state);
    const uint64_t its = cause_ns(causes, group, state, kind, id);

    print_message("group %u, %s: %.3f of %.3f ms\n", group, camp_state_name((int)state),
                  (double)its / 1e6, (double)all / 1e6);
    assert_at_least("slept", all, (uint64_t)ROUNDS * PAUSE_US * 1000 / 2, 0);
    assert_at_least("woken by it", its, all - all / 10, 0);
}

static void a_chain_of_a_pipe_a_futex_a_socket_and_a_timer_is_found_in_order(void **state)
{
    void (*const acts[])(void *) = { read_pipe, await_futex, read_socket, await_timer };
    static const uint32_t states[] = { CAMP_STATE_PIPE, CAMP_STATE_LOCK, CAMP_STATE_SOCKET,
                                       CAMP_STATE_TIMER };
    struct camp_states *session = open_states_or_skip(CAMP_STATES_CULPRITS);
    struct chain *chain = shared_memory(sizeof *chain);
    struct threads ended = { 0 };
    struct camp_thread_states last[4];
    struct causes causes;
    pid_t children[4];

    (void)state;
    assert_int_equal(pipe(chain->pipe), 0);
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, chain->socket), 0);
    for (size_t i = 0; i < 4; i++)
        children[i] = start_named(session, i, acts[i], chain);
    for (size_t i = 0; i < 4; i++)
        reap_well(children[i]);
    for (size_t i = 0; i < 4; i++)
        last[i] = last_of(session, &ended, children[i]);
    causes = read_causes(session);
    for (size_t i = 0; i < 4; i++) {
        assert_causes_add_up(&causes, &last[i]);
        assert_woken(&causes, group_of_name(&causes, last[i].name), states[i],
                     i < 3 ? CAMP_CAUSE_GROUP : CAMP_CAUSE_TIMER,
                     i < 3 ? group_of_name(&causes, last[i + 1].name) : 0);
    }
    for (size_t i = 0; i < 2; i++) {
        close(chain->pipe[i]);
        close(chain->socket[i]);
    }
    munmap(chain, sizeof *chain);
    free(ended.of);
    free(causes.of);
    close_states(session);
}

#define SIGNALS 25

/* What the child of the test of signals does. It neither sleeps nor ends in a stage in which the
 * test reads the causes. */
enum stage { STARTS, IS_READY, AWAITS_SIGNALS, HAS_ALL_SIGNALS, ENDS };

static volatile sig_atomic_t caught;

static void catch (int number)
{
    (void)number;
    caught++;
}

static void change_stage(struct chain *chain, enum stage into)
{
    __atomic_store_n(&chain->stage, into, __ATOMIC_SEQ_CST);
}

static bool is_before(const struct chain *chain, enum stage stage)
{
    return __atomic_load_n(&chain->stage, __ATOMIC_SEQ_CST) < stage;
}

/* Sleeps in sigsuspend(2): arm64 has no call for pause(3), which sleeps in ppoll(2) there. */
static void await_signals(void *truth)
{
    struct chain *chain = truth;
    struct sigaction action = { .sa_handler = catch };
    sigset_t blocked, none;

    sigemptyset(&none);
    sigemptyset(&blocked);
    sigaddset(&blocked, SIGUSR1);
    sigprocmask(SIG_BLOCK, &blocked, NULL);
    sigaction(SIGUSR1, &action, NULL);
    change_stage(chain, IS_READY);
    while (is_before(chain, AWAITS_SIGNALS))
        continue;
    while (caught < SIGNALS)
        sigsuspend(&none);
    change_stage(chain, HAS_ALL_SIGNALS);
    while (is_before(chain, ENDS))
        continue;
}

/* Before the child is ready, and when it ends, it may sleep for other reasons, and on a slow
 * machine for long. */
static void a_sleep_that_a_signal_ends_is_of_the_signal(void **state)
{
    struct camp_states *session = open_states_or_skip(CAMP_STATES_CULPRITS);
    struct chain *chain = shared_memory(sizeof *chain);
    struct threads ended = { 0 };
    const uint64_t began_ns = now_ns(CLOCK_MONOTONIC);
    const pid_t child = start_named(session, 0, await_signals, chain);
    struct camp_thread_states last;
    struct causes before, after, causes;
    uint64_t slept, of_signals;
    uint32_t group;

    (void)state;
    while (is_before(chain, IS_READY))
        assert_true(wait_on(began_ns));
    before = read_causes(session);
    change_stage(chain, AWAITS_SIGNALS);
    while (is_before(chain, HAS_ALL_SIGNALS)) {
        usleep(PAUSE_US);
        assert_true(wait_on(began_ns));
        kill(child, SIGUSR1);
    }
    after = read_causes(session);
    change_stage(chain, ENDS);
    reap_well(child);
    last = last_of(session, &ended, child);
    causes = read_causes(session);
    assert_causes_add_up(&causes, &last);
    group = group_of_name(&causes, last.name);
    slept = all_causes_ns(&after, group, CAMP_STATE_OTHER_SLEEP) -
            all_causes_ns(&before, group, CAMP_STATE_OTHER_SLEEP);
    of_signals = cause_ns(&after, group, CAMP_STATE_OTHER_SLEEP, CAMP_CAUSE_SIGNAL, 0) -
                 cause_ns(&before, group, CAMP_STATE_OTHER_SLEEP, CAMP_CAUSE_SIGNAL, 0);
    print_message("asleep until a signal came: %.3f of %.3f ms\n", (double)of_signals / 1e6,
                  (double)slept / 1e6);
    assert_at_least("slept", slept, PAUSE_US * 1000, 0);
    assert_int_equal(of_signals, slept);
    munmap(chain, sizeof *chain);
    free(ended.of);
    free(before.of);
    free(after.of);
    free(causes.of);
    close_states(session);
}

#define CONVOY 4
#define TURNS 4000
#define TURN_NS 50000

static void *take_turns(void *mutex)
{
    for (int i = 0; i < TURNS; i++) {
        const uint64_t began_ns = now_ns(CLOCK_MONOTONIC);

        check(pthread_mutex_lock(mutex) == 0);
        while (now_ns(CLOCK_MONOTONIC) < began_ns + TURN_NS)
            continue;
        check(pthread_mutex_unlock(mutex) == 0);
    }
    return NULL;
}

static void hold_a_convoy(void *truth)
{
    pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    pthread_t threads[CONVOY];

    (void)truth;
    for (size_t i = 0; i < CONVOY; i++)
        check(pthread_create(&threads[i], NULL, take_turns, &mutex) == 0);
    for (size_t i = 0; i < CONVOY; i++)
        check(pthread_join(threads[i], NULL) == 0);
}

/* A thread may come to a CPU without an event. The group of the thread before it must not be taken
 * for that of the waker. */
static void only_a_process_itself_ends_the_waits_for_its_private_lock(void **state)
{
    struct camp_states *session = open_states_or_skip(CAMP_STATES_CULPRITS);
    struct threads ended = { 0 };
    const pid_t child = start_named(session, 0, hold_a_convoy, NULL);
    struct camp_thread_states last;
    struct causes causes;
    uint32_t group;

    (void)state;
    reap_well(child);
    last = last_of(session, &ended, child);
    causes = read_causes(session);
    group = group_of_name(&causes, last.name);
    print_causes(&causes, group);
    assert_at_least("waited for the lock", all_causes_ns(&causes, group, CAMP_STATE_LOCK),
                    (uint64_t)TURNS * TURN_NS, 0);
    for (size_t i = 0; i < causes.count; i++) {
        const struct camp_wait_cause *cause = &causes.of[i];

        if (cause->group == group && cause->state == CAMP_STATE_LOCK &&
            cause->kind == CAMP_CAUSE_GROUP)
            assert_int_equal(cause->id, group);
    }
    free(ended.of);
    free(causes.of);
    close_states(session);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_chain_of_a_pipe_a_futex_a_socket_and_a_timer_is_found_in_order),
        cmocka_unit_test(a_sleep_that_a_signal_ends_is_of_the_signal),
        cmocka_unit_test(only_a_process_itself_ends_the_waits_for_its_private_lock),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
