/* Tests to which group a thread belongs, and in which system call a watched process sleeps. */
#include "causes_session.h"

#include <poll.h>
#include <pthread.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>

#define SLEEP_MS 100
#define CALLS_MOST 4096

struct sleeper {
    int epoll, event;
    uint32_t is_ready;
};

static void sleep_in_two_calls(void *truth)
{
    struct sleeper *sleeper = truth;
    struct epoll_event event;
    struct pollfd none;

    __atomic_store_n(&sleeper->is_ready, 1, __ATOMIC_SEQ_CST);
    if (epoll_wait(sleeper->epoll, &event, 1, -1) != 1 || poll(&none, 0, SLEEP_MS) != 0)
        _exit(1);
}

/* Asserts that a process slept in the two calls, and in no other one. Its exit may sleep, too. The
 * sleep in poll(2) may be shorter than its timeout, which begins before the thread leaves the CPU:
 * a virtual CPU may stand still in between. */
static void assert_called(struct camp_states *session, pid_t child, int epoll)
{
    struct camp_call_sleeps *sleeps = calloc(CALLS_MOST, sizeof *sleeps);
    struct camp_error error;
    uint64_t epoll_ns = 0, poll_ns = 0;
    size_t count = 0;

    assert_non_null(sleeps);
    if (camp_states_call_sleeps(session, sleeps, sizeof *sleeps, CALLS_MOST, &count, &error) !=
        CAMP_OK)
        fail_msg("%s", error.message);
    for (size_t i = 0; i < count; i++) {
        print_message("pid %d, state %s, call %d (%llu): %.3f ms in %llu sleeps\n", sleeps[i].pid,
                      camp_state_name((int)sleeps[i].state), sleeps[i].call,
                      (unsigned long long)sleeps[i].argument, (double)sleeps[i].sleep_ns / 1e6,
                      (unsigned long long)sleeps[i].count);
        if (sleeps[i].pid != child)
            continue;
        assert_int_not_equal(sleeps[i].call, SYS_read);
        if (sleeps[i].state != CAMP_STATE_POLL)
            continue;
        if (sleeps[i].argument == (uint64_t)epoll)
            epoll_ns += sleeps[i].sleep_ns;
        else if (sleeps[i].argument == 0)
            poll_ns += sleeps[i].sleep_ns;
        else
            fail_msg("the argument is an address");
    }
    assert_at_least("epoll_wait", epoll_ns, 1, 0);
    assert_at_least("poll", poll_ns, 1, 0);
    free(sleeps);
}

static void
the_first_sleep_of_a_watched_process_is_of_the_call_in_which_it_already_slept(void **state)
{
    struct sleeper *sleeper = shared_memory(sizeof *sleeper);
    struct epoll_event readable = { .events = EPOLLIN };
    uint64_t number = 1;

    (void)state;
    sleeper->epoll = epoll_create1(0);
    assert_true(sleeper->epoll > 0);
    sleeper->event = eventfd(0, 0);
    assert_int_equal(epoll_ctl(sleeper->epoll, EPOLL_CTL_ADD, sleeper->event, &readable), 0);
    for (int opens_later = 0; opens_later < 2; opens_later++) {
        const uint64_t began_ns = now_ns(CLOCK_MONOTONIC);
        struct camp_states *session =
            opens_later != 0 ? NULL : open_states_or_skip(CAMP_STATES_CULPRITS);
        struct camp_error error;
        pid_t child;

        sleeper->is_ready = 0;
        child = start(sleep_in_two_calls, sleeper);
        while (__atomic_load_n(&sleeper->is_ready, __ATOMIC_SEQ_CST) == 0)
            assert_true(wait_on(began_ns));
        usleep(SLEEP_MS * 1000); /* It is asleep then. */
        if (session == NULL)
            session = open_states_or_skip(CAMP_STATES_CULPRITS);
        assert_int_equal(camp_states_watch_process(session, child, &error), CAMP_OK);
        assert_int_equal(write(sleeper->event, &number, sizeof number), sizeof number);
        reap_well(child);
        assert_int_equal(read(sleeper->event, &number, sizeof number), sizeof number);
        assert_called(session, child, sleeper->epoll);
        close_states(session);
    }
    close(sleeper->epoll);
    close(sleeper->event);
    munmap(sleeper, sizeof *sleeper);
}

