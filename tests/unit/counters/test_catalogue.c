/* The rows of the catalogue, and the provenance of counters on kernels other than the running one.
 */
#include <camp/catalogue.h>
#include <camp/system.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define ROWS_MAX 300

static struct camp_counter rows[ROWS_MAX];
static size_t row_count;

static int read_rows(void **state)
{
    (void)state;
    return camp_catalogue_read(rows, sizeof rows[0], ROWS_MAX, &row_count, NULL);
}

static struct camp_counter row(uint32_t kind, const char *name)
{
    for (size_t i = 0; i < row_count; i++) {
        if ((rows[i].kinds & kind) != 0 && strcmp(rows[i].name, name) == 0)
            return rows[i];
    }
    fail_msg("there is no %s", name);
    return rows[0];
}

/* Returns a row of a struct, even if this system does not have the counter. */
static struct camp_counter field(int32_t record, const char *name)
{
    for (size_t i = 0; i < row_count; i++) {
        if (rows[i].record == record && strcmp(rows[i].field, name) == 0)
            return rows[i];
    }
    fail_msg("there is no field %s", name);
    return rows[0];
}

static int provenance(const char *name, const struct camp_kernel *kernel, int32_t cpu)
{
    const struct camp_counter counter = field(CAMP_RECORD_CPU, name);

    return camp_counter_provenance(&counter, kernel, cpu, NULL);
}

static void user_time_is_sampled_on_kernels_that_account_at_the_tick(void **state)
{
    const struct camp_kernel kernel = {
        .known = CAMP_KERNEL_ACCOUNTING | CAMP_KERNEL_TICKLESS_IDLE | CAMP_KERNEL_SHORT_IDLE |
                 CAMP_KERNEL_IRQ_TIME,
        .accounting = CAMP_ACCOUNTING_TICK,
        .tickless_idle = 1,
    };

    (void)state;
    assert_int_equal(provenance("user_ns", &kernel, 0), CAMP_SAMPLED);
    assert_int_equal(provenance("irq_ns", &kernel, 0), CAMP_SAMPLED);
    assert_int_equal(provenance("idle_ns", &kernel, 0), CAMP_MEASURED);
}

static void user_time_is_measured_on_kernels_with_native_accounting(void **state)
{
    const struct camp_kernel kernel = { .known = CAMP_KERNEL_ACCOUNTING,
                                        .accounting = CAMP_ACCOUNTING_NATIVE };

    (void)state;
    assert_int_equal(provenance("user_ns", &kernel, CAMP_CPU_TOTAL), CAMP_MEASURED);
}

static void user_time_is_measured_only_on_the_cpus_of_nohz_full(void **state)
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

static void idle_time_is_sampled_on_a_kernel_whose_tick_never_stops(void **state)
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

static void idle_time_is_sampled_on_a_kernel_that_samples_short_idle_periods(void **state)
{
    struct camp_kernel kernel = { .known = CAMP_KERNEL_ACCOUNTING | CAMP_KERNEL_TICKLESS_IDLE |
                                           CAMP_KERNEL_SHORT_IDLE,
                                  .accounting = CAMP_ACCOUNTING_TICK,
                                  .tickless_idle = 1 };

    (void)state;
    assert_int_equal(provenance("idle_ns", &kernel, 0), CAMP_MEASURED);
    assert_int_equal(provenance("iowait_ns", &kernel, CAMP_CPU_TOTAL), CAMP_MEASURED);
    kernel.short_idle_sampled = 1;
    assert_int_equal(provenance("idle_ns", &kernel, 0), CAMP_SAMPLED);
    assert_int_equal(provenance("iowait_ns", &kernel, CAMP_CPU_TOTAL), CAMP_SAMPLED);
    kernel.known &= ~(uint32_t)CAMP_KERNEL_TICKLESS_IDLE;
    assert_int_equal(provenance("idle_ns", &kernel, 0), CAMP_SAMPLED);
    kernel.known |= CAMP_KERNEL_TICKLESS_IDLE;
    kernel.accounting = CAMP_ACCOUNTING_GEN;
    snprintf(kernel.measured_cpus, sizeof kernel.measured_cpus, "1-3");
    assert_int_equal(provenance("idle_ns", &kernel, 0), CAMP_SAMPLED);
    assert_int_equal(provenance("idle_ns", &kernel, 2), CAMP_MEASURED);
    kernel.known &= ~(uint32_t)CAMP_KERNEL_SHORT_IDLE;
    kernel.short_idle_sampled = 0;
    assert_int_equal(provenance("idle_ns", &kernel, 0), CAMP_UNKNOWN);
}

