/* Sources of tables: rows with a time, an entity and numbers become frames. */
#include "opened_table.h"

static void rows_with_the_same_time_form_one_frame(void **state)
{
    struct table table = opened_text("time,session,CPU_ms,Idle_ms\n"
                                     "1227319201,a,400,600\n1227319201,b,100,900\n"
                                     "1227319202,a,300,700\n",
                                     NULL);
    const struct schema *schema = table.source->describe(table.source);

    (void)state;
    assert_int_equal(schema->state_count, 2);
    assert_int_equal(schema->column_count, 2);
    assert_string_equal(schema->columns[0].name, "cpu_ns");
    assert_string_equal(schema->columns[0].title, "CPU_ms");
    assert_int_equal(schema->columns[0].kind, COLUMN_STATE);
    assert_int_equal(schema->columns[0].provenance, CAMP_UNKNOWN);
    assert_string_equal(table.facts.tier, "table");
    assert_false(table.facts.live);
    assert_int_equal(table.facts.frames, 2);
    assert_int_equal(table.facts.interval_ns, S);
    assert_int_equal(table.facts.begin_ns, T0);
    assert_int_equal(table.facts.end_ns, T0 + 2 * S);
    assert_string_equal(table.facts.note, "");
    assert_int_equal(next(&table), CAMP_OK);
    assert_int_equal(table.frame->entity_count, 2);
    assert_int_equal(table.frame->wall_clock_ns, T0 + S);
    assert_int_equal(table.frame->start_ns, 0);
    assert_int_equal(table.frame->end_ns, S);
    assert_int_equal(table.frame->entities[0].id, 0);
    assert_int_equal(table.frame->entities[1].id, 0);
    assert_int_equal(value_of(table.frame, "b", 1), 900 * NS_PER_MS);
    assert_int_equal(elapsed_of(table.frame, "b"), S);
    assert_int_equal(next(&table), CAMP_OK);
    assert_int_equal(table.frame->entity_count, 1);
    assert_int_equal(table.frame->wall_clock_ns, T0 + 2 * S);
    assert_int_equal(table.frame->start_ns, S);
    assert_int_equal(table.frame->end_ns, 2 * S);
    assert_int_equal(value_of(table.frame, "a", 0), 300 * NS_PER_MS);
    assert_at_end(&table);
}

static void times_in_a_table_that_do_not_add_up_stay_unchanged(void **state)
{
    struct table table = opened_text("time,session,cpu_ms,idle_ms\n"
                                     "1227319201,whole,400,600\n1227319201,miss,100,750\n"
                                     "1227319201,over,500,620\n1227319202,none,0,0\n",
                                     NULL);

    (void)state;
    assert_int_equal(next(&table), CAMP_OK);
    assert_int_equal(unaccounted_of(table.frame, "whole"), 0);
    assert_int_equal(unaccounted_of(table.frame, "miss"), 150 * NS_PER_MS);
    assert_int_equal(unaccounted_of(table.frame, "over"), -120 * (int64_t)NS_PER_MS);
    assert_int_equal(next(&table), CAMP_OK);
    assert_int_equal(unaccounted_of(table.frame, "none"), S);
    assert_at_end(&table);
}

static void rows_in_the_wrong_order_are_sorted_by_time(void **state)
{
    struct table table = opened_stored("out-of-order");

    (void)state;
    for (uint64_t i = 1; i <= 3; i++) {
        assert_int_equal(next(&table), CAMP_OK);
        assert_int_equal(table.frame->wall_clock_ns, T0 + (int64_t)i * S);
        assert_int_equal(value_of(table.frame, "a", 0), 100 * i * NS_PER_MS);
    }
    assert_at_end(&table);
}

static void a_table_without_an_entity_column_has_one_entity(void **state)
{
    struct table table = opened_stored("owi");

    (void)state;
    assert_int_equal(table.facts.frames, 210);
    assert_string_equal(table.facts.name, "owi.csv");
    assert_string_equal(table.facts.note, "SNAP ID counts seconds from 0");
    assert_int_equal(next(&table), CAMP_OK);
    assert_int_equal(table.frame->wall_clock_ns, S);
    assert_int_equal(table.frame->entity_count, 1);
    assert_string_equal(table.frame->entities[0].name, "owi");
    assert_int_equal(elapsed_of(table.frame, "owi"), S);
    assert_true(llabs(unaccounted_of(table.frame, "owi")) < 2 * NS_PER_MS);
    source_close(table.source);
}

