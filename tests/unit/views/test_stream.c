/* A reader of the stream gets the contents of the frames. */
#include "stream_reader.h"

static double share(const struct reader *reader, size_t n, size_t state)
{
    return reader->shares[n][state] * reader->unit;
}

#define assert_near(a, b, within) assert_true(fabs((double)(a) - (double)(b)) <= (within))

static void a_reader_of_the_stream_gets_the_frame_that_was_written(void **state)
{
    struct fixture *f = fixture_new(3);

    (void)state;
    begin(&f->frame);
    f->frame.losses = (struct losses){ .unseen = 3, .lost = 1ull << 40, .partial = 7 };
    add(&f->frame, 10, ENTITY_NEW, S / 2, (double[]){ 25, 0, 70 });
    add(&f->frame, 11, ENTITY_ENDED, S / 1000, (double[]){ 100, 0, 0 });
    go(f);
    assert_true(f->reader.is_key);
    assert_near(f->reader.end_ms, 1700000001000.0, 1e-3);
    assert_near(f->reader.length_ms, 1000, 1e-9);
    assert_int_equal(f->reader.unseen, 3);
    assert_int_equal(f->reader.lost, UINT32_MAX);
    assert_int_equal(f->reader.partial, 7);
    assert_near(f->reader.elapsed[0], 0.5, 0);
    assert_near(share(&f->reader, 0, 0), 0.25, 1e-5);
    assert_near(share(&f->reader, 0, 2), 0.70, 1e-5);
    assert_near(f->reader.unaccounted[0], 0.05, 1e-5);
    assert_int_equal(f->reader.flags[0], 1);
    assert_near(f->reader.elapsed[1], 0.001, 0.001 / 2048);
    assert_int_equal(f->reader.flags[1], 2);
    fixture_free(f);
}

static void an_unchanged_row_is_not_sent_again_in_the_stream(void **state)
{
    struct fixture *f = fixture_new(3);

    (void)state;
    begin(&f->frame);
    add(&f->frame, 10, 0, S, (double[]){ 25, 0, 75 });
    add(&f->frame, 11, 0, S, (double[]){ 10, 90, 0 });
    go(f);
    assert_int_equal(f->reader.blocks[2], 1);
    begin(&f->frame);
    add(&f->frame, 11, 0, S, (double[]){ 10, 80, 0 });
    /* jitter of 9 us does not change the row */
    add(&f->frame, 10, 0, S + 9000, (double[]){ 25, 0, 75 });
    go(f);
    assert_false(f->reader.is_key);
    assert_int_equal(f->reader.blocks[2], 0);
    assert_int_equal(f->reader.count, 1);
    assert_near(share(&f->reader, 1, 1), 0.80, 1e-5);
    assert_near(f->reader.unaccounted[1], 0.10, 1e-5);
    assert_near(share(&f->reader, 0, 2), 0.75, 1e-5);
    fixture_free(f);
}

static void a_frame_lists_entities_that_disappear_without_an_exit(void **state)
{
    struct fixture *f = fixture_new(3);

    (void)state;
    begin(&f->frame);
    add(&f->frame, 10, 0, S, (double[]){ 25, 0, 75 });
    add(&f->frame, 11, ENTITY_ENDED, S, (double[]){ 10, 90, 0 });
    add(&f->frame, 12, 0, S, (double[]){ 10, 90, 0 });
    go(f);
    begin(&f->frame);
    add(&f->frame, 12, 0, S, (double[]){ 10, 90, 0 });
    go(f);
    assert_int_equal(f->reader.gone, 1);
    assert_int_equal(f->reader.count, 0);
    assert_false(f->reader.is_there[0]);
    assert_false(f->reader.is_there[1]);
    assert_true(f->reader.is_there[2]);
    begin(&f->frame); /* the entity returns */
    add(&f->frame, 12, 0, S, (double[]){ 10, 90, 0 });
    add(&f->frame, 10, 0, S, (double[]){ 25, 0, 75 });
    go(f);
    assert_int_equal(f->reader.count, 1);
    assert_true(f->reader.is_there[0]);
    fixture_free(f);
}

/* Exited threads with the same name share a row, which may be in consecutive frames. */
static void an_entity_that_exits_in_several_frames_is_sent_in_each_of_them(void **state)
{
    struct fixture *f = fixture_new(3);

    (void)state;
    for (int i = 0; i < 3; i++) {
        begin(&f->frame);
        add(&f->frame, 0, ENTITY_ENDED, S, (double[]){ 25, 0, 75 });
        go(f);
        assert_int_equal(f->reader.count, 1);
        assert_true(f->reader.is_there[0]);
    }
    fixture_free(f);
}

