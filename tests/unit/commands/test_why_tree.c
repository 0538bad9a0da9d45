/* The tree of causes, its percentages, and the sentences, on synthetic causes. */
#include "commands/why/why_record.h"
#include "synthetic_causes.h"

/* Asserts that the parts of each node have its time and its hundredths in sum. */
static void assert_adds_up(const struct why_tree *tree)
{
    uint64_t sums_ns[3] = { 0 }, wholes_ns[3] = { tree->total_ns };
    uint32_t sums[3] = { 0 }, wholes[3] = { 10000 };

    for (size_t i = 0; i <= tree->count; i++) {
        const int level = i < tree->count ? (int)tree->nodes[i].level : -1;

        /* A node of this level ends the parts of the levels below it. */
        for (int j = 2; j > level && j >= 0; j--) {
            if (sums_ns[j] != 0) {
                assert_int_equal(sums_ns[j], wholes_ns[j]);
                assert_int_equal(sums[j], wholes[j]);
            }
            if (j > 0)
                sums_ns[j] = sums[j] = 0;
        }
        if (level < 0)
            break;
        sums_ns[level] += tree->nodes[i].time_ns;
        sums[level] += tree->nodes[i].hundredths;
        if (level < 2) {
            wholes_ns[level + 1] = tree->nodes[i].time_ns;
            wholes[level + 1] = tree->nodes[i].hundredths;
        }
    }
}

static void parts_of_each_node_add_up_to_it_in_ns_and_in_percent(void **state)
{
    struct causes *causes = make_causes();
    struct why_tree tree = { 0 };

    (void)state;
    assert_true(why_tree_fill(&tree, causes, DB, 0));
    assert_int_equal(tree.total_ns, 1000000000);
    assert_adds_up(&tree);
    assert_true(why_tree_fill(&tree, causes, WHY_ALL, 0));
    assert_int_equal(tree.total_ns, 2900000000);
    assert_adds_up(&tree);
    why_tree_release(&tree);
    release_causes(causes);
}

static void percentages_that_do_not_divide_still_add_up_to_100(void **state)
{
    struct causes *causes = make_causes();
    struct why_tree tree = { 0 };

    (void)state;
    memset(causes->state_ns, 0, sizeof causes->state_ns);
    causes->rows.count = 0;
    for (uint32_t i = 0; i < 7; i++)
        add_row(causes, DB, CAMP_STATE_PIPE, CAMP_CAUSE_GROUP, 10 + i, 1);
    add_row(causes, DB, CAMP_STATE_LOCK, CAMP_CAUSE_TIMER, 0, 7);
    add_row(causes, DB, CAMP_STATE_DISK, CAMP_CAUSE_TIMER, 0, 7);
    cause_sort(&causes->rows);
    assert_true(why_tree_fill(&tree, causes, DB, 0));
    assert_adds_up(&tree);
    why_tree_release(&tree);
    release_causes(causes);
}

static void the_longest_comes_first_and_the_rest_is_one_row(void **state)
{
    struct causes *causes = make_causes();
    struct why_tree tree = { 0 };
    const struct why_node *nodes;

    (void)state;
    assert_true(why_tree_fill(&tree, causes, DB, 1));
    assert_adds_up(&tree);
    nodes = tree.nodes;
    assert_int_equal(nodes[0].state, CAMP_STATE_PIPE);
    assert_int_equal(nodes[0].hundredths, 4000);
    assert_int_equal(nodes[1].kind, CAMP_CAUSE_GROUP);
    assert_int_equal(nodes[2].id, WRITER);
    assert_int_equal(nodes[2].merged, 0);
    assert_int_equal(nodes[3].kind, CAUSE_NOT_ENDED);
    assert_true(nodes[4].on_cpu);
    assert_int_equal(nodes[5].state, CAMP_STATE_RUN_QUEUE);
    assert_int_equal(nodes[6].kind, CAMP_CAUSE_GROUP);
    assert_int_equal(nodes[7].level, WHY_WHO);
    assert_int_equal(nodes[7].merged, 2);
    assert_int_equal(nodes[7].time_ns, 150000000);
    assert_int_equal(nodes[8].kind, CAMP_CAUSE_IDLE);
    why_tree_release(&tree);
    release_causes(causes);
}

static void what_a_group_inflicts_is_what_others_suffer_for_it(void **state)
{
    struct causes *causes = make_causes();

    (void)state;
    assert_int_equal(why_inflicted_ns(causes, BATCH, DB), 90000000);
    assert_int_equal(why_inflicted_ns(causes, DB, WHY_ALL), 100000000);
    assert_int_equal(why_inflicted_ns(causes, WRITER, WHY_ALL), 0);
    release_causes(causes);
}