/* The whole name identifies the entity, but a frame has only the part that fits. */
static void entities_whose_long_names_differ_at_the_end_are_distinguished(void **state)
{
    char text[512];
    struct table table;

    (void)state;
    snprintf(text, sizeof text,
             "time,name,cpu_ms\n1,%061d\xc3\xa4_one,1000\n1,b,1000\n1,%061d\xc3\xa4_two,1000\n"
             "2,%061d\xc3\xa4_two,1000\n",
             7, 7, 7);
    table = opened_text(text, NULL);
    assert_int_equal(next(&table), CAMP_OK);
    assert_int_equal(table.frame->entity_count, 3);
    assert_int_equal(strlen(table.frame->entities[0].name), 63);
    assert_int_equal(table.frame->entities[0].id, 1);
    assert_int_equal(table.frame->entities[1].id, 0);
    assert_int_equal(table.frame->entities[2].id, 3);
    assert_int_equal(next(&table), CAMP_OK);
    assert_int_equal(table.frame->entities[0].id, 3);
    source_close(table.source);
    snprintf(text, sizeof text, "time,name,cpu_ms\n1,%062d\xc3\xa4,1000\n1,%062d,1000\n", 7, 8);
    table = opened_text(text, NULL);
    assert_int_equal(next(&table), CAMP_OK);
    /* the name is not cut within the character ä */
    assert_int_equal(strlen(table.frame->entities[0].name), 62);
    assert_int_equal(table.frame->entities[0].id, 0);
    source_close(table.source);
    snprintf(text, sizeof text, "time,name,cpu_ms\n1,%062d\xc3\xa4,1000\n1,%062d,1000\n", 7, 7);
    table = opened_text(text, NULL);
    assert_int_equal(next(&table), CAMP_OK);
    assert_int_equal(table.frame->entities[0].id, 1);
    assert_int_equal(table.frame->entities[1].id, 2);
    source_close(table.source);
}

static void names_that_differ_after_a_nul_character_are_distinguished(void **state)
{
    struct table table = opened_stored("nul-names");

    (void)state;
    assert_int_equal(next(&table), CAMP_OK);
    assert_int_equal(table.frame->entity_count, 3);
    assert_string_equal(table.frame->entities[0].name, table.frame->entities[1].name);
    assert_int_equal(table.frame->entities[0].id, 1);
    assert_int_equal(table.frame->entities[1].id, 2);
    assert_int_equal(table.frame->entities[2].id, 0);
    source_close(table.source);
}

static void an_entity_of_a_table_is_identified_by_its_name_in_all_frames(void **state)
{
    struct table table = opened_text("time,host,cpu,user_pct,idle_pct\n"
                                     "1,db1,0,1,99\n1,db1,1,2,98\n1,db2,0,3,97\n1,db2,1,4,96\n"
                                     "2,db2,1,5,95\n2,db1,1,7,93\n2,db2,0,8,92\n2,db1,0,6,94\n",
                                     NULL);

    (void)state;
    for (int i = 0; i < 2; i++) {
        assert_int_equal(next(&table), CAMP_OK);
        assert_int_equal(table.frame->entities[row_named(table.frame, "db2 1")].id, 0);
        assert_int_equal(table.frame->entities[row_named(table.frame, "db1 0")].id, 0);
    }
    assert_at_end(&table);
}

static void two_columns_of_the_same_name_become_two_states(void **state)
{
    struct table table = opened_text("time,IO_ms,io_pct,io,Idle\n1,1,1,1,1\n", "ms");
    const struct schema *schema = table.source->describe(table.source);

    (void)state;
    assert_string_equal(schema->columns[0].name, "io_ns");
    assert_string_equal(schema->columns[1].name, "io_2_ns");
    assert_string_equal(schema->columns[2].name, "io_3_ns");
    assert_string_equal(schema->columns[3].name, "idle_ns");
    source_close(table.source);
}

static void only_the_intervals_of_a_table_after_begin_and_up_to_end_are_shown(void **state)
{
    struct from from = { .text = stored_table("sessions3"), .stop = &never };
    struct camp_error error = { 0 };
    struct table table;

    (void)state;
    from.begin_ns = T0 + 10 * S;
    from.end_ns = T0 + 12 * S;
    table = opened(&from);
    assert_int_equal(table.facts.frames, 2); /* an interval that ends at --begin is not selected */
    assert_int_equal(next(&table), CAMP_OK);
    assert_int_equal(table.frame->wall_clock_ns, T0 + 11 * S);
    assert_int_equal(table.frame->end_ns - table.frame->start_ns, S);
    assert_int_equal(next(&table), CAMP_OK);
    assert_at_end(&table);
    from.begin_ns = T0 + 1000 * S;
    from.end_ns = 0;
    assert_int_equal(from_open(&from, &table.source, &table.facts, &error), CAMP_E_GONE);
    assert_string_equal(error.message, "sessions3.csv has no rows between --begin and --end");
}

