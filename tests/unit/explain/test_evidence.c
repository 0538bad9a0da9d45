/* Sums over intervals, their ranking, and the texts of findings. */
#include "fake_evidence.h"

#include <math.h>

static void frames_of_several_intervals_are_added_up(void **state)
{
    struct judgement found;
    struct fake fake;

    (void)state;
    fake_start(&fake, &fake_threads);
    fake_row(&fake, &fake.rows, 7, 7, "reader");
    fake_set(&fake.rows, "disk_ns", 0.3);
    assert_int_equal(evidence_add(&fake.evidence, &fake.rows, NULL), CAMP_OK);
    frame_clear(&fake.rows);
    fake.rows.start_ns = 0;
    fake.rows.end_ns = (uint64_t)(SECONDS * NS);
    fake_row(&fake, &fake.rows, 7, 7, "reader");
    fake_finish(&fake);
    assert_int_equal(fake.evidence.intervals, 2);
    assert_int_equal(fake.evidence.rows.frame.entity_count, 1);
    judge(&found, rule_find("E11"), &fake.evidence, "");
    assert_float_equal(found.finding.value, 0.15, 1e-6);
    assert_string_equal(found.finding.who, "reader (pid 7)");
    fake_end(&fake);
}

static void a_new_thread_with_an_old_number_has_a_row_of_its_own(void **state)
{
    struct fake fake;

    (void)state;
    fake_start(&fake, &fake_threads);
    fake_row(&fake, &fake.rows, 7, 7, "first");
    assert_int_equal(evidence_add(&fake.evidence, &fake.rows, NULL), CAMP_OK);
    fake.rows.entities[0].flags = ENTITY_NEW;
    fake_finish(&fake);
    assert_int_equal(fake.evidence.rows.frame.entity_count, 2);
    fake_end(&fake);
}

static void short_lived_threads_are_added_up_by_name(void **state)
{
    struct fake fake;

    (void)state;
    fake_start(&fake, &fake_threads);
    for (int i = 0; i < 6; i++)
        fake_row(&fake, &fake.rows, 7 + i, 7 + i, i % 2 == 0 ? "even" : "odd")->flags =
            ENTITY_NEW | ENTITY_ENDED;
    fake_finish(&fake);
    assert_int_equal(fake.evidence.rows.frame.entity_count, 0);
    assert_int_equal(fake.evidence.short_lived.frame.entity_count, 2);
    assert_int_equal(fake.evidence.short_lived.frame.entities[0].count, 3);
    fake_end(&fake);
}

static void entities_beyond_the_limit_share_one_row(void **state)
{
    struct fake fake;
    const struct evidence_sum *rows = &fake.evidence.rows;

    (void)state;
    fake_start(&fake, &fake_threads);
    for (int i = 0; i < EVIDENCE_ROWS_MOST + 10; i++)
        fake_row(&fake, &fake.rows, i + 1, i + 1, "many");
    fake_finish(&fake);
    assert_int_equal(rows->frame.entity_count, EVIDENCE_ROWS_MOST + 1);
    assert_string_equal(rows->frame.entities[EVIDENCE_ROWS_MOST].name, EVIDENCE_OTHERS);
    assert_int_equal(rows->frame.entities[EVIDENCE_ROWS_MOST].count, 10);
    fake_end(&fake);
}

/* A thread whose number was used before is a new one, and gets no row beyond the limit either. */
static void a_new_thread_with_an_old_number_gets_no_row_beyond_the_limit(void **state)
{
    struct fake fake;
    const struct evidence_sum *rows = &fake.evidence.rows;

    (void)state;
    fake_start(&fake, &fake_threads);
    for (int i = 0; i < EVIDENCE_ROWS_MOST; i++)
        fake_row(&fake, &fake.rows, i + 1, i + 1, "many");
    assert_int_equal(evidence_add(&fake.evidence, &fake.rows, NULL), CAMP_OK);
    for (size_t i = 0; i < fake.rows.entity_count; i++)
        fake.rows.entities[i].flags = ENTITY_NEW;
    fake_finish(&fake);
    assert_int_equal(rows->frame.entity_count, EVIDENCE_ROWS_MOST + 1);
    assert_int_equal(rows->frame.entities[EVIDENCE_ROWS_MOST].count, EVIDENCE_ROWS_MOST);
    fake_end(&fake);
}

