/* Tests idle rows, labels and notes in recordings of database sessions. */
#include "recording_fixture.h"

/* Returns the first column of the only row as text. NULL becomes "(null)". */
static const char *ask_sql(const char *sql)
{
    static char ret[256];
    sqlite3_stmt *statement;
    sqlite3 *database;
    const char *text;

    assert_int_equal(sqlite3_open(path, &database), SQLITE_OK);
    if (sqlite3_prepare_v2(database, sql, -1, &statement, NULL) != SQLITE_OK)
        fail_msg("%s: %s", sql, sqlite3_errmsg(database));
    assert_int_equal(sqlite3_step(statement), SQLITE_ROW);
    text = (const char *)sqlite3_column_text(statement, 0);
    snprintf(ret, sizeof ret, "%s", text != NULL ? text : "(null)");
    sqlite3_finalize(statement);
    sqlite3_close(database);
    return ret;
}

static const struct column sessions_columns[] = {
    COLUMN("idle_ns", COLUMN_STATE),           COLUMN("wait_ns", COLUMN_STATE),
    COLUMN("idle_client_ns", COLUMN_COUNTER),  COLUMN("reported_idle_ns", COLUMN_COUNTER),
    COLUMN("reported_cpu_ns", COLUMN_COUNTER), COLUMN("calls", COLUMN_COUNTER),
};
static const struct schema sessions_schema = { "sessions", sessions_columns,
                                               COUNT(sessions_columns), 2 };

/* An idle session in consecutive intervals: its idle_client_ns, reported_idle_ns, reported_cpu_ns
 * and calls, and whether its row is written. */
static const struct {
    uint64_t values[4];
    bool written;
} session_ticks[] = {
    { { WALL_NS, WALL_NS, 0, 0 }, true },
    { { WALL_NS, WALL_NS + 3000000, 0, 0 }, false },
    { { WALL_NS, WALL_NS - 3000000, 0, 0 }, false },
    /* Another counter than before equals the time of the row. */
    { { WALL_NS, 0, WALL_NS, 0 }, true },
    { { WALL_NS, 0, WALL_NS, 0 }, false },
    { { WALL_NS, WALL_NS, 0, 0 }, true },
    /* The difference is more than 1 % of the interval. */
    { { WALL_NS, WALL_NS - 20000000, 0, 0 }, true },
    { { WALL_NS, WALL_NS / 2, WALL_NS / 2, 0 }, true },
    /* The number of calls equals the number of nanoseconds by chance. */
    { { WALL_NS, WALL_NS, 0, WALL_NS }, true },
    { { WALL_NS, WALL_NS, 0, 0 }, true },
    { { WALL_NS, WALL_NS, 0, 0 }, false },
};

static uint64_t record_session_ticks(void)
{
    struct recorder *recorder = open_recorder();
    struct frame frame;
    uint64_t written = 0;

    frame_init(&frame, &sessions_schema);
    for (size_t i = 0; i < COUNT(session_ticks); i++) {
        frame_clear(&frame);
        frame.start_ns = frame.end_ns;
        frame.end_ns += WALL_NS;
        *frame_add(&frame) = (struct entity){ .id = 1, .count = 1 };
        frame.elapsed_ns[0] = frame.values[0] = WALL_NS;
        memcpy(&frame.values[2], session_ticks[i].values, sizeof session_ticks[i].values);
        write_frame(recorder, &frame, NULL);
        assert_int_equal(recorder_counts(recorder).written - written, session_ticks[i].written);
        written = recorder_counts(recorder).written;
    }
    recorder_close(recorder);
    frame_release(&frame);
    return written;
}

/* Of several servers one may not know the throttled time of its sessions. */
static void that_throttled_time_is_unknown_is_recorded(void **state)
{
    const struct from from = { 0 };
    struct recorder *recorder = open_recorder();
    struct from_facts facts;
    struct source *source;
    struct frame frame;

    (void)state;
    frame_init(&frame, &sessions_schema);
    for (size_t i = 0; i < 3; i++) {
        frame_clear(&frame);
        frame.start_ns = frame.end_ns;
        frame.end_ns += WALL_NS;
        *frame_add(&frame) = (struct entity){ .id = 1, .count = 1 };
        *frame_add(&frame) = (struct entity){ .id = 2, .count = 1, .flags = ENTITY_UNTHROTTLED };
        for (size_t row = 0; row < 2; row++)
            frame.elapsed_ns[row] = frame_values(&frame, row)[0] = WALL_NS;
        write_frame(recorder, &frame, NULL);
    }
    assert_int_equal(recorder_counts(recorder).written, 2); /* Idle rows are still left out. */
    recorder_close(recorder);
    frame_release(&frame);
    source = open_from(&from, &facts);
    for (size_t i = 0; i < 3; i++) {
        const struct frame *read;

        assert_int_equal(read_frame(source, &read), CAMP_OK);
        assert_int_equal(read->entity_count, 2);
        assert_int_equal(read->entities[0].flags & ENTITY_UNTHROTTLED, 0);
        assert_int_equal(read->entities[1].flags & ENTITY_UNTHROTTLED, ENTITY_UNTHROTTLED);
    }
    source_close(source);
}

