/* Tests that frames without rows of idle entities (IDLE_OMITTED) are read back with them, also if
 * writes fail. */
#include "failing_memory.h"
#include "recording_fixture.h"

#include <inttypes.h>

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
    const struct entity *old = &before->entities[row];

    for (size_t i = 0; i < frame->entity_count; i++) {
        const struct entity *entity = &frame->entities[i];

        /* Entities without an id differ by their names. */
        if (entity->id == old->id && (old->id != 0 || strcmp(entity->name, old->name) == 0))
            return false;
    }
    return (old->flags & ENTITY_ENDED) == 0;
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
        r = recorder_write(recorder, frame, NULL, NULL, &error);
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
    uint64_t omitted = 0;
    size_t failures = 0, keys = 0;
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
    print_message("%" PRIu64 " idle rows were omitted, %zu writes failed\n", omitted, failures);
    assert_true(omitted > 1000 && failures > 10000);
    assert_int_equal(keys, 1 + TICKS / RECORDING_KEY_EVERY);
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

int main(void)
{
#define RECORDING_TEST(name) cmocka_unit_test_setup_teardown(name, make_folder, remove_folder)
    const struct CMUnitTest tests[] = {
        RECORDING_TEST(frames_that_omit_idle_rows_are_read_back_with_them),
        RECORDING_TEST(an_entity_that_is_gone_is_not_repeated_whatever_has_its_id),
    };

    fail_allocations();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
