/* Tests that recorded frames are read back unchanged, including the idle rows that the file leaves
 * out. */
#include "recording_fixture.h"

static void a_recording_is_read_back_unchanged(void **state)
{
    struct recorder_counts counts;

    (void)state;
    counts = record_made(&states_schema, &counts_schema);
    assert_int_equal(counts.ticks, TICKS);
    assert_true(counts.written < counts.rows);
    replay_from(0, 0, &states_schema, &counts_schema);
}

/* In files before version 4, the rows have the number of their interval, and labels their names. */
static void make_version_3(const char *name, const char *tick)
{
    char sql[2000];

    snprintf(sql, sizeof sql,
             "CREATE TABLE old_rows AS SELECT t.tick, r.* FROM %s AS t JOIN \"%s_rows\" AS r"
             " ON r.row_number BETWEEN t.first_row AND t.first_row + t.row_count - 1;"
             "CREATE TABLE IF NOT EXISTS \"%s_seldom\"(row_number);"
             "CREATE TABLE old_seldom AS SELECT r.tick, r.entity, s.* FROM old_rows AS r"
             " JOIN \"%s_seldom\" AS s USING (row_number);"
             "DROP VIEW \"%s\"; DROP VIEW \"%s_every\"; DROP VIEW IF EXISTS entity;"
             "DROP TABLE \"%s_rows\"; DROP TABLE \"%s_seldom\";"
             "ALTER TABLE old_rows DROP COLUMN row_number;"
             "ALTER TABLE old_seldom DROP COLUMN row_number;"
             "ALTER TABLE old_rows RENAME TO \"%s_rows\";"
             "ALTER TABLE old_seldom RENAME TO \"%s_seldom\";"
             "ALTER TABLE %s DROP COLUMN first_row; ALTER TABLE %s DROP COLUMN row_count",
             tick, name, name, name, name, name, name, name, name, name, tick, tick);
    run_sql(sql);
}

static void a_recording_of_version_3_is_read_back_unchanged(void **state)
{
    (void)state;
    record_made(&states_schema, &counts_schema);
    make_version_3(states_schema.name, "tick");
    make_version_3("tick_2", "tick_beside");
    run_sql("CREATE TABLE old_label AS SELECT * FROM label; DROP VIEW label;"
            "DROP TABLE label_value; ALTER TABLE old_label RENAME TO label;"
            "PRAGMA user_version = 3");
    replay_from(0, 0, &states_schema, &counts_schema);
    replay_from(FIRST_WALL_CLOCK_NS + 99 * (int64_t)WALL_NS, 100, &states_schema, &counts_schema);
}

/* Two entities sleep for two periods between key intervals. One of them is in another state for one
 * interval. */
static void an_unchanged_row_of_an_idle_thread_is_written_to_a_recording_once(void **state)
{
    struct recorder *recorder = open_recorder();
    struct frame frame;

    (void)state;
    frame_init(&frame, &states_schema);
    for (size_t i = 0; i < 2 * RECORDING_KEY_EVERY; i++) {
        struct actor sleeper = { .state = 1, .entity = { .id = 1, .count = 1, .name = "a" } };
        struct actor other = { .state = i == 10 ? 2 : 1, .entity = { .id = 2, .count = 1 } };

        frame_clear(&frame);
        frame.start_ns = frame.end_ns;
        frame.end_ns += WALL_NS;
        add_made(&frame, &sleeper, false);
        add_made(&frame, &other, false);
        write_frame(recorder, &frame, NULL);
    }
    assert_int_equal(recorder_counts(recorder).rows, 4 * RECORDING_KEY_EVERY);
    assert_int_equal(recorder_counts(recorder).written, 4 + 2);
    recorder_close(recorder);
    frame_release(&frame);
}

/* A snapshot reads each thread at its own moment. A row may be a millisecond shorter or longer than
 * the interval and still be idle. */