static void idle_time_with_native_accounting_is_measured(void **state)
{
    const struct camp_kernel kernel = { .known = CAMP_KERNEL_ACCOUNTING |
                                                 CAMP_KERNEL_TICKLESS_IDLE | CAMP_KERNEL_SHORT_IDLE,
                                        .accounting = CAMP_ACCOUNTING_NATIVE };

    (void)state;
    assert_int_equal(provenance("idle_ns", &kernel, 0), CAMP_MEASURED);
}

static void time_in_interrupts_is_measured_with_irq_time_accounting(void **state)
{
    const struct camp_kernel kernel = { .known = CAMP_KERNEL_ACCOUNTING | CAMP_KERNEL_IRQ_TIME,
                                        .accounting = CAMP_ACCOUNTING_TICK,
                                        .irq_time = 1 };

    (void)state;
    assert_int_equal(provenance("softirq_ns", &kernel, 0), CAMP_MEASURED);
    assert_int_equal(provenance("system_ns", &kernel, 0), CAMP_SAMPLED);
}

static bool holds(const char *list, int32_t cpu)
{
    struct camp_kernel kernel = { .known = CAMP_KERNEL_ACCOUNTING,
                                  .accounting = CAMP_ACCOUNTING_GEN };

    snprintf(kernel.measured_cpus, sizeof kernel.measured_cpus, "%s", list);
    return provenance("user_ns", &kernel, cpu) == CAMP_MEASURED;
}

static void a_list_of_measured_cpus_may_contain_ranges(void **state)
{
    (void)state;
    assert_true(holds("0", 0));
    assert_true(holds("0-1151", 1151));
    assert_false(holds("0-1151", 1152));
    assert_true(holds("1,3,5-7", 6));
    assert_false(holds("1,3,5-7", 4));
    assert_false(holds("", 0));
    assert_false(holds("none", 0));
    assert_false(holds("1-", 2));
    assert_false(holds("0-3", CAMP_CPU_TOTAL));
}

static void the_provenance_in_a_sample_overrides_the_provenance_in_the_catalogue(void **state)
{
    const struct camp_counter cpu = row(CAMP_KIND_THREAD, "cpu_ns");
    const struct camp_kernel kernel = { 0 };
    const struct camp_task task = { .cpu_provenance = CAMP_SAMPLED };

    (void)state;
    assert_int_equal(camp_counter_provenance(&cpu, &kernel, 0, NULL), CAMP_MEASURED);
    assert_int_equal(camp_counter_provenance(&cpu, &kernel, 0, &task), CAMP_SAMPLED);
}

static void two_counters_of_the_same_kind_of_object_never_have_the_same_name(void **state)
{
    (void)state;
    for (size_t i = 0; i < row_count; i++) {
        for (size_t j = i + 1; j < row_count; j++) {
            if (strcmp(rows[i].name, rows[j].name) == 0)
                assert_int_equal(rows[i].kinds & rows[j].kinds, 0);
            if (rows[i].record != CAMP_RECORD_NONE && rows[i].record == rows[j].record)
                assert_string_not_equal(rows[i].field, rows[j].field);
        }
    }
}

