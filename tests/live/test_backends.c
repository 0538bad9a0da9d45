/*
 * Backends: the laws of accounts by wait event, with children that keep an event and an activity in
 * their memory as a database server does. Here the server is this test.
 */
#include "microstates/backends.h"
#include "states_session.h"

#include <stdlib.h>
#include <string.h>

#define BACKENDS 64
#define BURN_NS (500 * (uint64_t)NS_PER_MS)

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
    uint64_t began_ns;

    reap_well(pid);
    began_ns = now_ns(CLOCK_MONOTONIC);
    do
        read_all(backends);
    while (last[pid % BACKENDS].pid != pid && wait_on(began_ns));
    if (last[pid % BACKENDS].pid != pid)
        fail_msg("no last numbers of %d", pid);
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

/* In shared memory: the bounds of each wait by the child's own clocks. */
static struct stretch *own;

static void wait_for(uint32_t of_event, int32_t activity, unsigned us, struct stretch *stretch)
{
    event = of_event;
    entry.activity = activity;
    if (stretch != NULL)
        begin_stretch(stretch);
    usleep(us);
    if (stretch != NULL)
        end_stretch(stretch);
    event = 0;
}

static void wait_for_two(void *truth)
{
    (void)truth;
    wait_for(0x0a000001, 2, 50000, &own[0]);
    wait_for(0x03000007, 2, 100000, &own[1]);
    wait_for(0x03000007, 3, 20000, &own[2]);
}

static void wait_long(void *truth)
{
    (void)truth;
    for (;;)
        wait_for(0x06000000, 1, 10000000, NULL);
}

#define MANY 60u

static void wait_for_many(void *truth)
{
    (void)truth;
    for (uint32_t i = 0; i < MANY; i++)
        wait_for(0x01000000 * (1 + i % 3) + i, 2, 1000, NULL);
}

static void wait_for_classes(void *truth)
{
    (void)truth;
    for (uint32_t i = 0; i < MANY; i++)
        wait_for(0x01000000 * i, 2, 1000, NULL);
}