static void the_row_of_an_idle_thread_is_read_back_with_the_length_of_the_interval(void **state)
{
    const struct from from = { 0 };
    const uint64_t lengths_ns[] = { WALL_NS, WALL_NS + 900000, WALL_NS - 900000,
                                    WALL_NS + 20000000 };
    const uint64_t expected_ns[] = { WALL_NS, WALL_NS, WALL_NS, WALL_NS + 20000000 };
    struct recorder *recorder = open_recorder();
    struct from_facts facts;
    struct source *source;
    struct frame frame;

    (void)state;
    frame_init(&frame, &states_schema);
    for (size_t i = 0; i < COUNT(lengths_ns); i++) {
        struct actor sleeper = { .state = 1, .entity = { .id = 1, .count = 1 } };

        frame_clear(&frame);
        frame.start_ns = frame.end_ns;
        frame.end_ns += WALL_NS;
        add_made(&frame, &sleeper, false);
        frame.elapsed_ns[0] = frame.values[1] = lengths_ns[i];
        write_frame(recorder, &frame, NULL);
    }
    assert_int_equal(recorder_counts(recorder).written, 2);
    recorder_close(recorder);
    frame_release(&frame);
    source = open_from(&from, &facts);
    for (size_t i = 0; i < COUNT(expected_ns); i++) {
        const struct frame *read;

        assert_int_equal(read_frame(source, &read), CAMP_OK);
        assert_int_equal(read->elapsed_ns[0], expected_ns[i]);
        assert_int_equal(frame_unaccounted_ns(read, 0), 0);
    }
    source_close(source);
}

static void a_recording_of_a_source_without_states_is_read_back_unchanged(void **state)
{
    (void)state;
    record_made(&counts_schema, NULL);
    replay_from(0, 0, &counts_schema, NULL);
}

/* --begin selects intervals by their middle. So the time may be a little before or after the start
 * of an interval. */
static void a_replay_may_start_at_any_interval_of_a_recording(void **state)
{
    (void)state;
    record_made(&states_schema, &counts_schema);
    for (size_t first = 0; first < TICKS; first += 37) {
        const int64_t begin_ns = FIRST_WALL_CLOCK_NS + ((int64_t)first - 1) * WALL_NS;

        replay_from(begin_ns - WALL_NS / 4, first, &states_schema, &counts_schema);
        replay_from(begin_ns + WALL_NS / 4, first, &states_schema, &counts_schema);
    }
}

static void a_replay_has_the_source_and_tier_and_note_stored_in_its_recording(void **state)
{
    const struct from from = { 0 };
    struct from_facts facts;

    (void)state;
    record_made(&states_schema, NULL);
    source_close(open_from(&from, &facts));
    assert_string_equal(facts.kind, "makings");
    assert_string_equal(facts.tier, "schedstat+SQL");
    assert_string_equal(facts.note, "a note");
    assert_false(facts.live);
    assert_int_equal(facts.interval_ns, WALL_NS);
    assert_int_equal(facts.server_cpus, 6);
    assert_int_equal(facts.end_ns, FIRST_WALL_CLOCK_NS + (TICKS - 1) * (int64_t)WALL_NS);
}

static void a_number_of_cpus_that_cannot_be_is_unknown(void **state)
{
    static const char *const texts[] = { "", "-1", "65537", "18446744073709551616", "six", "x6" };
    const struct from from = { 0 };
    struct from_facts facts;
    char sql[120];

    (void)state;
    record_made(&states_schema, NULL);
    for (size_t i = 0; i < COUNT(texts); i++) {
        snprintf(sql, sizeof sql, "UPDATE camp SET value = '%s' WHERE key = 'server_cpus'",
                 texts[i]);
        run_sql(sql);
        source_close(open_from(&from, &facts));
        assert_int_equal(facts.server_cpus, 0);
    }
    run_sql("DELETE FROM camp WHERE key = 'server_cpus'");
    source_close(open_from(&from, &facts));
    assert_int_equal(facts.server_cpus, 0);
}

/* The clock is set back by an hour after 60 intervals. */
static void recorded_intervals_keep_their_order_when_the_clock_is_set_back(void **state)
{
    const int64_t hour_ns = 3600 * (int64_t)WALL_NS;
    const struct from from = { .begin_ns = FIRST_WALL_CLOCK_NS + 50 * (int64_t)WALL_NS };
    struct recorder *recorder = open_recorder();
    const struct frame *read;
    struct from_facts facts;
    struct source *source;
    struct frame frame;

    (void)state;
    frame_init(&frame, &counts_schema);
    for (size_t i = 0; i < 100; i++) {
        make_frame(&frame, i);
        frame.wall_clock_ns -= i >= 60 ? hour_ns : 0;
        write_frame(recorder, &frame, NULL);
    }
    recorder_close(recorder);
    source = open_from(&from, &facts);
    for (uint64_t i = 51; i < 100; i++) {
        assert_int_equal(read_frame(source, &read), CAMP_OK);
        assert_int_equal(read->losses.partial, i);
    }
    assert_int_equal(read_frame(source, &read), SOURCE_END);
    source_close(source);
    frame_release(&frame);
}

