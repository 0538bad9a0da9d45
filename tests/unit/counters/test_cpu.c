/* Parses texts of /proc/stat, valid and broken ones. */
#include "../tree.h"

#define TICK 10000000u
#define NS_PER_S 1000000000u

static void the_numbers_in_proc_stat_are_read_as_hundredths_of_a_second(void **state)
{
    struct tree tree = stored_tree("desktop-2.6.32");
    struct camp_cpu cpu;

    (void)state;
    assert_int_equal(camp_cpu_read(source_of(&tree), 2, &cpu, sizeof cpu, NULL), CAMP_OK);
    assert_int_equal(cpu.cpu, 2);
    assert_int_equal(cpu.user_ns, 23825ull * TICK);
    assert_int_equal(cpu.nice_ns, 234ull * TICK);
    assert_int_equal(cpu.system_ns, 6345ull * TICK);
    assert_int_equal(cpu.idle_ns, 497654ull * TICK);
    assert_int_equal(cpu.iowait_ns, 2321ull * TICK);
    assert_int_equal(cpu.irq_ns, 6ull * TICK);
    assert_int_equal(cpu.softirq_ns, 175ull * TICK);
    assert_true(cpu.time_ns != 0);
}

static void cpu_times_that_an_old_kernel_does_not_print_are_unknown(void **state)
{
    struct tree tree = stored_tree("desktop-2.6.32");
    struct camp_cpu cpu;

    (void)state;
    assert_int_equal(camp_cpu_read(source_of(&tree), CAMP_CPU_TOTAL, &cpu, sizeof cpu, NULL), 0);
    assert_int_equal(cpu.known, 0xff);
    assert_int_equal(cpu.guest_ns, 0);
}

static void the_ids_of_cpus_may_have_gaps(void **state)
{
    struct tree tree = stored_tree("desktop-2.6.32");
    struct camp_error error;
    struct camp_cpu cpu;
    int32_t ids[4];
    size_t count;

    (void)state;
    assert_int_equal(camp_cpu_list(source_of(&tree), ids, 4, &count, NULL), CAMP_OK);
    assert_int_equal(count, 2);
    assert_int_equal(ids[0], 0);
    assert_int_equal(ids[1], 2);
    assert_int_equal(camp_cpu_count(source_of(&tree), &count, NULL), CAMP_OK);
    assert_int_equal(count, 2);
    assert_int_equal(camp_cpu_read(source_of(&tree), 1, &cpu, sizeof cpu, &error), CAMP_E_GONE);
    assert_int_equal(error.code, CAMP_E_GONE);
}

static void read_text(const char *text, int32_t id, struct camp_cpu *ret, int expected)
{
    struct tree tree = text_tree("stat", text);
    int result = camp_cpu_read(source_of(&tree), id, ret, sizeof *ret, NULL);

    remove_tree(&tree);
    if (result != expected)
        fail_msg("%d instead of %d for \"%.60s\"", result, expected, text);
}

static void guest_time_is_subtracted_from_user_time(void **state)
{
    struct camp_cpu cpu;

    (void)state;
    read_text("cpu  9 9 0 9 0 0 0 0 0 0\ncpu0 100 50 3 4 5 6 7 8 30 20\n", 0, &cpu, CAMP_OK);
    assert_int_equal(cpu.known, 0x3ff);
    assert_int_equal(cpu.user_ns, 70ull * TICK);
    assert_int_equal(cpu.guest_ns, 30ull * TICK);
    assert_int_equal(cpu.nice_ns, 30ull * TICK);
    assert_int_equal(cpu.guest_nice_ns, 20ull * TICK);
}

static void if_guest_time_exceeds_user_time_the_user_time_is_zero(void **state)
{
    struct camp_cpu cpu;

    (void)state;
    read_text("cpu  1 2 3 4 5 6 7 8 9 9\ncpu0 1 2 3 4 5 6 7 8 9 9\n", 0, &cpu, CAMP_OK);
    assert_int_equal(cpu.user_ns, 0);
    assert_int_equal(cpu.nice_ns, 0);
}

static void a_negative_cpu_counter_is_unknown(void **state)
{
    struct camp_cpu cpu;

    (void)state;
    read_text("cpu  1 2 3 4 5 6 7 8 9 9\ncpu0 5 2 3 4 18446744073709551615 6 7 8 0 0\n", 0, &cpu,
              CAMP_OK);
    assert_int_equal(cpu.known, 0x3ff & ~CAMP_CPU_IOWAIT);
    assert_int_equal(cpu.iowait_ns, 0);
    assert_int_equal(cpu.irq_ns, 6ull * TICK);
}

static void cpu_columns_added_by_later_kernels_are_ignored(void **state)
{
    struct camp_cpu cpu;

    (void)state;
    read_text("cpu  1 2 3 4\ncpu0 1 2 3 4 5 6 7 8 0 0 11 12\n", 0, &cpu, CAMP_OK);
    assert_int_equal(cpu.steal_ns, 8ull * TICK);
    assert_int_equal(cpu.known, 0x3ff);
}

