/*
 * Tests the accounts of backends, with the wait events of children of this test. The children have
 * an event and an activity in their memory, like the backends of a database server.
 */
#include "backends_children.h"

static struct backend_wait wait_of(const struct backend_account *account, uint32_t of_event,
                                   uint32_t activity)
{
    for (uint32_t i = 0; i < account->wait_count; i++) {
        if (account->waits[i].event == of_event && account->waits[i].activity == activity)
            return account->waits[i];
    }
    return (struct backend_wait){ .event = of_event, .activity = activity };
}

static void wait_for_two(void *truth)
{
    (void)truth;
    wait_for(0x0a000001, 2, 50000, &own[0]);
    wait_for(0x03000007, 2, 100000, &own[1]);
    wait_for(0x03000007, 3, 20000, &own[2]);
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

/* Asserts that the wait is within the bounds of the child's own clocks. The tolerance uses the
 * switches of the whole account `ended`. */
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

static void a_wait_of_a_postgres_backend_is_charged_to_its_event_and_activity(void **state)
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

static void an_exited_backend_is_reported_once(void **state)
{
    struct backends *backends = open_or_skip(place_of_this_test());
    pid_t pid = start(wait_for_two, NULL);

    (void)state;
    last_of_child(backends, pid);
    read_all(backends);
    assert_null(account_of(pid));
    backends_close(backends);
}

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

static void a_wait_that_began_before_camp_started_is_charged_to_its_event(void **state)
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

static void a_wait_is_charged_to_its_event_class_if_no_slot_is_free_for_its_event(void **state)
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
    /* Each wait has its own event. If no slot is free, the wait is charged to its class. */
    assert_at_least("waits by class", times, MANY - BACKEND_WAITS_OWN, 0);
    backends_losses(backends, &losses);
    assert_int_equal(losses.misaccounted, 0);
    backends_close(backends);
}

static void a_wait_is_counted_as_lost_if_no_slot_is_free_for_its_event_class(void **state)
{
    struct backends *backends = open_or_skip(place_of_this_test());
    struct backends_losses losses;
    struct backend_account ended = last_of_child(backends, start(wait_for_classes, NULL));

    (void)state;
    backends_losses(backends, &losses);
    /* Each wait has its own class. Other sleeps of the child may need a slot too, or be lost. */
    assert_in_range(losses.misaccounted, MANY - BACKEND_WAITS_MAX,
                    MANY - BACKEND_WAITS_MAX + less(ended.voluntary_switches, MANY) + 1);
    backends_close(backends);
}

static void a_backend_without_an_entry_in_shared_memory_has_no_activity(void **state)
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

static void a_wait_with_an_unreadable_event_is_counted_as_unread(void **state)
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_wait_of_a_postgres_backend_is_charged_to_its_event_and_activity),
        cmocka_unit_test(an_exited_backend_is_reported_once),
        cmocka_unit_test(a_wait_that_began_before_camp_started_is_charged_to_its_event),
        cmocka_unit_test(a_wait_is_charged_to_its_event_class_if_no_slot_is_free_for_its_event),
        cmocka_unit_test(a_wait_is_counted_as_lost_if_no_slot_is_free_for_its_event_class),
        cmocka_unit_test(a_backend_without_an_entry_in_shared_memory_has_no_activity),
        cmocka_unit_test(a_wait_with_an_unreadable_event_is_counted_as_unread),
    };

    own = mmap(NULL, 3 * sizeof *own, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (own == MAP_FAILED)
        return 1;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
