/* The sleeps that have not ended, in a recording: what is read equals what was written, a file
 * without them is read, and damage is reported. */
#include "recording_fixture.h"
#include "sources/causes/cause_fit.h"
#include "sources/causes/open_sleeps.h"

#define INTERVALS 3
#define READER 3

static struct causes written;
static size_t capacity;

static void add_open(int32_t pid, const struct open_fact *fact, uint64_t sleep_ns)
{
    const struct camp_call_sleeps call = {
        .pid = pid, .state = CAMP_STATE_PIPE, .sleep_ns = sleep_ns, .count = 1
    };

    assert_true(open_call_add(&written, &capacity, &call, fact));
}

/* A reader waits for a writer, which is stopped. */
static void make_causes(size_t at)
{
    struct open_fact reader = { .group = READER, .state_ns = 90 + at, .holder = 8 };
    struct open_fact writer = { .group = CAUSE_GROUPS, .does = OPEN_STOPS };

    written.rows.count = written.open_calls.count = written.group_count = 0;
    written.groups[written.group_count++] =
        (struct camp_states_group){ .number = 0, .kind = CAMP_GROUP_OTHER };
    written.groups[written.group_count++] = (struct camp_states_group){
        .number = READER, .kind = CAMP_GROUP_PROCESS, .pid = 7, .name = "reader"
    };
    written.state_ns[READER][CAMP_STATE_PIPE] = 90 + at;
    assert_true(cause_add(&written.rows,
                          &(struct cause){ READER, CAMP_STATE_PIPE, CAUSE_NOT_ENDED, 0, 90 + at }));
    snprintf(reader.names.call, CAUSE_NAME_SIZE, "read");
    snprintf(reader.names.object, CAUSE_NAME_SIZE, "pipe:[%zu]", at / 2);
    snprintf(reader.other_end, CAUSE_NAME_SIZE, "with writer (8)");
    snprintf(reader.who, CAUSE_NAME_SIZE, "reader (7)");
    snprintf(writer.who, CAUSE_NAME_SIZE, "writer (8)");
    add_open(7, &reader, 80 + at);
    add_open(8, &writer, 0);
}

static void record(void)
{
    struct recorder *recorder = open_recorder();
    struct frame frame;

    memset(actors, 0, sizeof actors);
    frame_init(&frame, &states_schema);
    for (size_t i = 0; i < INTERVALS; i++) {
        make_frame(&frame, i);
        make_causes(i);
        assert_int_equal(recorder_write(recorder, &frame, NULL, &written, NULL), CAMP_OK);
    }
    recorder_close(recorder);
    frame_release(&frame);
}

static void open_sleeps_are_read_back_unchanged(void **state)
{
    const struct from from = { 0 };
    const struct causes *causes;
    const struct frame *read;
    struct from_facts facts;
    struct source *source;

    (void)state;
    record();
    source = open_from(&from, &facts);
    for (size_t i = 0; i < INTERVALS; i++) {
        assert_int_equal(read_frame(source, &read), CAMP_OK);
        assert_int_equal(source_causes(source, &causes, NULL), CAMP_OK);
        make_causes(i);
        assert_true(causes->has_open_facts);
        assert_int_equal(causes->open_calls.count, 2);
        for (size_t at = 0; at < 2; at++) {
            assert_memory_equal(&causes->open_calls.items[at], &written.open_calls.items[at],
                                sizeof *causes->open_calls.items);
            assert_memory_equal(&causes->open_facts[at], &written.open_facts[at],
                                sizeof *causes->open_facts);
        }
    }
    source_close(source);
}

/* Reads all causes. Returns the first error, or "". Sets *ret_count to the open sleeps of the last
 * interval. */
static const char *error_of_causes(size_t *ret_count, bool *ret_has)
{
    static struct camp_error error;
    const struct from from = { 0 };
    const struct causes *causes = NULL;
    const struct frame *read;
    struct from_facts facts;
    struct source *source = open_from(&from, &facts);

    error = (struct camp_error){ 0 };
    while (error.message[0] == '\0' && read_frame(source, &read) == CAMP_OK) {
        if (source_causes(source, &causes, &error) != CAMP_OK)
            continue;
        *ret_count = causes->open_calls.count;
        *ret_has = causes->has_open_facts;
    }
    source_close(source);
    return error.message;
}

static void a_recording_of_an_earlier_camp_has_no_open_sleeps(void **state)
{
    size_t count = 9;
    bool has = true;

    (void)state;
    record();
    run_sql("DROP TABLE cause_open");
    assert_string_equal(error_of_causes(&count, &has), "");
    assert_int_equal(count, 0);
    assert_false(has);
}

static void damaged_open_sleeps_are_reported(void **state)
{
    static const char *const damages[][2] = {
        { "UPDATE cause_open SET pid = -1", "out of range" },
        { "UPDATE cause_open SET pid = pid + 4294967296", "out of range" },
        { "UPDATE cause_open SET state = 127", "does not know" },
        { "UPDATE cause_open SET state = state + 1000", "out of range" },
        { "UPDATE cause_open SET number = 64 WHERE number > 0", "out of range" },
        { "UPDATE cause_open SET number = 9 WHERE number > 0", "not there" },
        { "UPDATE cause_open SET number = -2", "out of range" },
        { "UPDATE cause_open SET sleep_ns = 9223372036854775807 WHERE number > 0", "out of range" },
        { "UPDATE cause_open SET sleep_ns = 4611686018427387904 WHERE number > 0; INSERT INTO "
          "cause_open SELECT tick, pid + 5, state, object, number, sleep_ns, 0, 1, 0, 0, '', '' "
          "FROM cause_open WHERE number > 0",
          "out of range" },
        { "UPDATE cause_open SET does = 6", "out of range" },
        { "UPDATE cause_open SET holder = -5", "out of range" },
        { "UPDATE cause_open SET threads = -1", "out of range" },
    };
    size_t count;
    bool has;

    (void)state;
    for (size_t i = 0; i < COUNT(damages); i++) {
        const char *message;

        record();
        run_sql(damages[i][0]);
        message = error_of_causes(&count, &has);
        if (strstr(message, damages[i][1]) == NULL)
            fail_msg("%s: '%s' does not say '%s'", damages[i][0], message, damages[i][1]);
        recording_remove(path);
    }
}

static int release_causes(void **state)
{
    (void)state;
    free(written.rows.items);
    free(written.open_calls.items);
    free(written.open_facts);
    return 0;
}

int main(void)
{
#define OPEN_TEST(name) cmocka_unit_test_setup_teardown(name, make_folder, remove_folder)
    const struct CMUnitTest tests[] = {
        OPEN_TEST(open_sleeps_are_read_back_unchanged),
        OPEN_TEST(a_recording_of_an_earlier_camp_has_no_open_sleeps),
        OPEN_TEST(damaged_open_sleeps_are_reported),
    };

    return cmocka_run_group_tests(tests, NULL, release_causes);
}