static void a_replay_of_a_table_is_not_faster_than_the_requested_speed(void **state)
{
    const struct from from = { .text = stored_table("owi"), .speed = 50, .stop = &never };
    struct table table = opened(&from);
    uint64_t begin;

    (void)state;
    begin = source_clock_ns(CLOCK_MONOTONIC);
    for (int i = 0; i < 4; i++)
        assert_int_equal(next(&table), CAMP_OK);
    assert_true(source_clock_ns(CLOCK_MONOTONIC) - begin >= 60 * NS_PER_MS);
    source_close(table.source);
}

static void the_first_interval_of_a_table_is_as_long_as_most_others(void **state)
{
    struct table table = opened_text("time,session,cpu_pct\n"
                                     "1000000000,a,50\n1000000010,a,50\n1000000020,a,50\n"
                                     "1000000035,a,50\n",
                                     NULL);

    (void)state;
    assert_int_equal(table.facts.interval_ns, 10 * S);
    assert_int_equal(next(&table), CAMP_OK);
    assert_int_equal(elapsed_of(table.frame, "a"), 10 * S);
    assert_int_equal(value_of(table.frame, "a", 0), 5 * S);
    assert_int_equal(next(&table), CAMP_OK);
    assert_int_equal(next(&table), CAMP_OK);
    assert_int_equal(next(&table), CAMP_OK);
    assert_int_equal(elapsed_of(table.frame, "a"), 15 * S);
    assert_int_equal(value_of(table.frame, "a", 0), 75 * S / 10);
    assert_at_end(&table);
}

static void of_two_equally_frequent_interval_lengths_the_shorter_is_the_usual_length(void **state)
{
    struct table table = opened_text("time;session;cpu_pct\n"
                                     "1000000000;a;50\n1000000010;a;50\n1000000070;a;50\n",
                                     NULL);

    (void)state;
    assert_int_equal(table.facts.interval_ns, 10 * S);
    assert_int_equal(next(&table), CAMP_OK);
    assert_int_equal(elapsed_of(table.frame, "a"), 10 * S);
    source_close(table.source);
}

static void a_table_with_only_one_time_has_an_interval_of_one_second(void **state)
{
    struct table table = opened_text("time,session,cpu_pct\n5,a,50\n5,b,100\n", NULL);

    (void)state;
    assert_int_equal(table.facts.interval_ns, S);
    assert_int_equal(next(&table), CAMP_OK);
    assert_int_equal(value_of(table.frame, "a", 0), S / 2);
    assert_at_end(&table);
}

/* The time during which an entity had no rows is not part of its next interval. */
static void an_entity_that_reappears_in_a_table_has_an_interval_of_usual_length(void **state)
{
    struct table table = opened_text("time,session,cpu_ms\n"
                                     "1,a,1000\n1,b,1000\n2,a,1000\n3,a,1000\n4,a,1000\n"
                                     "4,b,1000\n",
                                     NULL);

    (void)state;
    for (int i = 0; i < 4; i++)
        assert_int_equal(next(&table), CAMP_OK);
    assert_int_equal(elapsed_of(table.frame, "b"), S);
    assert_int_equal(unaccounted_of(table.frame, "b"), 0);
    assert_at_end(&table);
}

/* Each session is sampled once a second, but the sessions are sampled at different moments. */
static void entities_of_a_table_may_be_sampled_at_different_moments(void **state)
{
    struct table table = opened_text("time_ms,session,cpu_ms\n"
                                     "1000,a,1000\n1400,b,1000\n2000,a,1000\n2400,b,1000\n"
                                     "3000,a,1000\n3400,b,900\n",
                                     NULL);

    (void)state;
    for (int i = 0; i < 5; i++) {
        assert_int_equal(next(&table), CAMP_OK);
        assert_int_equal(frame_unaccounted_ns(table.frame, 0), 0);
    }
    assert_int_equal(next(&table), CAMP_OK);
    assert_int_equal(unaccounted_of(table.frame, "b"), 100 * NS_PER_MS);
    assert_at_end(&table);
}

static void a_table_may_have_a_column_of_elapsed_times(void **state)
{
    struct table table = opened_text("time,session,elapsed_ms,cpu_ms\n"
                                     "1000000000,a,500,400\n1000000001,a,2000,400\n",
                                     NULL);

    (void)state;
    assert_int_equal(next(&table), CAMP_OK);
    assert_int_equal(elapsed_of(table.frame, "a"), 500 * NS_PER_MS);
    assert_int_equal(next(&table), CAMP_OK);
    assert_int_equal(elapsed_of(table.frame, "a"), 2000 * (uint64_t)NS_PER_MS);
    assert_at_end(&table);
}

