/* The source mariadb: the text after "mariadb:", messages, and the account of the time of a
 * session. */
#include "sources/sessions/mariadb/mariadb_account.h"
#include "sources/sessions/mariadb/mariadb_blockers.h"
#include "sources/sessions/mariadb/mariadb_client.h"
#include "sources/sessions/mariadb/mariadb_options.h"

#include <mysqld_error.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void a_mariadb_server_is_given_by_keys_or_a_socket_path_or_a_uri(void **state)
{
    static const struct {
        const char *text, *shown;
    } cases[] = {
        { "", "default" },
        { "/run/mysqld/mysqld.sock", "/run/mysqld/mysqld.sock" },
        { "socket=/tmp/s user=camp", "camp@/tmp/s" },
        { "  host=db1\tport=3307 user=camp  ", "camp@db1:3307" },
        { "host=db1;port=3307;user=camp;", "camp@db1:3307" },
        { "//camp@db1:3307/shop", "camp@db1:3307" },
        { "//db1", "db1" },
        { "//camp@[::1]:3307", "camp@::1:3307" },
        { "user=camp", "camp@localhost" },
        { "defaults-file=/etc/camp.cnf", "default" },
    };
    struct mariadb_options options, again;
    char shown[100], from[100];

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        assert_int_equal(mariadb_options_parse(cases[i].text, &options, NULL), CAMP_OK);
        mariadb_options_show(&options, shown, sizeof shown);
        assert_string_equal(shown, cases[i].shown);
        mariadb_options_from(&options, from, sizeof from);
        assert_memory_equal(from, "mariadb:", 8);
        assert_int_equal(mariadb_options_parse(from + 8, &again, NULL), CAMP_OK);
        for (int j = 0; j < MARIADB_OPTION_COUNT; j++)
            assert_string_equal(again.values[j], options.values[j]);
    }
    strcpy(options.values[MARIADB_OPTION_USER], "a b");
    mariadb_options_from(&options, from, sizeof from);
    assert_string_equal(from, "");
    options.values[MARIADB_OPTION_USER][1] = '_';
    mariadb_options_from(&options, from, 12);
    assert_string_equal(from, "");
    assert_int_equal(mariadb_options_parse("//camp@h/shop", &options, NULL), CAMP_OK);
    assert_string_equal(options.values[MARIADB_OPTION_DATABASE], "shop");
}

static void the_error_about_an_unknown_mariadb_key_names_the_key(void **state)
{
    struct mariadb_options options;
    struct camp_error error;

    (void)state;
    assert_int_equal(mariadb_options_parse("host=h;prot=1", &options, &error), CAMP_E_INVALID);
    assert_string_equal(error.message, "mariadb: there is no key prot=; the keys are host=, port=, "
                                       "user=, socket=, database=, defaults-file= and verify=");
}

static void a_password_in_the_address_of_a_mariadb_server_is_refused(void **state)
{
    static const char *const texts[] = {
        "host=h password=sesame", "passwd=sesame",    "//camp:sesame@h", "//camp:ses/ame@h",
        "//camp:ses@ame@h/db",    "user=camp sesame", "port=sesame",     "pasword=sesame",
    };
    struct mariadb_options options;
    struct camp_error error;

    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        assert_int_equal(mariadb_options_parse(texts[i], &options, &error), CAMP_E_INVALID);
        assert_null(strstr(error.message, "ses"));
        assert_null(strstr(error.message, "ame@"));
        assert_non_null(strstr(error.message, "mariadb: "));
    }
}

static void a_mariadb_failure_is_reported_in_one_line_with_advice(void **state)
{
    struct camp_error error;
    bool may_pass;

    (void)state;
    assert_int_equal(
        mariadb_failure_report(ER_ACCESS_DENIED_ERROR, "no\x1b entry\nfor you", &may_pass, &error),
        CAMP_E_PERM);
    assert_false(may_pass);
    assert_string_equal(error.message, "MariaDB: no? entry; give user=, and its password in "
                                       "~/.my.cnf or MARIADB_PWD");
    mariadb_failure_report(ER_CON_COUNT_ERROR, "", &may_pass, NULL);
    assert_true(may_pass);
    mariadb_failure_report(0, "", &may_pass, NULL);
    assert_true(may_pass);
}

static const struct mariadb_statement two_columns = { .columns = 2, .rows_most = 3 };