static void burn_on_one_cpu(void *truth)
{
    stay_on(0);
    begin_stretch(truth);
    for (uint64_t end = now_ns(CLOCK_MONOTONIC) + BURN_NS; now_ns(CLOCK_MONOTONIC) < end;)
        continue;
    end_stretch(truth);
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

/* The wait is within the bounds of the child's own clocks. `ended` has the number of switches in
 * all waits. */
static void assert_waited(const struct backend_account *ended, uint64_t ns, size_t first,
                          size_t count, uint64_t stolen_ns)
{
    uint64_t least = 0, most = 0;

    for (size_t i = first; i < first + count; i++) {
        least += least_asleep_ns(&own[i]);
        most += own[i].wall_ns;
    }
    print_message("waited %.3f ms, by its own clocks %.3f to %.3f\n", (double)ns / 1e6,
                  (double)least / 1e6, (double)most / 1e6);
    assert_at_least("waited", ns, least,
                    stolen_ns +
                        switches_tolerance(ended->voluntary_switches, ended->involuntary_switches));
    assert_at_most("waited", ns, most, 0);
}

static void a_wait_is_booked_to_its_event_and_activity(void **state)
{
    const uint64_t steal = steal_ns();
    struct backends *backends = open_or_skip(place_of_this_test());
    struct backend_account ended = last_of_child(backends, start(wait_for_two, NULL));
    struct backends_losses losses;

    (void)state;
    assert_waited(&ended, wait_of(&ended, 0x0a000001, 2).ns, 0, 1, stolen_since(steal));
    assert_waited(&ended, wait_of(&ended, 0x03000007, 2).ns, 1, 1, stolen_since(steal));
    assert_waited(&ended, wait_of(&ended, 0x03000007, 3).ns, 2, 1, stolen_since(steal));
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

/* Waits until the process is asleep in its long wait, a call with a timeout. */
static void await_sleep(pid_t pid)
{
    const uint64_t began_ns = now_ns(CLOCK_MONOTONIC);
    struct camp_process process;
    struct camp_task task;

    assert_int_equal(camp_process_identify(NULL, pid, &process, sizeof process, NULL), CAMP_OK);
    do
        assert_int_equal(camp_process_read(NULL, &process, CAMP_TASK_ALL, &task, sizeof task, NULL),
                         CAMP_OK);
    while ((task.state != 'S' || task.voluntary_switches == 0) && wait_on(began_ns));
    assert_int_equal(task.state, 'S');
}

static void who_sleeps_before_the_session_has_its_reason(void **state)
{
    pid_t pid = start(wait_long, NULL);
    struct backends *backends;
    const struct backend_account *account;
    uint64_t watched_ns;

    (void)state;
    await_sleep(pid);
    backends = open_or_skip(place_of_this_test());
    watched_ns = now_ns(CLOCK_MONOTONIC);
    usleep(50000);
    watched_ns = now_ns(CLOCK_MONOTONIC) - watched_ns;
    read_all(backends);
    account = account_of(pid);
    assert_non_null(account);
    assert_true((account->flags & BACKEND_OLDER) != 0);
    assert_int_equal(wait_of(account, 0x06000000, 1).ns, account->time_ns - account->begin_ns);
    assert_at_least("watched", account->time_ns - account->begin_ns, watched_ns, 0);
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
    assert_at_least("waits", times, MANY, 0);
    times = 0;
    for (uint32_t class = 1; class <= 3; class ++)
        times += wait_of(&ended, BACKEND_EVENT_REST(class << 24), BACKEND_ACTIVITY_NONE).times;
    /* Each wait has an event of its own. This is the number of waits that found no free place. */
    assert_at_least("waits by class", times, MANY - BACKEND_WAITS_OWN, 0);
    backends_losses(backends, &losses);
    assert_int_equal(losses.misbooked, 0);
    backends_close(backends);
}

static void a_class_without_a_place_is_a_loss(void **state)
{
    struct backends *backends = open_or_skip(place_of_this_test());
    struct backends_losses losses;
    struct backend_account ended = last_of_child(backends, start(wait_for_classes, NULL));

    (void)state;
    backends_losses(backends, &losses);
    /* Each wait has a class of its own. A sleep for another reason may take one place, or be lost.
     */
    assert_in_range(losses.misbooked, MANY - BACKEND_WAITS_MAX,
                    MANY - BACKEND_WAITS_MAX + less(ended.voluntary_switches, MANY) + 1);
    backends_close(backends);
}

static void who_has_no_entry_has_no_activity(void **state)
{
    const uint64_t steal = steal_ns();
    struct backends *backends = open_or_skip(place_of_this_test());
    struct backend_account ended = last_of_child(backends, start(lose_its_entry, NULL));
    struct backends_losses losses;

    (void)state;
    assert_waited(&ended, wait_of(&ended, 0x0a000001, BACKEND_ACTIVITY_NONE).ns, 0, 1,
                  stolen_since(steal));
    backends_losses(backends, &losses);
    assert_int_equal(losses.unread, 0);
    backends_close(backends);
}

static void an_unreadable_reason_is_unknown_and_counted(void **state)
{
    const uint64_t steal = steal_ns();
    struct backends *backends = open_or_skip(place_of_this_test());
    struct backend_account ended = last_of_child(backends, start(lose_its_event, NULL));
    struct backends_losses losses;

    (void)state;
    assert_waited(&ended, wait_of(&ended, BACKEND_EVENT_UNKNOWN, 2).ns, 0, 2, stolen_since(steal));
    backends_losses(backends, &losses);
    assert_true(losses.unread >= 3);
    backends_close(backends);
}

/* Three children on one CPU: the part of the wall time without CPU time is run queue. The
 * scheduler's count of run-queue time is as of the last time that the child left its CPU. */
static void three_burners_wait_for_their_cpu(void **state)
{
    const uint64_t steal = steal_ns();
    struct backends *backends = open_or_skip(place_of_this_test());
    struct stretch *burners = shared_memory(3 * sizeof *burners);
    pid_t pids[3];

    (void)state;
    for (size_t i = 0; i < 3; i++)
        pids[i] = start(burn_on_one_cpu, &burners[i]);
    for (size_t i = 0; i < 3; i++) {
        struct backend_account ended = last_of_child(backends, pids[i]);
        uint64_t tolerance =
            switches_tolerance(ended.voluntary_switches, ended.involuntary_switches) +
            stolen_since(steal);

        print_message("on CPU %llu us (scheduler %llu), run queue %llu (%llu); tolerance %llu\n",
                      (unsigned long long)ended.cpu_ns / 1000,
                      (unsigned long long)ended.scheduler_cpu_ns / 1000,
                      (unsigned long long)ended.run_queue_ns / 1000,
                      (unsigned long long)ended.scheduler_run_queue_ns / 1000,
                      (unsigned long long)tolerance / 1000);
        assert_near("on CPU", ended.cpu_ns, ended.scheduler_cpu_ns, tolerance);
        assert_near("run queue", ended.run_queue_ns, ended.scheduler_run_queue_ns, tolerance);
        assert_at_least("run queue", ended.run_queue_ns,
                        less(burners[i].wall_ns, burners[i].cpu_ns), tolerance);
    }
    munmap(burners, 3 * sizeof *burners);
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
    uint64_t began_ns;
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
    began_ns = now_ns(CLOCK_MONOTONIC);
    do { /* the last ones leave their CPUs after they were waited for */
        read_all(backends);
        for (size_t i = 0; i < account_count; i++)
            ended += (accounts[i].flags & BACKEND_ENDED) != 0;
    } while (ended < rounds * 30 && wait_on(began_ns));
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

    own = mmap(NULL, 3 * sizeof *own, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (own == MAP_FAILED)
        return 1;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
