/* camp top of any source: rows, orders, groups by a label, which columns have room, what is told.
 */
#include "commands/top/top_any.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static const struct column columns[] = {
    { "cpu_ns", "CPU", "", COLUMN_STATE, CAMP_MEASURED, CLASS_CPU },
    { "run_queue_ns", "run queue", "", COLUMN_STATE, CAMP_MEASURED, CLASS_READY },
    { "contention_ns", "contention", "", COLUMN_STATE, CAMP_MEASURED, CLASS_CONTENTION },
    { "wait_ns", "wait", "", COLUMN_STATE, CAMP_MEASURED, CLASS_OTHER_WAIT },
    { "idle_ns", "idle", "", COLUMN_STATE, CAMP_MEASURED, CLASS_IDLE },
    { "reported_cpu_ns", "reported: CPU", "", COLUMN_COUNTER, CAMP_SAMPLED },
};
static const char *const label_names[] = { "user", "application" };
static const struct schema schema = { "postgres", columns, COUNT(columns), 5, label_names, 2 };
static const struct from_facts facts = { .name = "postgres:db", .kind = "sessions", .tier = "bpf" };

static void add(struct frame *frame, const char *name, const char *application, uint64_t elapsed,
                const uint64_t states[5])
{
    const char *const values[] = { "anna", application };
    struct entity *entity = frame_add(frame);

    assert_non_null(entity);
    entity->id = (int64_t)frame->entity_count;
    entity->pid = 1000 + (int32_t)frame->entity_count;
    entity->count = 1;
    snprintf(entity->name, sizeof entity->name, "%s", name);
    entity->labels = labels_intern(values, 2);
    frame->elapsed_ns[frame->entity_count - 1] = elapsed;
    memcpy(frame_values(frame, frame->entity_count - 1), states, 5 * sizeof *states);
}

static void fill_sessions(struct frame *frame)
{
    frame_init(frame, &schema);
    frame->end_ns = 1000;
    add(frame, "sleeper", "psql", 1000, (const uint64_t[]){ 0, 0, 0, 0, 1000 });
    add(frame, "missing", "psql", 1000, (const uint64_t[]){ 10, 0, 0, 0, 290 });
    add(frame, "busy", "bench", 1000, (const uint64_t[]){ 500, 200, 100, 100, 100 });
    add(frame, "twice", "bench", 1000, (const uint64_t[]){ 400, 0, 0, 400, 400 });
}

static struct top_any_selection selection_of(int sort, bool for_text, size_t width)
{
    return (struct top_any_selection){
        .sort = sort, .group = -1, .for_text = for_text, .width = width
    };
}

static void fill(struct top_any *any, const struct frame *frame,
                 const struct top_any_selection *selection)
{
    assert_int_equal(top_any_init(any, frame->schema, &facts), CAMP_OK);
    assert_int_equal(top_any_fill(any, frame, "now", selection), CAMP_OK);
}

static const char *row_name(const struct top_any *any, size_t at)
{
    return any->rows.frame->entities[any->rows.order[at]].name;
}

static void check_order(const struct frame *frame, int sort, const char *const *names)
{
    const struct top_any_selection selection = selection_of(sort, true, 80);
    struct top_any any;

    fill(&any, frame, &selection);
    assert_int_equal(any.rows.count, 4);
    for (size_t i = 0; i < 4; i++)
        assert_string_equal(row_name(&any, i), names[i]);
    top_any_release(&any);
}

/* Time that nobody accounts for is not idle. */
static void rows_are_ordered_by_time_not_idle(void **state)
{
    struct frame frame;
    char name[TOP_ANY_WORD_SIZE];

    (void)state;
    fill_sessions(&frame);
    check_order(&frame, 0, (const char *const[]){ "busy", "twice", "missing", "sleeper" });
    check_order(&frame, 1, (const char *const[]){ "busy", "twice", "missing", "sleeper" });
    check_order(&frame, 5, (const char *const[]){ "sleeper", "twice", "missing", "busy" });
    check_order(&frame, 6, (const char *const[]){ "missing", "twice", "sleeper", "busy" });
    check_order(&frame, 8, (const char *const[]){ "busy", "twice", "missing", "sleeper" });
    check_order(&frame, 9, (const char *const[]){ "busy", "missing", "sleeper", "twice" });
    assert_int_equal(top_any_sort_count(&schema), 10);
    for (int i = 0; i < 10; i++) {
        static const char *const names[] = { "busy",        "cpu",  "run_queue",   "contention",
                                             "wait",        "idle", "unaccounted", "user",
                                             "application", "name" };

        top_any_sort_name(&schema, i, name);
        assert_string_equal(name, names[i]);
    }
    frame_release(&frame);
}