static void an_answer_has_the_rows_that_were_added(void **state)
{
    struct mariadb_answer answer = { 0 };
    const char *row[MARIADB_COLUMNS_MOST];

    (void)state;
    mariadb_answer_begin(&answer, &two_columns);
    assert_false(mariadb_answer_next(&answer, row));
    assert_int_equal(mariadb_answer_add(&answer, &two_columns, (const char *[]){ "7", NULL }, NULL),
                     CAMP_OK);
    assert_int_equal(
        mariadb_answer_add(&answer, &two_columns, (const char *[]){ "", "\x01" }, NULL), CAMP_OK);
    assert_true(mariadb_answer_next(&answer, row));
    assert_string_equal(row[0], "7");
    assert_null(row[1]);
    assert_true(mariadb_answer_next(&answer, row));
    assert_string_equal(row[0], "");
    assert_string_equal(row[1], "\x01");
    assert_false(mariadb_answer_next(&answer, row));
    mariadb_answer_begin(&answer, &two_columns);
    assert_false(mariadb_answer_next(&answer, row));
    mariadb_answer_release(&answer);
}

static void an_answer_with_more_rows_or_bytes_than_permitted_is_refused(void **state)
{
    struct mariadb_answer answer = { 0 };
    struct camp_error error;
    char *large = malloc(MARIADB_ANSWER_BYTES);

    (void)state;
    assert_non_null(large);
    memset(large, 'A', MARIADB_ANSWER_BYTES - 1);
    large[MARIADB_ANSWER_BYTES - 1] = '\0';
    mariadb_answer_begin(&answer, &two_columns);
    for (size_t i = 0; i < 3; i++)
        assert_int_equal(
            mariadb_answer_add(&answer, &two_columns, (const char *[]){ "", "" }, &error), CAMP_OK);
    assert_int_equal(mariadb_answer_add(&answer, &two_columns, (const char *[]){ "", "" }, &error),
                     CAMP_E_FORMAT);
    assert_string_equal(error.message, "MariaDB: an answer has more than 3 rows");
    mariadb_answer_begin(&answer, &two_columns);
    assert_int_equal(
        mariadb_answer_add(&answer, &two_columns, (const char *[]){ large, NULL }, &error),
        CAMP_E_FORMAT);
    assert_string_equal(error.message, "MariaDB: an answer has more than 16777216 bytes");
    mariadb_answer_release(&answer);
    free(large);
}

/* Fills an answer with 10,000 sessions whose ids begin at `first`. */
static void fill_sessions(struct mariadb_answer *answer, int first)
{
    const struct mariadb_statement *statement =
        mariadb_sessions_statement(true, MARIADB_TEXTS_AS_LABELS);
    const char *row[MARIADB_COLUMNS_MOST] = { NULL };
    char id[16];

    mariadb_answer_begin(answer, statement);
    row[0] = id;
    for (int i = 0; i < 10000; i++) {
        snprintf(id, sizeof id, "%d", first + i);
        assert_int_equal(mariadb_answer_add(answer, statement, row, NULL), CAMP_OK);
    }
}

static void sessions_above_the_limit_are_left_out(void **state)
{
    struct mariadb_sessions sessions = { 0 };
    struct mariadb_answer answer = { 0 };

    (void)state;
    for (int first = 1; first <= 10001; first += 10000) {
        fill_sessions(&answer, first);
        assert_int_equal(mariadb_sessions_sample(&sessions, &answer, 1, true, NULL, NULL), CAMP_OK);
    }
    fill_sessions(&answer, 19001);
    assert_int_equal(mariadb_sessions_sample(&sessions, &answer, 2, true, NULL, NULL),
                     CAMP_E_SPACE);
    assert_int_equal(sessions.count, MARIADB_SESSIONS_MOST);
    mariadb_sessions_start_interval(&sessions);
    assert_int_equal(sessions.count, 1000);
    assert_int_equal(sessions.sessions[0].id, 19001);
    fill_sessions(&answer, 19001);
    assert_int_equal(mariadb_sessions_sample(&sessions, &answer, 3, true, NULL, NULL), CAMP_OK);
    assert_int_equal(sessions.count, 10000);
    mariadb_sessions_release(&sessions);
    mariadb_answer_release(&answer);
}

static void add_sample(struct mariadb_session *session, const char *class, const char *event,
                       const char *activity, uint64_t ns)
{
    const struct mariadb_sample sample = { .kind = mariadb_kind(class, event, activity) };

    assert_int_equal(mariadb_session_add_sample(session, &sample, ns), CAMP_OK);
}

