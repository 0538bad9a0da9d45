/* The lengths of sleeps of PostgreSQL sessions, from synthetic accounts and counts. */
#include "postgres_rows_fixture.h"

#define BUCKET 13 /* of sleeps of 8.4 to 16.8 ms: 2^23 ns */

static struct backend_lengths_growth growth_of(uint32_t row, uint64_t statement, uint64_t count)
{
    struct backend_lengths_growth growth = { .row = row,
                                             .event = LOCK,
                                             .activity = ACTIVE,
                                             .statement = statement,
                                             .ns = count * 10 * MS,
                                             .longest_ns = 10 * MS + count };

    growth.counts[BUCKET] = count;
    return growth;
}

static void take(const struct backend_account *account, const struct backend_lengths_growth *growth,
                 size_t count)
{
    assert_int_equal(backend_accounts_replace(&source.accounts, account, 1), CAMP_OK);
    assert_int_equal(postgres_lengths_take(&source, growth, count), CAMP_OK);
    session_frame_begin(&source.sessions, START_NS, START_NS + NS_PER_S, 0);
    assert_int_equal(postgres_rows_of_accounts(&source), CAMP_OK);
    assert_int_equal(postgres_lengths_add_other(&source), CAMP_OK);
}

static uint64_t value(size_t row, const char *name)
{
    const size_t column = schema_find_column(&source.sessions.schema, name);

    if (column == SIZE_MAX)
        fail_msg("there is no column %s", name);
    return frame_values(&source.sessions.frame, row)[column];
}

static void a_session_has_the_lengths_of_its_backend(void **state)
{
    const struct backend_account one = account(PID, 0);
    const struct backend_lengths_growth growth[] = { growth_of(0, 0, 3) };

    (void)state;
    open_source(POSTGRES_BPF);
    register_process(PID, wall_us(one.start_ns), "client_backend", "bob");
    take(&one, growth, 1);
    assert_int_equal(row_count(), 1);
    assert_int_equal(value(0, "waits"), 3);
    assert_int_equal(value(0, "waits_log2_23"), 3);
    assert_int_equal(value(0, "waits_ns"), 30 * MS);
    assert_int_equal(value(0, "waits_max_ns"), 10 * MS + 3);
    assert_int_equal(value(0, "waits_max_id"), PID);
    close_source();
}

/* A session whose account is omitted until it has a name has its lengths later, too. */
static void lengths_wait_for_the_name_of_their_session(void **state)
{
    struct backend_account one = account(PID, 0);
    const struct backend_lengths_growth growth[] = { growth_of(0, 0, 3), growth_of(0, 0, 4) };

    (void)state;
    open_source(POSTGRES_BPF);
    take(&one, growth, 1);
    assert_int_equal(row_count(), 0);
    register_process(PID, wall_us(one.start_ns), "client_backend", "bob");
    one.time_ns += 50 * MS;
    one.cpu_ns += 50 * MS;
    take(&one, growth + 1, 1);
    assert_int_equal(row_count(), 1);
    assert_int_equal(value(0, "waits"), 7);
    assert_int_equal(value(0, "waits_max_ns"), 10 * MS + 4);
    one.time_ns += 50 * MS;
    one.cpu_ns += 50 * MS;
    take(&one, growth, 0);
    assert_int_equal(value(0, "waits"), 0);
    close_source();
}

static void what_the_kernel_had_no_place_for_has_a_row_without_time(void **state)
{
    const struct backend_account one = account(PID, 0);
    const struct backend_lengths_growth growth[] = { growth_of(BACKEND_LENGTHS_OTHER, 0, 5) };

    (void)state;
    open_source(POSTGRES_BPF);
    register_process(PID, wall_us(one.start_ns), "client_backend", "bob");
    take(&one, growth, 1);
    assert_int_equal(row_count(), 2);
    assert_int_equal(value(0, "waits"), 0);
    assert_string_equal(row_at(1)->name, "(other sessions)");
    assert_int_equal(source.sessions.frame.elapsed_ns[1], 0);
    assert_int_equal(value(1, "waits"), 5);
    assert_int_equal(frame_size(&source.sessions.frame), 1);
    close_source();
}

/* Of a backend that runs no statement, the kernel has the number of its last one. */
static void lengths_are_divided_by_statement(void **state)
{
    const struct backend_account one = account(PID, 0);
    struct backend_lengths_growth growth[] = { growth_of(0, 8, 2), growth_of(0, 7, 1),
                                               growth_of(0, 7, 4) };
    uint64_t none = 0, seven = 0, eight = 0;

    (void)state;
    growth[2].activity = 2; /* idle */
    open_source(POSTGRES_BPF);
    source.accounts.by_statement = source.by_statement = source.has_parts = true;
    register_process(PID, wall_us(one.start_ns), "client_backend", "bob");
    take(&one, growth, 3);
    for (size_t i = 0; i < row_count(); i++) {
        const char *statement = statement_at(i);

        *(strcmp(statement, "7") == 0   ? &seven
          : strcmp(statement, "8") == 0 ? &eight
                                        : &none) += value(i, "waits");
    }
    assert_int_equal(seven, 1);
    assert_int_equal(eight, 2);
    assert_int_equal(none, 4);
    close_source();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_session_has_the_lengths_of_its_backend),
        cmocka_unit_test(lengths_wait_for_the_name_of_their_session),
        cmocka_unit_test(what_the_kernel_had_no_place_for_has_a_row_without_time),
        cmocka_unit_test(lengths_are_divided_by_statement),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
