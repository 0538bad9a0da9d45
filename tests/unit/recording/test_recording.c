/* Tests that recorded frames are read back unchanged, including the idle rows that the file leaves
 * out. */
#include "failing_memory.h"
#include "recording_fixture.h"

static const struct frame *compared;

static int compare_rows(const void *a, const void *b)
{
    const struct entity *left = &compared->entities[*(const size_t *)a];
    const struct entity *right = &compared->entities[*(const size_t *)b];

    if (left->id != right->id)
        return left->id < right->id ? -1 : 1;
    return (int)(left->flags & ENTITY_NEW) - (int)(right->flags & ENTITY_NEW);
}

static void sort_rows(const struct frame *frame, size_t *rows)
{
    for (size_t i = 0; i < frame->entity_count; i++)
        rows[i] = i;
    compared = frame;
    qsort(rows, frame->entity_count, sizeof *rows, compare_rows);
}

static void assert_same_row(const struct frame *left, size_t left_row, const struct frame *right,
                            size_t right_row)
{
    const struct entity *a = &left->entities[left_row], *b = &right->entities[right_row];

    assert_int_equal(a->id, b->id);
    assert_int_equal(a->flags, b->flags);
    assert_int_equal(a->count, b->count);
    assert_int_equal(a->pid, b->pid);
    assert_int_equal(a->parent, b->parent);
    assert_int_equal(a->uid, b->uid);
    assert_int_equal(a->cgroup, b->cgroup);
    assert_string_equal(a->name, b->name);
    assert_ptr_equal(a->labels, b->labels);
    assert_int_equal(left->elapsed_ns[left_row], right->elapsed_ns[right_row]);
    assert_memory_equal(frame_values(left, left_row), frame_values(right, right_row),
                        left->schema->column_count * sizeof(uint64_t));
}

/* The frames may have their rows in different orders. */
static void assert_same_frame(const struct frame *left, const struct frame *right)
{
    size_t left_rows[2 * IDS], right_rows[2 * IDS];

    assert_int_equal(left->start_ns, right->start_ns);
    assert_int_equal(left->end_ns, right->end_ns);
    assert_int_equal(left->wall_clock_ns, right->wall_clock_ns);
    assert_memory_equal(&left->losses, &right->losses, sizeof left->losses);
    assert_int_equal(left->entity_count, right->entity_count);
    sort_rows(left, left_rows);
    sort_rows(right, right_rows);
    for (size_t i = 0; i < left->entity_count; i++)
        assert_same_row(left, left_rows[i], right, right_rows[i]);
}

static void assert_same_schema(const struct schema *left, const struct schema *right)
{
    assert_int_equal(left->column_count, right->column_count);
    assert_int_equal(left->state_count, right->state_count);
    assert_int_equal(left->label_count, right->label_count);
    for (size_t i = 0; i < left->label_count; i++)
        assert_string_equal(left->label_names[i], right->label_names[i]);
    for (size_t i = 0; i < left->column_count; i++) {
        assert_string_equal(left->columns[i].name, right->columns[i].name);
        assert_string_equal(left->columns[i].title, right->columns[i].title);
        assert_string_equal(left->columns[i].help, right->columns[i].help);
        assert_int_equal(left->columns[i].kind, right->columns[i].kind);
        assert_int_equal(left->columns[i].provenance, right->columns[i].provenance);
    }
}

/* Compares the recorded frames with frames that the same seed makes again. */
static void replay_from(int64_t begin_ns, size_t first, const struct schema *schema,
                        const struct schema *beside_schema)
{
    const struct from from = { .begin_ns = begin_ns };
    struct frame frame, beside;
    struct from_facts facts;
    struct source *source = open_from(&from, &facts);
    const struct frame *read;

    assert_same_schema(source->describe(source), schema);
    assert_int_equal(facts.frames, TICKS);
    frame_init(&frame, schema);
    frame_init(&beside, beside_schema);
    memset(actors, 0, sizeof actors);
    random_state = 1;
    for (size_t i = 0; i < TICKS; i++) {
        make_frame(&frame, i);
        if (beside_schema != NULL)
            make_frame(&beside, i);
        if (i < first)
            continue;
        assert_int_equal(read_frame(source, &read), CAMP_OK);
        assert_same_frame(read, &frame);
        if (beside_schema != NULL)
            assert_same_frame(source_beside(source), &beside);
        else
            assert_null(source_beside(source));
    }
    assert_int_equal(read_frame(source, &read), SOURCE_END);
    frame_release(&frame);
    frame_release(&beside);
    source_close(source);
}