static void a_broken_proc_stat_is_a_format_error(void **state)
{
    static const char *const texts[] = {
        "",
        "\n",
        "cpu",
        "cpu  1 2 3 4\n",                                    /* no CPU */
        "cpu0 1 2 3 4\n",                                    /* no total */
        "cpu  1 2 3 4\ncpu0 1 2 3\nintr 0\n",                /* too few columns */
        "cpu  1 2 3 4\ncpu0 1 2 3 4 5 6 7 8",                /* truncated within a number */
        "cpu  1 2 3 4\ncpu0 1 2 3 -4 5 6 7 8\n",             /* negative */
        "cpu  1 2 3 4\ncpu0 1 2 3 4x 5\n",                   /* not a number */
        "cpu  1 2 3 4\ncpu0 1 2 3 4 5 6 7 8 9 10 x\n",       /* not a number in a later column */
        "cpu  1 2 3 4\ncpu0 1 2 3 18446744073709551616 5\n", /* 65 bits */
        "cpu  1 2 3 4\ncpu4294967296 1 2 3 4\n",             /* an id that becomes 0 in 32 bits */
        "cpu  1 2 3 4\ncpu1 1 2 3 4\ncpu0 1 2 3 4\n",        /* descending ids */
        "cpu  1 2 3 4\ncpux 1 2 3 4\n",
        "garbage\ncpu  1 2 3 4\ncpu0 1 2 3 4\n",
    };
    struct camp_cpu cpu;

    (void)state;
    for (size_t i = 0; i < COUNT(texts); i++)
        read_text(texts[i], 0, &cpu, CAMP_E_FORMAT);
}

static void the_error_about_a_broken_proc_stat_has_the_line_number(void **state)
{
    struct tree tree = text_tree("stat", "cpu  1 2 3 4\ncpu0 1 2 3\n");
    struct camp_cpu cpus[2];
    struct camp_error error = { 0 };
    size_t count;

    (void)state;
    assert_int_equal(camp_cpu_read_all(source_of(&tree), cpus, sizeof *cpus, 2, &count, &error),
                     CAMP_E_FORMAT);
    remove_tree(&tree);
    assert_non_null(strstr(error.message, ": line 2 is"));
}

static void unknown_guest_time_makes_user_time_unknown(void **state)
{
    struct camp_cpu cpu;

    (void)state;
    read_text("cpu  1 2 3 4 5 6 7 8 9 9\ncpu0 5 9 3 4 5 6 7 8 18446744073709551615 2\n", 0, &cpu,
              CAMP_OK);
    assert_int_equal(cpu.known, 0x3ff & ~(CAMP_CPU_GUEST | CAMP_CPU_USER));
    assert_int_equal(cpu.nice_ns, 7ull * TICK);
}

static void binary_bytes_in_proc_stat_are_a_format_error(void **state)
{
    struct tree tree = made_tree("stat", "cpu  1 2 3 4\ncpu0 1 \0 3 4 5 6\n", 31);
    struct camp_cpu cpu;

    (void)state;
    assert_int_equal(camp_cpu_read(source_of(&tree), 0, &cpu, sizeof cpu, NULL), CAMP_E_FORMAT);
    remove_tree(&tree);
}

#define MANY 1152

static char *text_of_many(void)
{
    char *text = malloc(MANY * 128 + 100000);
    size_t at = (size_t)sprintf(text, "cpu  1 2 3 4 5 6 7 8 0 0\n");

    for (unsigned i = 0; i < MANY; i++)
        at += (size_t)sprintf(text + at, "cpu%u %u00000000 0 0 %u 0 0 0 0 0 0\n", i * 2, i + 1, i);
    at += (size_t)sprintf(text + at, "intr 5");
    for (unsigned i = 0; i < 40000; i++) /* longer than any buffer, without a newline */
        at += (size_t)sprintf(text + at, " 0");
    return text;
}

static void a_thousand_cpus_are_read_through_a_small_buffer(void **state)
{
    char *text = text_of_many();
    struct tree tree = text_tree("stat", text);
    struct camp_cpu *cpus = calloc(MANY + 1, sizeof *cpus);
    size_t count;

    (void)state;
    assert_int_equal(
        camp_cpu_read_all(source_of(&tree), cpus, sizeof *cpus, MANY + 1, &count, NULL), CAMP_OK);
    assert_int_equal(count, MANY + 1);
    assert_int_equal(cpus[0].cpu, CAMP_CPU_TOTAL);
    for (size_t i = 0; i < MANY; i++) {
        assert_int_equal(cpus[i + 1].cpu, i * 2);
        assert_int_equal(cpus[i + 1].user_ns, (i + 1) * 100000000ull * TICK);
        assert_int_equal(cpus[i + 1].idle_ns, (uint64_t)i * TICK);
        assert_true(cpus[i + 1].time_ns == cpus[0].time_ns);
    }
    remove_tree(&tree);
    free(cpus);
    free(text);
}

