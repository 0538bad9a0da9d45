/* Samples of sessions that another program took: how long each of them counts, and that every
 * session adds up. */
#include "ledger/session_rules.h"
#include "sources/sessions/samples/sample_columns.h"

#include "../foreign_table.h"

static struct table opened_samples(const char *text)
{
    char path[64];
    const struct from from = { .text = path, .stop = &never };
    struct table table;

    write_table(path, text, strlen(text));
    table = opened(&from);
    unlink(path);
    return table;
}

static struct table opened_shape(const char *name)
{
    static char path[PATH_MAX];
    const char *fixtures = getenv("CAMP_FIXTURES");

    if (fixtures == NULL)
        fail_msg("CAMP_FIXTURES is not set: run the tests by make test");
    snprintf(path, sizeof path, "%s/samples/%s.csv", fixtures, name);
    return opened(&(struct from){ .text = path, .stop = &never });
}

static bool are_samples(const char *names)
{
    struct field fields[20];
    struct row header = { .fields = fields };
    struct sample_columns columns;

    for (const char *at = names; *at != '\0'; at += fields[header.count++].length) {
        at += *at == ',';
        fields[header.count] = (struct field){ at, strcspn(at, ",") };
    }
    return sample_columns_find(&columns, &header);
}

static void samples_are_recognised_by_the_names_of_their_columns(void **state)
{
    (void)state;
    assert_true(are_samples("SAMPLE_ID,SAMPLE_TIME,SESSION_ID,SESSION_STATE,EVENT,WAIT_CLASS"));
    assert_true(are_samples("sample_time,sid,event"));
    assert_true(are_samples("time,pid,state,wait_event_type,wait_event"));
    assert_true(are_samples("sample_time,database_name,active_backends,wait_event,query_id"));
    assert_true(are_samples("timestamp,db.wait_event.name,db.load.avg"));
    assert_false(are_samples("TIME,SESSION,CPU_USAGE,IDLE,DB_WAIT"));
    assert_false(are_samples("time,session_id,event,cpu,idle"));
    assert_false(are_samples("time,sid,wait_class,event,time_waited_ms"));
    assert_false(are_samples("sample_time,session_id,cpu,idle"));
    assert_false(are_samples("session_id,wait_class,event"));
}

/* The sum of a state over all rows and frames, and what is unaccounted, in ms. */
struct sums {
    uint64_t states_ms[SESSION_STATE_COUNT];
    uint64_t elapsed_ms;
    int64_t unaccounted_ms;
};

/* Adds up the rows whose names start with `name`, and closes the table. */
static struct sums sums_of(struct table table, const char *name)
{
    struct sums sums = { 0 };

    while (next(&table) == CAMP_OK) {
        for (size_t i = 0; i < table.frame->entity_count; i++) {
            if (strncmp(table.frame->entities[i].name, name, strlen(name)) != 0)
                continue;
            for (size_t j = 0; j < SESSION_STATE_COUNT; j++)
                sums.states_ms[j] += frame_values(table.frame, i)[j] / NS_PER_MS;
            sums.elapsed_ms += table.frame->elapsed_ns[i] / NS_PER_MS;
            sums.unaccounted_ms += frame_unaccounted_ns(table.frame, i) / (int64_t)NS_PER_MS;
        }
    }
    source_close(table.source);
    return sums;
}

static void assert_sums(struct sums sums, uint64_t cpu_s, uint64_t contention_s, uint64_t wait_s,
                        uint64_t idle_s)
{
    assert_int_equal(sums.states_ms[SESSION_CPU], 1000 * cpu_s);
    assert_int_equal(sums.states_ms[SESSION_RUN_QUEUE], 0);
    assert_int_equal(sums.states_ms[SESSION_CONTENTION], 1000 * contention_s);
    assert_int_equal(sums.states_ms[SESSION_WAIT], 1000 * wait_s);
    assert_int_equal(sums.states_ms[SESSION_IDLE], 1000 * idle_s);
    assert_int_equal(sums.elapsed_ms, 1000 * (cpu_s + contention_s + wait_s + idle_s));
    assert_int_equal(sums.unaccounted_ms, 0);
}

