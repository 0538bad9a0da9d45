/* Statements of MariaDB: their texts, their digests, the server's counts of them, and which of them
 * wait for the locks of rows. */
#include "sources/sessions/mariadb/statements/digest_counts.h"
#include "sources/sessions/mariadb/statements/mariadb_row_waits.h"

#include "counters/units.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define DIGEST_1 "0123456789abcdef0123456789ABCDEF"
#define DIGEST_2 "fedcba98765432100123456789abcdef"

static void add_row(struct mariadb_answer *answer, const struct mariadb_statement *statement,
                    const char *const *row)
{
    assert_int_equal(mariadb_answer_add(answer, statement, row, NULL), CAMP_OK);
}

static void statements_that_differ_in_literals_have_one_number(void **state)
{
    char long_text[3000] = "select ", other[3000];

    (void)state;
    assert_int_equal(mariadb_statement_number("select 1, 'a'"),
                     mariadb_statement_number("select  22,\n\"b\""));
    assert_int_not_equal(mariadb_statement_number("select a"),
                         mariadb_statement_number("select b"));
    memset(long_text + 7, 'x', sizeof long_text - 8);
    strcpy(other, long_text);
    other[1500] = 'y';
    assert_int_equal(mariadb_statement_number(long_text), mariadb_statement_number(other));
    other[500] = 'y';
    assert_int_not_equal(mariadb_statement_number(long_text), mariadb_statement_number(other));
}

static void a_digest_is_read_from_a_statement_that_has_ended(void **state)
{
    struct mariadb_statements statements = { .has_digests = true };
    struct mariadb_answer answer = { 0 };
    char shown[LABELS_VALUE_SIZE];
    int64_t one, two;

    (void)state;
    assert_int_equal(mariadb_statements_add(&statements, "select 1 in (1)", &one), CAMP_OK);
    assert_int_equal(mariadb_statements_add(&statements, "select 1 in (1, 2)", &two), CAMP_OK);
    assert_int_not_equal(one, two);
    mariadb_statements_show(&statements, one, true, shown);
    assert_string_equal(shown, "example: select ? in (?)");
    mariadb_answer_begin(&answer, &mariadb_digests_statement);
    add_row(&answer, &mariadb_digests_statement,
            (const char *[]){ "select 7 in (8)", DIGEST_1, "SELECT ? IN (...)" });
    add_row(&answer, &mariadb_digests_statement,
            (const char *[]){ "select 7 in (8, 9)", DIGEST_1, "SELECT ? IN (...)" });
    add_row(&answer, &mariadb_digests_statement, (const char *[]){ "other", DIGEST_2, "OTHER" });
    add_row(&answer, &mariadb_digests_statement, (const char *[]){ NULL, "bad", NULL });
    assert_int_equal(mariadb_statements_learn(&statements, &answer), CAMP_OK);
    assert_int_equal(statements.unknown, 0);
    assert_int_equal(statements.digest_count, 1);
    assert_int_equal(mariadb_statements_merged(&statements, one),
                     mariadb_statements_merged(&statements, two));
    mariadb_statements_show(&statements, two, true, shown);
    assert_string_equal(shown, "SELECT ? IN (...)");
    mariadb_statements_show(&statements, two, false, shown);
    assert_string_equal(shown, "0123456789abcdef0123456789abcdef");
    mariadb_statements_show(&statements, MARIADB_STATEMENT_NONE, true, shown);
    assert_string_equal(shown, "");
    mariadb_statements_show(&statements, MARIADB_STATEMENT_OTHER, true, shown);
    assert_string_equal(shown, "(other)");
    mariadb_statements_release(&statements);
    mariadb_answer_release(&answer);
}

static void what_is_no_digest_is_refused(void **state)
{
    static const char *const texts[] = { "", "0123", "0123456789abcdef0123456789abcdeg",
                                         "00000000000000000000000000000000" };
    struct statement_id id;

    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        assert_false(mariadb_digest_read(texts[i], &id));
    assert_true(mariadb_digest_read(DIGEST_2 DIGEST_1, &id)); /* 64 digits, as MySQL has */
    assert_int_equal(id.high, 0xfedcba9876543210u);
}