/* Returns the time accounted to a class, event and activity. NULL stands for any. */
static uint64_t accounted(const struct mariadb_account *account, const char *class,
                          const char *event, const char *activity)
{
    const char *const wanted[] = { class, event, activity };
    uint64_t sum = 0;

    for (size_t i = 0; i < account->count; i++) {
        bool same = true;

        for (int k = 0; k < 3; k++)
            same &= wanted[k] == NULL || strcmp(wanted[k], account->times[i].kind.texts[k]) == 0;
        sum += same ? account->times[i].ns : 0;
    }
    return sum;
}

static void each_sleep_of_a_mariadb_thread_is_accounted_once(void **state)
{
    struct mariadb_session session = { .id = 1 };
    struct mariadb_thread_times times = { .elapsed_ns = 1000, .cpu_ns = 100, .run_queue_ns = 50 };
    const struct mariadb_reported nothing = { 0 };
    struct mariadb_account account = { 0 };

    (void)state;
    times.asleep_ns[CAMP_STATE_LOCK] = 500;
    times.asleep_ns[CAMP_STATE_POLL] = 300;
    times.asleep_ns[CAMP_STATE_DISK] = 50;
    add_sample(&session, "none", "none", "idle", 200);
    add_sample(&session, "futex", "row_lock", "active", 300);
    add_sample(&session, "futex", "User sleep", "active", 100);
    add_sample(&session, "running", "Updating", "active", 400);
    mariadb_account_threads(&account, &session, &times, true, &nothing);
    assert_int_equal(accounted(&account, NULL, NULL, NULL), 850);
    assert_int_equal(accounted(&account, "futex", "row_lock", NULL), 375);
    assert_int_equal(accounted(&account, "futex", "User_sleep", NULL), 125);
    /* a fifth of the samples is idle */
    assert_int_equal(accounted(&account, "poll", NULL, "idle"), 200);
    assert_int_equal(accounted(&account, "poll", NULL, "active"), 100);
    assert_int_equal(accounted(&account, "disk", NULL, "active"), 50);
    mariadb_account_release(&account);
    free(session.samples);
}

static void samples_divide_the_sleep_of_a_mariadb_thread_if_there_are_no_microstates(void **state)
{
    struct mariadb_session session = { .id = 1 };
    struct mariadb_thread_times times = { .elapsed_ns = 1000, .cpu_ns = 600 };
    const struct mariadb_reported nothing = { 0 };
    struct mariadb_account account = { 0 };

    (void)state;
    times.asleep_ns[CAMP_STATE_OTHER_SLEEP] = 400;
    add_sample(&session, "running", "Sending data", "active", 700);
    add_sample(&session, "disk", "Sending data", "active", 200);
    add_sample(&session, "none", "none", "idle", 100);
    mariadb_account_threads(&account, &session, &times, false, &nothing);
    assert_int_equal(accounted(&account, NULL, NULL, "idle"), 100);
    assert_int_equal(accounted(&account, "disk", "Sending_data", "active"), 300);
    assert_int_equal(accounted(&account, NULL, NULL, NULL), 400);
    mariadb_account_release(&account);
    free(session.samples);
}

static void a_futex_sleep_unknown_to_the_database_counts_as_a_wait_for_a_row_lock(void **state)
{
    struct mariadb_session session = { .id = 7 };
    struct mariadb_thread_times times = { .elapsed_ns = 1000 };
    struct mariadb_wait now[] = {
        { 7, mariadb_kind("idle", "none", "idle"), 1100 },
        { 7, mariadb_kind("synch", "cond/sql/Item_func_sleep::cond", "active"), 240 },
    };
    struct mariadb_wait before[] = { { 7, now[0].kind, 1000 } };
    struct mariadb_waits waits = { .count = 2, .before_count = 1 };
    const struct mariadb_reported reported = { &waits, 1000, true };
    struct mariadb_account account = { 0 };

    (void)state;
    waits.now = now;
    waits.before = before;
    times.asleep_ns[CAMP_STATE_LOCK] = 800;
    times.asleep_ns[CAMP_STATE_POLL] = 200;
    add_sample(&session, "futex", "User sleep", "active", 900);
    add_sample(&session, "futex", "row_lock", "active", 100);
    mariadb_account_threads(&account, &session, &times, true, &reported);
    assert_int_equal(accounted(&account, "futex", "cond/sql/Item_func_sleep::cond", NULL), 240);
    assert_int_equal(accounted(&account, "futex", "row_lock", NULL), 560);
    assert_int_equal(accounted(&account, "futex", "User_sleep", NULL), 0);
    assert_int_equal(accounted(&account, "poll", NULL, "idle"), 100);
    assert_int_equal(accounted(&account, "poll", NULL, "active"), 100);
    /* without samples, the instruments do not show the wait for the row lock */
    mariadb_account_waits(&account, &session, 1000, &reported);
    assert_int_equal(accounted(&account, NULL, NULL, NULL), 340);
    mariadb_account_release(&account);
    free(session.samples);
}

