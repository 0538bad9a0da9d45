/* Snapshots of sessions from the rows of an answer: honest rows, and rows that no PostgreSQL
 * sends. */
#include "sources/sessions/postgres/postgres_snapshot.h"

#include "../tree.h"

#include <endian.h>

enum {
    PID,
    IS_OWN,
    START,
    STATE,
    CLASS,
    EVENT,
    TYPE,
    LEADER,
    HAS_DATABASE,
    SERVER,
    QUERY_ID,
    BLOCKERS,
    USER,
    TRANSACTION = USER + 6,
    BLOCKED
};
#define START_US ((int64_t)1000000) /* since 2000 */
#define EPOCH_S ((int64_t)946684800)

struct row {
    uint32_t pid;
    uint64_t start, server, query_id, transaction;
    struct postgres_field fields[POSTGRES_COLUMNS_MOST];
};

static struct postgres_field text(const char *text)
{
    return (struct postgres_field){ text, strlen(text) };
}

/* Makes the row of a session; that of pid 1 is camp's own. */
static struct postgres_field *make_row(struct row *row, int32_t pid)
{
    *row =
        (struct row){ htobe32((uint32_t)pid),        htobe64(START_US),     htobe64(START_US + 5),
                      htobe64((uint64_t)(-5 - pid)), htobe64(START_US + 3), { { 0 } } };
    row->fields[PID] = (struct postgres_field){ (const char *)&row->pid, 4 };
    row->fields[IS_OWN] = (struct postgres_field){ pid == 1 ? "\1" : "\0", 1 };
    row->fields[START] = (struct postgres_field){ (const char *)&row->start, 8 };
    row->fields[STATE] = text("active");
    row->fields[TYPE] = text("client backend");
    row->fields[HAS_DATABASE] = (struct postgres_field){ "\1", 1 };
    row->fields[SERVER] = (struct postgres_field){ (const char *)&row->server, 8 };
    row->fields[QUERY_ID] = (struct postgres_field){ (const char *)&row->query_id, 8 };
    row->fields[USER] = text("root");
    return row->fields;
}

/* Reads an answer of camp's own row and of `changed`, which may be NULL. */
static int read_rows(struct postgres_snapshot *snapshot, struct postgres_answer *answer,
                     const struct postgres_field *changed, struct camp_error *error)
{
    struct row own;

    postgres_answer_begin(answer, postgres_snapshot_columns(true));
    assert_int_equal(postgres_answer_add(answer, make_row(&own, 1), NULL), CAMP_OK);
    if (changed != NULL)
        assert_int_equal(postgres_answer_add(answer, changed, NULL), CAMP_OK);
    return postgres_snapshot_read(snapshot, true, answer, error);
}

static void a_row_is_read_as_a_session(void **state)
{
    struct postgres_snapshot snapshot = { 0 };
    struct postgres_answer answer = { 0 };
    struct row row;

    (void)state;
    assert_int_equal(read_rows(&snapshot, &answer, make_row(&row, 7), NULL), CAMP_OK);
    assert_int_equal(snapshot.count, 1);
    assert_int_equal(snapshot.own_pid, 1);
    assert_int_equal(snapshot.server_us, EPOCH_S * 1000000 + START_US + 5);
    assert_int_equal(snapshot.sessions[0].pid, 7);
    assert_int_equal(snapshot.sessions[0].start_us, EPOCH_S * 1000000 + START_US);
    assert_string_equal(snapshot.sessions[0].type, "client_backend");
    assert_string_equal(snapshot.sessions[0].kind.texts[SESSION_CLASS], "none");
    assert_string_equal(snapshot.sessions[0].kind.texts[SESSION_ACTIVITY], "active");
    assert_int_equal(snapshot.sessions[0].query_id, -12);
    assert_int_equal(postgres_session_statement(&snapshot.sessions[0]), -12);
    assert_int_equal(snapshot.own_query_id, -6);
    assert_int_equal(snapshot.sessions[0].transaction_us, 0);
    assert_int_equal(snapshot.blocked_us, 0);
    assert_string_equal(snapshot.sessions[0].user, "root");
    assert_string_equal(snapshot.sessions[0].database, "");
    assert_int_equal(read_rows(&snapshot, &answer, NULL, NULL), CAMP_OK);
    assert_int_equal(snapshot.count, 0);
    postgres_snapshot_release(&snapshot);
    postgres_answer_release(&answer);
}

/* An array of PostgreSQL: its dimensions, whether it has NULLs, int4; the count, the first index.
 */
