/* Sums over database sessions, from frames as a source of sessions makes them. */
#include "metrics/session_sums.h"

#include "../tree.h"

#include <stdio.h>

#define SECOND UINT64_C(1000000000)

static const char *const labels[] = { "user", "application" };

/* The states of a source of sessions, a counter of its rules, and the part in a transaction. */
static const struct column columns[] = {
    { .name = "cpu_ns", .kind = COLUMN_STATE, .provenance = CAMP_MEASURED },
    { .name = "run_queue_ns", .kind = COLUMN_STATE, .provenance = CAMP_MEASURED },
    { .name = "contention_ns", .kind = COLUMN_STATE, .provenance = CAMP_SCALED },
    { .name = "wait_ns", .kind = COLUMN_STATE, .provenance = CAMP_SCALED },
    { .name = "idle_ns", .kind = COLUMN_STATE, .provenance = CAMP_SCALED },
    { .name = "contention_row_lock_ns", .kind = COLUMN_COUNTER },
    { .name = "idle_in_transaction_ns", .kind = COLUMN_COUNTER },
};
#define COLUMNS COUNT(columns)
#define COLUMN_IN_TRANSACTION (COLUMNS - 1)
#define ALL_KNOWN (((1 << SESSION_SUM_STATES) - 1) & ~(1 << SESSION_SUM_THROTTLED))

static struct schema schema_of(const struct column *of, size_t count)
{
    return (struct schema){ .name = "postgres",
                            .columns = of,
                            .column_count = count,
                            .state_count = SESSION_STATE_COUNT,
                            .label_names = labels,
                            .label_count = COUNT(labels) };
}

static void start_interval(struct frame *frame)
{
    frame_clear(frame);
    frame->start_ns = frame->end_ns;
    frame->end_ns += SECOND;
}

/* Adds a session; the array has its times by column. */
static void add(struct frame *frame, const char *application, uint64_t elapsed_ns,
                const uint64_t *times)
{
    struct entity *entity = frame_add(frame);
    const size_t row = frame->entity_count - 1;

    assert_non_null(entity);
    entity->labels = labels_intern((const char *const[]){ "joe", application }, 2);
    frame->elapsed_ns[row] = elapsed_ns;
    memcpy(frame_values(frame, row), times, frame->schema->column_count * sizeof *frame->values);
}

static const struct top_k_group *group_named(const struct session_sums *sums, const char *name)
{
    for (size_t i = 0; i < sums->top.count; i++) {
        const struct top_k_group *group = &sums->top.groups[i];

        if (group->shown != NULL && strcmp(group->name, name) == 0)
            return group;
    }
    fail_msg("no group '%s'", name);
    return NULL;
}

/* The law of session_sums.h. */
static void assert_adds_up(const struct session_sums *sums)
{
    uint64_t states = 0, all[SESSION_SUM_COUNT] = { 0 };

    for (size_t i = 0; i < SESSION_SUM_COUNT; i++) {
        all[i] = sums->top.other[i] + sums->top.retired[i];
        for (size_t k = 0; k < sums->top.count; k++)
            all[i] += sums->top.groups[k].shown != NULL ? sums->top.groups[k].shown[i] : 0;
        assert_int_equal(all[i], sums->top.total[i]);
        states += i < SESSION_SUM_STATES ? all[i] : 0;
    }
    assert_int_equal(all[SESSION_SUM_ELAPSED],
                     states + sums->unaccounted_ns - sums->overlapping_ns);
}