static void the_sentence_names_the_quota_the_culprit_and_the_waker(void **state)
{
    struct causes *causes = make_causes();
    struct why_tree tree = { 0 };
    char text[WHY_SENTENCE_SIZE];
    struct chain chain;

    (void)state;
    assert_true(why_tree_fill(&tree, causes, DB, 0));
    assert_true(why_sentence(text, causes, DB, "d\033b (7)", &tree));
    assert_string_equal(text, "d?b (7) was on a CPU 30.0 % of 1.00 s, ready 30.0 %: 10.0 % its own "
                              "quota, 9.0 % behind batch; asleep 40.0 %, 100 % of it in pipe, "
                              "88 % of it woken by writer.");
    cause_chain(&chain, causes, DB);
    assert_int_equal(chain.count, 2);
    assert_int_equal(chain.end, CHAIN_CAUSE);
    why_chain_sentence(text, causes, &chain);
    assert_non_null(strstr(text, "db (7) waited 35.0 % in pipe for writer, which waited 88.9 % in "
                                 "disk for "));
    why_tree_release(&tree);
    release_causes(causes);
}

static void the_percentages_of_the_sentence_add_up(void **state)
{
    struct causes *causes = make_causes();
    struct why_tree tree = { 0 };
    char text[WHY_SENTENCE_SIZE];

    (void)state;
    memset(causes->state_ns, 0, sizeof causes->state_ns);
    causes->rows.count = 0;
    causes->state_ns[DB][CAMP_STATE_USER] = 1000000000;
    add_row(causes, DB, CAMP_STATE_RUN_QUEUE, CAMP_CAUSE_GROUP, BATCH, 400000000);
    add_row(causes, DB, CAMP_STATE_RUN_QUEUE, CAMP_CAUSE_GROUP, WRITER, 300000000);
    add_row(causes, DB, CAMP_STATE_THROTTLED, CAUSE_QUOTA, 0, 300000000);
    add_row(causes, DB, CAMP_STATE_PIPE, CAMP_CAUSE_TIMER, 0, 400000000);
    add_row(causes, DB, CAMP_STATE_LOCK, CAMP_CAUSE_GROUP, WRITER, 290000000);
    add_row(causes, DB, CAMP_STATE_DISK, CAMP_CAUSE_GROUP, WRITER, 310000000);
    assert_true(why_tree_fill(&tree, causes, DB, 0));
    assert_true(why_sentence(text, causes, DB, "db", &tree));
    assert_string_equal(text,
                        "db was on a CPU 33.4 % of 3.00 s, ready 33.3 %: 10.0 % its own quota, "
                        "13.3 % behind batch; asleep 33.3 %, 40 % of it in pipe, 60 % of it "
                        "woken by writer.");
    why_tree_release(&tree);
    release_causes(causes);
}

static void the_sentence_says_that_nothing_has_woken_a_sleep_yet(void **state)
{
    struct causes *causes = make_causes();
    struct why_tree tree = { 0 };
    char text[WHY_SENTENCE_SIZE];

    (void)state;
    memset(causes->state_ns, 0, sizeof causes->state_ns);
    causes->rows.count = 0;
    add_row(causes, DB, CAMP_STATE_RUN_QUEUE, CAMP_CAUSE_GROUP, BATCH, 1000);
    add_row(causes, DB, CAMP_STATE_LOCK, CAUSE_NOT_ENDED, 0, 750000000);
    add_row(causes, DB, CAMP_STATE_PIPE, CAMP_CAUSE_GROUP, WRITER, 250000000);
    assert_true(why_tree_fill(&tree, causes, DB, 0));
    assert_true(why_sentence(text, causes, DB, "db", &tree));
    assert_string_equal(text,
                        "db was on a CPU 0.0 % of 1.00 s; asleep 100.0 %, 75 % of it in lock, "
                        "and nothing has woken 75 % of it yet.");
    why_tree_release(&tree);
    release_causes(causes);
}

static bool has_note(const struct why_record *record, const char *part)
{
    for (size_t i = 0; i < record->document.note_count; i++) {
        if (strstr(record->document.notes[i], part) != NULL)
            return true;
    }
    return false;
}

/* In one interval nothing has ended the sleep. In a sum of several, one that lasted beyond its
 * interval may have ended in the next one, if any sleep in this state has. */
