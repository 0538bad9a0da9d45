/* A frame as a record: the columns that fit, the sums, and the keys of JSON. */
#include "views/frame_table.h"

#include "sources/source.h"

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
    { "run_queue_ns", "run queue", "", COLUMN_STATE, CAMP_MEASURED, CLASS_READY, "runq" },
    { "contention_ns", "contention", "", COLUMN_STATE, CAMP_MEASURED, CLASS_CONTENTION, "cont" },
    { "wait_ns", "wait", "", COLUMN_STATE, CAMP_MEASURED, CLASS_OTHER_WAIT },
    { "idle_ns", "idle", "", COLUMN_STATE, CAMP_MEASURED, CLASS_IDLE },
    { "told_cpu_ns", "told: CPU", "", COLUMN_COUNTER, CAMP_SAMPLED },
};
static const char *const label_names[] = { "user", "application" };
static const struct schema schema = { "postgres", columns, COUNT(columns), 5, label_names, 2 };
static const struct frame_facts facts = { "postgres:db", "bpf", "sessions", NULL, "" };

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

static const struct frame_style text_80 = {
    .for_text = true, .width = 80, .is_single = true, .percent_of = PERCENT_OF_ROW
};

static void fill(struct frame_table *table, const struct frame *frame, size_t order,
                 const struct frame_style *style)
{
    const struct selection selection = { .order = order };

    assert_int_equal(frame_table_init(table, frame->schema), CAMP_OK);
    assert_int_equal(selection_pick(&table->selected, frame, &selection), CAMP_OK);
    assert_int_equal(frame_table_fill(table, NULL, "now", &selection, style, &facts), CAMP_OK);
}

static void a_note_says_whether_lost_time_is_estimated_or_left_out(void **state)
{
    static const struct frame_facts threads = { "threads", "bpf", "threads", NULL, "" };
    const struct selection selection = { .order = 0 };
    struct frame_table table;
    struct frame frame;

    (void)state;
    fill_sessions(&frame);
    frame.losses = (struct losses){ .unseen = 3, .lost = 1 };
    assert_int_equal(frame_table_init(&table, frame.schema), CAMP_OK);
    assert_int_equal(selection_pick(&table.selected, &frame, &selection), CAMP_OK);
    assert_int_equal(frame_table_fill(&table, NULL, "now", &selection, &text_80, &threads),
                     CAMP_OK);
    assert_string_equal(table.notes.lost, "estimated: the times around 3 unseen switches; not in "
                                          "these numbers: 1 thread lost");
    assert_int_equal(frame_table_fill(&table, NULL, "now", &selection, &text_80, &facts), CAMP_OK);
    assert_string_equal(table.notes.lost, "not in these numbers: 3 switches or sessions unseen, 1 "
                                          "session lost");
    frame_table_release(&table);
    frame_release(&frame);
}

static const char *row_name(const struct frame_table *table, size_t at)
{
    return table->selected.rows->entities[table->selected.order[at]].name;
}

static void check_order(const struct frame *frame, const char *order, const char *const *names)
{
    struct frame_table table;

    fill(&table, frame, order_find(frame->schema, order), &text_80);
    assert_int_equal(table.selected.count, 4);
    for (size_t i = 0; i < 4; i++)
        assert_string_equal(row_name(&table, i), names[i]);
    frame_table_release(&table);
}

/* For the order of rows, unaccounted time counts as time that is not idle. */
static void entities_with_the_most_time_that_is_not_idle_are_listed_first(void **state)
{
    struct frame frame;

    (void)state;
    fill_sessions(&frame);
    check_order(&frame, "busy", (const char *const[]){ "busy", "twice", "missing", "sleeper" });
    check_order(&frame, "cpu", (const char *const[]){ "busy", "twice", "missing", "sleeper" });
    check_order(&frame, "idle", (const char *const[]){ "sleeper", "twice", "missing", "busy" });
    check_order(&frame, "unaccounted",
                (const char *const[]){ "missing", "twice", "sleeper", "busy" });
    check_order(&frame, "application",
                (const char *const[]){ "busy", "twice", "missing", "sleeper" });
    check_order(&frame, "name", (const char *const[]){ "busy", "missing", "sleeper", "twice" });
    frame_release(&frame);
}