static void each_64th_frame_and_each_requested_frame_is_a_key_frame(void **state)
{
    struct fixture *f = fixture_new(3);

    (void)state;
    for (int i = 0; i <= 128; i++) {
        begin(&f->frame);
        add(&f->frame, 10, 0, S, (double[]){ 25, 0, 75 });
        go(f);
        assert_true(f->reader.is_key == (i % STREAM_KEY_EVERY == 0));
        assert_int_equal(f->reader.count, i % STREAM_KEY_EVERY == 0);
    }
    stream_request_key(&f->stream);
    for (int i = 0; i <= 64; i++) {
        begin(&f->frame);
        go(f);
        assert_true(f->reader.is_key == (i % STREAM_KEY_EVERY == 0));
        assert_false(f->reader.is_there[0]);
    }
    fixture_free(f);
}

static void shares_too_large_for_16_bits_enlarge_the_unit_of_shares(void **state)
{
    struct fixture *f = fixture_new(3);

    (void)state;
    begin(&f->frame);
    add(&f->frame, 10, 0, S, (double[]){ 25, 0, 75 });
    go(f);
    assert_near(f->reader.unit, 1 / 50000.0, 1e-12);
    begin(&f->frame);
    add(&f->frame, 10, 0, S, (double[]){ 25, 0, 75 });
    add(&f->frame, 11, 0, S, (double[]){ 250, 10, 40 });
    go(f);
    assert_true(f->reader.is_key);
    assert_near(f->reader.unit, 2 / 50000.0, 1e-12);
    assert_near(share(&f->reader, 1, 0), 2.5, 2e-5);
    assert_near(f->reader.unaccounted[1], -2, 1e-5);
    assert_near(share(&f->reader, 0, 0), 0.25, 2e-5);
    begin(&f->frame);
    add(&f->frame, 11, 0, S, (double[]){ 130, 0, 0 });
    go(f);
    assert_true(f->reader.is_key);
    assert_near(f->reader.unit, 1 / 50000.0, 1e-12);
    assert_near(share(&f->reader, 1, 0), 1.3, 1e-5);
    fixture_free(f);
}

static void clipping_of_a_very_large_share_leaves_the_other_shares_exact(void **state)
{
    struct fixture *f = fixture_new(3);

    (void)state;
    begin(&f->frame);
    add(&f->frame, 10, 0, S, (double[]){ 25, 0, 75 });
    add(&f->frame, 11, 0, S, (double[]){ 0, 0, 0 });
    frame_values(&f->frame, 1)[2] = UINT64_MAX;
    go(f);
    assert_near(share(&f->reader, 0, 0), 0.25, 2e-4);
    assert_near(share(&f->reader, 1, 2), 20.97, 0.01);
    assert_true(f->reader.unaccounted[1] < -1e10f);
    fixture_free(f);
}

static void an_entity_without_time_has_no_shares(void **state)
{
    struct fixture *f = fixture_new(3);

    (void)state;
    begin(&f->frame);
    add(&f->frame, 10, 0, 0, (double[]){ 0, 0, 0 });
    add(&f->frame, 11, 0, 0, (double[]){ 0, 0, 0 });
    frame_values(&f->frame, 1)[1] = 5;
    go(f);
    for (size_t n = 0; n < 2; n++) {
        assert_true(f->reader.is_there[n]);
        assert_near(f->reader.elapsed[n], 0, 0);
        assert_int_equal(f->reader.shares[n][1], 0);
    }
    assert_near(f->reader.unaccounted[0], 0, 0);
    assert_near(f->reader.unaccounted[1], -1, 0);
    fixture_free(f);
}

static void a_group_may_have_more_time_than_the_interval(void **state)
{
    struct fixture *f = fixture_new(3);

    (void)state;
    begin(&f->frame);
    add(&f->frame, 10, 0, 137ull * S, (double[]){ 25, 0, 75 });
    go(f);
    assert_near(f->reader.elapsed[0], 137, 0);
    assert_near(share(&f->reader, 0, 0), 0.25, 1e-5);
    fixture_free(f);
}

/* Two threads had the same id within one interval. */
static void two_rows_of_one_entity_are_added_up_in_the_stream(void **state)
{
    struct fixture *f = fixture_new(3);

    (void)state;
    begin(&f->frame);
    add(&f->frame, 10, ENTITY_ENDED, S / 4, (double[]){ 100, 0, 0 });
    add(&f->frame, 11, 0, S, (double[]){ 0, 0, 100 });
    add(&f->frame, 10, ENTITY_NEW, 3 * (S / 4), (double[]){ 0, 100, 0 });
    go(f);
    assert_int_equal(f->reader.count, 2);
    assert_near(f->reader.elapsed[0], 1, 0);
    assert_near(share(&f->reader, 0, 0), 0.25, 1e-5);
    assert_near(share(&f->reader, 0, 1), 0.75, 1e-5);
    assert_int_equal(f->reader.flags[0], 3);
    fixture_free(f);
}

