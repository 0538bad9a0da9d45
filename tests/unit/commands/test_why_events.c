/* The table of wait events of `camp why`, on synthetic sessions: time, and the lengths of waits. */
#include "commands/why/why_events.h"
#include "views/memory_text.h"
#include "views/view.h"

#include <camp/camp.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { CPU, CONTENTION, WAIT, IDLE, SUM, LONGEST, LONGEST_ID, LONGEST_CLOCK, LOG_19, LOG_29 };
#define COUNTER(name)                                                                              \
    {                                                                                              \
        name, "", "", COLUMN_COUNTER, CAMP_MEASURED, CLASS_NONE, NULL                              \
    }
#define STATE(name, class)                                                                         \
    {                                                                                              \
        name, "", "", COLUMN_STATE, CAMP_MEASURED, class, NULL                                     \
    }
static const struct column columns[] = {
    STATE("cpu_ns", CLASS_CPU),
    STATE("contention_ns", CLASS_CONTENTION),
    STATE("wait_ns", CLASS_OTHER_WAIT),
    STATE("idle_ns", CLASS_IDLE),
    COUNTER("waits_ns"),
    COUNTER(COLUMN_LONGEST),
    COUNTER("waits_max_id"),
    COUNTER("waits_max_wall_clock_ns"),
    COUNTER("waits_log2_19"),
    COUNTER("waits_log2_29"),
};
static const char *const labels[] = { "application", "wait_event" };
static const struct schema measured = { "postgres", columns, 10, 4, labels, 2, LONGEST };
static const struct schema sampled = { "postgres", columns, 4, 4, labels, 2, 0 };

static struct frame frame;
static struct why_events events;

static void start(const struct schema *schema, bool are_divided)
{
    frame_init(&frame, schema);
    why_events_start(&events, are_divided);
}

static uint64_t *add(int64_t id, const char *application, const char *event, size_t state,
                     uint64_t ns)
{
    const char *const values[] = { application, event };
    struct entity *row = frame_add(&frame);
    uint64_t *cells = frame_values(&frame, frame.entity_count - 1);

    assert_non_null(row);
    row->id = id;
    row->labels = labels_intern(values, 2);
    frame.elapsed_ns[frame.entity_count - 1] = ns;
    cells[state] = ns;
    return cells;
}

/* A sleep of 1 ms or 1 s. */
static void add_wait(uint64_t *cells, int64_t id, bool is_long)
{
    const uint64_t ns = is_long ? 1000000000 : 1000000;

    cells[SUM] += ns;
    cells[is_long ? LOG_29 : LOG_19]++;
    if (ns <= cells[LONGEST])
        return;
    cells[LONGEST] = ns;
    cells[LONGEST_ID] = (uint64_t)id;
}

static bool is_of_web(const void *context, const struct frame *of, size_t row)
{
    (void)context;
    return strcmp(labels_value(of->entities[row].labels, 0), "web") == 0;
}

static void assert_csv(size_t most, const char *expected)
{
    static const struct table tables[] = { DOCUMENT_ROWS("waits", why_event_fields) };
    static const struct record layout = DOCUMENT_LAYOUT("test/1", tables, 0);
    struct document document = { 0 };
    struct view_options options = { .columns = NULL };
    struct memory_text text;

    assert_int_equal(why_events_finish(&events), CAMP_OK);
    document_start(&document, &layout);
    why_events_add_rows(&document, 0, &events, most);
    assert_int_equal(document_finish(&document), CAMP_OK);
    assert_true(memory_text_open(&text));
    options.stream = text.stream;
    assert_int_equal(csv_view.record(&options, &document.record, 1), 0); /* without its header */
    assert_true(memory_text_close(&text));
    assert_string_equal(text.text, expected);
    free(text.text);
    document_release(&document);
    why_events_release(&events);
    frame_release(&frame);
}

