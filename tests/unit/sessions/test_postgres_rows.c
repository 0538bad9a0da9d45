/* Rows of PostgreSQL sessions from synthetic accounts. */
#include "postgres_rows_fixture.h"

static void the_account_of_a_backend_becomes_a_row_named_after_its_session(void **state)
{
    const struct backend_account one = account(PID, 0);

    (void)state;
    open_source(POSTGRES_BPF);
    register_process(PID, wall_us(one.start_ns) + 5000, "client_backend", "bob");
    fill(&one, 1);
    assert_int_equal(row_count(), 1);
    assert_string_equal(row_at(0)->name, "bob");
    assert_int_equal(row_at(0)->pid, PID);
    assert_int_equal(row_at(0)->flags, ENTITY_NEW);
    assert_int_equal(source.sessions.frame.elapsed_ns[0], 600 * MS);
    assert_int_equal(frame_unaccounted_ns(&source.sessions.frame, 0), 0);
    assert_int_equal(value_ms(0, "contention_row_lock_ns"), 300);
    close_source();
}

static void a_session_is_accounted_in_full_once_its_name_is_known(void **state)
{
    struct backend_account one = account(PID, 0);

    (void)state;
    open_source(POSTGRES_BPF);
    fill(&one, 1);
    assert_int_equal(row_count(), 0);
    register_process(PID, wall_us(one.start_ns), "client_backend", "bob");
    one.time_ns += 50 * MS;
    one.cpu_ns += 50 * MS;
    fill(&one, 1);
    assert_int_equal(row_count(), 1);
    assert_int_equal(row_at(0)->flags, ENTITY_NEW);
    assert_int_equal(value_ms(0, "cpu_ns"), 150);
    fill(&one, 1);
    assert_int_equal(row_count(), 0); /* Nothing was accounted since the last reading. */
    close_source();
}

static void a_client_session_that_ended_before_sql_listed_it_has_a_row(void **state)
{
    struct backend_account two[] = { account(PID, BACKEND_ENDED), account(PID + 1, BACKEND_ENDED) };

    (void)state;
    open_source(POSTGRES_BPF);
    two[1].waits[0].activity = BACKEND_ACTIVITY_NONE; /* a process of the server itself */
    fill(two, 2);
    assert_int_equal(row_count(), 1);
    assert_int_equal(row_at(0)->id, PID);
    assert_string_equal(row_at(0)->name, "(gone before SQL saw it)");
    /* Both accounts are kept, because SQL will not show the ended sessions later. */
    assert_int_equal(source.accounts.count, 2);
    assert_int_equal(row_at(0)->flags, ENTITY_NEW | ENTITY_ENDED);
    close_source();
}

static void a_session_that_sql_did_not_see_has_the_names_that_the_kernel_read(void **state)
{
    struct backend_account one = account(PID, BACKEND_ENDED | BACKEND_NAMED);

    (void)state;
    open_source(POSTGRES_BPF);
    one.database = 5;
    one.user = 10;
    memset(one.application, 'a', sizeof one.application); /* without an end */
    assert_int_equal(postgres_names_add(&source.registry.users, 10, "bob"), CAMP_OK);
    fill(&one, 1);
    assert_int_equal(row_count(), 1);
    assert_string_equal(row_at(0)->name, "bob@5");
    assert_string_equal(labels_value(row_at(0)->labels, 0), "bob");
    assert_int_equal(strlen(labels_value(row_at(0)->labels, 2)), sizeof one.application - 1);
    close_source();
}

/* The three sessions are camp's own session, a session hidden from the role, and a session that is
 * older than camp. */
static void a_session_whose_name_stays_unknown_has_no_row(void **state)
{
    struct backend_account three[] = { account(9, BACKEND_ENDED), account(PID, 0),
                                       account(PID + 1, BACKEND_OLDER | BACKEND_ENDED) };

    (void)state;
    open_source(POSTGRES_BPF);
    source.registry.snapshot_ns = three[0].begin_ns + 2 * (uint64_t)NS_PER_S;
    three[0].begin_ns = three[2].begin_ns = source.registry.snapshot_ns;
    three[0].time_ns = three[2].time_ns = source.registry.snapshot_ns + 600 * MS;
    fill(three, 3);
    assert_int_equal(row_count(), 0);
    assert_int_equal(source.accounts.count, 3); /* No account is omitted until the next interval. */
    close_source();
}

static void two_sessions_with_the_same_pid_have_two_rows(void **state)
{
    struct backend_account two[] = { account(PID, BACKEND_ENDED), account(PID, 0) };

    (void)state;
    open_source(POSTGRES_BPF);
    two[1].start_ns += 100 * MS;
    register_process(PID, wall_us(two[0].start_ns), "client_backend", "bob");
    register_process(PID, wall_us(two[1].start_ns), "client_backend", "eve");
    fill(two, 2);
    assert_int_equal(row_count(), 2);
    assert_string_equal(row_at(0)->name, "bob");
    assert_int_equal(row_at(0)->flags, ENTITY_NEW | ENTITY_ENDED);
    assert_string_equal(row_at(1)->name, "eve");
    close_source();
}