#define NO_ELEMENT "\0\0\0\0\0\0\0\0\0\0\0\27"
#define ONE_DIMENSION "\0\0\0\1\0\0\0\0\0\0\0\27"
#define FIRST "\0\0\0\1"
#define ELEMENT_0 "\0\0\0\4\0\0\0\0"
#define ELEMENT_7 "\0\0\0\4\0\0\0\7"

static void the_sessions_that_block_one_are_read(void **state)
{
    static const struct postgres_field none = { NO_ELEMENT, 12 };
    static const struct postgres_field two = { ONE_DIMENSION "\0\0\0\2" FIRST ELEMENT_7 ELEMENT_0,
                                               36 };
    struct postgres_snapshot snapshot = { 0 };
    struct postgres_answer answer = { 0 };
    int64_t blockers[BLOCKERS_MOST];
    struct row row;

    (void)state;
    make_row(&row, 5)[BLOCKERS] = two;
    assert_int_equal(read_rows(&snapshot, &answer, row.fields, NULL), CAMP_OK);
    assert_int_equal(postgres_session_blockers(&snapshot.sessions[0], blockers), 2);
    assert_int_equal(blockers[0], 7);
    assert_int_equal(blockers[1], BLOCKER_PREPARED);
    row.fields[BLOCKERS] = none;
    assert_int_equal(read_rows(&snapshot, &answer, row.fields, NULL), CAMP_OK);
    assert_int_equal(postgres_session_blockers(&snapshot.sessions[0], blockers), 0);
    make_row(&row, 5);
    assert_int_equal(read_rows(&snapshot, &answer, row.fields, NULL), CAMP_OK);
    assert_int_equal(postgres_session_blockers(&snapshot.sessions[0], blockers), 0);
    postgres_snapshot_release(&snapshot);
    postgres_answer_release(&answer);
}

static void a_waiting_session_has_the_start_of_what_blocks_it(void **state)
{
    struct postgres_snapshot snapshot = { 0 };
    struct postgres_answer answer = { 0 };
    struct row row;

    (void)state;
    make_row(&row, 7);
    row.fields[TRANSACTION] = (struct postgres_field){ (const char *)&row.transaction, 8 };
    row.fields[BLOCKED] = (struct postgres_field){ (const char *)&row.server, 8 };
    assert_int_equal(read_rows(&snapshot, &answer, row.fields, NULL), CAMP_OK);
    assert_int_equal(snapshot.sessions[0].transaction_us, EPOCH_S * 1000000 + START_US + 3);
    assert_int_equal(snapshot.blocked_us, EPOCH_S * 1000000 + START_US + 5);
    /* The next snapshot has nobody that waits. */
    assert_int_equal(read_rows(&snapshot, &answer, make_row(&row, 7), NULL), CAMP_OK);
    assert_int_equal(snapshot.blocked_us, 0);
    postgres_snapshot_release(&snapshot);
    postgres_answer_release(&answer);
}

static void a_value_that_no_session_has_is_refused(void **state)
{
    static char too_many[20 + 8 * (BLOCKERS_MOST + 1)] = ONE_DIMENSION "\0\0\0\41" FIRST;
    static const struct {
        int column;
        struct postgres_field value;
    } cases[] = {
        { PID, { NULL, 0 } },
        { PID, { "\0\0\0", 3 } },
        { PID, { "\0\0\0\0", 4 } },
        { PID, { "\377\377\377\377", 4 } },
        { PID, { "\0\0\0\0\0\0\0\7", 8 } },
        { IS_OWN, { NULL, 0 } },
        { IS_OWN, { "", 0 } },
        { START, { "\0\0\0\0", 4 } },
        { START, { "\177\377\377\377\377\377\377\377", 8 } }, /* infinity */
        { START, { "\200\0\0\0\0\0\0\0", 8 } },
        { LEADER, { "\0\0\0\0\0\0\0\7", 8 } },
        { HAS_DATABASE, { NULL, 0 } },
        { QUERY_ID, { "\0\0\0\7", 4 } },
        { BLOCKERS, { "", 0 } },
        { BLOCKERS, { NO_ELEMENT, 11 } },
        { BLOCKERS, { NO_ELEMENT "\0", 13 } },
        { BLOCKERS, { "\0\0\0\0\0\0\0\0\0\0\0\31", 12 } },              /* of texts */
        { BLOCKERS, { "\0\0\0\1\0\0\0\0\0\0\0\27", 12 } },              /* ends early */
        { BLOCKERS, { "\0\0\0\2\0\0\0\0\0\0\0\27", 12 } },              /* two dimensions */
        { BLOCKERS, { ONE_DIMENSION "\0\0\0\1" FIRST, 20 } },           /* ends early */
        { BLOCKERS, { ONE_DIMENSION "\0\0\0\2" FIRST ELEMENT_7, 28 } }, /* has one */
        { BLOCKERS, { ONE_DIMENSION "\377\377\377\377" FIRST, 20 } },
        { BLOCKERS, { ONE_DIMENSION "\0\0\0\1" FIRST "\377\377\377\377\0\0\0\7", 28 } },
        { BLOCKERS, { ONE_DIMENSION "\0\0\0\1" FIRST "\0\0\0\4\377\377\377\377", 28 } },
        { BLOCKERS, { too_many, sizeof too_many } },
        { SERVER, { NULL, 0 } },
        { SERVER, { "\177\0\0\0\0\0\0\0", 8 } },
        { TRANSACTION, { "\0\0\0\7", 4 } },
        { TRANSACTION, { "\177\377\377\377\377\377\377\377", 8 } },
        { BLOCKED, { "", 0 } },
        { BLOCKED, { "\200\0\0\0\0\0\0\0", 8 } },
    };

    (void)state;
    for (size_t i = 20; i < sizeof too_many; i += 8)
        too_many[i + 3] = 4;
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct postgres_snapshot snapshot = { 0 };
        struct postgres_answer answer = { 0 };
        struct camp_error error;
        struct row row;

        make_row(&row, 7)[cases[i].column] = cases[i].value;
        assert_int_equal(read_rows(&snapshot, &answer, row.fields, &error), CAMP_E_FORMAT);
        assert_string_equal(
            error.message,
            "PostgreSQL: pg_stat_activity has an impossible value; is it PostgreSQL?");
        postgres_snapshot_release(&snapshot);
        postgres_answer_release(&answer);
    }
}