static void waits_reported_over_a_longer_time_than_the_interval_are_scaled_down(void **state)
{
    struct mariadb_session session = { .id = 7 };
    struct mariadb_thread_times times = { .elapsed_ns = 1000 };
    struct mariadb_wait now[] = {
        { 7, mariadb_kind("idle", "none", "idle"), 1200 },
        { 7, mariadb_kind("synch", "cond/sql/MDL_context::COND_wait_status", "active"), 800 },
    };
    struct mariadb_waits waits = { .count = 2 };
    const struct mariadb_reported reported = { &waits, 2000, true };
    struct mariadb_account account = { 0 };

    (void)state;
    waits.now = now;
    times.asleep_ns[CAMP_STATE_LOCK] = 400;
    times.asleep_ns[CAMP_STATE_POLL] = 600;
    mariadb_account_waits(&account, &session, 1000, &reported);
    assert_int_equal(accounted(&account, "idle", NULL, NULL), 600);
    assert_int_equal(accounted(&account, "synch", NULL, NULL), 400);
    mariadb_account_threads(&account, &session, &times, true, &reported);
    assert_int_equal(accounted(&account, "poll", NULL, "idle"), 600);
    assert_int_equal(accounted(&account, "futex", "cond/sql/MDL_context::COND_wait_status", NULL),
                     400);
    mariadb_account_release(&account);
}

static void waits_that_contain_time_in_the_run_queue_leave_space_for_it(void **state)
{
    struct session_time times[] = { { .ns = 600 }, { .ns = 300 } };
    struct mariadb_account account = { .times = times, .count = 2 };

    (void)state;
    mariadb_account_fit(&account, 1000, 100);
    assert_int_equal(times[0].ns, 600);
    mariadb_account_fit(&account, 1000, 700);
    assert_int_equal(times[0].ns, 200);
    assert_int_equal(times[1].ns, 100);
    mariadb_account_fit(&account, 1000, 900);
    assert_int_equal(times[0].ns + times[1].ns, 100); /* Rounding leaves nothing over. */
    mariadb_account_fit(&account, 1000, 1200);
    assert_int_equal(times[0].ns, 0);
}

static void a_wait_listed_as_current_and_as_finished_is_counted_once(void **state)
{
    labels_id kind = mariadb_kind("synch", "cond/sql/MDL_context::COND_wait_status", "active");
    struct mariadb_wait before[] = { { 7, kind, 5000, 0 }, { 8, kind, 5000, 0 } };
    /* The 990 ns of session 7 are in both tables. The wait of session 8 still lasts. */
    struct mariadb_wait now[] = { { 7, kind, 5000 + 1003 + 990, 990 },
                                  { 8, kind, 5000 + 1003, 990 } };
    struct mariadb_waits waits = { .count = 2, .before_count = 2 };

    (void)state;
    waits.now = now;
    waits.before = before;
    mariadb_waits_resolve(&waits, 1000);
    assert_int_equal(mariadb_wait_since(&waits, &now[0]), 1003);
    assert_int_equal(mariadb_wait_since(&waits, &now[1]), 1003);
}

static void a_session_without_active_samples_is_accounted_as_idle(void **state)
{
    struct mariadb_session session = { .id = 1, .is_idle = true };
    struct mariadb_thread_times times = { .elapsed_ns = 1000, .cpu_ns = 3 };
    const struct mariadb_reported nothing = { 0 };
    struct mariadb_account account = { 0 };

    (void)state;
    times.asleep_ns[CAMP_STATE_POLL] = 997;
    mariadb_account_threads(&account, &session, &times, true, &nothing);
    assert_int_equal(accounted(&account, "poll", NULL, "idle"), 997);
    /* 50 ns were before the first sample */
    add_sample(&session, "none", "none", "idle_in_transaction", 950);
    mariadb_account_threads(&account, &session, &times, true, &nothing);
    assert_int_equal(accounted(&account, "poll", NULL, "idle_in_transaction"), 997);
    mariadb_account_release(&account);
    free(session.samples);
}