#define NAPS 100
#define NAP_US 2000

struct renamed {
    char name[CAMP_STATES_NAME_SIZE];
    uint32_t is_renamed;
};

static void *nap(void *truth)
{
    const struct renamed *renamed = truth;

    for (int i = 0; i < NAPS; i += (int)__atomic_load_n(&renamed->is_renamed, __ATOMIC_SEQ_CST))
        usleep(NAP_US);
    return NULL;
}

static void rename_after_a_thread_started(void *truth)
{
    struct renamed *renamed = truth;
    pthread_t thread;

    if (pthread_create(&thread, NULL, nap, renamed) != 0)
        _exit(1);
    usleep(10 * NAP_US);
    if (prctl(PR_SET_NAME, renamed->name) != 0)
        _exit(1);
    __atomic_store_n(&renamed->is_renamed, 1, __ATOMIC_SEQ_CST);
    if (pthread_join(thread, NULL) != 0)
        _exit(1);
}

static void all_threads_of_a_process_follow_its_new_name(void **state)
{
    struct camp_states *session = open_states_or_skip(CAMP_STATES_CULPRITS);
    struct renamed *renamed = shared_memory(sizeof *renamed);
    struct camp_error error;
    struct causes causes;
    uint32_t group;

    (void)state;
    snprintf(renamed->name, sizeof renamed->name, "new-%d", getpid());
    assert_int_equal(camp_states_watch_name(session, renamed->name, &error), CAMP_OK);
    reap_well(start(rename_after_a_thread_started, renamed));
    causes = read_causes(session);
    group = group_of_name(&causes, renamed->name);
    print_causes(&causes, group);
    assert_at_least("slept under the new name", all_causes_ns(&causes, group, CAMP_STATE_TIMER),
                    (uint64_t)NAPS * NAP_US * 900, 0);
    munmap(renamed, sizeof *renamed);
    free(causes.of);
    close_states(session);
}

#define NAMES 40

/* Two processes on two CPUs take the same new name at the same moment, again and again. */
struct racers {
    uint32_t arrived[NAMES];
    uint32_t number;
    pid_t parent;
};

static void race(void *truth)
{
    struct racers *racers = truth;
    const uint32_t number = __atomic_fetch_add(&racers->number, 1, __ATOMIC_SEQ_CST);
    char name[CAMP_STATES_NAME_SIZE];

    stay_on(number == 0 ? 0 : last_cpu());
    for (int i = 0; i < NAMES; i++) {
        const uint64_t began_ns = now_ns(CLOCK_MONOTONIC);

        snprintf(name, sizeof name, "r%d-%d", i, racers->parent);
        prctl(PR_SET_NAME, name);
        __atomic_fetch_add(&racers->arrived[i], 1, __ATOMIC_SEQ_CST);
        while (__atomic_load_n(&racers->arrived[i], __ATOMIC_SEQ_CST) < 2) {
            if (now_ns(CLOCK_MONOTONIC) - began_ns > 100000000)
                break;
        }
        usleep(100);
    }
}