static void times_are_summed_by_application_and_state(void **state)
{
    const struct schema schema = schema_of(columns, COLUMNS);
    struct session_sums sums;
    struct frame frame;

    (void)state;
    frame_init(&frame, &schema);
    assert_int_equal(session_sums_init(&sums, &schema, 1, 20, 20), CAMP_OK);
    for (int i = 0; i < 3; i++) {
        start_interval(&frame);
        add(&frame, "web", SECOND, (uint64_t[COLUMNS]){ 1, 2, 3, 4, SECOND - 10, 3, 100 });
        add(&frame, "web", 50, (uint64_t[COLUMNS]){ 50 });
        add(&frame, "", 60, (uint64_t[COLUMNS]){ 0, 60 });
        assert_int_equal(session_sums_add(&sums, &frame, 0), CAMP_OK);
    }
    assert_int_equal(group_named(&sums, "web")->shown[SESSION_CPU], 153);
    assert_int_equal(group_named(&sums, "web")->shown[SESSION_CONTENTION], 9);
    assert_int_equal(group_named(&sums, "web")->shown[SESSION_IDLE], 3 * (SECOND - 110));
    assert_int_equal(group_named(&sums, "web")->shown[SESSION_SUM_IN_TRANSACTION], 300);
    assert_int_equal(group_named(&sums, "web")->shown[SESSION_SUM_ELAPSED], 3 * (SECOND + 50));
    assert_int_equal(group_named(&sums, "(none)")->shown[SESSION_RUN_QUEUE], 180);
    assert_int_equal(sums.unaccounted_ns, 0);
    assert_int_equal(sums.overlapping_ns, 0);
    assert_adds_up(&sums);
    session_sums_release(&sums);
    frame_release(&frame);
}

static void unaccounted_and_overlapping_time_do_not_cancel_out(void **state)
{
    const struct schema schema = schema_of(columns, COLUMNS);
    struct session_sums sums;
    struct frame frame;

    (void)state;
    frame_init(&frame, &schema);
    assert_int_equal(session_sums_init(&sums, &schema, 1, 20, 20), CAMP_OK);
    start_interval(&frame);
    add(&frame, "a", 100, (uint64_t[COLUMNS]){ 70 });
    add(&frame, "a", 100, (uint64_t[COLUMNS]){ 80, 0, 0, 0, 50, 0, 60 });
    assert_int_equal(session_sums_add(&sums, &frame, 0), CAMP_OK);
    assert_int_equal(sums.unaccounted_ns, 30);
    assert_int_equal(sums.overlapping_ns, 30);
    /* More time in a transaction than idle time is none. */
    assert_int_equal(group_named(&sums, "a")->shown[SESSION_SUM_IN_TRANSACTION], 50);
    assert_int_equal(group_named(&sums, "a")->shown[SESSION_IDLE], 0);
    assert_adds_up(&sums);
    session_sums_release(&sums);
    frame_release(&frame);
}

static void what_a_source_does_not_know_is_not_known(void **state)
{
    struct column own[COLUMNS];
    struct schema schema = schema_of(own, COLUMNS);
    struct session_sums sums;

    (void)state;
    memcpy(own, columns, sizeof own);
    assert_int_equal(session_sums_init(&sums, &schema, 1, 20, 20), CAMP_OK);
    assert_int_equal(sums.known, ALL_KNOWN);
    session_sums_release(&sums);
    /* The tier SQL: a column of the run queue, in which nothing is ever. */
    own[SESSION_CPU].provenance = own[SESSION_RUN_QUEUE].provenance = CAMP_SAMPLED;
    assert_int_equal(session_sums_init(&sums, &schema, 1, 20, 20), CAMP_OK);
    assert_int_equal(sums.known, ALL_KNOWN & ~(1 << SESSION_RUN_QUEUE));
    session_sums_release(&sums);
    /* Rules of the user without a column of transactions, and a server without CPU time. */
    own[SESSION_CPU].provenance = own[SESSION_RUN_QUEUE].provenance = CAMP_UNKNOWN;
    schema.column_count = COLUMN_IN_TRANSACTION;
    assert_int_equal(session_sums_init(&sums, &schema, 1, 20, 20), CAMP_OK);
    assert_int_equal(sums.known, 1 << SESSION_CONTENTION | 1 << SESSION_WAIT | 1 << SESSION_IDLE);
    session_sums_release(&sums);
}

/* A source that measures throttled time has it after the run queue. One of several servers may not
 * measure it. */