static void of_several_intervals_a_sleep_that_had_not_ended_lasted_beyond_one(void **state)
{
    static const char beyond[] = "and 75 % of it lasted beyond an interval.";
    static const char never[] = "and nothing has woken 75 % of it yet.";

    (void)state;
    for (int ended = 0; ended < 2; ended++) {
        struct causes *causes = make_causes();
        struct why_record record = { 0 };
        const struct why_interval interval = {
            .causes = causes, .subject = DB, .name = "db", .time = "2026-11-29T12:00:00.000+00:00"
        };
        const struct cell *cells;
        bool has_title = false;

        memset(causes->state_ns, 0, sizeof causes->state_ns);
        causes->rows.count = 0;
        causes->intervals = 2;
        add_row(causes, DB, CAMP_STATE_LOCK, CAUSE_NOT_ENDED, 0, 750000000);
        add_row(causes, DB, ended ? CAMP_STATE_LOCK : CAMP_STATE_PIPE, CAMP_CAUSE_GROUP, WRITER,
                250000000);
        cause_sort(&causes->rows);
        assert_int_equal(why_record_fill(&record, &interval), CAMP_OK);
        cells = record.document.tables[WHY_SUMMARY].cells;
        if (strstr(cells[6].text, ended ? beyond : never) == NULL)
            fail_msg("%s", cells[6].text);
        if (strstr(cells[7].text, ended ? ", beyond an interval." : "nothing has woken it") == NULL)
            fail_msg("%s", cells[7].text);
        for (size_t i = 0; i < record.document.tables[WHY_TREE].row_count; i++) {
            const struct table *tree = &record.document.tables[WHY_TREE];
            const char *title = tree->cells[i * tree->field_count + 6].text;

            has_title |= strcmp(title, ended ? "  lasted beyond an interval"
                                             : "  nothing has woken it yet") == 0;
        }
        assert_true(has_title);
        why_record_release(&record);
        release_causes(causes);
    }
}

static void what_all_others_waited_behind_the_subject_is_added_up(void **state)
{
    struct causes *causes = make_causes();
    struct why_record record = { 0 };
    struct why_interval interval = {
        .causes = causes, .subject = DB, .name = "db", .time = "2026-11-29T12:00:00.000+00:00"
    };

    (void)state;
    causes->end_ns = causes->start_ns + 2000000000;
    interval.most = 1; /* the table has one of them only */
    assert_int_equal(why_record_fill(&record, &interval), CAMP_OK);
    assert_int_equal(record.document.tables[WHY_SUMMARY].cells[8].natural, 100000000);
    assert_true(has_note(&record, "behind it  others waited 100.000 ms in all, 50.0 ms a second"));
    interval.subject = WRITER; /* behind which nobody waited */
    assert_int_equal(why_record_fill(&record, &interval), CAMP_OK);
    assert_false(has_note(&record, "behind it"));
    why_record_release(&record);
    release_causes(causes);
}

static void the_chain_says_how_long_a_group_slept_queued_or_was_throttled(void **state)
{
    struct causes *causes = make_causes();
    char text[WHY_SENTENCE_SIZE];
    struct chain chain;

    (void)state;
    memset(causes->state_ns, 0, sizeof causes->state_ns);
    causes->rows.count = 0;
    add_row(causes, DB, CAMP_STATE_TIMER, CAMP_CAUSE_TIMER, 0, 600);
    add_row(causes, DB, CAMP_STATE_OTHER_SLEEP, CAMP_CAUSE_TIMER, 0, 1);
    cause_chain(&chain, causes, DB);
    why_chain_sentence(text, causes, &chain);
    assert_string_equal(text, "db (7) slept 99.8 % until a timer.");
    add_row(causes, DB, CAMP_STATE_RUN_QUEUE, CAMP_CAUSE_GROUP, BATCH, 199);
    add_row(causes, DB, CAMP_STATE_RUN_QUEUE, CAMP_CAUSE_GROUP, WRITER, 200);
    cause_chain(&chain, causes, DB);
    why_chain_sentence(text, causes, &chain);
    assert_string_equal(text, "db (7) waited 39.9 % for a CPU: 20.0 % behind writer.");
    add_row(causes, DB, CAMP_STATE_THROTTLED, CAUSE_QUOTA, 0, 1000);
    cause_chain(&chain, causes, DB);
    why_chain_sentence(text, causes, &chain);
    assert_string_equal(text, "db (7) was throttled 50.0 % by its own quota.");
    add_row(causes, DB, CAMP_STATE_LOCK, CAMP_CAUSE_GROUP, DB, 6000);
    cause_chain(&chain, causes, DB);
    why_chain_sentence(text, causes, &chain);
    assert_string_equal(text, "db (7) waited 75.0 % in lock for threads of its own.");
    causes->rows.count = 0;
    memset(causes->state_ns, 0, sizeof causes->state_ns);
    add_row(causes, DB, CAMP_STATE_OTHER_SLEEP, CAMP_CAUSE_GROUP, BATCH, 7);
    cause_chain(&chain, causes, DB);
    why_chain_sentence(text, causes, &chain);
    assert_non_null(strstr(text, "db (7) waited 100.0 % in other sleep for batch"));
    release_causes(causes);
}

