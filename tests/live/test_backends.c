/*
 * Backends: the laws of accounts by wait event, with children that keep an event and an activity in
 * their memory as a database server does. Here the server is this test.
 */
#include "microstates/backends.h"
#include "states_session.h"

#include <stdlib.h>
#include <string.h>

#define BACKENDS 64

static struct backend_account accounts[BACKENDS];
static size_t account_count;
static struct backend_account last[BACKENDS]; /* of those who ended, each at pid % BACKENDS */

/* What the "server" has: at the same addresses in each child. */
static uint32_t event;
static uint32_t *volatile event_pointer = &event;
static struct entry {
    int32_t changes, pid, reserved, activity;
} entry;
static struct entry *volatile entry_pointer = &entry;

static struct backends_place place_of_this_test(void)
{
    return (struct backends_place){
        .parent = getpid(),
        .event_pointer = (uint64_t)(uintptr_t)&event_pointer,
        .activity_pointer = (uint64_t)(uintptr_t)&entry_pointer,
        .activity_offset = offsetof(struct entry, activity),
    };
}

static struct backends *open_or_skip(struct backends_place place)
{
    struct backends *backends = NULL;
    struct camp_error error;
    int r = backends_open(&backends, &place, &error);

    if (r == CAMP_E_PERM || r == CAMP_E_NOTSUP) {
        print_message("skipped, not passed: %s\n", error.message);
        skip();
    }
    if (r != CAMP_OK)
        fail_msg("%s", error.message);
    return backends;
}

static uint64_t account_sum_ns(const struct backend_account *account)
{
    uint64_t sum = account->cpu_ns + account->run_queue_ns;

    for (uint32_t i = 0; i < account->wait_count; i++)
        sum += account->waits[i].ns;
    return sum;
}

/* All accounts, of which each adds up to its time. */
static void read_all(struct backends *backends)
{
    struct camp_error error;

    if (backends_read(backends, accounts, BACKENDS, &account_count, &error) != CAMP_OK)
        fail_msg("%s", error.message);
    for (size_t i = 0; i < account_count; i++) {
        assert_int_equal(account_sum_ns(&accounts[i]), accounts[i].time_ns - accounts[i].begin_ns);
        if ((accounts[i].flags & BACKEND_ENDED) != 0)
            last[accounts[i].pid % BACKENDS] = accounts[i];
    }
}

static const struct backend_account *account_of(pid_t pid)
{
    for (size_t i = 0; i < account_count; i++) {
        if (accounts[i].pid == pid)
            return &accounts[i];
    }
    return NULL;
}

/* A child is waited for before it has left its CPU for the last time. */
static struct backend_account last_of_child(struct backends *backends, pid_t pid)
{
    reap_well(pid);
    for (int i = 0; i < 2000; i++) {
        read_all(backends);
        if (last[pid % BACKENDS].pid == pid)
            break;
        usleep(1000);
    }
    if (last[pid % BACKENDS].pid != pid)
        fail_msg("no last numbers of %d within 2 s", pid);
    return last[pid % BACKENDS];
}

static struct backend_wait wait_of(const struct backend_account *account, uint32_t of_event,
                                   uint32_t activity)
{
    for (uint32_t i = 0; i < account->wait_count; i++) {
        if (account->waits[i].event == of_event && account->waits[i].activity == activity)
            return account->waits[i];
    }
    return (struct backend_wait){ .event = of_event, .activity = activity };
}

/* ------------------------------------------------------------------------------ Children -- */

static void wait_for(uint32_t of_event, int32_t activity, unsigned us)
{
    event = of_event;
    entry.activity = activity;
    usleep(us);
    event = 0;
}

static void wait_for_two(void *truth)
{
    (void)truth;
    wait_for(0x0a000001, 2, 100000);
    wait_for(0x03000007, 2, 200000);
    wait_for(0x03000007, 3, 50000);
}

static void wait_long(void *truth)
{
    (void)truth;
    wait_for(0x06000000, 1, 10000000);
}

static void wait_for_many(void *truth)
{
    (void)truth;
    for (uint32_t i = 0; i < 60; i++)
        wait_for(0x01000000 * (1 + i % 3) + i, 2, 2000);
}

static void wait_for_classes(void *truth)
{
    (void)truth;
    for (uint32_t i = 0; i < 60; i++)
        wait_for(0x01000000 * i, 2, 1000);
}

static void burn_on_one_cpu(void *truth)
{
    cpu_set_t set;

    CPU_ZERO(&set);
    CPU_SET(0, &set);
    sched_setaffinity(0, sizeof set, &set);
    for (uint64_t end = now_ns(CLOCK_MONOTONIC) + *(uint64_t *)truth * NS_PER_MS;
         now_ns(CLOCK_MONOTONIC) < end;)
        continue;
}