static void the_number_of_kept_texts_and_digests_is_bounded(void **state)
{
    struct mariadb_statements statements = { 0 };
    char text[32], shown[LABELS_VALUE_SIZE];
    int64_t number = 0;

    (void)state;
    for (uint64_t i = 1; i <= 2 * MARIADB_STATEMENTS_MOST; i++) {
        const struct statement_id id = { i, i };

        snprintf(text, sizeof text, "select x%d", (int)i);
        assert_int_equal(mariadb_statements_add(&statements, text, &number), CAMP_OK);
        assert_int_equal(mariadb_statements_add_digest(&statements, &id, text), CAMP_OK);
    }
    assert_int_equal(statements.text_count, MARIADB_STATEMENTS_MOST);
    assert_int_equal(statements.digest_count, MARIADB_STATEMENTS_MOST);
    mariadb_statements_show(&statements, number, true, shown);
    assert_int_equal(strlen(shown), 16);
    mariadb_statements_release(&statements);
}

/* Reads one row of counts. */
static int read_counts(struct statement_counts *counts, struct mariadb_statements *statements,
                       const char *digest, const char *calls, const char *since)
{
    struct mariadb_answer answer = { 0 };
    bool is_too_large;
    int r;

    mariadb_answer_begin(&answer, &digest_counts_statement);
    add_row(
        &answer, &digest_counts_statement,
        (const char *[]){ "shop", digest, "SELECT `camp_own`", calls, "7000", "3000", "5", since });
    statement_counts_start(counts);
    r = digest_counts_read(counts, statements, &is_too_large, &answer, NULL);
    assert_false(is_too_large);
    mariadb_answer_release(&answer);
    return r == CAMP_OK ? statement_counts_finish(counts) : r;
}

static void counts_of_digests_are_differences_of_two_readings(void **state)
{
    struct mariadb_statements statements = { 0 };
    struct statement_counts counts = { 0 };

    (void)state;
    assert_int_equal(read_counts(&counts, &statements, DIGEST_1, "3", "100"), CAMP_OK);
    assert_int_equal(counts.growth_count, 0);
    assert_int_equal(read_counts(&counts, &statements, DIGEST_1, "10", "100"), CAMP_OK);
    assert_int_equal(counts.growth_count, 1);
    assert_int_equal(counts.growth[0].calls, 7);
    assert_int_equal(counts.growth[0].execution_ns, 0);
    /* a fraction of a second: the entry is a new one */
    assert_int_equal(read_counts(&counts, &statements, DIGEST_1, "10", "101.25"), CAMP_OK);
    assert_int_equal(counts.lost, 1);
    assert_int_equal(counts.growth[0].calls, 10);
    assert_int_equal(counts.growth[0].execution_ns, 7);
    assert_int_equal(counts.growth[0].lock_ns, 3);
    assert_int_equal(counts.growth[0].rows, 5);
    assert_true(statements.digests[0].is_own);
    /* what has no space has no digest */
    assert_int_equal(read_counts(&counts, &statements, NULL, "4", "101"), CAMP_OK);
    assert_int_equal(counts.growth[0].statement.high, 0);
    assert_int_equal(counts.growth[0].calls, 4);
    statement_counts_release(&counts);
    mariadb_statements_release(&statements);
}

static void impossible_counts_are_refused(void **state)
{
    static const char *const numbers[] = { NULL, "", "-1", "1x", "nan", "18446744073709551615" };
    struct mariadb_statements statements = { 0 };
    struct statement_counts counts = { 0 };

    (void)state;
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
        assert_int_equal(read_counts(&counts, &statements, DIGEST_1, numbers[i], "1"),
                         CAMP_E_FORMAT);
    assert_int_equal(read_counts(&counts, &statements, "xyz", "1", "1"), CAMP_E_FORMAT);
    statement_counts_release(&counts);
    mariadb_statements_release(&statements);
}

static void a_server_without_digests_says_what_to_do(void **state)
{
    struct digest_facts facts = { 0 };

    (void)state;
    assert_non_null(strstr(digest_facts_why_not(&facts), "grant select"));
    facts.is_readable = true;
    assert_non_null(strstr(digest_facts_why_not(&facts), "performance_schema = ON"));
    facts.is_on = true;
    assert_non_null(strstr(digest_facts_why_not(&facts), "'events_statements_current'"));
    facts.reports = true;
    assert_non_null(strstr(digest_facts_why_not(&facts), "'statements_digest'"));
    facts.counts = true;
    assert_non_null(strstr(digest_facts_why_not(&facts), "'statement/%'"));
    facts.has_instruments = true;
    assert_null(digest_facts_why_not(&facts));
}

static void add_sample(struct mariadb_session *session, const char *event, int64_t statement,
                       bool is_open, uint64_t ns)
{
    const struct mariadb_sample sample = { .kind = mariadb_kind("futex", event, "active"),
                                           .statement = statement,
                                           .is_open = is_open };

    assert_int_equal(mariadb_session_add_sample(session, &sample, ns), CAMP_OK);
}