/* A help text is a cell of a Markdown table, where '|' would end the cell. */
static void every_counter_has_a_name_a_unit_a_help_text_and_a_source(void **state)
{
    (void)state;
    for (size_t i = 0; i < row_count; i++) {
        const struct camp_counter *counter = &rows[i];

        assert_true(strlen(counter->name) > 0);
        assert_true(strlen(counter->unit) > 0);
        assert_int_equal(counter->help[strlen(counter->help) - 1], '.');
        assert_null(strchr(counter->help, '|'));
        assert_int_equal(counter->field[0] == '\0', counter->record == CAMP_RECORD_NONE);
        if (counter->kinds != 0)
            assert_true(strlen(counter->source) > 0 && strlen(counter->resolution) > 0);
    }
}

/* Reads what this system counts. The process is the first one that the list has. */
static void read_known(uint32_t known[CAMP_RECORD_SYSTEM + 1])
{
    struct camp_process process;
    struct camp_cpu cpu = { 0 };
    struct camp_memory memory = { 0 };
    struct camp_task task = { 0 };
    struct camp_kernel kernel = { 0 };
    struct camp_system system = { 0 };
    size_t count;

    camp_process_list(NULL, &process, sizeof process, 1, &count, NULL); /* CAMP_E_SPACE */
    assert_true(count > 0);
    assert_int_equal(camp_process_read(NULL, &process, CAMP_TASK_ALL, &task, sizeof task, NULL),
                     CAMP_OK);
    assert_int_equal(camp_cpu_read(NULL, CAMP_CPU_TOTAL, &cpu, sizeof cpu, NULL), CAMP_OK);
    assert_int_equal(camp_memory_read(NULL, CAMP_MEMORY_ALL, &memory, sizeof memory, NULL),
                     CAMP_OK);
    assert_int_equal(camp_kernel_read(NULL, &kernel, sizeof kernel, NULL), CAMP_OK);
    assert_int_equal(camp_system_read(NULL, CAMP_SYSTEM_ALL, &system, sizeof system, NULL),
                     CAMP_OK);
    known[CAMP_RECORD_CPU] = cpu.known;
    known[CAMP_RECORD_MEMORY] = memory.known;
    known[CAMP_RECORD_TASK] = task.known;
    known[CAMP_RECORD_KERNEL] = kernel.known;
    known[CAMP_RECORD_SYSTEM] = system.known;
}

/* The texts of the other systems are not in the library. */
static void a_counter_without_a_source_belongs_to_another_system_and_is_unknown(void **state)
{
    uint32_t known[CAMP_RECORD_SYSTEM + 1] = { 0 };
    size_t others = 0;

    (void)state;
    read_known(known);
    for (size_t i = 0; i < row_count; i++) {
        const bool has_name = rows[i].resolution[0] != '\0';

        assert_null(strchr(rows[i].source, '\n'));
        if (rows[i].source[0] != '\0' || !has_name)
            continue;
        others++;
        assert_int_equal(rows[i].kinds, 0);
        if ((known[rows[i].record] & rows[i].known) != 0)
            fail_msg("%s is known, but has no source", rows[i].name);
    }
    assert_true(others > 0);
}

static void each_percentage_except_cpu_utilisation_is_derived_from_a_counter_in_ns(void **state)
{
    (void)state;
    for (size_t i = 0; i < row_count; i++) {
        char name[CAMP_NAME_SIZE];

        if (rows[i].nature != CAMP_NATURE_SHARE || rows[i].record == CAMP_RECORD_UTILISATION ||
            rows[i].kinds == 0)
            continue;
        snprintf(name, sizeof name, "%.*s_ns", (int)(strlen(rows[i].name) - strlen("_percent")),
                 rows[i].name);
        assert_int_equal(row(rows[i].kinds, name).kinds & rows[i].kinds, rows[i].kinds);
    }
}