static void lose_its_entry(void *truth)
{
    entry_pointer = NULL;
    wait_for_two(truth);
}

static void lose_its_event(void *truth)
{
    event_pointer = (uint32_t *)8;
    wait_for_two(truth);
}

static void have_a_child(void *truth)
{
    pid_t pid = fork();

    if (pid == 0)
        wait_long(truth);
    *(volatile pid_t *)truth = pid;
    wait_long(truth);
}

static void end_child(pid_t pid)
{
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
}

/* ---------------------------------------------------------------------------------- Laws -- */

static void a_wait_is_booked_to_its_event_and_activity(void **state)
{
    struct backends *backends = open_or_skip(place_of_this_test());
    struct backend_account ended = last_of_child(backends, start(wait_for_two, NULL));
    struct backends_losses losses;

    (void)state;
    assert_near("first", wait_of(&ended, 0x0a000001, 2).ns, 100 * NS_PER_MS, NEAR_NS);
    assert_near("second", wait_of(&ended, 0x03000007, 2).ns, 200 * NS_PER_MS, NEAR_NS);
    assert_near("other activity", wait_of(&ended, 0x03000007, 3).ns, 50 * NS_PER_MS, NEAR_NS);
    assert_int_equal(wait_of(&ended, 0x0a000001, 2).times, 1);
    assert_int_equal(ended.flags & BACKEND_OLDER, 0);
    backends_losses(backends, &losses);
    assert_int_equal(losses.unread, 0);
    backends_close(backends);
}

static void who_ended_is_told_once(void **state)
{
    struct backends *backends = open_or_skip(place_of_this_test());
    pid_t pid = start(wait_for_two, NULL);

    (void)state;
    last_of_child(backends, pid);
    read_all(backends);
    assert_null(account_of(pid));
    backends_close(backends);
}

static void who_sleeps_before_the_session_has_its_reason(void **state)
{
    pid_t pid = start(wait_long, NULL);
    struct backends *backends;
    const struct backend_account *account;

    (void)state;
    usleep(50000);
    backends = open_or_skip(place_of_this_test());
    usleep(100000);
    read_all(backends);
    account = account_of(pid);
    assert_non_null(account);
    assert_true((account->flags & BACKEND_OLDER) != 0);
    assert_int_equal(wait_of(account, 0x06000000, 1).ns, account->time_ns - account->begin_ns);
    assert_true(account->time_ns - account->begin_ns >= 100 * NS_PER_MS);
    backends_close(backends);
    end_child(pid);
}

static void events_without_a_place_are_booked_by_class(void **state)
{
    struct backends *backends = open_or_skip(place_of_this_test());
    struct backend_account ended = last_of_child(backends, start(wait_for_many, NULL));
    struct backends_losses losses;
    uint64_t times = 0;

    (void)state;
    for (uint32_t i = 0; i < ended.wait_count; i++)
        times += ended.waits[i].times;
    assert_true(times >= 60);
    for (uint32_t class = 1; class <= 3; class ++)
        assert_true(wait_of(&ended, BACKEND_EVENT_REST(class << 24), BACKEND_ACTIVITY_NONE).times >=
                    9);
    backends_losses(backends, &losses);
    assert_int_equal(losses.misbooked, 0);
    backends_close(backends);
}

static void a_class_without_a_place_is_a_loss(void **state)
{
    struct backends *backends = open_or_skip(place_of_this_test());
    struct backends_losses losses;

    (void)state;
    last_of_child(backends, start(wait_for_classes, NULL));
    backends_losses(backends, &losses);
    assert_in_range(losses.misbooked, 60 - BACKEND_WAITS_MAX, 60 - BACKEND_WAITS_MAX + 4);
    backends_close(backends);
}

static void who_has_no_entry_has_no_activity(void **state)
{
    struct backends *backends = open_or_skip(place_of_this_test());
    struct backend_account ended = last_of_child(backends, start(lose_its_entry, NULL));
    struct backends_losses losses;

    (void)state;
    assert_near("first", wait_of(&ended, 0x0a000001, BACKEND_ACTIVITY_NONE).ns, 100 * NS_PER_MS,
                NEAR_NS);
    backends_losses(backends, &losses);
    assert_int_equal(losses.unread, 0);
    backends_close(backends);
}

static void an_unreadable_reason_is_unknown_and_counted(void **state)
{
    struct backends *backends = open_or_skip(place_of_this_test());
    struct backend_account ended = last_of_child(backends, start(lose_its_event, NULL));
    struct backends_losses losses;

    (void)state;
    assert_near("activity 2", wait_of(&ended, BACKEND_EVENT_UNKNOWN, 2).ns, 300 * NS_PER_MS,
                NEAR_NS);
    backends_losses(backends, &losses);
    assert_true(losses.unread >= 3);
    backends_close(backends);
}