static void a_name_that_two_cpus_meet_at_once_is_one_group(void **state)
{
    struct camp_states *session = open_states_or_skip(CAMP_STATES_CULPRITS);
    struct racers *racers = shared_memory(sizeof *racers);
    struct causes causes;
    size_t named = 0;
    pid_t children[2];

    (void)state;
    racers->parent = getpid();
    for (size_t i = 0; i < 2; i++)
        children[i] = start(race, racers);
    for (size_t i = 0; i < 2; i++)
        reap_well(children[i]);
    causes = read_causes(session);
    for (size_t i = 0; i < causes.group_count; i++) {
        for (size_t j = 0; j < i; j++) {
            if (causes.groups[i].kind == CAMP_GROUP_NAME &&
                strcmp(causes.groups[i].name, causes.groups[j].name) == 0)
                fail_msg("groups %u and %u are %s", causes.groups[j].number,
                         causes.groups[i].number, causes.groups[i].name);
        }
        named += causes.groups[i].kind == CAMP_GROUP_NAME;
    }
    print_message("%zu names\n", named);
    munmap(racers, sizeof *racers);
    free(causes.of);
    close_states(session);
}

struct actor {
    char names[2][CAMP_STATES_NAME_SIZE];
    size_t cpu;
    uint64_t until_ns;
};

static void spin(uint64_t until_ns)
{
    while (now_ns(CLOCK_MONOTONIC) < until_ns)
        continue;
}

/* Gets the CPU under the first name, and at once takes the second one, under which it leaves. */
static void change_names(void *truth)
{
    const struct actor *actor = truth;

    stay_on(actor->cpu);
    while (now_ns(CLOCK_MONOTONIC) < actor->until_ns) {
        if (prctl(PR_SET_NAME, actor->names[0]) != 0 || sched_yield() != 0 ||
            prctl(PR_SET_NAME, actor->names[1]) != 0)
            _exit(1);
        spin(now_ns(CLOCK_MONOTONIC) + 1000000);
        sched_yield();
    }
}

static void wait_for_cpu(void *truth)
{
    const struct actor *actor = truth;

    stay_on(actor->cpu);
    while (now_ns(CLOCK_MONOTONIC) < actor->until_ns)
        sched_yield();
}

/* So does a program that a shell executes, until it leaves the CPU for the first time. */
static void a_wait_is_charged_to_the_name_under_which_the_culprit_leaves_the_cpu(void **state)
{
    struct camp_states *session = open_states_or_skip(CAMP_STATES_CULPRITS);
    struct actor *actor = shared_memory(sizeof *actor);
    struct camp_error error;
    struct causes causes;
    uint64_t charged[2];
    uint32_t victim = 0;
    pid_t children[2];

    (void)state;
    actor->cpu = last_cpu();
    actor->until_ns = now_ns(CLOCK_MONOTONIC) + 1000000000;
    for (size_t i = 0; i < 2; i++) {
        snprintf(actor->names[i], sizeof actor->names[i], "name%zu-%d", i, getpid());
        assert_int_equal(camp_states_watch_name(session, actor->names[i], &error), CAMP_OK);
    }
    children[0] = start_named(session, 0, wait_for_cpu, actor);
    children[1] = start(change_names, actor);
    for (size_t i = 0; i < 2; i++)
        reap_well(children[i]);
    causes = read_causes(session);
    for (size_t i = 0; i < causes.group_count; i++) {
        if (strncmp(causes.groups[i].name, "why0-", 5) == 0)
            victim = causes.groups[i].number;
    }
    print_causes(&causes, victim);
    for (size_t i = 0; i < 2; i++)
        charged[i] = cause_ns(&causes, victim, CAMP_STATE_RUN_QUEUE, CAMP_CAUSE_GROUP,
                              group_of_name(&causes, actor->names[i]));
    assert_at_least("charged to the second name", charged[1], 4 * charged[0] + 1, 0);
    munmap(actor, sizeof *actor);
    free(causes.of);
    close_states(session);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(
            the_first_sleep_of_a_watched_process_is_of_the_call_in_which_it_already_slept),
        cmocka_unit_test(a_wait_is_charged_to_the_name_under_which_the_culprit_leaves_the_cpu),
        cmocka_unit_test(all_threads_of_a_process_follow_its_new_name),
        cmocka_unit_test(a_name_that_two_cpus_meet_at_once_is_one_group),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