/* A row is left out if the same counters as in the row before equal the time of the state. These
 * counters are restored. A row with another value in a counter is written. */
static void an_unchanged_row_of_an_idle_session_is_written_once(void **state)
{
    const struct from from = { 0 };
    struct from_facts facts;
    struct source *source;

    (void)state;
    assert_int_equal(record_session_ticks(), 7);
    source = open_from(&from, &facts);
    for (size_t i = 0; i < COUNT(session_ticks); i++) {
        const struct frame *read;
        char sql[128];

        assert_int_equal(read_frame(source, &read), CAMP_OK);
        for (size_t k = 0; k < 4; k++) {
            const bool rests = !session_ticks[i].written && session_ticks[i].values[k] != 0;
            const uint64_t expected = rests ? WALL_NS : session_ticks[i].values[k];
            char text[32];

            assert_int_equal(read->values[2 + k], expected);
            snprintf(sql, sizeof sql, "SELECT \"%s\" FROM sessions_every WHERE tick = %zu",
                     sessions_columns[2 + k].name, i + 1);
            snprintf(text, sizeof text, "%llu", (unsigned long long)expected);
            assert_string_equal(ask_sql(sql), text);
        }
    }
    source_close(source);
}

/* All of idle_ns is in its part idle_client_ns, so the table has nothing of idle_ns, and the views
 * have all of it. */
static void of_a_state_with_parts_only_the_rest_is_recorded(void **state)
{
    (void)state;
    record_session_ticks();
    assert_string_equal(ask_sql("SELECT sum(idle_ns) FROM sessions_rows"), "0");
    assert_string_equal(ask_sql("SELECT min(idle_ns = idle_client_ns AND idle_ns = 1000000000) "
                                "FROM sessions_every"),
                        "1");
    assert_string_equal(ask_sql("SELECT group_concat(part_of) FROM (SELECT * FROM column_info "
                                "ORDER BY position)"),
                        "-1,-1,0,-1,-1,-1");
}

static const struct column reported_columns[] = {
    COLUMN("cpu_ns", COLUMN_STATE),
    COLUMN("idle_ns", COLUMN_STATE),
    COLUMN("idle_client_ns", COLUMN_COUNTER),
    COLUMN("reported_cpu_ns", COLUMN_COUNTER),
    COLUMN("reported_idle_ns", COLUMN_COUNTER),
};
static const struct schema reported_schema = { "sessions", reported_columns,
                                               COUNT(reported_columns), 2 };

/* The server reports no CPU time, and a little more or less idle time than was measured. */
static void of_a_report_like_its_state_the_difference_is_recorded(void **state)
{
    static const uint64_t reported[] = { WALL_NS - 1000000, WALL_NS - 4000000, 7, 0 };
    struct recorder *recorder = open_recorder();
    const struct from from = { 0 };
    const struct frame *read;
    struct from_facts facts;
    struct source *source;
    struct frame frame;

    (void)state;
    frame_init(&frame, &reported_schema);
    for (size_t i = 0; i < COUNT(reported); i++) {
        const uint64_t values[] = { 3000000, WALL_NS - 3000000, WALL_NS - 3000000, 0, reported[i] };

        frame_clear(&frame);
        frame.start_ns = frame.end_ns;
        frame.end_ns += WALL_NS;
        *frame_add(&frame) = (struct entity){ .id = 1, .count = 1 };
        frame.elapsed_ns[0] = WALL_NS;
        memcpy(frame.values, values, sizeof values);
        write_frame(recorder, &frame, NULL);
    }
    recorder_close(recorder);
    frame_release(&frame);
    assert_string_equal(ask_sql("SELECT group_concat(part_of) FROM (SELECT * FROM column_info "
                                "ORDER BY position)"),
                        "-1,4,1,-1,-1");
    assert_string_equal(ask_sql("SELECT group_concat(reported_idle_ns) FROM sessions_rows"),
                        "2000000,-1000000,-996999993,-997000000");
    assert_string_equal(ask_sql("SELECT group_concat(reported_idle_ns) FROM sessions"),
                        "999000000,996000000,7,0");
    assert_string_equal(ask_sql("SELECT group_concat(reported_idle_ns) FROM sessions_every"),
                        "999000000,996000000,7,0");
    source = open_from(&from, &facts);
    for (size_t i = 0; i < COUNT(reported); i++) {
        assert_int_equal(read_frame(source, &read), CAMP_OK);
        assert_int_equal(read->values[1], WALL_NS - 3000000);
        assert_int_equal(read->values[3], 0);
        assert_int_equal(read->values[4], reported[i]);
        assert_int_equal(frame_unaccounted_ns(read, 0), 0);
    }
    source_close(source);
}