static uint64_t locked_ns(const struct mariadb_session *session, int64_t statement)
{
    uint64_t sum = 0;

    for (size_t i = 0; i < session->sample_count; i++) {
        const struct mariadb_sample *sample = &session->samples[i];

        if (sample->statement == statement &&
            strcmp(labels_value(sample->kind, KIND_EVENT), "row_lock") == 0)
            sum += sample->ns;
    }
    return sum;
}

static void open_samples_are_divided_by_those_of_the_same_statement(void **state)
{
    struct mariadb_statements statements = { 0 };
    struct mariadb_session session = { 0 };
    int64_t update, insert;

    (void)state;
    assert_int_equal(mariadb_statements_add(&statements, "update", &update), CAMP_OK);
    assert_int_equal(mariadb_statements_add(&statements, "insert", &insert), CAMP_OK);
    add_sample(&session, "row_lock", update, false, 300);
    add_sample(&session, "Updating", update, false, 100);
    add_sample(&session, "Updating", update, true, 1000);
    add_sample(&session, "Updating", insert, true, 500);
    assert_int_equal(mariadb_row_wait_resolve(&session, &statements), CAMP_OK);
    assert_int_equal(locked_ns(&session, update), 300 + 750);
    assert_int_equal(locked_ns(&session, insert), 0);
    /* of a statement that this session knows nothing of, other sessions know */
    session.sample_count = 0;
    mariadb_row_wait_count(&statements, insert, 80, true);
    mariadb_row_wait_count(&statements, insert, 20, false);
    add_sample(&session, "Updating", insert, true, 500);
    assert_int_equal(mariadb_row_wait_resolve(&session, &statements), CAMP_OK);
    assert_int_equal(locked_ns(&session, insert), 400);
    free(session.samples);
    mariadb_statements_release(&statements);
}

static void a_statement_that_lasts_keeps_what_its_transaction_showed(void **state)
{
    struct mariadb_session session = { .transaction = MARIADB_WAITS_FOR_ROW };

    (void)state;
    mariadb_row_wait_find(&session, 1000, false, true, true);
    assert_int_equal(session.row_wait, MARIADB_ROW_LOCKED);
    session.lasting_ns = 150;
    mariadb_row_wait_find(&session, 1100, false, false, false);
    assert_int_equal(session.row_wait, MARIADB_ROW_LOCKED);
    session.lasting_ns = 150; /* it began after the transaction was read */
    mariadb_row_wait_find(&session, 1200, false, false, false);
    assert_int_equal(session.row_wait, MARIADB_ROW_UNKNOWN);
    /* a copy of the transaction from before */
    mariadb_row_wait_find(&session, 1300, false, true, false);
    assert_int_equal(session.row_wait, MARIADB_ROW_UNKNOWN);
    mariadb_row_wait_find(&session, 1400, true, true, false);
    assert_int_equal(session.row_wait, MARIADB_ROW_FREE);
}

static void more_statements_than_space_become_one(void **state)
{
    struct mariadb_session session = { 0 };
    uint64_t sum = 0;

    (void)state;
    for (int64_t i = 1; i <= 2 * MARIADB_SAMPLES_BY_STATEMENT; i++)
        add_sample(&session, "x", i, false, 1);
    assert_int_equal(session.sample_count, MARIADB_SAMPLES_BY_STATEMENT);
    for (size_t i = 0; i < session.sample_count; i++)
        sum += session.samples[i].ns;
    assert_int_equal(sum, 2 * MARIADB_SAMPLES_BY_STATEMENT);
    assert_int_equal(session.samples[session.sample_count - 1].statement, MARIADB_STATEMENT_OTHER);
    free(session.samples);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(statements_that_differ_in_literals_have_one_number),
        cmocka_unit_test(a_digest_is_read_from_a_statement_that_has_ended),
        cmocka_unit_test(what_is_no_digest_is_refused),
        cmocka_unit_test(the_number_of_kept_texts_and_digests_is_bounded),
        cmocka_unit_test(counts_of_digests_are_differences_of_two_readings),
        cmocka_unit_test(impossible_counts_are_refused),
        cmocka_unit_test(a_server_without_digests_says_what_to_do),
        cmocka_unit_test(open_samples_are_divided_by_those_of_the_same_statement),
        cmocka_unit_test(a_statement_that_lasts_keeps_what_its_transaction_showed),
        cmocka_unit_test(more_statements_than_space_become_one),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