static void losses_are_of_the_subject_and_noted_when_they_are_large(void **state)
{
    struct causes *causes = make_causes();
    struct why_record record = { 0 };
    struct why_interval interval = {
        .causes = causes, .subject = BATCH, .name = "batch", .time = "2026-11-29T12:00:00.000+00:00"
    };
    const struct cell *losses;

    (void)state;
    add_row(causes, DB, CAMP_STATE_PIPE, CAMP_CAUSE_GROUP, 0, 250000000);
    cause_sort(&causes->rows);
    causes->reduced_ns[DB] = 25000000;
    assert_int_equal(why_record_fill(&record, &interval), CAMP_OK);
    losses = record.document.tables[WHY_LOSSES].cells;
    assert_true(losses[2].real == 0);
    assert_true(losses[3].real == 0);
    assert_false(has_note(&record, "others     "));
    interval.subject = DB;
    interval.most = 1;
    assert_int_equal(why_record_fill(&record, &interval), CAMP_OK);
    losses = record.document.tables[WHY_LOSSES].cells;
    assert_true(losses[2].real == 20);
    assert_true(losses[3].real == 2);
    assert_true(has_note(&record, "others     20.00 % was"));
    assert_true(has_note(&record, "had 2.00 % more"));
    assert_true(has_note(&record, "more than 53 names caused waits"));
    for (uint32_t i = 0; i < causes->group_count; i++)
        causes->groups[i].kind = i < 2 ? causes->groups[i].kind : CAMP_GROUP_PROCESS;
    assert_int_equal(why_record_fill(&record, &interval), CAMP_OK);
    assert_true(has_note(&record, "more than 53 processes caused waits"));
    interval.subject = WHY_ALL;
    assert_int_equal(why_record_fill(&record, &interval), CAMP_OK);
    losses = record.document.tables[WHY_LOSSES].cells;
    assert_true(losses[3].real > 0.79 && losses[3].real < 0.8);
    why_record_release(&record);
    release_causes(causes);
}

static void a_record_has_the_tree_the_chain_and_what_cannot_be_attributed(void **state)
{
    struct causes *causes = make_causes();
    struct why_record record = { 0 };
    const struct why_interval interval = {
        .causes = causes, .subject = DB, .name = "db (7)", .time = "2026-11-29T12:00:00.000+00:00"
    };

    (void)state;
    assert_int_equal(why_record_fill(&record, &interval), CAMP_OK);
    assert_string_equal(record.document.record.schema, "camp.why/1");
    assert_int_equal(record.document.tables[WHY_TREE].row_count, record.tree.count);
    assert_int_equal(record.document.tables[WHY_CHAIN].row_count, 2);
    assert_int_equal(record.document.tables[WHY_INFLICTED].row_count, 1);
    assert_true(record.document.tables[WHY_LOSSES].cells[1].real > 1.66);
    assert_true(record.document.tables[WHY_LOSSES].cells[1].real < 1.67);
    assert_non_null(strstr(record.document.record.headline, "12:00:00  1.00 s  1 thread\ndb (7)"));
    why_record_release(&record);
    release_causes(causes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parts_of_each_node_add_up_to_it_in_ns_and_in_percent),
        cmocka_unit_test(percentages_that_do_not_divide_still_add_up_to_100),
        cmocka_unit_test(the_longest_comes_first_and_the_rest_is_one_row),
        cmocka_unit_test(what_a_group_inflicts_is_what_others_suffer_for_it),
        cmocka_unit_test(the_sentence_names_the_quota_the_culprit_and_the_waker),
        cmocka_unit_test(the_percentages_of_the_sentence_add_up),
        cmocka_unit_test(the_sentence_says_that_nothing_has_woken_a_sleep_yet),
        cmocka_unit_test(of_several_intervals_a_sleep_that_had_not_ended_lasted_beyond_one),
        cmocka_unit_test(what_all_others_waited_behind_the_subject_is_added_up),
        cmocka_unit_test(the_chain_says_how_long_a_group_slept_queued_or_was_throttled),
        cmocka_unit_test(losses_are_of_the_subject_and_noted_when_they_are_large),
        cmocka_unit_test(a_record_has_the_tree_the_chain_and_what_cannot_be_attributed),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