static void a_label_adds_rows_up(void **state)
{
    struct top_any_selection selection = selection_of(0, false, 0);
    struct frame frame;
    struct top_any any;

    (void)state;
    fill_sessions(&frame);
    add(&frame, "nameless", "", 1000, (const uint64_t[]){ 0, 0, 0, 0, 1000 });
    selection.group = 1;
    fill(&any, &frame, &selection);
    assert_int_equal(any.rows.count, 3);
    assert_string_equal(row_name(&any, 0), "bench");
    assert_string_equal(row_name(&any, 1), "psql");
    assert_string_equal(row_name(&any, 2), "(none)");
    assert_int_equal(any.rows.frame->elapsed_ns[any.rows.order[0]], 2000);
    assert_int_equal(frame_values(any.rows.frame, any.rows.order[0])[0], 900);
    assert_int_equal(any.rows.frame->entities[any.rows.order[0]].count, 2);
    top_any_release(&any);
    frame_release(&frame);
}

static const struct cell *cell_of(const struct top_any *any, size_t row, const char *title)
{
    const struct table *table = &any->tables[1];

    for (size_t i = 0; i < table->field_count; i++) {
        if (table->fields[i].title != NULL && strcmp(table->fields[i].title, title) == 0)
            return &table->cells[row * table->field_count + i];
    }
    fail_msg("there is no column %s", title);
    return NULL;
}

static void percentages_are_of_the_row_s_own_time(void **state)
{
    const struct top_any_selection selection = selection_of(0, true, 80);
    struct frame frame;
    struct top_any any;

    (void)state;
    fill_sessions(&frame);
    frame.elapsed_ns[2] = 500; /* it began in the midst */
    memcpy(frame_values(&frame, 2), (const uint64_t[]){ 250, 100, 50, 50, 50 }, 40);
    fill(&any, &frame, &selection);
    assert_string_equal(row_name(&any, 0), "twice");
    assert_string_equal(cell_of(&any, 0, "un% ")->text, "-20.0!");
    assert_int_equal(cell_of(&any, 0, "un% ")->emphasis, BAD);
    assert_string_equal(cell_of(&any, 1, "un% ")->text, "70.0 ");
    assert_string_equal(cell_of(&any, 2, "un% ")->text, "0.0 ");
    assert_int_equal(cell_of(&any, 2, "un% ")->emphasis, FAINT);
    assert_float_equal(cell_of(&any, 2, "CPU%")->real, 50, 1e-9);
    assert_int_equal(cell_of(&any, 2, "runq%")->emphasis, NOTABLE);
    assert_string_equal(any.notes[0],
                        "4 sessions: 0.66 CPU, 0.10 run queue, 0.05 contention, 0.45 wait, 1.74 "
                        "idle, 0.50 unaccounted");
    assert_string_equal(any.notes[1], "! the states of twice add up to 120.0 % of its time");
    assert_null(any.notes[2]);
    top_any_release(&any);
    frame_release(&frame);
}

static void titles_of(const struct frame *frame, int sort, size_t width, char ret[400])
{
    const struct top_any_selection selection = selection_of(sort, true, width);
    struct top_any any;

    fill(&any, frame, &selection);
    ret[0] = '\0';
    for (size_t i = 0; i < any.columns.field_count; i++)
        snprintf(ret + strlen(ret), 400 - strlen(ret), "%s ", any.columns.fields[i].title);
    top_any_release(&any);
}

static void check_sorted_titles(const struct frame *frame, int sort, size_t width,
                                const char *expected)
{
    char titles[400];

    titles_of(frame, sort, width, titles);
    assert_string_equal(titles, expected);
}