/* A second too few in one interval and a second too many in the next are two wrong seconds. */
static void unaccounted_time_of_intervals_does_not_cancel(void **state)
{
    struct judgement found;
    struct fake fake;
    uint64_t *sleep_ns;

    (void)state;
    fake_start(&fake, &fake_threads);
    fake_row(&fake, &fake.rows, 7, 7, "wrong");
    sleep_ns = &frame_values(&fake.rows, 0)[column_find(&fake_threads, "other_sleep_ns")];
    *sleep_ns -= (uint64_t)NS;
    assert_int_equal(evidence_add(&fake.evidence, &fake.rows, NULL), CAMP_OK);
    *sleep_ns += 2 * (uint64_t)NS;
    fake_finish(&fake);
    judge(&found, rule_find("E23"), &fake.evidence, "");
    assert_float_equal(found.finding.value, 0.1, 1e-6);
    assert_string_equal(found.finding.who, "wrong (pid 7)");
    fake_end(&fake);
}

/* What ticks miss in one interval, the next one has. */
static void ticks_that_an_interval_lacks_are_not_unaccounted(void **state)
{
    static const struct column columns[] = {
        { "user_ns", "user", "", COLUMN_STATE, CAMP_SAMPLED, CLASS_CPU },
        FAKE_STATE("idle_ns", CLASS_IDLE),
    };
    static const struct schema schema = { "cpus", columns, 2, 2 };
    struct judgement found;
    struct fake fake;

    (void)state;
    fake_start(&fake, &schema);
    fake_row(&fake, &fake.rows, 7, 0, "cpu7");
    frame_values(&fake.rows, 0)[1] -= (uint64_t)NS;
    assert_int_equal(evidence_add(&fake.evidence, &fake.rows, NULL), CAMP_OK);
    frame_values(&fake.rows, 0)[1] += 2 * (uint64_t)NS;
    fake_finish(&fake);
    judge(&found, rule_find("E23"), &fake.evidence, "");
    assert_int_equal(found.verdict, VERDICT_QUIET);
    fake_end(&fake);
}

static void findings_are_ranked_by_lost_time(void **state)
{
    struct judgement found[64];
    struct fake fake;
    size_t fired;

    (void)state;
    fake_start(&fake, &fake_threads);
    fake_row(&fake, &fake.rows, 7, 7, "one");
    fake_set(&fake.rows, "disk_ns", 0.1);
    fake_set(&fake.rows, "text_fault_ns", 0.3);
    fake_set(&fake.rows, "throttled_ns", 0.2);
    fake_finish(&fake);
    fired = judge_all(found, &fake.evidence, "");
    assert_int_equal(fired, 3);
    assert_string_equal(found[0].rule->id, "E13");
    assert_string_equal(found[1].rule->id, "E03");
    assert_string_equal(found[2].rule->id, "E11");
    assert_int_equal(found[rule_count - 1].verdict, VERDICT_UNKNOWN);
    fake_end(&fake);
}

