#include "ledger/selection.h"

#include "../tree.h"

#include <string.h>

static const struct column columns[] = {
    { "cpu_ns", "cpu", "", COLUMN_STATE, CAMP_MEASURED, CLASS_CPU },
    { "idle_ns", "idle", "", COLUMN_STATE, CAMP_MEASURED, CLASS_IDLE },
    { "calls", "calls", "", COLUMN_COUNTER, CAMP_MEASURED },
};
static const char *const names[] = { "user", "database" };
static const struct schema schema = { "sessions", columns, COUNT(columns), 2, names, COUNT(names) };

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
    frame_values(frame, frame->entity_count - 1)[2] = 1000 - (uint64_t)id;
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

static void fill(struct selected *ret, const struct frame *frame, const struct selection *selection)
{
    assert_int_equal(selection_pick(ret, frame, selection), CAMP_OK);
    assert_int_equal(selection_fill(ret, selection), CAMP_OK);
}

static void check(const struct selected *selected, size_t at, const char *name, uint64_t cpu_ns)
{
    assert_true(at < selected->count);
    assert_string_equal(selected->rows->entities[selected->order[at]].name, name);
    assert_int_equal(frame_values(selected->rows, selected->order[at])[0], cpu_ns);
}

static void grouping_by_a_label_adds_up_living_and_exited_entities(void **state)
{
    const struct selection by_user = { .grouping = { .key = GROUP_LABEL, .label = 0 } };
    const struct selection by_database = { .grouping = { .key = GROUP_LABEL, .label = 1 } };
    struct frame frame = four();
    struct selected selected = { 0 };

    (void)state;
    fill(&selected, &frame, &by_user);
    assert_int_equal(selected.count, 3);
    check(&selected, 0, "eve", 40);
    check(&selected, 1, "bob", 30);
    check(&selected, 2, "(none)", 15);
    assert_int_equal(selected.rows->entities[selected.order[1]].count, 2);
    assert_int_equal(selected.rows->entities[selected.order[1]].pid, 0);
    assert_string_equal(labels_value(selected.rows->entities[selected.order[1]].labels, 0), "bob");
    assert_string_equal(labels_value(selected.rows->entities[selected.order[1]].labels, 1), "");
    fill(&selected, &frame, &by_database);
    assert_int_equal(selected.count, 2);
    check(&selected, 0, "shop", 50);
    check(&selected, 1, "news", 35);
    frame_release(&frame);
    selected_release(&selected);
}

static void groups_by_several_labels_have_all_of_their_values(void **state)
{
    const struct selection by_both = { .grouping = { GROUP_LABEL, .label = 1, .more_labels = { 0 },
                                                     .more_count = 1 } };
    struct frame frame = four();
    struct selected selected = { 0 };

    (void)state;
    fill(&selected, &frame, &by_both);
    assert_int_equal(selected.count, 4);
    check(&selected, 0, "shop, eve", 40);
    check(&selected, 1, "news, bob", 20);
    check(&selected, 2, "news, (none)", 15);
    check(&selected, 3, "shop, bob", 10);
    for (size_t label = 0; label < 2; label++)
        assert_string_equal(labels_value(selected.rows->entities[selected.order[1]].labels, label),
                            label == 0 ? "bob" : "news");
    frame_release(&frame);
    selected_release(&selected);
}

static void only_the_rows_with_the_values_of_labels_are_picked(void **state)
{
    const struct label_value only[] = { { 1, "shop" }, { 0, "bob" } };
    struct frame frame = four();
    struct selected selected = { 0 };

    (void)state;
    fill(&selected, &frame, &(struct selection){ .only = only, .only_count = 1 });
    assert_int_equal(selected.count, 2);
    fill(&selected, &frame, &(struct selection){ .only = only, .only_count = 2 });
    assert_int_equal(selected.count, 1);
    check(&selected, 0, "bob@shop", 10);
    frame_release(&frame);
    selected_release(&selected);
}

static void the_rows_of_a_frame_can_be_sorted_and_filtered_by_a_label(void **state)
{
    struct selection selection = { .order = order_find(&schema, "database") };
    struct selected selected = { 0 };
    struct frame frame = four();
    regex_t filter;

    (void)state;
    fill(&selected, &frame, &selection);
    check(&selected, 0, "bob@news", 20); /* busier than the second session in "news" */
    check(&selected, 3, "bob@shop", 10);
    assert_int_equal(regcomp(&filter, "^news$", REG_EXTENDED | REG_NOSUB), 0);
    selection = (struct selection){ .filter = &filter, .most = 1 };
    fill(&selected, &frame, &selection);
    assert_int_equal(selected.count, 1);
    assert_int_equal(selected.cut, 1);
    check(&selected, 0, "bob@news", 20);
    selection = (struct selection){ .filter = &filter, .filters_names = true };
    fill(&selected, &frame, &selection);
    assert_int_equal(selected.count, 0);
    regfree(&filter);
    frame_release(&frame);
    selected_release(&selected);
}

static void check_first(const struct frame *frame, const char *order, const char *name)
{
    const struct selection selection = { .order = order_find(frame->schema, order) };
    struct selected selected = { 0 };

    assert_true(selection.order < order_count(frame->schema));
    fill(&selected, frame, &selection);
    assert_string_equal(selected.rows->entities[selected.order[0]].name, name);
    selected_release(&selected);
}

