/* Tests the record of camp wait, with synthetic frames and disk waits. */
#include "synthetic_waits.h"

static void own_percent_counts_a_disk_wait_on_one_cpu_but_any_percent_on_all_cpus(void **state)
{
    struct made made;

    (void)state;
    make(&made);
    fill(&made);
    assert_percent(&made, WAIT_CPUS, 0, "idle_percent", 100);
    assert_percent(&made, WAIT_CPUS, 0, "any_percent", 55);
    assert_percent(&made, WAIT_CPUS, 0, "any_divided_percent", 27.5);
    assert_percent(&made, WAIT_CPUS, 0, "own_percent", 0);
    assert_percent(&made, WAIT_CPUS, 1, "idle_percent", 70);
    assert_percent(&made, WAIT_CPUS, 1, "any_percent", 60);
    assert_percent(&made, WAIT_CPUS, 1, "own_percent", 60);
    assert_percent(&made, WAIT_CPUS, 1, "kernel_percent", 30);
    release(&made);
}

static void in_camp_wait_a_percentage_of_the_machine_is_the_average_over_all_cpus(void **state)
{
    struct made made;

    (void)state;
    make(&made);
    fill(&made);
    assert_int_equal(cell(&made, WAIT_MACHINE, 0, "cpus").natural, 2);
    assert_percent(&made, WAIT_MACHINE, 0, "idle_percent", 85);
    assert_percent(&made, WAIT_MACHINE, 0, "any_percent", 57.5);
    assert_percent(&made, WAIT_MACHINE, 0, "any_divided_percent", 28.75);
    assert_percent(&made, WAIT_MACHINE, 0, "own_percent", 30);
    assert_percent(&made, WAIT_MACHINE, 0, "user_percent", 15);
    release(&made);
}

static void the_cpus_with_the_longest_waits_are_shown_in_order_of_their_ids(void **state)
{
    struct made made;

    (void)state;
    make(&made);
    add_cpu(&made, 2, SECOND, 0, 550 * MS);
    add_cpu(&made, 3, SECOND, 700 * MS, 700 * MS);
    made.top_cpus = 2;
    fill(&made);
    assert_int_equal(made.record.document.tables[WAIT_CPUS].row_count, 2);
    assert_int_equal(cell(&made, WAIT_CPUS, 0, "cpu").integer, 1);
    assert_int_equal(cell(&made, WAIT_CPUS, 1, "cpu").integer, 3);
    assert_int_equal(cell(&made, WAIT_MACHINE, 0, "cpus").natural, 4);
    assert_non_null(strstr(made.record.document.notes[0], "2 CPUs with less wait"));
    release(&made);
}

static void tier_kernel_of_camp_wait_knows_only_the_iowait_of_the_kernel(void **state)
{
    struct made made;
    uint64_t *values;

    (void)state;
    make(&made);
    made.tier = WAIT_KERNEL;
    frame_release(&made.cpus);
    frame_init(&made.cpus, &cpus_schema);
    assert_non_null(frame_add(&made.cpus));
    made.cpus.elapsed_ns[0] = SECOND;
    values = frame_values(&made.cpus, 0);
    values[CPUS_IDLE] = 500 * MS;
    values[CPUS_IOWAIT] = 200 * MS;
    values[CPUS_USER] = 100 * MS;
    values[CPUS_NICE] = 150 * MS;
    values[CPUS_GUEST] = 50 * MS;
    fill(&made);
    assert_percent(&made, WAIT_CPUS, 0, "idle_percent", 70);
    assert_percent(&made, WAIT_CPUS, 0, "kernel_percent", 20);
    assert_percent(&made, WAIT_CPUS, 0, "user_percent", 30);
    assert_int_equal(cell(&made, WAIT_CPUS, 0, "any_percent").kind, CELL_UNKNOWN);
    assert_int_equal(cell(&made, WAIT_CPUS, 0, "any_divided_percent").kind, CELL_UNKNOWN);
    assert_int_equal(cell(&made, WAIT_CPUS, 0, "own_percent").kind, CELL_UNKNOWN);
    assert_int_equal(cell(&made, WAIT_MACHINE, 0, "tasks_percent").kind, CELL_UNKNOWN);
    assert_int_equal(tasks_shown(&made), 0);
    assert_string_equal(cell(&made, WAIT_SUMMARY, 0, "tier").text, "kernel");
    release(&made);
}

static void camp_wait_makes_a_record_of_an_interval_without_cpus(void **state)
{
    struct made made;

    (void)state;
    make(&made);
    frame_clear(&made.cpus);
    fill(&made);
    assert_int_equal(made.record.document.tables[WAIT_CPUS].row_count, 0);
    assert_int_equal(cell(&made, WAIT_MACHINE, 0, "any_percent").kind, CELL_UNKNOWN);
    release(&made);
}

static void the_classic_output_of_camp_wait_has_the_columns_of_mpstat(void **state)
{
    struct made made;
    struct view_options options = { 0 };
    char *text = NULL;
    size_t size = 0;

    (void)state;
    make(&made);
    fill(&made);
    options.stream = open_memstream(&text, &size);
    assert_int_equal(classic_view.record(&options, &made.record.document.record, 0), 0);
    fclose(options.stream);
    assert_string_equal(
        text, "12:00:00     CPU    %usr   %nice    %sys %iowait    %irq   %soft  %steal  %guest"
              "  %gnice   %idle\n"
              "12:00:00     all   15.00       -    0.00   30.00    0.00    0.00    0.50       -"
              "       -   55.00\n"
              "12:00:00       0    0.00       -    0.00    0.00    0.00    0.00    1.00       -"
              "       -  100.00\n"
              "12:00:00       1   30.00       -    0.00   60.00    0.00    0.00    1.00       -"
              "       -   10.00\n");
    free(text);
    release(&made);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(own_percent_counts_a_disk_wait_on_one_cpu_but_any_percent_on_all_cpus),
        cmocka_unit_test(in_camp_wait_a_percentage_of_the_machine_is_the_average_over_all_cpus),
        cmocka_unit_test(the_cpus_with_the_longest_waits_are_shown_in_order_of_their_ids),
        cmocka_unit_test(tier_kernel_of_camp_wait_knows_only_the_iowait_of_the_kernel),
        cmocka_unit_test(camp_wait_makes_a_record_of_an_interval_without_cpus),
        cmocka_unit_test(the_classic_output_of_camp_wait_has_the_columns_of_mpstat),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