/* tests/fixtures/samples/make.py says what the sessions did. */
static void each_shape_has_the_times_of_its_sessions(void **state)
{
    (void)state;
    assert_sums(sums_of(opened_shape("oracle_ash"), "load.exe 11,23"), 60, 0, 0, 0);
    assert_sums(sums_of(opened_shape("oracle_ash"), "queue.exe 12,25"), 15, 45, 0, 0);
    assert_sums(sums_of(opened_shape("oracle_ash"), "holder.exe 13,27"), 0, 0, 30, 29);
    assert_sums(sums_of(opened_shape("oracle_ash"), "late.exe 14,29"), 0, 0, 30, 0);
    /* every tenth sample: seconds 10, 20 ... 60, of which 20, 40 and 60 find queue on a CPU */
    assert_sums(sums_of(opened_shape("oracle_dba_hist"), "queue.exe 1:12,25"), 30, 30, 0, 0);
    assert_sums(sums_of(opened_shape("pgsentinel"), "app 4012"), 15, 45, 0, 0);
    assert_sums(sums_of(opened_shape("pgsentinel"), "app 4013"), 0, 0, 30, 29);
    assert_sums(sums_of(opened_shape("pg_ash"), "shop 4002"), 15, 45, 30, 0);
    assert_sums(sums_of(opened_shape("performance_insights"), "4002"), 30, 90, 60, 0);
}

static void a_sample_counts_since_the_moment_before_or_for_a_period(void **state)
{
    struct table table = opened_samples("sample_time,sid,session_state,event,wait_class\n"
                                        "100.0,1,ON CPU,,\n101.0,1,ON CPU,,\n102.4,1,ON CPU,,\n"
                                        "103.4,1,ON CPU,,\n113.4,1,ON CPU,,\n");

    (void)state;
    assert_int_equal(table.facts.interval_ns, S);
    assert_int_equal(table.facts.frames, 5);
    for (int i = 0; i < 3; i++)
        assert_int_equal(next(&table), CAMP_OK);
    assert_int_equal(elapsed_of(table.frame, "1"), 1400 * NS_PER_MS);
    assert_int_equal(value_of(table.frame, "1", SESSION_CPU), 1400 * NS_PER_MS);
    assert_int_equal(next(&table), CAMP_OK);
    assert_int_equal(next(&table), CAMP_OK); /* nine samples are missing */
    assert_int_equal(elapsed_of(table.frame, "1"), 10 * S);
    assert_int_equal(value_of(table.frame, "1", SESSION_CPU), S);
    assert_int_equal(unaccounted_of(table.frame, "1"), 9 * S);
    assert_at_end(&table);
}

static void numbered_samples_without_a_row_found_no_active_session(void **state)
{
    struct table table = opened_samples(
        "sample_time,sample_id,sid,session_state,event,wait_class\n"
        "101,1,1,ON CPU,,\n102,2,1,ON CPU,,\n112,12,1,ON CPU,,\n122,13,1,ON CPU,,\n");

    (void)state;
    for (int i = 0; i < 3; i++)
        assert_int_equal(next(&table), CAMP_OK);
    assert_int_equal(value_of(table.frame, "1", SESSION_CPU), S);
    assert_int_equal(value_of(table.frame, "1", SESSION_IDLE), 9 * S);
    assert_int_equal(next(&table), CAMP_OK); /* the server took no samples */
    assert_int_equal(value_of(table.frame, "1", SESSION_IDLE), 0);
    assert_int_equal(unaccounted_of(table.frame, "1"), 9 * S);
    assert_at_end(&table);
}

static void a_session_lives_from_its_first_sample_to_its_last(void **state)
{
    struct table table = opened_samples("sample_time,sid,session_state,event,wait_class\n"
                                        "101,1,ON CPU,,\n102,1,ON CPU,,\n102,2,ON CPU,,\n"
                                        "103,2,ON CPU,,\n104,1,ON CPU,,\n");

    (void)state;
    assert_int_equal(next(&table), CAMP_OK);
    assert_int_equal(table.frame->entity_count, 1);
    assert_true(table.frame->entities[0].flags & ENTITY_NEW);
    assert_int_equal(next(&table), CAMP_OK);
    assert_int_equal(table.frame->entity_count, 2);
    assert_int_equal(next(&table), CAMP_OK);
    assert_int_equal(table.frame->entity_count, 2);
    assert_int_equal(value_of(table.frame, "1", SESSION_IDLE), S);
    assert_int_equal(next(&table), CAMP_OK);
    assert_int_equal(table.frame->entity_count, 1); /* session 2 has had its last sample */
    assert_at_end(&table);
}

