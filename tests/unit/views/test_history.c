/* The history of the stream. Readers start at key frames, and get whole pieces. */
#include "views/page/history.h"

#include "../tree.h"

#include <camp/camp.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define S 1000000000u

/* Appends a piece with the text "k3." (key frame 3) or "f4." (frame 4). */
static void append(struct history *history, int number, bool is_key)
{
    char text[16];

    snprintf(text, sizeof text, "%c%d.", is_key ? 'k' : 'f', number);
    assert_int_equal(
        history_append(history, (const uint8_t *)text, strlen(text), is_key, (uint64_t)number * S),
        CAMP_OK);
}

static void append_many(struct history *history, int from, int to, int key_every)
{
    for (int i = from; i <= to; i++)
        append(history, i, i % key_every == 1);
}

/* Returns all bytes that the reader has not read yet. Each call of history_read() reads at most
 * `step` bytes. */
static const char *rest_of(const struct history *history, struct history_reader *reader,
                           size_t step, bool *ret_gap)
{
    static char text[4096];
    size_t size = 0, count;

    while ((count = history_read(history, reader, text + size, step, ret_gap)) > 0)
        size += count;
    text[size] = '\0';
    return text;
}

static void each_reader_of_the_history_has_its_own_position(void **state)
{
    struct history history = { 0 };
    struct history_reader early = { 0 }, late = { 0 };
    bool gap;

    (void)state;
    assert_string_equal(rest_of(&history, &early, 2, &gap), "");
    append_many(&history, 1, 3, 4);
    assert_string_equal(rest_of(&history, &early, 2, &gap), "k1.f2.f3.");
    append_many(&history, 4, 5, 4);
    assert_string_equal(rest_of(&history, &late, 100, &gap), "k1.f2.f3.f4.k5.");
    assert_string_equal(rest_of(&history, &early, 1, &gap), "f4.k5.");
    assert_string_equal(rest_of(&history, &early, 1, &gap), "");
    assert_false(gap);
    history_reader_release(&early);
    history_reader_release(&late);
    history_release(&history);
}

static void the_history_drops_old_frames_only_up_to_a_key_frame(void **state)
{
    struct history history = { .limits.bytes = 33 };
    struct history_reader reader = { 0 };
    bool gap;

    (void)state;
    for (int i = 1; i <= 20; i++) {
        append(&history, i, i % 4 == 1);
        assert_true(history.bytes <= 33);
    }
    assert_int_equal(history_oldest_frame(&history), 13);
    assert_string_equal(rest_of(&history, &reader, 5, &gap), "k13.f14.f15.f16.k17.f18.f19.f20.");
    history_reader_release(&reader);
    history_release(&history);
}

static void the_history_keeps_at_least_the_requested_number_of_frames_or_time(void **state)
{
    struct history frames = { .limits.frames = 6 }, times = { .limits.time_ns = 6ull * S };

    (void)state;
    append_many(&frames, 1, 9, 4);
    assert_int_equal(history_oldest_frame(&frames), 1);
    append_many(&frames, 10, 13, 4);
    assert_int_equal(history_oldest_frame(&frames), 5);
    append_many(&times, 1, 9, 4);
    assert_int_equal(history_oldest_frame(&times), 1);
    append_many(&times, 10, 13, 4);
    assert_int_equal(history_oldest_frame(&times), 5);
    history_release(&frames);
    history_release(&times);
}

static void a_stalled_reader_gets_a_report_of_the_gap(void **state)
{
    struct history history = { .limits.bytes = 20 };
    struct history_reader reader = { 0 };
    char two[3] = "";
    bool gap;

    (void)state;
    append_many(&history, 1, 4, 4);
    assert_int_equal(history_read(&history, &reader, two, 2, &gap), 2);
    assert_string_equal(two, "k1");
    append_many(&history, 5, 21, 4);
    assert_string_equal(rest_of(&history, &reader, 100, &gap), ".");
    assert_true(gap);
    history_reader_start(&history, &reader);
    assert_memory_equal(rest_of(&history, &reader, 100, &gap), "k17.", 4);
    assert_false(gap);
    history_reader_release(&reader);
    history_release(&history);
}

static void a_reader_that_has_read_all_dropped_frames_sees_no_gap(void **state)
{
    struct history history = { .limits.bytes = 20 };
    struct history_reader reader = { 0 };
    bool gap;

    (void)state;
    append_many(&history, 1, 4, 4);
    rest_of(&history, &reader, 100, &gap);
    while (history_oldest_frame(&history) == 1)
        append_many(&history, (int)history.count + 1, (int)history.count + 4, 4);
    assert_int_equal(history_oldest_frame(&history), 5);
    assert_memory_equal(rest_of(&history, &reader, 100, &gap), "k5.f6.", 6);
    assert_false(gap);
    history_reader_release(&reader);
    history_release(&history);
}

static void a_stalled_reader_keeps_only_one_piece_of_the_history_in_memory(void **state)
{
    struct history history = { .limits.bytes = 20 };
    struct history_reader readers[50] = { { 0 } };
    char byte;
    bool gap;

    (void)state;
    for (int i = 0; i < 50; i++) {
        append_many(&history, 4 * i + 1, 4 * i + 4, 4);
        assert_int_equal(history_read(&history, &readers[i], &byte, 1, &gap), 1);
        assert_true(history.bytes < 50);
    }
    for (int i = 0; i < 50; i++)
        history_reader_release(&readers[i]);
    history_release(&history);
}

static void a_key_frame_is_requested_before_memory_reaches_its_limit(void **state)
{
    struct history history = { .limits.bytes = 40 };

    (void)state;
    append(&history, 1, true);
    assert_false(history_wants_key(&history));
    append_many(&history, 2, 4, 100);
    assert_true(history_wants_key(&history));
    append(&history, 5, true);
    assert_false(history_wants_key(&history));
    history_release(&history);
}

/* A piece that is not a frame is, for example, the end block of a stream. */
static void pieces_of_the_history_that_are_not_frames_are_not_counted_as_frames(void **state)
{
    struct history history = { .limits.frames = 2 };
    struct history_reader reader = { 0 };
    bool gap;

    (void)state;
    append(&history, 1, true);
    assert_int_equal(history_append(&history, (const uint8_t *)"end", 3, false, 0), CAMP_OK);
    append(&history, 2, true);
    assert_int_equal(history_oldest_frame(&history), 1);
    assert_string_equal(rest_of(&history, &reader, 100, &gap), "k1.endk2.");
    history_reader_release(&reader);
    history_release(&history);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_reader_of_the_history_has_its_own_position),
        cmocka_unit_test(the_history_drops_old_frames_only_up_to_a_key_frame),
        cmocka_unit_test(the_history_keeps_at_least_the_requested_number_of_frames_or_time),
        cmocka_unit_test(a_stalled_reader_gets_a_report_of_the_gap),
        cmocka_unit_test(a_reader_that_has_read_all_dropped_frames_sees_no_gap),
        cmocka_unit_test(a_stalled_reader_keeps_only_one_piece_of_the_history_in_memory),
        cmocka_unit_test(a_key_frame_is_requested_before_memory_reaches_its_limit),
        cmocka_unit_test(pieces_of_the_history_that_are_not_frames_are_not_counted_as_frames),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