/* The times are numbers of snapshots, which are taken every ten minutes. */
static void the_column_elapsed_gives_the_time_between_numbered_snapshots(void **state)
{
    struct table table = opened_text("snap_id,session,elapsed_s,cpu_s\n"
                                     "7,a,600,300\n8,a,600,300\n9,a,600,300\n",
                                     NULL);

    (void)state;
    assert_int_equal(table.facts.interval_ns, 600 * S);
    assert_int_equal(next(&table), CAMP_OK);
    assert_int_equal(table.frame->wall_clock_ns, 7 * 600 * S);
    assert_int_equal(next(&table), CAMP_OK);
    assert_int_equal(table.frame->end_ns - table.frame->start_ns, 600 * S);
    assert_int_equal(unaccounted_of(table.frame, "a"), 300 * S);
    source_close(table.source);
}

/* Figure 6 of the paper by Gunther and Poder has 4 sessions at one vertex, 2 on a side and 2 at
 * another vertex. Some sessions have time that is in no column, as in section 8 of the paper. */
static void the_sessions_of_figure_6_of_the_camp_paper_are_read(void **state)
{
    struct table table = opened_stored("sessions3");
    int idle = 0, half = 0, waiting = 0, cluster = 0, whole = 0;

    (void)state;
    assert_int_equal(table.facts.frames, 120);
    assert_int_equal(next(&table), CAMP_OK);
    assert_int_equal(table.frame->entity_count, 60);
    for (size_t i = 0; i < 60; i++) {
        const uint64_t *values = frame_values(table.frame, i);

        assert_int_equal(table.frame->elapsed_ns[i], S);
        idle += values[1] == NS_PER_S;
        half += values[1] == NS_PER_S / 2;
        waiting += values[2] == NS_PER_S;
        cluster += values[0] >= 80 * NS_PER_MS && values[0] <= 120 * NS_PER_MS;
        whole += frame_unaccounted_ns(table.frame, i) == 0;
    }
    assert_int_equal(idle, 4);
    assert_int_equal(half, 2);
    assert_int_equal(waiting, 2);
    assert_in_range(cluster, 20, 24);
    assert_int_equal(whole, 56);
    assert_int_equal(unaccounted_of(table.frame, "miss2"), 150 * NS_PER_MS);
    assert_int_equal(unaccounted_of(table.frame, "over1"), -120 * (int64_t)NS_PER_MS);
    source_close(table.source);
}

static void a_table_with_four_states_is_read_to_its_end(void **state)
{
    struct table table = opened_stored("sessions4");
    const struct schema *schema = table.source->describe(table.source);
    uint64_t first, rows = 60;

    (void)state;
    assert_int_equal(schema->state_count, 4);
    assert_string_equal(schema->columns[0].title, "CPU");
    assert_string_equal(schema->columns[3].name, "idle_ns");
    assert_int_equal(next(&table), CAMP_OK);
    first = value_of(table.frame, "drift1", 0);
    while (next(&table) == CAMP_OK)
        rows += table.frame->entity_count;
    assert_int_equal(rows, 60 * 120);
    assert_true(value_of(table.frame, "drift1", 0) + 500 * NS_PER_MS < first);
    source_close(table.source);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_with_the_same_time_form_one_frame),
        cmocka_unit_test(times_in_a_table_that_do_not_add_up_stay_unchanged),
        cmocka_unit_test(rows_in_the_wrong_order_are_sorted_by_time),
        cmocka_unit_test(a_table_without_an_entity_column_has_one_entity),
        cmocka_unit_test(entities_whose_long_names_differ_at_the_end_are_distinguished),
        cmocka_unit_test(names_that_differ_after_a_nul_character_are_distinguished),
        cmocka_unit_test(an_entity_of_a_table_is_identified_by_its_name_in_all_frames),
        cmocka_unit_test(two_columns_of_the_same_name_become_two_states),
        cmocka_unit_test(only_the_intervals_of_a_table_after_begin_and_up_to_end_are_shown),
        cmocka_unit_test(a_replay_of_a_table_is_not_faster_than_the_requested_speed),
        cmocka_unit_test(the_first_interval_of_a_table_is_as_long_as_most_others),
        cmocka_unit_test(of_two_equally_frequent_interval_lengths_the_shorter_is_the_usual_length),
        cmocka_unit_test(a_table_with_only_one_time_has_an_interval_of_one_second),
        cmocka_unit_test(an_entity_that_reappears_in_a_table_has_an_interval_of_usual_length),
        cmocka_unit_test(entities_of_a_table_may_be_sampled_at_different_moments),
        cmocka_unit_test(a_table_may_have_a_column_of_elapsed_times),
        cmocka_unit_test(the_column_elapsed_gives_the_time_between_numbered_snapshots),
        cmocka_unit_test(the_sessions_of_figure_6_of_the_camp_paper_are_read),
        cmocka_unit_test(a_table_with_four_states_is_read_to_its_end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