static void the_rows_of_a_frame_can_be_sorted_by_any_column(void **state)
{
    static const char *const expected[] = { "busy",     "cpu",  "idle",    "unaccounted", "user",
                                            "database", "name", "elapsed", "calls" };
    struct frame frame = four();
    char name[ORDER_NAME_SIZE];

    (void)state;
    assert_int_equal(order_count(&schema), COUNT(expected));
    assert_int_equal(order_count_of_states(&schema), 7);
    for (size_t i = 0; i < COUNT(expected); i++) {
        order_name(&schema, i, name);
        assert_string_equal(name, expected[i]);
    }
    assert_int_equal(order_find(&schema, "colour"), order_count(&schema));
    frame.elapsed_ns[3] = 300; /* 200 ns are unaccounted */
    check_first(&frame, "busy", "@news");
    check_first(&frame, "cpu", "eve@shop");
    check_first(&frame, "idle", "bob@shop");
    check_first(&frame, "unaccounted", "@news");
    check_first(&frame, "elapsed", "@news");
    check_first(&frame, "calls", "bob@shop");
    check_first(&frame, "name", "@news");
    frame_release(&frame);
}

static void processes_are_selected_by_their_pid(void **state)
{
    const int32_t pids[] = { 40, 15 };
    const struct selection selection = { .pids = pids,
                                         .pid_count = COUNT(pids),
                                         .no_kernel_threads = true };
    struct frame frame = four();
    struct selected selected = { 0 };

    (void)state;
    frame.entities[3].flags = ENTITY_KERNEL;
    fill(&selected, &frame, &selection);
    assert_int_equal(selected.count, 1);
    check(&selected, 0, "eve@shop", 40);
    frame_release(&frame);
    selected_release(&selected);
}

/* Checks how many living and exited rows are selected if at most `most` rows are shown. */
static void check_cut(size_t living, size_t ended, size_t most, size_t expected_living,
                      size_t expected_ended)
{
    const struct selection selection = { .most = most, .exited_apart = true };
    struct selected selected = { 0 };
    struct frame frame;

    frame_init(&frame, &schema);
    for (size_t i = 0; i < living + ended; i++)
        add(&frame, (int32_t)i + 1, "x", "y", i < living ? 0 : ENTITY_ENDED);
    fill(&selected, &frame, &selection);
    assert_int_equal(selected.living, expected_living);
    assert_int_equal(selected.count, expected_living + expected_ended);
    assert_int_equal(selected.cut, living + ended - selected.count);
    for (size_t i = 0; i < selected.count; i++)
        assert_int_equal(selected.order[i], i < selected.living
                                                ? living - 1 - i
                                                : living + ended - 1 - i + selected.living);
    frame_release(&frame);
    selected_release(&selected);
}

static void a_quarter_of_the_row_limit_is_reserved_for_exited_entities(void **state)
{
    (void)state;
    check_cut(30, 10, 0, 30, 10);
    check_cut(3, 2, 20, 3, 2);
    check_cut(30, 0, 20, 20, 0);
    check_cut(30, 2, 20, 18, 2);
    check_cut(30, 10, 20, 15, 5);
    check_cut(4, 30, 20, 4, 16);
    check_cut(2, 2, 1, 1, 0);
    check_cut(0, 5, 3, 0, 3);
}

static const char *number_name(void *context, const struct entity *row)
{
    (void)context;
    return row->id == 1 ? "one" : "two";
}

static void the_rows_of_a_frame_can_be_grouped_by_numbers_from_the_caller(void **state)
{
    const int64_t numbers[] = { 1, 2, 2, 1 };
    const struct selection selection = { .grouping = { .key = GROUP_NUMBER, .numbers = numbers },
                                         .name = number_name,
                                         .order = order_find(&schema, "name") };
    struct frame frame = four();
    struct selected selected = { 0 };

    (void)state;
    frame.entities[1].flags = 0;
    fill(&selected, &frame, &selection);
    assert_int_equal(selected.count, 2);
    assert_string_equal(selection_name(&selection, &selected.rows->entities[selected.order[0]]),
                        "one");
    assert_int_equal(frame_values(selected.rows, selected.order[0])[0], 25);
    assert_int_equal(frame_values(selected.rows, selected.order[1])[0], 60);
    frame_release(&frame);
    selected_release(&selected);
}

static void labels_columns_and_counters_are_found_by_name(void **state)
{
    (void)state;
    assert_int_equal(schema_find_label(&schema, "database"), 1);
    assert_true(schema_find_label(&schema, "calls") == SIZE_MAX);
    assert_int_equal(schema_find_column(&schema, "idle_ns"), 1);
    assert_int_equal(schema_find_column(&schema, "calls"), 2);
    assert_int_equal(schema_find_counter(&schema, "calls"), 2);
    assert_true(schema_find_counter(&schema, "idle_ns") == SIZE_MAX);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(grouping_by_a_label_adds_up_living_and_exited_entities),
        cmocka_unit_test(groups_by_several_labels_have_all_of_their_values),
        cmocka_unit_test(only_the_rows_with_the_values_of_labels_are_picked),
        cmocka_unit_test(the_rows_of_a_frame_can_be_sorted_and_filtered_by_a_label),
        cmocka_unit_test(the_rows_of_a_frame_can_be_sorted_by_any_column),
        cmocka_unit_test(processes_are_selected_by_their_pid),
        cmocka_unit_test(a_quarter_of_the_row_limit_is_reserved_for_exited_entities),
        cmocka_unit_test(the_rows_of_a_frame_can_be_grouped_by_numbers_from_the_caller),
        cmocka_unit_test(labels_columns_and_counters_are_found_by_name),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