/* Until version 2, the tables had the whole states. */
static void an_old_recording_with_whole_states_is_read(void **state)
{
    const struct from from = { 0 };
    const struct frame *read;
    struct from_facts facts;
    struct source *source;

    (void)state;
    record_session_ticks();
    run_sql("UPDATE sessions_rows SET idle_ns = idle_ns + idle_client_ns;"
            "ALTER TABLE column_info DROP COLUMN part_of; PRAGMA user_version = 2");
    source = open_from(&from, &facts);
    for (size_t i = 0; i < COUNT(session_ticks); i++) {
        assert_int_equal(read_frame(source, &read), CAMP_OK);
        assert_int_equal(read->values[0], WALL_NS);
        assert_int_equal(frame_unaccounted_ns(read, 0), 0);
    }
    source_close(source);
}

/* One session has labels, and its third label changes. The other session has no labels. */
static void record_session(void)
{
    const char *const third[] = { "q1", "q2", "q2", "", "q3" };
    struct recorder *recorder = open_recorder();
    struct frame frame;

    frame_init(&frame, &states_schema);
    for (size_t i = 0; i < COUNT(third); i++) {
        const char *const values[] = { "app", "", third[i] };
        struct actor session = { .entity = { .id = 1, .count = 1, .name = "s" } };
        struct actor other = { .entity = { .id = 2, .count = 1 } };

        session.entity.labels = labels_intern(values, COUNT(values));
        frame_clear(&frame);
        frame.start_ns = frame.end_ns;
        frame.end_ns += WALL_NS;
        add_made(&frame, &session, false);
        add_made(&frame, &other, false);
        write_frame(recorder, &frame, NULL);
    }
    recorder_close(recorder);
    frame_release(&frame);
}

static void a_label_is_recorded_only_when_it_changes(void **state)
{
    (void)state;
    record_session();
    assert_string_equal(ask_sql("SELECT group_concat(since_tick || value) FROM (SELECT * FROM "
                                "label WHERE entity = 1 AND name = 'name' ORDER BY since_tick)"),
                        "1q1,2q2,4,5q3");
    assert_string_equal(ask_sql("SELECT count(*) FROM label"), "5");
    assert_string_equal(ask_sql("SELECT count(*) FROM identity"), "2");
    assert_string_equal(ask_sql("SELECT \"user\" || id FROM entity WHERE \"user\" = 'app'"),
                        "app1");
    assert_string_equal(ask_sql("SELECT \"it's \"\"one\"\"\" FROM entity WHERE id = 1"), "(null)");
    assert_string_equal(ask_sql("SELECT \"user\" FROM entity WHERE id = 2"), "(null)");
}

static void an_old_recording_without_labels_is_read(void **state)
{
    const struct from from = { 0 };
    const struct frame *read;
    struct from_facts facts;
    struct source *source;

    (void)state;
    record_session();
    run_sql("DROP VIEW entity; DROP VIEW label; DROP TABLE label_value; DROP TABLE label_name");
    source = open_from(&from, &facts);
    assert_int_equal(source->describe(source)->label_count, 0);
    for (int i = 0; i < 5; i++) {
        assert_int_equal(read_frame(source, &read), CAMP_OK);
        assert_int_equal(read->entity_count, 2);
        assert_int_equal(read->entities[0].labels, LABELS_NONE);
    }
    source_close(source);
}

static const char *const notes[] = { NULL, "the server is gone", "the server is gone", "", "back" };

static void record_notes(void)
{
    struct recorder *recorder = open_recorder();
    struct frame frame;

    frame_init(&frame, &states_schema);
    for (size_t i = 0; i < COUNT(notes); i++) {
        make_frame(&frame, i);
        frame.note = notes[i];
        write_frame(recorder, &frame, NULL);
    }
    recorder_close(recorder);
    frame_release(&frame);
}

static void the_note_of_each_recorded_interval_is_read_back(void **state)
{
    const struct from from = { 0 };
    const struct frame *read;
    struct from_facts facts;
    struct source *source;

    (void)state;
    record_notes();
    source = open_from(&from, &facts);
    for (size_t i = 0; i < COUNT(notes); i++) {
        assert_int_equal(read_frame(source, &read), CAMP_OK);
        assert_string_equal(read->note, notes[i] != NULL ? notes[i] : "");
    }
    source_close(source);
    assert_string_equal(ask_sql("SELECT group_concat(since_tick) FROM note"), "2,4,5");
    run_sql("DROP TABLE note"); /* Older recordings have no table of notes. */
    source = open_from(&from, &facts);
    assert_int_equal(read_frame(source, &read), CAMP_OK);
    assert_null(read->note);
    source_close(source);
}

int main(void)
{
#define RECORDING_TEST(name) cmocka_unit_test_setup_teardown(name, make_folder, remove_folder)
    const struct CMUnitTest tests[] = {
        RECORDING_TEST(that_throttled_time_is_unknown_is_recorded),
        RECORDING_TEST(an_unchanged_row_of_an_idle_session_is_written_once),
        RECORDING_TEST(of_a_state_with_parts_only_the_rest_is_recorded),
        RECORDING_TEST(of_a_report_like_its_state_the_difference_is_recorded),
        RECORDING_TEST(an_old_recording_with_whole_states_is_read),
        RECORDING_TEST(a_label_is_recorded_only_when_it_changes),
        RECORDING_TEST(an_old_recording_without_labels_is_read),
        RECORDING_TEST(the_note_of_each_recorded_interval_is_read_back),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