static void samples_of_several_instances_form_one_frame(void **state)
{
    struct table table = opened_samples("sample_time,inst_id,sid,session_state,event,wait_class\n"
                                        "101.0,1,7,ON CPU,,\n101.3,2,7,WAITING,latch: x,Other\n"
                                        "102.0,1,7,ON CPU,,\n102.3,2,7,WAITING,latch: x,Other\n");

    (void)state;
    assert_int_equal(table.facts.frames, 2);
    assert_int_equal(next(&table), CAMP_OK);
    assert_int_equal(table.frame->start_ns, 0);
    assert_int_equal(table.frame->end_ns, 1300 * NS_PER_MS);
    assert_int_equal(table.frame->entity_count, 2);
    assert_int_equal(next(&table), CAMP_OK);
    assert_int_equal(value_of(table.frame, "1:7", SESSION_CPU), S);
    assert_int_equal(value_of(table.frame, "2:7", SESSION_CONTENTION), S);
    assert_at_end(&table);
}

static void a_row_that_is_no_sample_is_skipped_and_counted(void **state)
{
    struct table table =
        opened_samples("sample_time,sid,session_state,event,wait_class\n"
                       "never,1,ON CPU,,\n101,1,ON CPU,,\n101,1,ON CPU,,\nnever,1,ON CPU,,\n"
                       "102,,ON CPU,,\n102,1,ON CPU,,\n102,1\n");

    (void)state;
    assert_true(table.facts.note_warns);
    assert_string_equal(table.facts.note,
                        "a sample counts for 1 s; line 2: 'never' is no time, such as 2026-11-22 "
                        "10:00:00; 5 of 7 rows skipped");
    assert_int_equal(next(&table), CAMP_OK);
    assert_int_equal(table.frame->losses.partial, 3);
    assert_int_equal(next(&table), CAMP_OK);
    assert_int_equal(table.frame->losses.partial, 2);
    assert_int_equal(table.frame->entity_count, 1);
    assert_at_end(&table);
}

static void begin_and_end_select_moments(void **state)
{
    static const char text[] = "sample_time,sid,session_state,event,wait_class\n"
                               "1227319201,1,ON CPU,,\n1227319202,1,ON CPU,,\n"
                               "1227319203,1,ON CPU,,\n1227319204,1,ON CPU,,\n";
    char path[64];
    const struct from from = {
        .text = path, .begin_ns = T0 + S, .end_ns = T0 + 3 * S, .stop = &never
    };
    struct table table;

    (void)state;
    write_table(path, text, strlen(text));
    table = opened(&from);
    unlink(path);
    assert_int_equal(table.facts.frames, 2);
    assert_int_equal(next(&table), CAMP_OK);
    assert_int_equal(table.frame->wall_clock_ns, T0 + 2 * S);
    assert_false(table.frame->entities[0].flags & ENTITY_NEW); /* it had a sample before */
    assert_int_equal(next(&table), CAMP_OK);
    assert_at_end(&table);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(samples_are_recognised_by_the_names_of_their_columns),
        cmocka_unit_test(each_shape_has_the_times_of_its_sessions),
        cmocka_unit_test(a_sample_counts_since_the_moment_before_or_for_a_period),
        cmocka_unit_test(numbered_samples_without_a_row_found_no_active_session),
        cmocka_unit_test(a_session_lives_from_its_first_sample_to_its_last),
        cmocka_unit_test(samples_of_several_instances_form_one_frame),
        cmocka_unit_test(a_row_that_is_no_sample_is_skipped_and_counted),
        cmocka_unit_test(begin_and_end_select_moments),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