static void a_recording_is_read_back_unchanged(void **state)
{
    struct recorder_counts counts;

    (void)state;
    counts = record_made(&states_schema, &counts_schema);
    assert_int_equal(counts.ticks, TICKS);
    assert_true(counts.written < counts.rows);
    replay_from(0, 0, &states_schema, &counts_schema);
}

static bool is_same_identity(const struct entity *a, const struct entity *b)
{
    return a->id == b->id && ((a->flags | b->flags) & (ENTITY_NEW | ENTITY_ENDED)) == 0 &&
           a->flags == b->flags && a->count == b->count && a->pid == b->pid &&
           a->parent == b->parent && a->uid == b->uid && a->cgroup == b->cgroup &&
           a->labels == b->labels && strcmp(a->name, b->name) == 0;
}

/* Returns the row of the only entity with this id, or SIZE_MAX. */
static size_t only_row(const struct frame *frame, int64_t id)
{
    size_t found = SIZE_MAX, count = 0;

    for (size_t i = 0; i < frame->entity_count; i++) {
        if (frame->entities[i].id == id) {
            found = i;
            count++;
        }
    }
    return count == 1 ? found : SIZE_MAX;
}

static bool is_idle_as_before(const struct frame *frame, size_t row, const struct frame *before)
{
    const size_t level = frame->schema->column_count - 1;
    const size_t other = only_row(before, frame->entities[row].id);
    const struct idle_row now = idle_row_of(frame, row);
    struct idle_row then;

    if (now.state < 0 || other == SIZE_MAX || only_row(frame, frame->entities[row].id) != row ||
        !is_same_identity(&frame->entities[row], &before->entities[other]))
        return false;
    then = idle_row_of(before, other);
    return then.state == now.state && then.times == now.times && then.repeated == now.repeated &&
           frame_values(frame, row)[level] == frame_values(before, other)[level];
}

static bool has_gone(const struct frame *frame, const struct frame *before, size_t row)
{
    for (size_t i = 0; i < frame->entity_count; i++) {
        if (frame->entities[i].id == before->entities[row].id)
            return false;
    }
    return (before->entities[row].flags & ENTITY_ENDED) == 0;
}

/* Makes the frame that a source makes with IDLE_OMITTED. */
static void omit_idle(struct frame *ret, const struct frame *frame, const struct frame *before)
{
    frame_start_as(ret, frame);
    for (size_t i = 0; i < before->entity_count; i++) {
        if (has_gone(frame, before, i)) {
            struct entity *gone = frame_add(ret);

            *gone = before->entities[i];
            gone->flags = ENTITY_GONE;
        }
    }
    for (size_t i = 0; i < frame->entity_count; i++) {
        if (is_idle_as_before(frame, i, before))
            ret->omitted++;
        else
            assert_non_null(frame_add_row(ret, frame, i));
    }
}

/* Each allocation of SQLite fails in turn. A write that fails changes nothing: the same frame is
 * written again. */
static size_t write_after_failures(struct recorder *recorder, const struct frame *frame)
{
    for (size_t failures = 0;; failures++) {
        struct camp_error error = { 0 };
        int r;

        allocations = 0;
        failing = failures + 1;
        r = recorder_write(recorder, frame, NULL, &error);
        failing = 0;
        if (r == CAMP_OK)
            return failures;
        if (r != CAMP_E_NOMEM)
            fail_msg("allocation %zu: %s", failures + 1, error.message);
    }
}

static void frames_that_omit_idle_rows_are_read_back_with_them(void **state)
{
    struct frame frame, before, sparse = { 0 };
    struct recorder *recorder;
    size_t omitted = 0, failures = 0, keys = 0;
    char sql[160];

    (void)state;
    recorder = open_recorder();
    frame_init(&frame, &states_schema);
    frame_init(&before, &states_schema);
    for (size_t i = 0; i < TICKS; i++) {
        make_frame(&frame, i);
        /* Each second key interval comes two intervals later than it should. */
        if (recorder_wants_key(recorder) &&
            (i / RECORDING_KEY_EVERY % 2 == 0 || i % RECORDING_KEY_EVERY >= 2)) {
            failures += write_after_failures(recorder, &frame);
            keys++;
        } else {
            omit_idle(&sparse, &frame, &before);
            omitted += sparse.omitted;
            failures += write_after_failures(recorder, &sparse);
        }
        frame_start_as(&before, &frame);
        for (size_t k = 0; k < frame.entity_count; k++)
            assert_non_null(frame_add_row(&before, &frame, k));
    }
    print_message("%zu idle rows were omitted, %zu writes failed\n", omitted, failures);
    assert_true(omitted > 1000 && failures > 100);
    recorder_close(recorder);
    frame_release(&frame);
    frame_release(&before);
    frame_release(&sparse);
    replay_from(0, 0, &states_schema, NULL);
    /* The statement fails if the file has another number of key intervals. */
    snprintf(sql, sizeof sql,
             "SELECT iif(sum(key) = %zu, 0, abs(-9223372036854775807 - 1)) FROM tick", keys);
    run_sql(sql);
}