/* Into a pipe nothing is cut that tells rows apart; a terminal has an edge. */
static void without_a_terminal_names_are_whole(void **state)
{
    static const char name[] = "fleet-host-0001.example.org:12267 processes";
    struct top_any_selection selection = selection_of(0, true, 80);
    struct frame frame;
    struct top_any any;

    (void)state;
    frame_init(&frame, &schema);
    frame.end_ns = 1000;
    add(&frame, name, "fleet-host-0001.example.org", 1000, (const uint64_t[]){ 1, 0, 0, 0, 999 });
    for (int i = 0; i < 2; i++) {
        selection.is_uncut = i == 1;
        fill(&any, &frame, &selection);
        assert_int_equal(-any.columns.fields[0].width >= (int)strlen(name), i == 1);
        top_any_release(&any);
    }
    frame_release(&frame);
}

static void check_titles(const struct frame *frame, size_t width, const char *expected)
{
    check_sorted_titles(frame, 0, width, expected);
}

/* What has no room is in "other", or for labels not there. */
static void columns_are_chosen_by_available_space(void **state)
{
    struct frame frame;

    (void)state;
    fill_sessions(&frame);
    check_titles(&frame, 200, "name pid application CPU% run queue% contention% wait% idle% un%  ");
    check_titles(&frame, 80, "name pid application CPU% runq% cont% wait% idle% un%  ");
    check_titles(&frame, 70, "name pid CPU% runq% cont% wait% idle% un%  ");
    check_titles(&frame, 65, "name pid CPU% runq% wait% other% un%  ");
    check_titles(&frame, 1, "name pid CPU% other% un%  ");
    frame_release(&frame);
}

/* All have the same user. An application that is in every name is there already. */
static void labels_that_distinguish_rows_are_shown(void **state)
{
    struct frame frame;

    (void)state;
    frame_init(&frame, &schema);
    frame.end_ns = 1000;
    add(&frame, "psql 1", "psql", 1000, (const uint64_t[]){ 0, 0, 0, 0, 1000 });
    check_titles(&frame, 120, "name pid user CPU% run queue% contention% wait% idle% un%  ");
    add(&frame, "bench 2", "bench", 1000, (const uint64_t[]){ 0, 0, 0, 0, 1000 });
    check_titles(&frame, 120, "name pid CPU% run queue% contention% wait% idle% un%  ");
    check_sorted_titles(&frame, 7, 120,
                        "name pid user CPU% run queue% contention% wait% idle% un%  ");
    add(&frame, "3", "bench", 1000, (const uint64_t[]){ 0, 0, 0, 0, 1000 });
    check_titles(&frame, 120, "name pid application CPU% run queue% contention% wait% idle% un%  ");
    frame_release(&frame);
}

static void cpu_time_and_what_rows_are_sorted_by_have_room(void **state)
{
    struct frame frame;

    (void)state;
    frame_init(&frame, &schema);
    frame.end_ns = 1000;
    add(&frame, "busy", "psql", 1000, (const uint64_t[]){ 1, 9, 100, 800, 90 });
    check_titles(&frame, 40, "name pid CPU% other% un%  ");
    check_sorted_titles(&frame, 2, 55, "name pid CPU% runq% other% un%  ");
    check_sorted_titles(&frame, 5, 40, "name pid CPU% idle% other% un%  "); /* cut at its end */
    frame_release(&frame);
}

