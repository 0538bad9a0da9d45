/* Parses texts of /proc/interrupts, of several architectures and broken ones. */
#include "sources/machine/interrupts.h"

#include <camp/camp.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static int scan(const char *text, struct interrupts *ret)
{
    FILE *stream = fmemopen((void *)(uintptr_t)text, strlen(text) + (text[0] == '\0'), "r");
    int r;

    assert_non_null(stream);
    r = interrupts_scan(stream, ret);
    fclose(stream);
    return r;
}

static void each_cpu_has_the_sum_of_its_column_without_tlb_shootdowns(void **state)
{
    struct interrupts interrupts = { 0 };

    (void)state;
    assert_int_equal(scan("           CPU0       CPU2       \n"
                          " 24:          1          0  IO-APIC   5-edge      ACPI:Ged\n"
                          "LOC:         10         20   Local timer interrupts\n"
                          "CAL:        100        200   Function call interrupts\n"
                          "TLB:         50         60   TLB shootdowns\n"
                          "ERR:          7\n"
                          "MIS:          8\n",
                          &interrupts),
                     CAMP_OK);
    assert_int_equal(interrupts.count, 2);
    assert_int_equal(interrupts_of_cpu(&interrupts, 0)->interrupts, 111);
    assert_int_equal(interrupts_of_cpu(&interrupts, 0)->cross_calls, 100);
    assert_int_equal(interrupts_of_cpu(&interrupts, 2)->interrupts, 220);
    assert_int_equal(interrupts_of_cpu(&interrupts, 2)->cross_calls, 200);
    assert_null(interrupts_of_cpu(&interrupts, 1));
    interrupts_release(&interrupts);
}

static void function_calls_have_another_name_on_arm64(void **state)
{
    struct interrupts interrupts = { 0 };

    (void)state;
    assert_int_equal(scan("           CPU0       CPU1       \n"
                          " 11:        300        400     GICv3  27 Level     arch_timer\n"
                          "IPI0:         5          6       Rescheduling interrupts\n"
                          "IPI1:        30         40       Function call interrupts\n"
                          "Err:          0\n",
                          &interrupts),
                     CAMP_OK);
    assert_int_equal(interrupts_of_cpu(&interrupts, 1)->interrupts, 446);
    assert_int_equal(interrupts_of_cpu(&interrupts, 1)->cross_calls, 40);
    interrupts_release(&interrupts);
}

static void a_text_without_names_of_cpus_is_a_format_error(void **state)
{
    static const char *const texts[] = {
        "", "\n", "   CPU\n", "   CPU0 cpu1\n", "   CPU4294967296\n", " 24: 1 IO-APIC\n",
    };
    struct interrupts interrupts = { 0 };

    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        if (scan(texts[i], &interrupts) != CAMP_E_FORMAT)
            fail_msg("\"%s\" was taken", texts[i]);
        assert_int_equal(interrupts.count, 0);
    }
    interrupts_release(&interrupts);
}

/* The sum of /proc/stat is read before and after, so that it need not stand still. */
static uint64_t sum_in_stat(void)
{
    FILE *file = fopen("/proc/stat", "r");
    unsigned long long sum = 0;
    char line[4096];

    assert_non_null(file);
    while (fgets(line, sizeof line, file) != NULL && sscanf(line, "intr %llu", &sum) != 1)
        continue;
    fclose(file);
    assert_true(sum > 0);
    return sum;
}

static void the_interrupts_of_all_cpus_add_up_to_those_of_proc_stat(void **state)
{
    struct interrupts interrupts = { 0 };
    uint64_t sum = 0, before = sum_in_stat();

    (void)state;
    assert_int_equal(interrupts_read(&interrupts), CAMP_OK);
    for (size_t i = 0; i < interrupts.count; i++)
        sum += interrupts.items[i].interrupts;
    assert_in_range(sum, before, sum_in_stat());
    interrupts_release(&interrupts);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_cpu_has_the_sum_of_its_column_without_tlb_shootdowns),
        cmocka_unit_test(function_calls_have_another_name_on_arm64),
        cmocka_unit_test(a_text_without_names_of_cpus_is_a_format_error),
        cmocka_unit_test(the_interrupts_of_all_cpus_add_up_to_those_of_proc_stat),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
