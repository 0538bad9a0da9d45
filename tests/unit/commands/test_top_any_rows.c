/* Rows of camp top of sessions: by a label, selected and in order. */
#include "commands/top/top_any_rows.h"

#include "../tree.h"

#include <string.h>

static const struct column columns[] = {
    { "cpu_ns", "cpu", "", COLUMN_STATE, CAMP_MEASURED, CLASS_CPU },
    { "idle_ns", "idle", "", COLUMN_STATE, CAMP_MEASURED, CLASS_IDLE },
};
static const char *const names[] = { "user", "database" };
static const struct schema schema = { "sessions",     columns, COUNT(columns),
                                      COUNT(columns), names,   COUNT(names) };

static void add(struct frame *frame, int32_t id, const char *user, const char *database,
                uint32_t flags)
{
    struct entity *entity = frame_add(frame);

    assert_non_null(entity);
    entity->id = entity->pid = id;
    entity->flags = flags;
    entity->count = 1;
    entity->labels = labels_intern((const char *const[]){ user, database }, COUNT(names));
    snprintf(entity->name, sizeof entity->name, "%s@%s", user, database);
    frame->elapsed_ns[frame->entity_count - 1] = 100;
    frame_values(frame, frame->entity_count - 1)[0] = (uint64_t)id;
    frame_values(frame, frame->entity_count - 1)[1] = 100 - (uint64_t)id;
}

static struct frame four(void)
{
    struct frame frame;

    frame_init(&frame, &schema);
    add(&frame, 10, "bob", "shop", 0);
    add(&frame, 20, "bob", "news", ENTITY_ENDED);
    add(&frame, 40, "eve", "shop", 0);
    add(&frame, 15, "", "news", 0);
    return frame;
}

static void check(const struct top_any_rows *rows, size_t at, const char *name, uint64_t cpu_ns)
{
    assert_true(at < rows->count);
    assert_string_equal(rows->frame->entities[rows->order[at]].name, name);
    assert_int_equal(frame_values(rows->frame, rows->order[at])[0], cpu_ns);
}

static void a_user_has_one_row_with_exited_processes(void **state)
{
    const struct top_any_selection by_user = { .group = 0 }, by_database = { .group = 1 };
    struct frame frame = four();
    struct top_any_rows rows = { 0 };

    (void)state;
    assert_int_equal(top_any_rows_fill(&rows, &frame, &by_user), CAMP_OK);
    assert_int_equal(rows.count, 3);
    check(&rows, 0, "eve", 40);
    check(&rows, 1, "bob", 30);
    check(&rows, 2, "(none)", 15);
    assert_int_equal(top_any_rows_fill(&rows, &frame, &by_database), CAMP_OK);
    assert_int_equal(rows.count, 2);
    check(&rows, 0, "shop", 50);
    check(&rows, 1, "news", 35);
    frame_release(&frame);
    top_any_rows_release(&rows);
}

static void labels_are_searched_and_sorted_by(void **state)
{
    const int by_database = 1 + (int)COUNT(columns) + 1 + 1; /* behind busy, states, unaccounted */
    struct top_any_selection selection = { .group = -1, .sort = by_database };
    struct top_any_rows rows = { 0 };
    struct frame frame = four();
    regex_t filter;

    (void)state;
    assert_int_equal(top_any_rows_fill(&rows, &frame, &selection), CAMP_OK);
    check(&rows, 0, "bob@news", 20); /* of two in it the busier */
    check(&rows, 3, "bob@shop", 10);
    assert_int_equal(regcomp(&filter, "^news$", REG_EXTENDED | REG_NOSUB), 0);
    selection = (struct top_any_selection){ .group = -1, .filter = &filter, .top = 1 };
    assert_int_equal(top_any_rows_fill(&rows, &frame, &selection), CAMP_OK);
    assert_int_equal(rows.count, 1);
    check(&rows, 0, "bob@news", 20);
    regfree(&filter);
    frame_release(&frame);
    top_any_rows_release(&rows);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_user_has_one_row_with_exited_processes),
        cmocka_unit_test(labels_are_searched_and_sorted_by),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
