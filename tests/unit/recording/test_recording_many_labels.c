/* Tests a recording whose labels have more bytes in all than the process keeps. */
#include "recording_fixture.h"

enum { MANY = 1000, MANY_INTERVALS = 250 };

/* Makes labels that change in each interval, as with texts of queries, except those of session 0.
 * Together they have more bytes than LABELS_BYTES. */
static labels_id labels_of(size_t session, size_t interval)
{
    const size_t number = session == 0 ? 0 : interval * MANY + session;
    char query[LABELS_VALUE_SIZE], other[LABELS_VALUE_SIZE];
    const char *const values[] = { "app", query, other };

    snprintf(query, sizeof query, "SELECT %zu, %0110zu", session, number);
    snprintf(other, sizeof other, "%0120zu", number);
    return labels_intern(values, COUNT(values));
}

static void record_many(void)
{
    struct recorder *recorder = open_recorder();
    struct frame frame;

    frame_init(&frame, &states_schema);
    for (size_t i = 0; i < MANY_INTERVALS; i++) {
        labels_start_interval();
        frame_clear(&frame);
        frame.start_ns = frame.end_ns;
        frame.end_ns += WALL_NS;
        for (size_t j = 0; j < MANY; j++) {
            struct actor session = { .entity = { .id = (int64_t)j + 1, .count = 1, .name = "s" } };

            session.entity.labels = labels_of(j, i);
            add_made(&frame, &session, false);
        }
        frame_count_lost_labels(&frame);
        assert_int_equal(frame.losses.partial, 0);
        write_frame(recorder, &frame, NULL);
    }
    recorder_close(recorder);
    frame_release(&frame);
}

static void labels_of_many_sessions_that_change_all_the_time_are_recorded_and_read(void **state)
{
    const struct from from = { 0 };
    const struct frame *read;
    struct from_facts facts;
    struct source *source;

    (void)state;
    record_many();
    source = open_from(&from, &facts);
    for (size_t i = 0; i < MANY_INTERVALS; i++) {
        assert_int_equal(read_frame(source, &read), CAMP_OK);
        assert_int_equal(read->entity_count, MANY);
        assert_int_equal(read->losses.partial, 0);
        for (size_t j = 0; j < MANY; j++)
            assert_int_equal(read->entities[j].labels, labels_of(j, i));
    }
    assert_int_equal(read_frame(source, &read), SOURCE_END);
    source_close(source);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(
            labels_of_many_sessions_that_change_all_the_time_are_recorded_and_read, make_folder,
            remove_folder),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