/* Three on one CPU: each waits for it two thirds of its time. The scheduler's count of the end of a
 * run queue is as of the last time that the child left its CPU. */
static void three_burners_wait_for_their_cpu(void **state)
{
    struct backends *backends = open_or_skip(place_of_this_test());
    uint64_t *ms = shared_memory(sizeof *ms);
    pid_t pids[3];

    (void)state;
    *ms = 900;
    for (size_t i = 0; i < 3; i++)
        pids[i] = start(burn_on_one_cpu, ms);
    for (size_t i = 0; i < 3; i++) {
        struct backend_account ended = last_of_child(backends, pids[i]);
        uint64_t time = ended.time_ns - ended.begin_ns;

        print_message("of %llu us: on CPU %llu (scheduler %llu), run queue %llu (%llu)\n",
                      (unsigned long long)time / 1000, (unsigned long long)ended.cpu_ns / 1000,
                      (unsigned long long)ended.scheduler_cpu_ns / 1000,
                      (unsigned long long)ended.run_queue_ns / 1000,
                      (unsigned long long)ended.scheduler_run_queue_ns / 1000);
        assert_near("on CPU", ended.cpu_ns, ended.scheduler_cpu_ns, near_ns(time, 1));
        assert_near("run queue", ended.run_queue_ns, ended.scheduler_run_queue_ns,
                    near_ns(time, 1));
        assert_at_least("run queue", ended.run_queue_ns, time / 2, 0);
    }
    backends_close(backends);
}

static void a_grandchild_is_watched_when_asked_for(void **state)
{
    struct backends *backends = open_or_skip(place_of_this_test());
    volatile pid_t *grandchild = shared_memory(sizeof *grandchild);
    pid_t pid = start(have_a_child, (void *)grandchild);

    (void)state;
    while (*grandchild == 0)
        usleep(1000);
    usleep(50000);
    read_all(backends);
    assert_non_null(account_of(pid));
    assert_null(account_of(*grandchild));
    assert_int_equal(backends_watch(backends, *grandchild, NULL), CAMP_OK);
    assert_int_equal(backends_watch(backends, *grandchild, NULL), CAMP_OK);
    read_all(backends);
    assert_non_null(account_of(*grandchild));
    assert_int_equal(account_count, 2);
    kill(*grandchild, SIGKILL);
    end_child(pid);
    usleep(50000);
    assert_int_equal(backends_watch(backends, pid, NULL), CAMP_E_GONE);
    backends_close(backends);
}

static void sit(void *truth)
{
    (void)truth;
    usleep(1000);
}

/* More than there are slots: each is given back, and comes as new. */
static void slots_go_round(void **state)
{
    struct backends *backends = open_or_skip(place_of_this_test());
    struct backends_losses losses;
    size_t ended = 0;
    /* More than there are slots; but a process with sanitizers takes ten milliseconds to fork. */
    size_t rounds = getenv("CAMP_SANITIZED") != NULL ? 15 : 150;

    (void)state;
    for (size_t round = 0; round < rounds; round++) {
        pid_t pids[30];

        for (size_t i = 0; i < 30; i++)
            pids[i] = start(sit, NULL);
        for (size_t i = 0; i < 30; i++)
            waitpid(pids[i], NULL, 0);
        read_all(backends);
        for (size_t i = 0; i < account_count; i++)
            ended += (accounts[i].flags & BACKEND_ENDED) != 0;
    }
    usleep(50000);
    read_all(backends);
    ended += account_count;
    assert_int_equal(ended, rounds * 30);
    backends_losses(backends, &losses);
    assert_int_equal(losses.unwatched, 0);
    backends_close(backends);
}

static void without_room_nobody_is_forgotten(void **state)
{
    struct backends *backends = open_or_skip(place_of_this_test());
    size_t count = 0;

    (void)state;
    reap_well(start(sit, NULL));
    reap_well(start(sit, NULL));
    usleep(50000);
    assert_int_equal(backends_read(backends, accounts, 1, &count, NULL), CAMP_E_SPACE);
    assert_int_equal(count, 2);
    read_all(backends);
    assert_int_equal(account_count, 2);
    backends_close(backends);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_wait_is_booked_to_its_event_and_activity),
        cmocka_unit_test(who_ended_is_told_once),
        cmocka_unit_test(who_sleeps_before_the_session_has_its_reason),
        cmocka_unit_test(events_without_a_place_are_booked_by_class),
        cmocka_unit_test(a_class_without_a_place_is_a_loss),
        cmocka_unit_test(who_has_no_entry_has_no_activity),
        cmocka_unit_test(an_unreadable_reason_is_unknown_and_counted),
        cmocka_unit_test(three_burners_wait_for_their_cpu),
        cmocka_unit_test(a_grandchild_is_watched_when_asked_for),
        cmocka_unit_test(slots_go_round),
        cmocka_unit_test(without_room_nobody_is_forgotten),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