static void background_processes_have_rows_only_on_request(void **state)
{
    const struct backend_account one = account(PID, BACKEND_OLDER);

    (void)state;
    open_source(POSTGRES_BPF);
    register_process(PID, wall_us(one.start_ns), "walwriter", "");
    fill(&one, 1);
    assert_int_equal(row_count(), 0);
    close_source();
    open_source(POSTGRES_BPF);
    source.background = true;
    register_process(PID, wall_us(one.start_ns), "walwriter", "");
    fill(&one, 1);
    assert_int_equal(row_count(), 1);
    assert_string_equal(row_at(0)->name, "walwriter");
    assert_int_equal(row_at(0)->flags, 0);
    close_source();
}

/* The account has 100 ms on a CPU, 200 ms in the run queue and 300 ms waiting for a lock. The
 * kernel had no place for 40 ms of the wait. */
static void the_account_of_a_backend_is_divided_by_statement(void **state)
{
    const struct backend_account one = account(PID, 0);
    struct backend_statements *statements;

    (void)state;
    open_source(POSTGRES_BPF);
    source.accounts.by_statement = source.by_statement = source.has_parts = true;
    register_process(PID, wall_us(one.start_ns), "client_backend", "bob");
    assert_int_equal(backend_accounts_replace(&source.accounts, &one, 1), CAMP_OK);
    statements = backend_accounts_statements(&source.accounts, 0);
    *statements = (struct backend_statements){ .statement = 7, .run_queue_ns = 200 * MS };
    statements->shares[3] = (struct backend_share){ 7, LOCK, ACTIVE, 200 * MS, 1, 1 };
    statements->shares[4] = (struct backend_share){ 8, LOCK, ACTIVE, 60 * MS, 1, 1 };
    statements->shares[5] =
        (struct backend_share){ 8, BACKEND_EVENT_CPU, BACKEND_ACTIVITY_NONE, 100 * MS, 1, 1 };
    assert_int_equal(postgres_rows_of_accounts(&source), CAMP_OK);
    assert_int_equal(row_count(), 3);
    assert_parts(600);
    assert_string_equal(statement_at(0), "7");
    assert_int_equal(value_ms(0, "contention_row_lock_ns"), 200);
    assert_int_equal(value_ms(0, "run_queue_ns"), 200);
    assert_string_equal(statement_at(1), "8");
    assert_int_equal(value_ms(1, "contention_row_lock_ns"), 60);
    assert_int_equal(value_ms(1, "cpu_ns"), 100);
    assert_string_equal(statement_at(2), "(other)");
    assert_int_equal(value_ms(2, "contention_row_lock_ns"), 40);
    close_source();
}

/* A session that is idle keeps the id of its last statement. */
static void a_wait_between_two_statements_belongs_to_none(void **state)
{
    struct backend_account one = account(PID, 0);
    struct backend_statements *statements;

    (void)state;
    open_source(POSTGRES_BPF);
    source.accounts.by_statement = source.by_statement = source.has_parts = true;
    register_process(PID, wall_us(one.start_ns), "client_backend", "bob");
    assert_int_equal(postgres_events_add(&source.events, CLIENT_READ, "Client", "ClientRead"),
                     CAMP_OK);
    one.cpu_ns = one.run_queue_ns = 0;
    one.waits[0] = (struct backend_wait){ CLIENT_READ, 2, 600 * MS, 1 };
    assert_int_equal(backend_accounts_replace(&source.accounts, &one, 1), CAMP_OK);
    statements = backend_accounts_statements(&source.accounts, 0);
    *statements = (struct backend_statements){ .statement = 7 };
    statements->shares[3] = (struct backend_share){ 7, CLIENT_READ, 2, 600 * MS, 1, 1 };
    assert_int_equal(postgres_rows_of_accounts(&source), CAMP_OK);
    assert_int_equal(row_count(), 1);
    assert_string_equal(statement_at(0), "");
    assert_int_equal(value_ms(0, "idle_ns"), 600);
    close_source();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_account_of_a_backend_is_divided_by_statement),
        cmocka_unit_test(a_wait_between_two_statements_belongs_to_none),
        cmocka_unit_test(the_account_of_a_backend_becomes_a_row_named_after_its_session),
        cmocka_unit_test(a_session_is_accounted_in_full_once_its_name_is_known),
        cmocka_unit_test(a_client_session_that_ended_before_sql_listed_it_has_a_row),
        cmocka_unit_test(a_session_that_sql_did_not_see_has_the_names_that_the_kernel_read),
        cmocka_unit_test(a_session_whose_name_stays_unknown_has_no_row),
        cmocka_unit_test(two_sessions_with_the_same_pid_have_two_rows),
        cmocka_unit_test(background_processes_have_rows_only_on_request),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
