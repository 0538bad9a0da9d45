/* The table of counters, the rules of their provenance on kernels other than this one, and the
 * suggestions for mistyped names. */
#include "commands/get/counters.h"
#include "program/suggestion.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static int provenance(const char *name, const struct camp_kernel *kernel, int32_t cpu)
{
    const struct counter *counter = counter_by_name(KIND_CPU, name);

    assert_non_null(counter);
    return counter_provenance(counter, kernel, cpu, NULL);
}

static void user_time_is_sampled_where_the_tick_accounts(void **state)
{
    const struct camp_kernel kernel = {
        .known = CAMP_KERNEL_ACCOUNTING | CAMP_KERNEL_TICKLESS_IDLE | CAMP_KERNEL_IRQ_TIME,
        .accounting = CAMP_ACCOUNTING_TICK,
        .tickless_idle = 1,
    };

    (void)state;
    assert_int_equal(provenance("user_ns", &kernel, 0), CAMP_SAMPLED);
    assert_int_equal(provenance("irq_ns", &kernel, 0), CAMP_SAMPLED);
    assert_int_equal(provenance("idle_ns", &kernel, 0), CAMP_MEASURED);
}

static void user_time_is_measured_on_kernels_that_measure(void **state)
{
    const struct camp_kernel kernel = { .known = CAMP_KERNEL_ACCOUNTING,
                                        .accounting = CAMP_ACCOUNTING_NATIVE };

    (void)state;
    assert_int_equal(provenance("user_ns", &kernel, CAMP_CPU_TOTAL), CAMP_MEASURED);
}

static void only_listed_cpus_are_measured_by_generic_accounting(void **state)
{
    const struct camp_kernel kernel = { .known = CAMP_KERNEL_ACCOUNTING,
                                        .accounting = CAMP_ACCOUNTING_GEN,
                                        .measured_cpus = "1-3,5" };

    (void)state;
    assert_int_equal(provenance("user_ns", &kernel, 0), CAMP_SAMPLED);
    assert_int_equal(provenance("user_ns", &kernel, 2), CAMP_MEASURED);
    assert_int_equal(provenance("user_ns", &kernel, 5), CAMP_MEASURED);
    assert_int_equal(provenance("user_ns", &kernel, 6), CAMP_SAMPLED);
    assert_int_equal(provenance("user_ns", &kernel, CAMP_CPU_TOTAL), CAMP_SAMPLED);
}

static void idle_is_sampled_where_the_tick_never_stops(void **state)
{
    struct camp_kernel kernel = { .known = CAMP_KERNEL_ACCOUNTING | CAMP_KERNEL_TICKLESS_IDLE,
                                  .accounting = CAMP_ACCOUNTING_TICK };

    (void)state;
    assert_int_equal(provenance("idle_ns", &kernel, 0), CAMP_SAMPLED);
    kernel.known = CAMP_KERNEL_ACCOUNTING;
    assert_int_equal(provenance("idle_ns", &kernel, 0), CAMP_UNKNOWN);
    kernel.known = 0;
    assert_int_equal(provenance("user_ns", &kernel, 0), CAMP_UNKNOWN);
}

static void interrupts_are_measured_with_irq_time_accounting(void **state)
{
    const struct camp_kernel kernel = { .known = CAMP_KERNEL_ACCOUNTING | CAMP_KERNEL_IRQ_TIME,
                                        .accounting = CAMP_ACCOUNTING_TICK,
                                        .irq_time = 1 };

    (void)state;
    assert_int_equal(provenance("softirq_ns", &kernel, 0), CAMP_MEASURED);
    assert_int_equal(provenance("system_ns", &kernel, 0), CAMP_SAMPLED);
}

static void a_list_of_cpus_is_read_with_its_ranges(void **state)
{
    (void)state;
    assert_true(cpu_list_holds("0", 0));
    assert_true(cpu_list_holds("0-1151", 1151));
    assert_false(cpu_list_holds("0-1151", 1152));
    assert_true(cpu_list_holds("1,3,5-7", 6));
    assert_false(cpu_list_holds("1,3,5-7", 4));
    assert_false(cpu_list_holds("", 0));
    assert_false(cpu_list_holds("none", 0));
    assert_false(cpu_list_holds("1-", 2));
    assert_false(cpu_list_holds("0-3", CAMP_CPU_TOTAL));
}