static void throttled_time_is_known_only_of_rows_that_have_it(void **state)
{
    struct column own[COLUMNS + 1];
    struct schema schema = schema_of(own, COLUMNS + 1);
    struct session_sums sums;
    struct frame frame;

    (void)state;
    memcpy(own, columns, 2 * sizeof *own);
    own[2] = (struct column){ .name = "throttled_ns", .kind = COLUMN_STATE };
    memcpy(own + 3, columns + 2, (COLUMNS - 2) * sizeof *own);
    schema.state_count++;
    frame_init(&frame, &schema);
    assert_int_equal(session_sums_init(&sums, &schema, 1, 20, 20), CAMP_OK);
    assert_int_equal(sums.known, (1 << SESSION_SUM_STATES) - 1);
    start_interval(&frame);
    add(&frame, "web", 100, (uint64_t[COLUMNS + 1]){ 1, 2, 30, 4, 5, 58 });
    assert_int_equal(session_sums_add(&sums, &frame, 0), CAMP_OK);
    assert_int_equal(group_named(&sums, "web")->shown[SESSION_RUN_QUEUE], 2);
    assert_int_equal(group_named(&sums, "web")->shown[SESSION_SUM_THROTTLED], 30);
    assert_int_equal(group_named(&sums, "web")->shown[SESSION_CONTENTION], 4);
    assert_int_equal(group_named(&sums, "web")->shown[SESSION_IDLE], 58);
    assert_adds_up(&sums);
    assert_int_equal(sums.unaccounted_ns, 0);
    frame.entities[0].flags |= ENTITY_UNTHROTTLED;
    assert_int_equal(session_sums_add(&sums, &frame, 0), CAMP_OK);
    assert_int_equal(sums.known, ALL_KNOWN);
    session_sums_release(&sums);
    frame_release(&frame);
}

static void names_that_change_have_few_series_and_lose_no_time(void **state)
{
    const struct schema schema = schema_of(columns, COLUMNS);
    size_t shown = 0;
    struct session_sums sums;
    struct frame frame;

    (void)state;
    frame_init(&frame, &schema);
    assert_int_equal(session_sums_init(&sums, &schema, 1, 4, 3), CAMP_OK);
    for (int i = 0; i < 1000; i++) {
        char name[32];

        snprintf(name, sizeof name, "hostile%d", i);
        labels_start_interval();
        start_interval(&frame);
        for (int k = 0; k < 8; k++) {
            name[0] = (char)('a' + k);
            add(&frame, name, SECOND, (uint64_t[COLUMNS]){ SECOND });
        }
        add(&frame, "other", SECOND, (uint64_t[COLUMNS]){ 0, SECOND });
        assert_int_equal(session_sums_add(&sums, &frame, 0), CAMP_OK);
    }
    for (size_t i = 0; i < sums.top.count; i++)
        shown += sums.top.groups[i].shown != NULL;
    assert_int_equal(shown, 4);
    assert_in_range(sums.top.demoted, 1, 3 + 1); /* 3 at once, and 3 in an hour */
    assert_true(sums.top.deferred > 0);
    assert_in_range(sums.top.count, 4, 4 * 1024); /* names that are gone are forgotten */
    assert_int_equal(sums.top.total[SESSION_SUM_ELAPSED], 9000 * SECOND);
    assert_adds_up(&sums);
    session_sums_release(&sums);
    frame_release(&frame);
}

static void an_application_that_is_named_other_has_a_name_of_its_own(void **state)
{
    const struct schema schema = schema_of(columns, COLUMNS);
    struct session_sums sums;
    struct frame frame;

    (void)state;
    frame_init(&frame, &schema);
    assert_int_equal(session_sums_init(&sums, &schema, 1, 20, 20), CAMP_OK);
    start_interval(&frame);
    add(&frame, "other", SECOND, (uint64_t[COLUMNS]){ 5 });
    assert_int_equal(session_sums_add(&sums, &frame, 0), CAMP_OK);
    assert_int_equal(group_named(&sums, "other (0)")->shown[SESSION_CPU], 5);
    session_sums_release(&sums);
    frame_release(&frame);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(times_are_summed_by_application_and_state),
        cmocka_unit_test(unaccounted_and_overlapping_time_do_not_cancel_out),
        cmocka_unit_test(what_a_source_does_not_know_is_not_known),
        cmocka_unit_test(throttled_time_is_known_only_of_rows_that_have_it),
        cmocka_unit_test(names_that_change_have_few_series_and_lose_no_time),
        cmocka_unit_test(an_application_that_is_named_other_has_a_name_of_its_own),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
