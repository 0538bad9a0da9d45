/* Tests the source that adds up rows by the value of a label. */
#include "ledger/summary.h"
#include "sources/groups.h"

#include "../tree.h"

static const struct column columns[] = {
    { "run_ns", "run", "", COLUMN_STATE, CAMP_MEASURED },
    { "calls", "calls", "", COLUMN_COUNTER, CAMP_MEASURED },
};
static const char *const names[] = { "user", "database" };
static const struct schema schema = { "sessions", columns, COUNT(columns), 1, names, COUNT(names) };

static struct frame made;
static bool is_closed;

static const struct schema *describe(const struct source *source)
{
    (void)source;
    return &schema;
}

static int next(struct source *source, uint64_t deadline_ns, const struct frame **ret_frame,
                struct camp_error *error)
{
    (void)source, (void)deadline_ns, (void)error;
    *ret_frame = &made;
    return made.entity_count > 0 ? CAMP_OK : SOURCE_END;
}

static void close_made(struct source *source)
{
    (void)source;
    frame_release(&made);
    is_closed = true;
}

static struct source whole = { describe, next, close_made, NULL };

static void add(const char *user, const char *database, uint32_t flags)
{
    const char *const values[] = { user, database };
    struct entity *entity = frame_add(&made);

    assert_non_null(entity);
    entity->id = entity->pid = (int32_t)made.entity_count;
    entity->flags = flags;
    entity->labels = labels_intern(values, COUNT(values));
    made.elapsed_ns[made.entity_count - 1] = 10;
    frame_values(&made, made.entity_count - 1)[0] = 7;
    frame_values(&made, made.entity_count - 1)[1] = made.entity_count;
}

static const struct frame *read_frame(struct source *source)
{
    struct camp_error error = { 0 };
    const struct frame *frame;

    assert_int_equal(source->next(source, 0, &frame, &error), CAMP_OK);
    return frame;
}

static void check(const struct frame *frame, size_t row, const char *name, uint32_t count,
                  uint64_t calls, int64_t id)
{
    assert_string_equal(frame->entities[row].name, name);
    assert_int_equal(frame->entities[row].count, count);
    assert_int_equal(frame->entities[row].id, id);
    assert_int_equal(frame->entities[row].flags, 0);
    assert_int_equal(frame->elapsed_ns[row], 10 * count);
    assert_int_equal(frame_values(frame, row)[0], 7 * count);
    assert_int_equal(frame_values(frame, row)[1], calls);
    assert_int_equal(frame_unaccounted_ns(frame, row), 3 * count);
}

static void each_label_value_has_one_row_with_the_same_id_in_all_frames(void **state)
{
    struct camp_error error = { 0 };
    const struct frame *frame;
    struct source *source;

    (void)state;
    is_closed = false;
    frame_init(&made, &schema);
    assert_int_equal(
        label_groups_open(&whole, &(struct grouping){ GROUP_LABEL, .label = 1 }, &source), CAMP_OK);
    assert_ptr_equal(source->describe(source), &schema);
    add("a", "shop", 0);
    add("", "", 0);
    add("b", "shop", ENTITY_NEW | ENTITY_ENDED);
    add("a", "news", 0);
    made.end_ns = 20;
    made.losses.lost = 3;
    made.note = "2 are hidden";
    frame = read_frame(source);
    assert_int_equal(frame->entity_count, 3);
    assert_int_equal(frame->end_ns, 20);
    assert_int_equal(frame->losses.lost, 3);
    assert_string_equal(frame->note, "2 are hidden");
    check(frame, 0, "shop", 2, 4, 1);
    check(frame, 1, "(none)", 1, 2, 2);
    check(frame, 2, "news", 1, 4, 3);
    assert_string_equal(labels_value(frame->entities[0].labels, 1), "shop");
    assert_string_equal(labels_value(frame->entities[0].labels, 0), "");
    frame_clear(&made);
    add("c", "news", 0);
    add("c", "shop", 0);
    frame = read_frame(source);
    assert_int_equal(frame->entity_count, 2);
    check(frame, 0, "news", 1, 1, 3);
    check(frame, 1, "shop", 1, 2, 1);
    frame_clear(&made);
    assert_int_equal(source->next(source, 0, &frame, &error), SOURCE_END);
    source_close(source);
    assert_true(is_closed);
}

/* The values are longer than the maximum length of a name, and differ only in the last
 * character. */
static void long_label_values_that_differ_only_at_their_end_have_two_rows(void **state)
{
    char text[100];
    const struct frame *frame;
    struct source *source;

    (void)state;
    frame_init(&made, &schema);
    assert_int_equal(
        label_groups_open(&whole, &(struct grouping){ GROUP_LABEL, .label = 0 }, &source), CAMP_OK);
    memset(text, 'x', sizeof text);
    text[99] = '\0';
    add(text, "", 0);
    text[98] = 'y';
    add(text, "", 0);
    frame = read_frame(source);
    assert_int_equal(frame->entity_count, 2);
    assert_int_equal(strlen(frame->entities[0].name), CAMP_NAME_SIZE - 1);
    source_close(source);
}

/* The time of one session is divided between two groups, and that of another one is not. */
static void an_entity_with_parts_in_two_groups_counts_once(void **state)
{
    const struct frame *frame;
    struct source *source;
    struct summary summary;

    (void)state;
    frame_init(&made, &schema);
    assert_int_equal(
        label_groups_open(&whole, &(struct grouping){ GROUP_LABEL, .label = 0 }, &source), CAMP_OK);
    for (int i = 0; i < 2; i++) {
        frame_clear(&made);
        made.end_ns = 20;
        add("a", "", 0);
        add("b", "", ENTITY_PART);
        add("b", "", 0);
        assert_int_equal(summary_fill(&summary, &made, (struct shared_cpus){ 0 }, "sessions"),
                         CAMP_OK);
        assert_int_equal(summary.entities, 2);
        frame = read_frame(source);
        assert_int_equal(frame->entity_count, 2);
        assert_int_equal(frame->entities[1].count, 2);
        assert_int_equal(frame->repeated, 1);
        assert_int_equal(summary_fill(&summary, frame, (struct shared_cpus){ 0 }, "sessions"),
                         CAMP_OK);
        assert_int_equal(summary.entities, 2);
    }
    source_close(source);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_label_value_has_one_row_with_the_same_id_in_all_frames),
        cmocka_unit_test(long_label_values_that_differ_only_at_their_end_have_two_rows),
        cmocka_unit_test(an_entity_with_parts_in_two_groups_counts_once),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