/* 32 bits of ms: 49.7 days. */
static void a_disks_time_is_known_across_its_wrap(void **state)
{
    const struct counter *time = counter_by_name(KIND_DISK, "read_ns");
    const struct counter *share = counter_by_name(KIND_PARTITION, "busy_percent");
    const struct counter *bytes = counter_by_name(KIND_DISK, "read_bytes");
    const uint64_t ms = 1000000, before = (UINT32_MAX - 9) * ms;
    double rate = 0;

    (void)state;
    assert_int_equal(counter_rate(time, before, 30 * ms, 1000 * ms, &rate), CAMP_OK);
    assert_true(rate > 39.999e6 && rate < 40.001e6);
    assert_int_equal(counter_rate(share, before, 30 * ms, 1000 * ms, &rate), CAMP_OK);
    assert_true(rate > 39.999e6 && rate < 40.001e6);
    assert_int_equal(counter_rate(time, 500 * ms, 30 * ms, 1000 * ms, &rate), CAMP_RESET);
    assert_int_equal(counter_rate(bytes, before, 30 * ms, 1000 * ms, &rate), CAMP_RESET);
    /* Kernels that print more than 32 bits are believed. */
    assert_int_equal(counter_rate(time, before, before + 20 * ms, 1000 * ms, &rate), CAMP_OK);
    assert_true(rate > 19.999e6 && rate < 20.001e6);
}

static void no_kind_has_two_counters_of_one_name(void **state)
{
    (void)state;
    for (size_t i = 0; i < counter_count; i++) {
        for (size_t j = i + 1; j < counter_count; j++) {
            if (strcmp(counters[i].name, counters[j].name) == 0)
                assert_int_equal(counters[i].kinds & counters[j].kinds, 0);
        }
        assert_true(counters[i].offset < sizeof(struct reading));
        assert_null(strchr(counters[i].help, '|')); /* it stands in a table of markdown */
    }
}

static void a_field_is_known_by_its_own_bit_alone(void **state)
{
    struct reading reading = { 0 };

    (void)state;
    for (size_t i = 0; i < counter_count; i++) {
        const struct counter *counter = &counters[i];

        if ((counter->kinds & KIND_PROCESS) == 0 || counter->bit == 0 || counter->known_offset != 0)
            continue;
        memset(&reading, 0, sizeof reading);
        assert_false(counter_is_known(counter, KIND_PROCESS, &reading));
        reading.task.known = ~counter->bit;
        assert_false(counter_is_known(counter, KIND_PROCESS, &reading));
        reading.task.known = counter->bit;
        assert_true(counter_is_known(counter, KIND_PROCESS, &reading));
        reading.result = CAMP_E_GONE;
        assert_false(counter_is_known(counter, KIND_PROCESS, &reading));
    }
}

static const char *nearest(const char *word, const char *const *candidates)
{
    struct suggestion suggestion = { .word = word };

    for (; *candidates != NULL; candidates++)
        suggestion_offer(&suggestion, *candidates);
    return suggestion.best;
}

static void the_nearest_word_is_suggested_and_a_far_one_is_not(void **state)
{
    static const char *const words[] = { "user_ns",    "nice_ns",      "system_ns", "idle_ns",
                                         "sent_bytes", "sent_packets", NULL };
    char long_word[5000];

    (void)state;
    memset(long_word, 'x', sizeof long_word - 1);
    long_word[sizeof long_word - 1] = '\0';
    assert_string_equal(nearest("usr_ns", words), "user_ns");
    assert_string_equal(nearest("uesr_ns", words), "user_ns");
    assert_string_equal(nearest("idel_ns", words), "idle_ns");
    assert_string_equal(nearest("system", words), "system_ns");
    assert_string_equal(nearest("sent_byte", words), "sent_bytes");
    assert_null(nearest("temperature", words));
    assert_null(nearest("", words));
    assert_null(nearest(long_word, words));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(user_time_is_sampled_where_the_tick_accounts),
        cmocka_unit_test(user_time_is_measured_on_kernels_that_measure),
        cmocka_unit_test(only_listed_cpus_are_measured_by_generic_accounting),
        cmocka_unit_test(idle_is_sampled_where_the_tick_never_stops),
        cmocka_unit_test(interrupts_are_measured_with_irq_time_accounting),
        cmocka_unit_test(a_list_of_cpus_is_read_with_its_ranges),
        cmocka_unit_test(a_disks_time_is_known_across_its_wrap),
        cmocka_unit_test(no_kind_has_two_counters_of_one_name),
        cmocka_unit_test(a_field_is_known_by_its_own_bit_alone),
        cmocka_unit_test(the_nearest_word_is_suggested_and_a_far_one_is_not),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