/* Frame 1 has the sleepers 1, 2 and 9. In frame 2 sleeper 1 is gone, after another entity got its
 * id and ended; sleeper 2 was only missing; sleeper 9 is omitted, as in frame 3. */
static void an_entity_that_is_gone_is_not_repeated_whatever_has_its_id(void **state)
{
    static const struct actor rows[][4] = {
        { { .state = 1, .entity = { .id = 1, .count = 1 } },
          { .state = 1, .entity = { .id = 2, .count = 1 } },
          { .state = 1, .entity = { .id = 9, .count = 1 } } },
        { { .entity = { .id = 1, .count = 1, .flags = ENTITY_NEW | ENTITY_ENDED } },
          { .entity = { .id = 1, .flags = ENTITY_GONE } },
          { .entity = { .id = 2, .flags = ENTITY_GONE } },
          { .state = 2, .entity = { .id = 2, .count = 1 } } },
        { { .state = 1, .entity = { .id = 2, .count = 1 } } },
    };
    static const int64_t expected[][3] = { { 1, 2, 9 }, { 1, 2, 9 }, { 2, 9 } };
    const struct from from = { 0 };
    struct recorder *recorder = open_recorder();
    struct from_facts facts;
    struct source *source;
    struct frame frame;

    (void)state;
    frame_init(&frame, &states_schema);
    for (size_t i = 0; i < COUNT(rows); i++) {
        frame_clear(&frame);
        frame.start_ns = frame.end_ns;
        frame.end_ns += WALL_NS;
        frame.omitted = i > 0;
        for (size_t k = 0; k < 4 && rows[i][k].entity.id != 0; k++)
            add_made(&frame, &rows[i][k], false);
        write_frame(recorder, &frame, NULL);
    }
    assert_int_equal(recorder_counts(recorder).rows, 3 + 3 + 2);
    recorder_close(recorder);
    frame_release(&frame);
    source = open_from(&from, &facts);
    for (size_t i = 0; i < COUNT(expected); i++) {
        const struct frame *read;
        size_t order[2 * IDS];

        assert_int_equal(read_frame(source, &read), CAMP_OK);
        assert_int_equal(read->entity_count, i < 2 ? 3 : 2);
        sort_rows(read, order);
        for (size_t k = 0; k < read->entity_count; k++)
            assert_int_equal(read->entities[order[k]].id, expected[i][k]);
    }
    assert_int_equal(read_frame(source, &(const struct frame *){ NULL }), SOURCE_END);
    source_close(source);
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
    assert_int_equal(facts.end_ns, FIRST_WALL_CLOCK_NS + (TICKS - 1) * (int64_t)WALL_NS);
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

int main(void)
{
#define RECORDING_TEST(name) cmocka_unit_test_setup_teardown(name, make_folder, remove_folder)
    const struct CMUnitTest tests[] = {
        RECORDING_TEST(a_recording_is_read_back_unchanged),
        RECORDING_TEST(frames_that_omit_idle_rows_are_read_back_with_them),
        RECORDING_TEST(an_entity_that_is_gone_is_not_repeated_whatever_has_its_id),
        RECORDING_TEST(an_unchanged_row_of_an_idle_thread_is_written_to_a_recording_once),
        RECORDING_TEST(the_row_of_an_idle_thread_is_read_back_with_the_length_of_the_interval),
        RECORDING_TEST(a_recording_of_a_source_without_states_is_read_back_unchanged),
        RECORDING_TEST(a_replay_may_start_at_any_interval_of_a_recording),
        RECORDING_TEST(recorded_intervals_keep_their_order_when_the_clock_is_set_back),
        RECORDING_TEST(exited_entities_are_not_repeated_in_later_intervals_of_a_long_replay),
        RECORDING_TEST(a_replay_has_the_source_and_tier_and_note_stored_in_its_recording),
    };

    fail_allocations();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