static const struct cell *cell_of(const struct frame_table *shown, size_t row, const char *title)
{
    const struct table *table = &shown->tables[3];

    for (size_t i = 0; i < table->field_count; i++) {
        if (table->fields[i].title != NULL && strcmp(table->fields[i].title, title) == 0)
            return &table->cells[row * table->field_count + i];
    }
    fail_msg("there is no column %s", title);
    return NULL;
}

static void a_percentage_is_a_share_of_the_elapsed_time_of_the_entity(void **state)
{
    struct frame frame;
    struct frame_table any;

    (void)state;
    fill_sessions(&frame);
    frame.elapsed_ns[2] = 500; /* the session started during the interval */
    memcpy(frame_values(&frame, 2), (const uint64_t[]){ 250, 100, 50, 50, 50 }, 40);
    fill(&any, &frame, 0, &text_80);
    assert_string_equal(row_name(&any, 0), "twice");
    assert_string_equal(cell_of(&any, 0, "un% ")->text, "-20.0!");
    assert_int_equal(cell_of(&any, 0, "un% ")->emphasis, BAD);
    assert_string_equal(cell_of(&any, 1, "un% ")->text, "70.0 ");
    assert_string_equal(cell_of(&any, 2, "un% ")->text, "0.0 ");
    assert_int_equal(cell_of(&any, 2, "un% ")->emphasis, FAINT);
    assert_float_equal(cell_of(&any, 2, "CPU%")->real, 50, 1e-9);
    assert_int_equal(cell_of(&any, 2, "runq%")->emphasis, NOTABLE);
    assert_string_equal(any.notes.list[0],
                        "4 sessions, on average 0.66 in CPU, 0.10 run queue, 0.05 contention, "
                        "0.45 wait, 1.74 idle, 0.50 unaccounted");
    assert_string_equal(any.notes.list[1], "! the states of twice add up to 120.0 % of its time");
    assert_null(any.notes.list[2]);
    frame_table_release(&any);
    frame_release(&frame);
}

static void titles_of(const struct frame *frame, size_t order, size_t width, char ret[400])
{
    struct frame_style style = text_80;
    struct frame_table any;

    style.width = width;
    fill(&any, frame, order, &style);
    ret[0] = '\0';
    for (size_t i = 0; i < any.columns.field_count; i++)
        snprintf(ret + strlen(ret), 400 - strlen(ret), "%s ", any.columns.fields[i].title);
    frame_table_release(&any);
}

static void check_sorted_titles(const struct frame *frame, size_t sort, size_t width,
                                const char *expected)
{
    char titles[400];

    titles_of(frame, sort, width, titles);
    assert_string_equal(titles, expected);
}

/* A name is cut for a terminal, but not for a pipe. */
static void names_are_cut_on_a_terminal_but_not_in_a_pipe(void **state)
{
    static const char name[] = "fleet-host-0001.example.org:12267 processes";
    struct frame_style style = text_80;
    struct frame frame;
    struct frame_table any;

    (void)state;
    frame_init(&frame, &schema);
    frame.end_ns = 1000;
    add(&frame, name, "fleet-host-0001.example.org", 1000, (const uint64_t[]){ 1, 0, 0, 0, 999 });
    for (int i = 0; i < 2; i++) {
        style.is_uncut = i == 1;
        fill(&any, &frame, 0, &style);
        assert_int_equal(-any.columns.fields[0].width >= (int)strlen(name), i == 1);
        frame_table_release(&any);
    }
    frame_release(&frame);
}

static void check_titles(const struct frame *frame, size_t width, const char *expected)
{
    check_sorted_titles(frame, 0, width, expected);
}

/* States that do not fit are added up in the column "other". Labels that do not fit are left
 * out. */
static void the_columns_of_a_table_depend_on_the_available_width(void **state)
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

/* A label is not shown if its value is the same in all rows (user), or part of every name
 * (application). */