static void exited_entities_are_not_repeated_in_later_intervals_of_a_long_replay(void **state)
{
    const struct from from = { 0 };
    struct recorder *recorder = open_recorder();
    struct from_facts facts;
    struct source *source;
    struct frame frame;

    (void)state;
    frame_init(&frame, &states_schema);
    for (int64_t i = 0; i < 8 * RECORDING_KEY_EVERY; i++) {
        struct actor stays = { .state = 1, .level = 7, .entity = { .id = 1, .count = 1 } };

        frame_clear(&frame);
        frame.start_ns = frame.end_ns;
        frame.end_ns += WALL_NS;
        for (int64_t k = 0; k < 50; k++) {
            const uint32_t flags = ENTITY_NEW | ENTITY_ENDED;
            struct actor passes = { .entity = {
                                        .id = 2 + k + 50 * i, .flags = flags, .count = 1 } };

            add_made(&frame, &passes, true);
        }
        add_made(&frame, &stays, false);
        write_frame(recorder, &frame, NULL);
    }
    assert_int_equal(recorder_counts(recorder).written, 8 + 50 * 8 * RECORDING_KEY_EVERY);
    recorder_close(recorder);
    source = open_from(&from, &facts);
    for (int64_t i = 0; i < 8 * RECORDING_KEY_EVERY; i++) {
        const struct frame *read;
        size_t at = 0;

        assert_int_equal(read_frame(source, &read), CAMP_OK);
        assert_int_equal(read->entity_count, 51);
        while (read->entities[at].id != 1)
            at++;
        assert_int_equal(frame_values(read, at)[COUNT(states_columns) - 1], 7);
    }
    source_close(source);
    frame_release(&frame);
}

static void the_view_of_entities_has_their_last_names(void **state)
{
    struct recorder *recorder = open_recorder();
    struct frame frame;
    sqlite3 *database;
    sqlite3_stmt *row;

    (void)state;
    frame_init(&frame, &states_schema);
    for (int i = 0; i < 3; i++) {
        struct actor renamed = { .entity = { .id = 1, .count = 1, .name = "before" } };

        if (i > 0)
            strcpy(renamed.entity.name, "after");
        frame_clear(&frame);
        frame.start_ns = frame.end_ns;
        frame.end_ns += WALL_NS;
        add_made(&frame, &renamed, true);
        write_frame(recorder, &frame, NULL);
    }
    recorder_close(recorder);
    frame_release(&frame);
    assert_int_equal(sqlite3_open(path, &database), SQLITE_OK);
    assert_int_equal(sqlite3_prepare_v2(database, "SELECT name, first_tick, since_tick FROM entity",
                                        -1, &row, NULL),
                     SQLITE_OK);
    assert_int_equal(sqlite3_step(row), SQLITE_ROW);
    assert_string_equal((const char *)sqlite3_column_text(row, 0), "after");
    assert_int_equal(sqlite3_column_int(row, 1), 1);
    assert_int_equal(sqlite3_column_int(row, 2), 2);
    sqlite3_finalize(row);
    sqlite3_close(database);
}

int main(void)
{
#define RECORDING_TEST(name) cmocka_unit_test_setup_teardown(name, make_folder, remove_folder)
    const struct CMUnitTest tests[] = {
        RECORDING_TEST(a_recording_is_read_back_unchanged),
        RECORDING_TEST(a_recording_of_version_3_is_read_back_unchanged),
        RECORDING_TEST(an_unchanged_row_of_an_idle_thread_is_written_to_a_recording_once),
        RECORDING_TEST(the_row_of_an_idle_thread_is_read_back_with_the_length_of_the_interval),
        RECORDING_TEST(a_recording_of_a_source_without_states_is_read_back_unchanged),
        RECORDING_TEST(a_replay_may_start_at_any_interval_of_a_recording),
        RECORDING_TEST(recorded_intervals_keep_their_order_when_the_clock_is_set_back),
        RECORDING_TEST(exited_entities_are_not_repeated_in_later_intervals_of_a_long_replay),
        RECORDING_TEST(the_view_of_entities_has_their_last_names),
        RECORDING_TEST(a_replay_has_the_source_and_tier_and_note_stored_in_its_recording),
        RECORDING_TEST(a_number_of_cpus_that_cannot_be_is_unknown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