static void a_stream_of_more_than_128_states_is_refused(void **state)
{
    struct fixture *f = fixture_new(STATES_MAXIMUM);
    const struct schema more = schema_of(STATES_MAXIMUM + 1);
    double percent[STATES_MAXIMUM] = { 0 };
    struct stream stream;

    (void)state;
    begin(&f->frame);
    percent[0] = percent[31] = percent[32] = 10;
    percent[127] = 70;
    add(&f->frame, 10, 0, S, percent);
    go(f);
    for (size_t i = 0; i < STATES_MAXIMUM; i++)
        assert_near(share(&f->reader, 0, i), percent[i] / 100, 1e-5);
    assert_int_equal(stream_init(&stream, &more), CAMP_E_INVALID);
    fixture_free(f);
}

/* Changes few rows, as in real frames. */
static void change(uint64_t *elapsed_ns, uint64_t *values, size_t states)
{
    uint64_t left;

    if (rand() % 4 != 0 && *elapsed_ns != 0)
        return;
    left = *elapsed_ns = (uint64_t)(rand() % 1000 + 1) * (S / 250);
    for (size_t i = 0; i < states; i++) {
        values[i] = rand() % 3 == 0 ? (uint64_t)rand() % (left + 1) : 0;
        left -= values[i];
    }
    if (rand() % 200 == 0)
        values[0] *= 9; /* time that is accounted more than once */
}

static void check_row(const struct fixture *f, size_t row, size_t n)
{
    const struct frame *frame = &f->frame;
    const double elapsed_ns = (double)frame->elapsed_ns[row];
    const double unaccounted = (double)frame_unaccounted_ns(frame, row) / elapsed_ns;

    assert_true(f->reader.is_there[n]);
    assert_near(f->reader.elapsed[n], elapsed_ns / S, elapsed_ns / S / 2048);
    assert_near(f->reader.unaccounted[n], unaccounted, 1.01e-5);
    for (size_t i = 0; i < f->schema.state_count; i++) {
        const double expected = (double)frame_values(frame, row)[i] / elapsed_ns;

        assert_near(share(&f->reader, n, i), expected, f->reader.unit * 0.5001);
    }
}

static void a_reader_of_the_stream_gets_random_frames_as_they_were_written(void **state)
{
    enum { COUNT = 200, STATES = 40, FRAMES = 300 };
    static uint64_t elapsed_ns[COUNT], values[COUNT][STATES];
    static uint32_t numbers[COUNT];
    struct fixture *f = fixture_new(STATES);
    unsigned keys = 0, sent = 0;

    (void)state;
    srand(4);
    memset(numbers, 0xff, sizeof numbers);
    for (int frame = 0; frame < FRAMES; frame++) {
        size_t there[COUNT], count = 0, total = 0;

        begin(&f->frame);
        for (size_t i = 0; i < COUNT; i++) {
            change(&elapsed_ns[i], values[i], STATES);
            if (rand() % 10 == 0)
                continue;
            add(&f->frame, (int64_t)i + 1, 0, 0, (double[STATES]){ 0 });
            f->frame.elapsed_ns[count] = elapsed_ns[i];
            memcpy(frame_values(&f->frame, count), values[i], sizeof values[i]);
            there[count++] = i;
        }
        go(f);
        keys += f->reader.is_key;
        sent += f->reader.count;
        /* The stream numbers entities in the order in which they first have a row. */
        for (size_t row = 0; row < count; row++) {
            if (numbers[there[row]] == UINT32_MAX) {
                uint32_t next = 0;

                for (size_t i = 0; i < COUNT; i++)
                    next += numbers[i] != UINT32_MAX;
                numbers[there[row]] = next;
            }
            check_row(f, row, numbers[there[row]]);
        }
        for (size_t n = 0; n < ENTITIES_MAXIMUM; n++)
            total += f->reader.is_there[n];
        assert_int_equal(total, count);
    }
    /* Key frames are each 64th frame and the frames in which the unit changed. */
    assert_in_range(keys, 5, FRAMES - 1);
    assert_true(sent < COUNT * FRAMES * 8 / 10);
    fixture_free(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_reader_of_the_stream_gets_the_frame_that_was_written),
        cmocka_unit_test(an_unchanged_row_is_not_sent_again_in_the_stream),
        cmocka_unit_test(a_frame_lists_entities_that_disappear_without_an_exit),
        cmocka_unit_test(an_entity_that_exits_in_several_frames_is_sent_in_each_of_them),
        cmocka_unit_test(each_64th_frame_and_each_requested_frame_is_a_key_frame),
        cmocka_unit_test(shares_too_large_for_16_bits_enlarge_the_unit_of_shares),
        cmocka_unit_test(clipping_of_a_very_large_share_leaves_the_other_shares_exact),
        cmocka_unit_test(an_entity_without_time_has_no_shares),
        cmocka_unit_test(a_group_may_have_more_time_than_the_interval),
        cmocka_unit_test(two_rows_of_one_entity_are_added_up_in_the_stream),
        cmocka_unit_test(a_stream_of_more_than_128_states_is_refused),
        cmocka_unit_test(a_reader_of_the_stream_gets_random_frames_as_they_were_written),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