/* Session 7 waits for 8, which waits for 9; 6 waits, and its blockers are in no row. */
static void pairs_of_sessions_become_samples_of_blockers(void **state)
{
    static const char *const pairs[][2] = { { "8", "9" }, { "7", "9" },  { "7", "8" },
                                            { "7", "x" }, { NULL, "7" }, { "7", NULL },
                                            { "5", "4" } };
    struct mariadb_session waiting[] = {
        { .id = 5, .is_seen = true, .transaction = MARIADB_TRANSACTION },
        { .id = 6, .is_seen = true, .transaction = MARIADB_WAITS_FOR_ROW },
        { .id = 7, .is_seen = true, .transaction = MARIADB_WAITS_FOR_ROW },
        { .id = 8, .is_seen = true, .transaction = MARIADB_WAITS_FOR_ROW },
    };
    const struct mariadb_sessions sessions = { .sessions = waiting, .count = 4 };
    struct blocker_samples samples = { .longest_ns = 1000 };
    struct mariadb_answer answer = { 0 };
    struct blocks blocks = { 0 };

    (void)state;
    assert_true(mariadb_sessions_wait_for_rows(&sessions));
    for (uint64_t at = 1000; at < 1200; at += 100) {
        mariadb_answer_begin(&answer, &mariadb_lock_waits_statement);
        for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++)
            assert_int_equal(
                mariadb_answer_add(&answer, &mariadb_lock_waits_statement, pairs[i], NULL),
                CAMP_OK);
        assert_int_equal(mariadb_blockers_add(&samples, at, &sessions, &answer), CAMP_OK);
    }
    assert_int_equal(blocker_samples_divide(&samples, 7, 0, 60, &blocks), CAMP_OK);
    assert_int_equal(blocks.blocks[0].root, 9);
    assert_int_equal(blocks.known_ns, 60);
    assert_int_equal(blocker_samples_divide(&samples, 8, 0, 60, &blocks), CAMP_OK);
    assert_int_equal(blocks.blocks[0].blocker, 9);
    assert_int_equal(blocker_samples_divide(&samples, 6, 0, 60, &blocks), CAMP_OK);
    assert_int_equal(blocks.known_ns, 0);
    assert_int_equal(blocker_samples_divide(&samples, 5, 0, 60, &blocks), CAMP_OK);
    assert_int_equal(blocks.known_ns, 0);
    assert_int_equal(mariadb_blockers_add(&samples, 1300, &sessions, NULL), CAMP_OK);
    blocker_samples_begin(&samples);
    assert_int_equal(mariadb_blockers_add(&samples, 1400, &sessions, NULL), CAMP_OK);
    assert_int_equal(blocker_samples_divide(&samples, 7, 0, 60, &blocks), CAMP_OK);
    assert_int_equal(blocks.known_ns, 0);
    blocker_samples_release(&samples);
    mariadb_answer_release(&answer);
    free(blocks.blocks);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_mariadb_server_is_given_by_keys_or_a_socket_path_or_a_uri),
        cmocka_unit_test(the_error_about_an_unknown_mariadb_key_names_the_key),
        cmocka_unit_test(a_password_in_the_address_of_a_mariadb_server_is_refused),
        cmocka_unit_test(a_mariadb_failure_is_reported_in_one_line_with_advice),
        cmocka_unit_test(an_answer_has_the_rows_that_were_added),
        cmocka_unit_test(an_answer_with_more_rows_or_bytes_than_permitted_is_refused),
        cmocka_unit_test(sessions_above_the_limit_are_left_out),
        cmocka_unit_test(each_sleep_of_a_mariadb_thread_is_accounted_once),
        cmocka_unit_test(samples_divide_the_sleep_of_a_mariadb_thread_if_there_are_no_microstates),
        cmocka_unit_test(a_futex_sleep_unknown_to_the_database_counts_as_a_wait_for_a_row_lock),
        cmocka_unit_test(waits_reported_over_a_longer_time_than_the_interval_are_scaled_down),
        cmocka_unit_test(waits_that_contain_time_in_the_run_queue_leave_space_for_it),
        cmocka_unit_test(a_wait_listed_as_current_and_as_finished_is_counted_once),
        cmocka_unit_test(a_session_without_active_samples_is_accounted_as_idle),
        cmocka_unit_test(pairs_of_sessions_become_samples_of_blockers),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