/* The columns of many rules do not take the room of what tells sessions apart. */
static void five_states_fit_then_labels(void **state)
{
    static const struct column many[] = {
        { "cpu_ns", "CPU", "", COLUMN_STATE, CAMP_MEASURED, CLASS_CPU },
        { "run_queue_ns", "run queue", "", COLUMN_STATE, CAMP_MEASURED, CLASS_READY },
        { "wait_a_ns", "a", "", COLUMN_STATE, CAMP_MEASURED, CLASS_OTHER_WAIT },
        { "wait_b_ns", "b", "", COLUMN_STATE, CAMP_MEASURED, CLASS_OTHER_WAIT },
        { "wait_c_ns", "c", "", COLUMN_STATE, CAMP_MEASURED, CLASS_OTHER_WAIT },
        { "wait_d_ns", "d", "", COLUMN_STATE, CAMP_MEASURED, CLASS_OTHER_WAIT },
        { "wait_e_ns", "e", "", COLUMN_STATE, CAMP_MEASURED, CLASS_OTHER_WAIT },
    };
    static const struct schema schema_many = { "x", many, 7, 7, label_names, 2 };
    struct frame frame;

    (void)state;
    frame_init(&frame, &schema_many);
    frame.end_ns = 1000;
    add(&frame, "one", "psql", 1000, (const uint64_t[]){ 500, 100, 50, 300, 50 });
    add(&frame, "two", "bench", 1000, (const uint64_t[]){ 500, 100, 50, 300, 50 });
    check_titles(&frame, 87, "name pid application CPU% runq% a% b% c% other% un%  ");
    check_titles(&frame, 94, "name pid application CPU% runq% a% b% c% d% e% un%  ");
    frame_release(&frame);
}

static void the_heading_of_a_rule_has_letters_of_two_words(void **state)
{
    static const char *const titles[][2] = {
        { "table lock", "tab.lock%" },
        { "wal lwlock", "wal.lwlo%" },
        { "io", "io%" },
        { "in transaction", "in.tran%" },
        { "background", "back%" },
        { "client of statement", "cli.stat%" },
    };
    static const struct column detailed[] = {
        { "cpu_ns", "CPU", "", COLUMN_STATE, CAMP_MEASURED, CLASS_CPU },
        { "run_queue_ns", "run queue", "", COLUMN_STATE, CAMP_MEASURED, CLASS_READY },
        { "contention_table_lock_ns", "table lock", "", COLUMN_STATE, CAMP_MEASURED,
          CLASS_CONTENTION },
    };
    static const struct schema schema_detailed = { "x", detailed, 3, 3 };
    char heading[TOP_ANY_HEADING_SIZE];
    struct frame frame;

    (void)state;
    for (size_t i = 0; i < COUNT(titles); i++) {
        top_any_dotted_heading(titles[i][0], heading);
        assert_string_equal(heading, titles[i][1]);
    }
    frame_init(&frame, &schema_detailed);
    check_titles(&frame, 50, "name CPU% runq% tab.lock% un%  ");
}

static void a_heading_is_short(void **state)
{
    static const char *const titles[][2] = {
        { "CPU", "CPU%" },         { "run queue", "runq%" },     { "contention", "cont%" },
        { "DB_WAIT", "DB_WAIT%" }, { "kernel fault", "kernf%" }, { "row lock by x", "rowlbx%" },
    };
    char heading[TOP_ANY_HEADING_SIZE];

    (void)state;
    for (size_t i = 0; i < COUNT(titles); i++) {
        top_any_heading(titles[i][0], heading);
        assert_string_equal(heading, titles[i][1]);
    }
}

/* "data fault" and "data file" would both be dataf%. */
static void two_columns_never_have_the_same_heading(void **state)
{
    static const struct column alike[] = {
        { "data_fault_ns", "data fault", "", COLUMN_STATE, CAMP_MEASURED, CLASS_IO },
        { "data_files_ns", "data files", "", COLUMN_STATE, CAMP_MEASURED, CLASS_IO },
    };
    static const struct schema schema_alike = { "x", alike, 2, 2 };
    struct frame frame;

    (void)state;
    frame_init(&frame, &schema_alike);
    check_titles(&frame, 44, "name dataf% data files% un%  ");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_are_ordered_by_time_not_idle),
        cmocka_unit_test(a_label_adds_rows_up),
        cmocka_unit_test(percentages_are_of_the_row_s_own_time),
        cmocka_unit_test(without_a_terminal_names_are_whole),
        cmocka_unit_test(columns_are_chosen_by_available_space),
        cmocka_unit_test(labels_that_distinguish_rows_are_shown),
        cmocka_unit_test(cpu_time_and_what_rows_are_sorted_by_have_room),
        cmocka_unit_test(five_states_fit_then_labels),
        cmocka_unit_test(the_heading_of_a_rule_has_letters_of_two_words),
        cmocka_unit_test(a_heading_is_short),
        cmocka_unit_test(two_columns_never_have_the_same_heading),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
