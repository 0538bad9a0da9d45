/* Who the sessions are, over looks that were made up: names, ends, and pids that come again. */
#include "sources/sessions/postgres/postgres_roll.h"

#include "../tree.h"
#include "counters/units.h"

#include <string.h>
#include <unistd.h>

#define S 1000000 /* us */
#define NOW_US (1700000000 * (int64_t)S)

static struct postgres_session session(int32_t pid, int64_t start_us, const char *user)
{
    return (struct postgres_session){
        .pid = pid,
        .start_us = start_us,
        .kind = { { "Client", "ClientRead", "idle", "client_backend" } },
        .user = user,
        .database = user[0] != '\0' ? "shop" : "",
        .application = "",
        .client = "",
        .query = "",
        .query_id = -5,
    };
}

static void take(struct postgres_roll *roll, bool is_whole, struct postgres_session *sessions,
                 size_t count)
{
    const struct postgres_look look = { .is_whole = is_whole,
                                        .asked_ns = NS_PER_S,
                                        .answered_ns = NS_PER_S,
                                        .server_us = NOW_US,
                                        .sessions = sessions,
                                        .count = count,
                                        .own_pid = 1 };

    assert_int_equal(postgres_roll_take(roll, &look), CAMP_OK);
}

static void names_come_with_a_whole_look_and_stay(void **state)
{
    struct postgres_session bob = session(20, NOW_US, "bob");
    struct postgres_roll roll = { 0 };

    (void)state;
    take(&roll, false, &bob, 1);
    assert_string_equal(roll.of[0].name, "client_backend");
    assert_null(roll.of[0].labels);
    take(&roll, true, &bob, 1);
    bob.user = bob.database = "";
    take(&roll, false, &bob, 1);
    assert_int_equal(roll.count, 1);
    assert_string_equal(roll.of[0].name, "bob@shop");
    assert_string_equal(labels_value(roll.of[0].labels, 0), "bob");
    assert_string_equal(labels_value(roll.of[0].labels, 4), "-5");
    assert_int_equal(roll.of[0].seen, 3);
    postgres_roll_release(&roll);
}

static void who_has_ended_is_kept_until_it_is_forgotten(void **state)
{
    struct postgres_session two[] = { session(30, NOW_US, "bob"), session(20, NOW_US, "eve") };
    struct postgres_roll roll = { 0 };

    (void)state;
    take(&roll, true, two, 2);
    assert_int_equal(roll.of[0].pid, 20); /* in their order */
    take(&roll, true, two, 1);
    assert_non_null(postgres_roll_find(&roll, 20, NOW_US));
    postgres_roll_forget(&roll, 1);
    assert_int_equal(roll.count, 2);
    postgres_roll_forget(&roll, 2);
    assert_int_equal(roll.count, 1);
    assert_null(postgres_roll_find(&roll, 20, NOW_US));
    assert_non_null(postgres_roll_find(&roll, 30, NOW_US));
    postgres_roll_release(&roll);
}

static void another_start_is_another_session(void **state)
{
    struct postgres_session two[] = { session(20, NOW_US, "bob"),
                                      session(20, NOW_US + S / 2, "eve") };
    struct postgres_roll roll = { 0 };

    (void)state;
    take(&roll, true, two, 2);
    assert_string_equal(postgres_roll_find(&roll, 20, NOW_US)->name, "bob@shop");
    assert_null(postgres_roll_find(&roll, 20, NOW_US + 1));
    assert_string_equal(postgres_roll_find_process(&roll, 20, 1, NOW_US + 1000)->name, "bob@shop");
    assert_string_equal(postgres_roll_find_process(&roll, 20, 1, NOW_US + S)->name, "eve@shop");
    assert_null(postgres_roll_find_process(&roll, 20, 1, NOW_US + 3 * S));
    assert_null(postgres_roll_find_process(&roll, 21, 1, NOW_US));
    postgres_roll_release(&roll);
}

/* The server's word of a start is as old as the process, and stays when somebody sets the clock. */
static void a_process_is_found_whatever_the_clock_was_set_to(void **state)
{
    struct postgres_session own = session(getpid(), NOW_US, "bob");
    struct postgres_roll roll = { .is_local = true };
    struct camp_process process;
    uint64_t start_ns;

    (void)state;
    assert_int_equal(camp_process_identify(NULL, getpid(), &process, sizeof process, NULL), 0);
    start_ns = process.start * proc_time_unit_ns();
    take(&roll, true, &own, 1);
    assert_true(roll.of[0].has_task);
    assert_true(roll.of[0].clock.time_ns > 0); /* of who was there before us */
    assert_non_null(
        postgres_roll_find_process(&roll, getpid(), start_ns, NOW_US + 3600 * (int64_t)S));
    assert_null(postgres_roll_find_process(&roll, getpid(), start_ns + NS_PER_S, NOW_US));
    postgres_roll_release(&roll);
}

static void our_own_pids_are_the_last_two(void **state)
{
    struct postgres_look look = { .own_pid = 5 };
    struct postgres_roll roll = { 0 };

    (void)state;
    for (int32_t pid = 5; pid < 8; pid++) {
        look.own_pid = pid;
        postgres_roll_take(&roll, &look);
        postgres_roll_take(&roll, &look);
    }
    assert_int_equal(roll.own_pids[0], 7);
    assert_int_equal(roll.own_pids[1], 6);
    postgres_roll_release(&roll);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_come_with_a_whole_look_and_stay),
        cmocka_unit_test(who_has_ended_is_kept_until_it_is_forgotten),
        cmocka_unit_test(another_start_is_another_session),
        cmocka_unit_test(a_process_is_found_whatever_the_clock_was_set_to),
        cmocka_unit_test(our_own_pids_are_the_last_two),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
