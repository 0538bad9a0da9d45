/* Percentages of the quota of a row. */
#include "views/frame_table.h"

#include "../tree.h"

static const struct column columns[] = {
    { "cpu_ns", "CPU", "", COLUMN_STATE, CAMP_MEASURED, CLASS_CPU },
};
static const char *const label_names[] = { "container", "container_quota" };
static const struct schema schema = { "threads", columns, 1, 1, label_names, 2 };
static const struct frame_facts facts = { "threads", "bpf", "threads", NULL, "" };

/* Returns the percentage of a row that had a CPU in 400 of 1000 ns. */
static double percent_with(const char *quota)
{
    static const struct frame_style style = {
        .for_text = true, .width = 80, .percent_of = PERCENT_OF_QUOTA, .quota_label = 1
    };
    const char *const values[] = { "web", quota };
    const struct selection selection = { .order = 0 };
    struct frame_table table;
    const struct table *rows = &table.tables[3];
    struct frame frame;
    struct entity *entity;
    double ret = -1;

    frame_init(&frame, &schema);
    frame.end_ns = 1000;
    entity = frame_add(&frame);
    assert_non_null(entity);
    entity->count = 1;
    entity->labels = labels_intern(values, 2);
    frame.elapsed_ns[0] = 1000;
    frame_values(&frame, 0)[0] = 400;
    assert_int_equal(frame_table_init(&table, &schema), CAMP_OK);
    assert_int_equal(selection_pick(&table.selected, &frame, &selection), CAMP_OK);
    assert_int_equal(frame_table_fill(&table, NULL, "now", &selection, &style, &facts), CAMP_OK);
    for (size_t i = 0; i < rows->field_count; i++) {
        if (rows->fields[i].title != NULL && strcmp(rows->fields[i].title, "CPU%") == 0)
            ret = rows->cells[i].real;
    }
    frame_table_release(&table);
    frame_release(&frame);
    return ret;
}

static void a_quota_is_the_whole(void **state)
{
    (void)state;
    assert_float_equal(percent_with("0.5"), 80, 1e-9);
    assert_float_equal(percent_with("2"), 20, 1e-9);
}

static void a_text_that_is_no_possible_quota_leaves_the_interval_as_the_whole(void **state)
{
    static const char *const texts[] = { "none", "", "-1", "1e300", "1e-300", "inf", "nan" };

    (void)state;
    for (size_t i = 0; i < COUNT(texts); i++)
        assert_float_equal(percent_with(texts[i]), 40, 1e-9);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_quota_is_the_whole),
        cmocka_unit_test(a_text_that_is_no_possible_quota_leaves_the_interval_as_the_whole),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