static void only_labels_that_distinguish_rows_are_shown(void **state)
{
    struct frame frame;

    (void)state;
    frame_init(&frame, &schema);
    frame.end_ns = 1000;
    add(&frame, "psql 1", "psql", 1000, (const uint64_t[]){ 0, 0, 0, 0, 1000 });
    check_titles(&frame, 120, "name pid user CPU% run queue% contention% wait% idle% un% ");
    add(&frame, "bench 2", "bench", 1000, (const uint64_t[]){ 0, 0, 0, 0, 1000 });
    check_titles(&frame, 120, "name pid CPU% run queue% contention% wait% idle% un% ");
    check_sorted_titles(&frame, 7, 120,
                        "name pid user CPU% run queue% contention% wait% idle% un% ");
    add(&frame, "3", "bench", 1000, (const uint64_t[]){ 0, 0, 0, 0, 1000 });
    check_titles(&frame, 120, "name pid application CPU% run queue% contention% wait% idle% un% ");
    frame_release(&frame);
}

static void cpu_time_and_the_column_of_the_sort_order_are_always_shown(void **state)
{
    struct frame frame;

    (void)state;
    frame_init(&frame, &schema);
    frame.end_ns = 1000;
    add(&frame, "busy", "psql", 1000, (const uint64_t[]){ 1, 9, 100, 800, 90 });
    check_titles(&frame, 40, "name pid CPU% other% un% ");
    check_sorted_titles(&frame, 2, 55, "name pid CPU% runq% other% un% ");
    check_sorted_titles(&frame, 5, 40,
                        /* wider than the terminal */
                        "name pid CPU% idle% other% un% ");
    frame_release(&frame);
}

/* Rules may define many states. States beyond the fifth are dropped if labels do not fit. */
static void five_columns_of_states_take_precedence_over_labels(void **state)
{
    static const struct column many[] = {
        { "cpu_ns", "CPU", "", COLUMN_STATE, CAMP_MEASURED, CLASS_CPU },
        { "run_queue_ns", "run queue", "", COLUMN_STATE, CAMP_MEASURED, CLASS_READY, "runq" },
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
    add(&frame, "two", "bench", 1000, (const uint64_t[]){ 500, 100, 50, 290, 50 });
    check_titles(&frame, 83,
                 "name pid application CPU% runq% a% b% c% d% un% "); /* e has no time */
    frame_values(&frame, 1)[5] = frame_values(&frame, 1)[6] = 5;
    check_titles(&frame, 83, "name pid application CPU% runq% a% b% c% other% un% ");
    check_titles(&frame, 88, "name pid application CPU% runq% a% b% c% d% e% un% ");
    frame_release(&frame);
}

static void the_heading_of_a_state_abbreviates_two_words_of_its_name(void **state)
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
        { "run_queue_ns", "run queue", "", COLUMN_STATE, CAMP_MEASURED, CLASS_READY, "runq" },
        { "contention_table_lock_ns", "table lock", "", COLUMN_STATE, CAMP_MEASURED,
          CLASS_CONTENTION },
    };
    static const struct schema schema_detailed = { "x", detailed, 3, 3 };
    char heading[FRAME_HEADING_SIZE];
    struct frame frame;

    (void)state;
    for (size_t i = 0; i < COUNT(titles); i++) {
        dotted_heading(titles[i][0], heading);
        assert_string_equal(heading, titles[i][1]);
    }
    frame_init(&frame, &schema_detailed);
    check_titles(&frame, 50, "name CPU% runq% tab.lock% un% ");
}

static void a_column_title_of_more_than_7_characters_is_shortened(void **state)
{
    static const char *const titles[][2] = {
        { "CPU", "CPU%" },         { "run queue", "runq%" },     { "contention", "cont%" },
        { "DB_WAIT", "DB_WAIT%" }, { "kernel fault", "kernf%" }, { "row lock by x", "rowlbx%" },
    };
    char heading[FRAME_HEADING_SIZE];

    (void)state;
    for (size_t i = 0; i < COUNT(titles); i++) {
        short_heading(titles[i][0], heading);
        assert_string_equal(heading, titles[i][1]);
    }
}

/* "data fault" and "data files" would both be shortened to "dataf%". */
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
    check_titles(&frame, 44, "name dataf% data files% un% ");
}

/* States with the same short title share a column. Columns are sorted by the class of their
 * states. */