static void reading_cpus_into_a_short_array_returns_the_total_count(void **state)
{
    struct tree tree = stored_tree("desktop-2.6.32");
    struct camp_cpu cpus[3];
    int32_t id = -7;
    size_t count;

    (void)state;
    memset(cpus, 0x5a, sizeof cpus);
    assert_int_equal(camp_cpu_read_all(source_of(&tree), cpus, sizeof *cpus, 2, &count, NULL),
                     CAMP_E_SPACE);
    assert_int_equal(count, 3);
    assert_int_equal(cpus[1].cpu, 0);
    assert_int_equal(cpus[2].cpu, 0x5a5a5a5a);
    assert_int_equal(camp_cpu_list(source_of(&tree), &id, 1, &count, NULL), CAMP_E_SPACE);
    assert_int_equal(count, 2);
    assert_int_equal(id, 0);
}

static void a_caller_may_pass_a_larger_or_a_smaller_cpu_struct(void **state)
{
    struct tree tree = stored_tree("desktop-2.6.32");
    struct {
        struct camp_cpu cpu;
        uint64_t newer;
    } large[3];
    uint64_t small[6]; /* space for three structs that end after time_ns */
    int32_t id;
    size_t count;

    (void)state;
    memset(large, 0x5a, sizeof large);
    assert_int_equal(
        camp_cpu_read_all(source_of(&tree), &large[0].cpu, sizeof *large, 3, &count, NULL), 0);
    assert_int_equal(large[2].cpu.cpu, 2);
    assert_int_equal(large[2].newer, 0);
    memset(small, 0x5a, sizeof small);
    assert_int_equal(
        camp_cpu_read_all(source_of(&tree), (struct camp_cpu *)small, 16, 2, &count, NULL),
        CAMP_E_SPACE);
    memcpy(&id, &small[2], sizeof id);
    assert_int_equal(id, 0);
    assert_int_equal(small[4], 0x5a5a5a5a5a5a5a5a);
}

static void utilisation_over_an_interval_of_0_starts_at_the_previous_reading(void **state)
{
    struct tree tree = stored_tree("desktop-2.6.32");
    struct camp_utilisation u;
    struct camp_cpu previous;

    (void)state;
    assert_int_equal(
        camp_cpu_read(source_of(&tree), CAMP_CPU_TOTAL, &previous, sizeof previous, NULL), CAMP_OK);
    previous.time_ns -= NS_PER_S;
    previous.idle_ns -= NS_PER_S;
    assert_int_equal(camp_cpu_utilisation(source_of(&tree), CAMP_CPU_TOTAL, 0, NULL, &previous, &u,
                                          sizeof u, NULL),
                     CAMP_OK);
    /* One of two CPUs was idle for a second. The interval is longer, because it ends at the second
     * read. */
    assert_true(u.idle_percent > 49 && u.idle_percent <= 50);
    assert_int_equal(previous.idle_ns, 987654ull * TICK);
    assert_int_equal(
        camp_cpu_utilisation(source_of(&tree), CAMP_CPU_TOTAL, 0, NULL, NULL, &u, sizeof u, NULL),
        CAMP_E_INVALID);
    assert_int_equal(
        camp_cpu_utilisation(source_of(&tree), 0, 0, NULL, &previous, &u, sizeof u, NULL),
        CAMP_E_INVALID);
    assert_int_equal(camp_cpu_utilisation(source_of(&tree), 1, 5, NULL, NULL, &u, sizeof u, NULL),
                     CAMP_E_GONE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_numbers_in_proc_stat_are_read_as_hundredths_of_a_second),
        cmocka_unit_test(cpu_times_that_an_old_kernel_does_not_print_are_unknown),
        cmocka_unit_test(the_ids_of_cpus_may_have_gaps),
        cmocka_unit_test(guest_time_is_subtracted_from_user_time),
        cmocka_unit_test(if_guest_time_exceeds_user_time_the_user_time_is_zero),
        cmocka_unit_test(a_negative_cpu_counter_is_unknown),
        cmocka_unit_test(cpu_columns_added_by_later_kernels_are_ignored),
        cmocka_unit_test(a_broken_proc_stat_is_a_format_error),
        cmocka_unit_test(the_error_about_a_broken_proc_stat_has_the_line_number),
        cmocka_unit_test(unknown_guest_time_makes_user_time_unknown),
        cmocka_unit_test(binary_bytes_in_proc_stat_are_a_format_error),
        cmocka_unit_test(a_thousand_cpus_are_read_through_a_small_buffer),
        cmocka_unit_test(reading_cpus_into_a_short_array_returns_the_total_count),
        cmocka_unit_test(a_caller_may_pass_a_larger_or_a_smaller_cpu_struct),
        cmocka_unit_test(utilisation_over_an_interval_of_0_starts_at_the_previous_reading),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