/* The columns are: wait_event, state, time_ns, waits, waits_ns, p50_ns, p99_ns, max_ns, max_pid. */
static void events_with_work_are_first_and_all_time_is_in_a_row(void **state)
{
    (void)state;
    start(&measured, true);
    add(1, "web", "", CPU, 5);
    add_wait(add(1, "web", "Lock/tuple", CONTENTION, 10), 1, false);
    add_wait(add(1, "web", "Client/ClientRead", IDLE, 100), 1, true);
    add(2, "db", "", CPU, 6);
    add_wait(add(2, "db", "IO/DataFileRead", WAIT, 20), 2, false);
    add_wait(add(2, "db", "Lock/tuple", CONTENTION, 30), 2, true);
    why_events_add(&events, &frame, NULL, NULL);
    assert_csv(0, "Lock/tuple,contention,40,2,1001000000,1048576,1000000000,1000000000,2\n"
                  "IO/DataFileRead,wait,20,1,1000000,786432,1000000,1000000,2\n"
                  "Client/ClientRead,idle,100,1,1000000000,805306368,1000000000,1000000000,1\n"
                  ",,11,0,0,,,,\n");
}

static void several_intervals_are_added_up(void **state)
{
    (void)state;
    start(&measured, true);
    add_wait(add(1, "web", "Lock/tuple", CONTENTION, 10), 1, false);
    why_events_add(&events, &frame, NULL, NULL);
    why_events_add(&events, &frame, NULL, NULL);
    assert_csv(0, "Lock/tuple,contention,20,2,2000000,786432,1000000,1000000,1\n");
}

static void the_rows_of_the_operand_are_taken_alone(void **state)
{
    (void)state;
    start(&measured, true);
    add(1, "web", "Lock/tuple", CONTENTION, 10);
    add(2, "db", "Lock/tuple", CONTENTION, 30);
    why_events_add(&events, &frame, is_of_web, NULL);
    assert_csv(0, "Lock/tuple,contention,10,0,0,,,,\n");
}

static void where_lengths_are_unknown_they_are_left_out(void **state)
{
    (void)state;
    start(&sampled, true);
    add(1, "web", "Lock/tuple", CONTENTION, 10);
    why_events_add(&events, &frame, NULL, NULL);
    assert_csv(0, "Lock/tuple,contention,10,,,,,,\n");
}

static void whole_sessions_have_one_row_without_time(void **state)
{
    (void)state;
    start(&measured, false);
    add_wait(add(1, "web", "", CONTENTION, 10), 1, false);
    add_wait(add(2, "web", "", CONTENTION, 10), 2, true);
    why_events_add(&events, &frame, NULL, NULL);
    assert_csv(0, ",,,2,1001000000,1048576,1000000000,1000000000,2\n");
}

static void a_limit_adds_up_the_others(void **state)
{
    (void)state;
    start(&measured, true);
    add_wait(add(1, "web", "Lock/a", CONTENTION, 30), 1, false);
    add_wait(add(1, "web", "Lock/b", CONTENTION, 20), 1, false);
    add_wait(add(2, "web", "Lock/c", CONTENTION, 10), 2, true);
    add(1, "web", "", CPU, 5);
    why_events_add(&events, &frame, NULL, NULL);
    assert_csv(2, "Lock/a,contention,30,1,1000000,786432,1000000,1000000,1\n"
                  "(other),,35,2,1001000000,1048576,1000000000,1000000000,2\n");
}

static void a_server_that_names_ever_new_events_fills_no_memory(void **state)
{
    (void)state;
    start(&sampled, true);
    for (int i = 0; i < 3000; i++) {
        char event[32];

        snprintf(event, sizeof event, "Lock/%d", i);
        add(1, "web", event, CONTENTION, 1);
    }
    why_events_add(&events, &frame, NULL, NULL);
    assert_true(events.count < 1100);
    assert_int_equal(events.elapsed_ns, 3000);
    assert_csv(1, "(other),,3000,,,,,,\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(events_with_work_are_first_and_all_time_is_in_a_row),
        cmocka_unit_test(several_intervals_are_added_up),
        cmocka_unit_test(the_rows_of_the_operand_are_taken_alone),
        cmocka_unit_test(where_lengths_are_unknown_they_are_left_out),
        cmocka_unit_test(whole_sessions_have_one_row_without_time),
        cmocka_unit_test(a_limit_adds_up_the_others),
        cmocka_unit_test(a_server_that_names_ever_new_events_fills_no_memory),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