static void fields_of_the_catalogue_match_the_structs_of_camp_h(void **state)
{
    const struct camp_counter runs = field(CAMP_RECORD_TASKSTAT, "runs");
    const struct camp_counter busy = row(CAMP_KIND_CPU, "busy_percent");
    const struct camp_counter read = field(CAMP_RECORD_DISK, "read_ns");

    (void)state;
    assert_int_equal(runs.offset, offsetof(struct camp_taskstat, runs));
    assert_string_equal(runs.capability, "CAP_NET_ADMIN");
    assert_string_equal(busy.field, "measured_busy_percent");
    assert_string_equal(busy.unit, "percent");
    assert_null(busy.capability);
    /* Only Linux prints times in ms, as numbers of 32 bits. */
    assert_int_equal(read.wrap_unit_ns, strcmp(read.resolution, "1 ms") == 0 ? 1000000 : 0);
    assert_string_equal(field(CAMP_RECORD_LINUX, "psi").unit, "yes/no");
    assert_string_equal(row(CAMP_KIND_KERNEL, "accounting").unit, "text");
    assert_string_equal(row(CAMP_KIND_CPU, "count").unit, "count");
    assert_string_equal(row(CAMP_KIND_PROCESS, "parent").unit, "number");
    assert_string_equal(field(CAMP_RECORD_SYSTEM, "load_average_5").unit, "number");
    assert_int_equal(field(CAMP_RECORD_SYSTEM, "io_full_ns").known, CAMP_SYSTEM_IO_FULL);
}

static void reading_the_catalogue_into_a_short_array_returns_the_needed_size(void **state)
{
    struct camp_counter one[2] = { 0 };
    struct camp_error error = { 0 };
    size_t count = 0;

    (void)state;
    assert_int_equal(camp_catalogue_read(one, sizeof one[0], 1, &count, &error), CAMP_E_SPACE);
    assert_int_equal(count, row_count);
    assert_string_equal(one[0].name, rows[0].name);
    assert_null(one[1].name);
    assert_int_equal(camp_catalogue_read(NULL, 0, 0, NULL, NULL), CAMP_E_INVALID);
}

static void each_kind_of_counter_and_of_cpu_accounting_has_a_name(void **state)
{
    (void)state;
    assert_string_equal(camp_kind_name(CAMP_KIND_CPU), "cpu");
    assert_string_equal(camp_kind_name(CAMP_KIND_KERNEL), "kernel");
    assert_string_equal(camp_kind_name(CAMP_KIND_SYSTEM), "system");
    assert_null(camp_kind_name(0));
    assert_null(camp_kind_name(CAMP_KIND_CPU | CAMP_KIND_MEMORY));
    assert_string_equal(camp_accounting_name(CAMP_ACCOUNTING_TICK), "tick");
    assert_null(camp_accounting_name(CAMP_ACCOUNTING_UNKNOWN));
    assert_null(camp_accounting_name(-1));
    assert_null(camp_accounting_name(99));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(user_time_is_sampled_on_kernels_that_account_at_the_tick),
        cmocka_unit_test(user_time_is_measured_on_kernels_with_native_accounting),
        cmocka_unit_test(user_time_is_measured_only_on_the_cpus_of_nohz_full),
        cmocka_unit_test(idle_time_is_sampled_on_a_kernel_whose_tick_never_stops),
        cmocka_unit_test(idle_time_is_sampled_on_a_kernel_that_samples_short_idle_periods),
        cmocka_unit_test(idle_time_with_native_accounting_is_measured),
        cmocka_unit_test(time_in_interrupts_is_measured_with_irq_time_accounting),
        cmocka_unit_test(a_list_of_measured_cpus_may_contain_ranges),
        cmocka_unit_test(the_provenance_in_a_sample_overrides_the_provenance_in_the_catalogue),
        cmocka_unit_test(two_counters_of_the_same_kind_of_object_never_have_the_same_name),
        cmocka_unit_test(every_counter_has_a_name_a_unit_a_help_text_and_a_source),
        cmocka_unit_test(a_counter_without_a_source_belongs_to_another_system_and_is_unknown),
        cmocka_unit_test(each_percentage_except_cpu_utilisation_is_derived_from_a_counter_in_ns),
        cmocka_unit_test(fields_of_the_catalogue_match_the_structs_of_camp_h),
        cmocka_unit_test(reading_the_catalogue_into_a_short_array_returns_the_needed_size),
        cmocka_unit_test(each_kind_of_counter_and_of_cpu_accounting_has_a_name),
    };

    return cmocka_run_group_tests(tests, read_rows, NULL);
}