static void a_rule_without_its_columns_is_unknown_with_the_reason(void **state)
{
    static const struct column columns[] = { FAKE_STATE("cpu_ns", CLASS_CPU),
                                             FAKE_STATE("idle_ns", CLASS_IDLE) };
    static const struct schema schema = { "threads", columns, 2, 2 };
    struct judgement found;
    struct fake fake;

    (void)state;
    fake_start(&fake, &schema);
    fake.evidence.kind = EVIDENCE_THREADS;
    fake_finish(&fake);
    judge(&found, rule_find("E11"), &fake.evidence, "no rights");
    assert_int_equal(found.verdict, VERDICT_UNKNOWN);
    assert_string_equal(found.reason, "the rows lack states and counts: no rights");
    judge(&found, rule_find("E01"), &fake.evidence, "");
    assert_string_equal(found.reason, "the rows lack the state run queue");
    judge(&found, rule_find("E04"), &fake.evidence, "");
    assert_string_equal(found.reason, "there are no CPUs beside the rows");
    judge(&found, rule_find("E14"), &fake.evidence, "");
    assert_string_equal(found.reason, "pressure (PSI) is only read live, of this machine");
    judge(&found, rule_find("E27"), &fake.evidence, "");
    assert_non_null(strstr(found.reason, "no sessions of a database"));
    fake_end(&fake);
}

static void a_name_with_braces_is_shown_as_it_is(void **state)
{
    struct judgement found = { .rule = rule_find("E13") };
    char sentence[SENTENCE_SIZE];

    (void)state;
    strcpy(found.finding.who, "{lost}{who}");
    found.finding.lost_s = 0.5;
    sentence_text(sentence, &found);
    assert_non_null(strstr(sentence, "{lost}{who} had"));
    assert_non_null(strstr(sentence, "500 ms a second"));
}

static void an_argument_is_quoted_for_the_shell(void **state)
{
    static const struct {
        const char *argument, *quoted;
    } all[] = {
        { "run.camp", " run.camp" },     { "/a b/c", " '/a b/c'" }, { "it's", " 'it'\\''s'" },
        { "$(reboot)", " '$(reboot)'" }, { "~root", " '~root'" },   { "", " ''" },
    };
    char command[64];

    (void)state;
    for (size_t i = 0; i < ARRAY_COUNT(all); i++) {
        command[0] = '\0';
        assert_true(shell_append(command, sizeof command, all[i].argument));
        assert_string_equal(command, all[i].quoted);
    }
    strcpy(command, "x");
    assert_false(shell_append(command, sizeof command, "line\nfeed"));
    assert_string_equal(command, "x");
    assert_false(shell_append(command, 8, "too long for it"));
    assert_string_equal(command, "x");
}

static void figures_have_their_units(void **state)
{
    static const struct {
        double value;
        enum figure_unit unit;
        const char *text;
    } all[] = {
        { 0, FIGURE_TIME, "0 s" },
        { 2.5, FIGURE_TIME, "2.50 s" },
        { 0.25, FIGURE_TIME, "250 ms" },
        { 0.0125, FIGURE_TIME, "12.5 ms" },
        { 0.0000015, FIGURE_TIME, "1.5 us" },
        { 0.256, FIGURE_PERCENT, "25.6 %" },
        { 1234.4, FIGURE_RATE, "1234" },
        { 3, FIGURE_COUNT, "3" },
    };
    char text[FIGURE_SIZE];

    (void)state;
    for (size_t i = 0; i < ARRAY_COUNT(all); i++) {
        figure_text(text, all[i].value, all[i].unit);
        assert_string_equal(text, all[i].text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(frames_of_several_intervals_are_added_up),
        cmocka_unit_test(a_new_thread_with_an_old_number_has_a_row_of_its_own),
        cmocka_unit_test(short_lived_threads_are_added_up_by_name),
        cmocka_unit_test(entities_beyond_the_limit_share_one_row),
        cmocka_unit_test(a_new_thread_with_an_old_number_gets_no_row_beyond_the_limit),
        cmocka_unit_test(unaccounted_time_of_intervals_does_not_cancel),
        cmocka_unit_test(ticks_that_an_interval_lacks_are_not_unaccounted),
        cmocka_unit_test(findings_are_ranked_by_lost_time),
        cmocka_unit_test(a_rule_without_its_columns_is_unknown_with_the_reason),
        cmocka_unit_test(a_name_with_braces_is_shown_as_it_is),
        cmocka_unit_test(an_argument_is_quoted_for_the_shell),
        cmocka_unit_test(figures_have_their_units),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