static void a_terminal_of_80_columns_shows_threads_with_seven_columns_of_states(void **state)
{
    struct frame_style style = text_80;
    struct frame frame;
    struct frame_table any;
    char titles[400] = "";
    size_t width = 0;

    (void)state;
    frame_init(&frame, &threads_schema);
    frame.end_ns = 1000;
    assert_non_null(frame_add(&frame));
    frame.entities[0] = (struct entity){ .id = 7, .pid = 7, .count = 1, .name = "make" };
    frame.elapsed_ns[0] = 2000;
    frame_values(&frame, 0)[CAMP_STATE_SYSTEM] = 300;
    frame_values(&frame, 0)[CAMP_STATE_IRQ] = 100;
    frame_values(&frame, 0)[CAMP_STATE_TIMER] = 1600;
    style.numbered = style.of_threads = true;
    style.percent_of = PERCENT_OF_INTERVAL;
    fill(&any, &frame, 0, &style);
    for (size_t i = 0; i < any.columns.field_count; i++) {
        width += 2 + (size_t)abs(any.columns.fields[i].width);
        snprintf(titles + strlen(titles), sizeof titles - strlen(titles), "%s ",
                 any.columns.fields[i].title);
    }
    assert_string_equal(titles, "id name thr usr% sys% runq% flt% dsk% lck% slp% un% ");
    assert_int_equal(width - 2, 79);
    assert_float_equal(cell_of(&any, 0, "sys%")->real, 40, 1e-9);
    assert_int_equal(cell_of(&any, 0, "slp%")->integer, 160);
    assert_string_equal(any.notes.list[0], "1 session, on average 0.40 in sys, 1.60 slp");
    frame_table_release(&any);
    frame_release(&frame);
}

static const char *user(void *context, uint32_t uid)
{
    (void)context;
    return uid == 0 ? "root" : "anna";
}

static void check_keys(const struct table *table, const char *expected)
{
    char keys[600] = "";

    for (size_t i = 0; i < table->field_count; i++)
        snprintf(keys + strlen(keys), sizeof keys - strlen(keys), "%s ", table->fields[i].name);
    assert_string_equal(keys, expected);
}

static void json_has_the_same_keys_for_every_source(void **state)
{
    struct frame_style style = { .is_single = true, .user = user };
    struct frame frame;
    struct frame_table any;

    (void)state;
    fill_sessions(&frame);
    frame.losses.partial = 2;
    fill(&any, &frame, 0, &style);
    assert_int_equal(any.record.table_count, 5);
    check_keys(&any.tables[0], "time interval_s source tier kind group rows_cut ");
    check_keys(&any.tables[1], "text cpus full_cpus cpu run_queue throttled disk lock network wait "
                               "idle unaccounted accounted_twice parked entities ");
    assert_string_equal(any.tables[2].name, "cpus"); /* there is no frame of CPUs */
    assert_int_equal(any.tables[2].row_count, 0);
    check_keys(&any.tables[3], "id name pid parent user_name count new ended user application "
                               "elapsed_ns cpu_ns run_queue_ns contention_ns wait_ns idle_ns "
                               "told_cpu_ns unaccounted_ns ");
    check_keys(&any.tables[4], "unseen lost unread_ns partial ");
    assert_int_equal(any.tables[4].cells[3].natural, 2);
    assert_int_equal(any.tables[3].cells[2].integer, 1003);
    assert_int_equal(any.tables[3].cells[3].kind, CELL_UNKNOWN);
    assert_string_equal(any.tables[3].cells[4].text, "root");
    frame_table_release(&any);
    frame_release(&frame);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_note_says_whether_lost_time_is_estimated_or_left_out),
        cmocka_unit_test(a_terminal_of_80_columns_shows_threads_with_seven_columns_of_states),
        cmocka_unit_test(json_has_the_same_keys_for_every_source),
        cmocka_unit_test(entities_with_the_most_time_that_is_not_idle_are_listed_first),
        cmocka_unit_test(a_percentage_is_a_share_of_the_elapsed_time_of_the_entity),
        cmocka_unit_test(names_are_cut_on_a_terminal_but_not_in_a_pipe),
        cmocka_unit_test(the_columns_of_a_table_depend_on_the_available_width),
        cmocka_unit_test(only_labels_that_distinguish_rows_are_shown),
        cmocka_unit_test(cpu_time_and_the_column_of_the_sort_order_are_always_shown),
        cmocka_unit_test(five_columns_of_states_take_precedence_over_labels),
        cmocka_unit_test(the_heading_of_a_state_abbreviates_two_words_of_its_name),
        cmocka_unit_test(a_column_title_of_more_than_7_characters_is_shortened),
        cmocka_unit_test(two_columns_never_have_the_same_heading),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
