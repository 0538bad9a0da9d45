/* Tests files that are not a recording, empty, made by a newer camp, damaged, or truncated. */
#include "failing_memory.h"
#include "recording_fixture.h"

static char *get_bytes(size_t *ret_length)
{
    FILE *file = fopen(path, "r");
    char *bytes;

    assert_non_null(file);
    assert_int_equal(fseek(file, 0, SEEK_END), 0);
    *ret_length = (size_t)ftell(file);
    rewind(file);
    bytes = malloc(*ret_length);
    assert_non_null(bytes);
    assert_int_equal(fread(bytes, 1, *ret_length, file), *ret_length);
    fclose(file);
    return bytes;
}

static void put_bytes(const char *bytes, size_t length)
{
    FILE *file = fopen(path, "w");

    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, length, file), length);
    fclose(file);
}

/* Reads the recording to its end or to an error. Returns the error message, or "" if there is no
 * error. */
static const char *read_all(size_t *ret_frames)
{
    static struct camp_error error;
    const struct from from = { 0 };
    const struct frame *read;
    struct from_facts facts = { 0 };
    struct source *source;
    int r;

    error = (struct camp_error){ 0 };
    *ret_frames = 0;
    r = recording_source_open(&from, path, &source, &facts, &error);
    if (r == CAMP_OK) {
        while ((r = source->next(source, 0, &read, &error)) == CAMP_OK)
            ++*ret_frames;
        source_close(source);
    }
    assert_true(r == SOURCE_END || r == CAMP_E_FORMAT || r == CAMP_E_GONE);
    assert_true((r == SOURCE_END) == (error.message[0] == '\0'));
    return error.message;
}

static void assert_says(const char *words)
{
    size_t frames;
    const char *message = read_all(&frames);

    if (strstr(message, words) == NULL)
        fail_msg("'%s' does not say '%s'", message, words);
    if (strchr(message, '\n') != NULL)
        fail_msg("'%s' is more than a line", message);
}

static void a_file_that_is_not_a_recording_is_reported(void **state)
{
    (void)state;
    assert_says("run.camp: No such file");
    put_bytes("", 0);
    assert_says("not a recording of camp");
    put_bytes("This is not a database, whatever its name says.", 40);
    assert_says("is not a recording");
    unlink(path);
    run_sql("CREATE TABLE other(x)");
    assert_says("not a recording of camp");
}

static void a_recording_without_intervals_is_reported_as_empty(void **state)
{
    (void)state;
    recorder_close(open_recorder());
    assert_says("is empty: no interval was recorded");
}

static void a_recording_of_a_newer_version_of_camp_is_refused_with_both_versions(void **state)
{
    (void)state;
    record_made(&states_schema, NULL);
    run_sql("PRAGMA user_version = 5");
    assert_says("was made by a newer camp: it has version 5, this camp reads 4");
}

static void a_damaged_recording_is_reported(void **state)
{
    static const char *const damages[][2] = {
        { "DROP TABLE \"made states_rows\"", "no such table" },
        { "DROP TABLE tick", "no such table" },
        { "DROP TABLE camp", "no such table" },
        { "DELETE FROM column_info", "has no columns" },
        { "UPDATE column_info SET kind = 'colour'", "column_info" },
        { "UPDATE column_info SET part_of = 1 WHERE position = 2", "column_info" },
        { "UPDATE column_info SET part_of = 4 WHERE position = 7", "column_info" },
        { "UPDATE column_info SET part_of = 1000 WHERE position = 2", "column_info" },
        { "UPDATE column_info SET part_of = 200 WHERE position = 2", "column_info" },
        { "UPDATE column_info SET column_name = 'x' WHERE position = 3", "has no column 'x'" },
        { "DELETE FROM identity", "no name for entity" },
        { "UPDATE tick SET row_count = row_count + 1 WHERE tick = 400", "not all its rows" },
        { "UPDATE tick SET row_count = -1 WHERE tick = 9", "impossible numbers of rows" },
        { "UPDATE tick SET first_row = 9223372036854775807 WHERE tick = 9",
          "impossible numbers of rows" },
        { "CREATE TABLE t AS SELECT * FROM \"made states_rows\";"
          "DROP TABLE \"made states_rows\"; UPDATE t SET run_ns = 'much' WHERE row_number = 9;"
          "ALTER TABLE t RENAME TO \"made states_rows\"",
          "a value that is not a whole number" },
        { "UPDATE camp SET value = 'x' WHERE key = 'table'", "no such table" },
    };
    size_t length;
    char *whole;

    (void)state;
    record_made(&states_schema, NULL);
    whole = get_bytes(&length);
    for (size_t i = 0; i < COUNT(damages); i++) {
        put_bytes(whole, length);
        run_sql("DROP VIEW \"made states\"; DROP VIEW \"made states_every\"; DROP VIEW entity");
        run_sql(damages[i][0]);
        assert_says(damages[i][1]);
    }
    free(whole);
}

/* The file is cut at many lengths. Each time the whole intervals before the cut are read, and an
 * error is reported. */
static void a_truncated_recording_is_read_to_its_last_complete_interval(void **state)
{
    struct stat status;
    size_t frames, most = 0, some = 0;
    long length;

    (void)state;
    record_made(&states_schema, &counts_schema);
    assert_int_equal(stat(path, &status), 0);
    for (length = (long)status.st_size - 1; length > 0; length -= 8 * 1777) {
        assert_int_equal(truncate(path, length), 0);
        assert_true(strlen(read_all(&frames)) > 0);
        assert_true(frames < TICKS || length > (long)status.st_size - 4096);
        some += frames > 0;
        if (frames > most)
            most = frames;
    }
    assert_true(some > 5);
    assert_true(most > TICKS / 2);
}

/* Each allocation of SQLite fails in turn. The result is complete if SQLite could do without it. */
static void information_without_memory_is_an_error_and_never_incomplete(void **state)
{
    struct recording_info whole, info;
    size_t failed = 0;

    (void)state;
    record_made(&states_schema, &counts_schema);
    assert_int_equal(recording_info_read(&whole, path, NULL), CAMP_OK);
    allocations = 0;
    for (failing = 1; failing == 1 || allocations + 1 >= failing; failing++) {
        struct camp_error error = { 0 };
        int r;

        allocations = 0;
        r = recording_info_read(&info, path, &error);
        if (r != CAMP_OK && r != CAMP_E_NOMEM)
            fail_msg("allocation %zu: %d, %s", failing, r, error.message);
        if (r == CAMP_OK)
            assert_memory_equal(&info, &whole, sizeof info);
        failed += r != CAMP_OK;
    }
    failing = 0;
    print_message("%zu of %zu allocations are needed\n", failed, allocations);
    assert_true(failed > 100);
}

int main(void)
{
#define RECORDING_TEST(name) cmocka_unit_test_setup_teardown(name, make_folder, remove_folder)
    const struct CMUnitTest tests[] = {
        RECORDING_TEST(a_file_that_is_not_a_recording_is_reported),
        RECORDING_TEST(a_recording_without_intervals_is_reported_as_empty),
        RECORDING_TEST(a_recording_of_a_newer_version_of_camp_is_refused_with_both_versions),
        RECORDING_TEST(a_damaged_recording_is_reported),
        RECORDING_TEST(information_without_memory_is_an_error_and_never_incomplete),
        RECORDING_TEST(a_truncated_recording_is_read_to_its_last_complete_interval),
    };

    fail_allocations();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