static void an_answer_without_the_own_session_is_refused(void **state)
{
    struct postgres_snapshot snapshot = { 0 };
    struct postgres_answer answer = { 0 };
    struct row row;

    (void)state;
    postgres_answer_begin(&answer, postgres_snapshot_columns(false));
    assert_int_equal(postgres_snapshot_read(&snapshot, false, &answer, NULL), CAMP_E_FORMAT);
    assert_int_equal(postgres_answer_add(&answer, make_row(&row, 7), NULL), CAMP_OK);
    assert_int_equal(postgres_snapshot_read(&snapshot, false, &answer, NULL), CAMP_E_FORMAT);
    postgres_snapshot_release(&snapshot);
    postgres_answer_release(&answer);
}

static void a_text_ends_at_its_nul_and_an_empty_one_is_no_null(void **state)
{
    struct postgres_field row[POSTGRES_COLUMNS_MOST];
    struct postgres_answer answer = { 0 };

    (void)state;
    postgres_answer_begin(&answer, 3);
    assert_int_equal(
        postgres_answer_add(
            &answer, (struct postgres_field[]){ { "a\0b", 3 }, { "", 0 }, { NULL, 0 } }, NULL),
        CAMP_OK);
    assert_true(postgres_answer_next(&answer, row));
    assert_string_equal(row[0].bytes, "a");
    assert_int_equal(row[0].length, 3);
    assert_string_equal(row[1].bytes, "");
    assert_null(row[2].bytes);
    assert_false(postgres_answer_next(&answer, row));
    postgres_answer_release(&answer);
}

static void an_answer_has_limits(void **state)
{
    const size_t half = POSTGRES_ANSWER_BYTES / 2;
    const struct postgres_field large = { calloc(1, half), half }, none = { NULL, 0 };
    struct postgres_answer answer = { 0 };

    (void)state;
    postgres_answer_begin(&answer, 1);
    for (size_t i = 0; i < POSTGRES_ROWS_MOST; i++)
        assert_int_equal(postgres_answer_add(&answer, &none, NULL), CAMP_OK);
    assert_int_equal(postgres_answer_add(&answer, &none, NULL), CAMP_E_FORMAT);
    postgres_answer_begin(&answer, 1);
    assert_int_equal(postgres_answer_add(&answer, &large, NULL), CAMP_OK);
    assert_int_equal(postgres_answer_add(&answer, &large, NULL), CAMP_E_FORMAT);
    assert_int_equal(postgres_answer_add(&answer, &none, NULL), CAMP_OK);
    postgres_answer_release(&answer);
    free((char *)large.bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_row_is_read_as_a_session),
        cmocka_unit_test(the_sessions_that_block_one_are_read),
        cmocka_unit_test(a_waiting_session_has_the_start_of_what_blocks_it),
        cmocka_unit_test(a_value_that_no_session_has_is_refused),
        cmocka_unit_test(an_answer_without_the_own_session_is_refused),
        cmocka_unit_test(a_text_ends_at_its_nul_and_an_empty_one_is_no_null),
        cmocka_unit_test(an_answer_has_limits),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
