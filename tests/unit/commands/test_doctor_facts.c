/* Tests the facts of camp doctor about idle time, for kernels other than the running one. */
#include "commands/doctor/doctor_linux.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static const struct field fields[] = { { "name", "", "", 0, 0 },
                                       { "value", "", "", 0, 0 },
                                       { "meaning", "", "", 0, 0 },
                                       { "how", "", "", 0, 0 } };
static const struct table tables[] = { DOCUMENT_ROWS("facts", fields) };
static const struct record layout = DOCUMENT_LAYOUT("test", tables, FACTS);

static struct camp_kernel kernel_with(int32_t tickless_idle, int32_t short_idle_sampled)
{
    return (struct camp_kernel){ .known = CAMP_KERNEL_ACCOUNTING | CAMP_KERNEL_TICKLESS_IDLE |
                                          CAMP_KERNEL_SHORT_IDLE,
                                 .accounting = CAMP_ACCOUNTING_TICK,
                                 .tickless_idle = tickless_idle,
                                 .short_idle_sampled = short_idle_sampled };
}

static void assert_fact(struct camp_kernel kernel, const char *name, const char *value,
                        const char *meaning)
{
    const struct examined examined = { .kernel = kernel };
    struct doctor doctor = { .words = true };
    const struct cell *found = NULL;

    document_start(&doctor.document, &layout);
    doctor_add_linux_facts(&doctor, &examined);
    assert_int_equal(document_finish(&doctor.document), CAMP_OK);
    for (size_t i = 0; i < doctor.document.tables[FACTS].row_count; i++) {
        const struct cell *row = &doctor.document.tables[FACTS].cells[i * ARRAY_COUNT(fields)];

        if (strcmp(row[0].text, name) == 0)
            found = row;
    }
    assert_non_null(found);
    if (value == NULL)
        assert_int_equal(found[1].kind, CELL_UNKNOWN);
    else
        assert_string_equal(found[1].text, value);
    assert_string_equal(found[2].text, meaning);
    document_release(&doctor.document);
}

static void camp_doctor_says_that_linux_7_2_samples_short_idle_time(void **state)
{
    const struct camp_kernel kernel = kernel_with(1, 1);

    (void)state;
    assert_fact(kernel, "tickless_idle", "yes", "idle is measured while the tick is stopped");
    assert_fact(kernel, "short_idle_sampled", "yes",
                "short idle periods are sampled: use tier bpf");
}

static void camp_doctor_says_that_older_kernels_measure_all_idle_time(void **state)
{
    const struct camp_kernel kernel = kernel_with(1, 0);

    (void)state;
    assert_fact(kernel, "tickless_idle", "yes", "idle and iowait are measured");
    assert_fact(kernel, "short_idle_sampled", "no", "short idle periods are like other idle time");
}

static void camp_doctor_says_that_idle_time_is_sampled_if_the_tick_never_stops(void **state)
{
    struct camp_kernel kernel = kernel_with(0, 0);

    (void)state;
    assert_fact(kernel, "tickless_idle", "no", "idle and iowait are sampled, too");
    assert_fact(kernel, "short_idle_sampled", "no", "short idle periods are like other idle time");
    kernel.accounting = CAMP_ACCOUNTING_NATIVE;
    assert_fact(kernel, "tickless_idle", "no", "the tick goes on; idle and iowait are measured");
    assert_fact(kernel, "short_idle_sampled", "no", "short idle periods are like other idle time");
}

static void camp_doctor_says_why_it_is_unknown_whether_short_idle_time_is_sampled(void **state)
{
    struct camp_kernel kernel = kernel_with(1, 0);

    (void)state;
    kernel.known &= ~(uint32_t)CAMP_KERNEL_SHORT_IDLE;
    assert_fact(kernel, "tickless_idle", "yes", "idle is measured while the tick is stopped");
    assert_fact(kernel, "short_idle_sampled", NULL, "unknown for this release of the kernel");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(camp_doctor_says_that_linux_7_2_samples_short_idle_time),
        cmocka_unit_test(camp_doctor_says_that_older_kernels_measure_all_idle_time),
        cmocka_unit_test(camp_doctor_says_that_idle_time_is_sampled_if_the_tick_never_stops),
        cmocka_unit_test(camp_doctor_says_why_it_is_unknown_whether_short_idle_time_is_sampled),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
