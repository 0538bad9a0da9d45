/* Facts about the kernel, from stored trees of its files and from single lines. */
#include "counters/linux/kernel_text.h"

#include <camp/linux.h>

#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

/* The folders of a stored system. */
struct stored {
    char proc[PATH_MAX], sys[PATH_MAX];
};

static struct camp_source stored_source(struct stored *folders, const char *name)
{
    const char *fixtures = getenv("CAMP_FIXTURES");

    assert_non_null(fixtures);
    snprintf(folders->proc, sizeof folders->proc, "%s/kernel/%s/proc", fixtures, name);
    snprintf(folders->sys, sizeof folders->sys, "%s/kernel/%s/sys", fixtures, name);
    return (struct camp_source){ folders->proc, folders->sys };
}

static struct camp_kernel kernel_of(const char *name)
{
    struct stored folders;
    const struct camp_source source = stored_source(&folders, name);
    struct camp_kernel kernel;

    assert_int_equal(camp_kernel_read(&source, &kernel, sizeof kernel, NULL), CAMP_OK);
    return kernel;
}

static struct camp_linux linux_of(const char *name)
{
    struct stored folders;
    const struct camp_source source = stored_source(&folders, name);
    struct camp_linux facts;

    assert_int_equal(camp_linux_read(&source, &facts, sizeof facts, NULL), CAMP_OK);
    return facts;
}

/* Reads a system that has only these facts. `nohz` is its line of timer_list, or NULL if that file
 * is missing. */
static struct camp_kernel kernel_made(const char *release, const char *machine, const char *nohz)
{
    static const char *const names[] = { "sys/kernel/osrelease", "sys/kernel/arch", "timer_list" };
    static const char *const folders[] = { "sys/kernel", "sys", "" };
    const char *const texts[] = { release, machine, nohz };
    char proc[] = "/tmp/camp-kernel-XXXXXX", path[PATH_MAX];
    const struct camp_source source = { proc, proc };
    struct camp_kernel kernel;

    assert_non_null(mkdtemp(proc));
    for (size_t i = 2; i-- > 0;) {
        snprintf(path, sizeof path, "%s/%s", proc, folders[i]);
        assert_int_equal(mkdir(path, 0700), 0);
    }
    for (size_t i = 0; i < 3 && texts[i] != NULL; i++) {
        FILE *file;

        snprintf(path, sizeof path, "%s/%s", proc, names[i]);
        file = fopen(path, "w");
        assert_non_null(file);
        fprintf(file, "%s\n", texts[i]);
        assert_int_equal(fclose(file), 0);
    }
    assert_int_equal(camp_kernel_read(&source, &kernel, sizeof kernel, NULL), CAMP_OK);
    for (size_t i = 0; i < 3; i++) {
        snprintf(path, sizeof path, "%s/%s", proc, names[i]);
        unlink(path);
    }
    for (size_t i = 0; i < 3; i++) {
        snprintf(path, sizeof path, "%s/%s", proc, folders[i]);
        assert_int_equal(rmdir(path), 0);
    }
    return kernel;
}

#define TICK_STOPS "  .nohz           : 1"
#define TICK_GOES_ON "  .nohz           : 0"

enum { UNKNOWN = -1 };

/* Returns short_idle_sampled of a made system, or UNKNOWN. */
static int short_idle(const char *release, const char *machine, const char *nohz)
{
    const struct camp_kernel kernel = kernel_made(release, machine, nohz);

    return (kernel.known & CAMP_KERNEL_SHORT_IDLE) != 0 ? kernel.short_idle_sampled : UNKNOWN;
}

static struct cursor text(const char *bytes)
{
    return cursor_of(bytes, strlen(bytes));
}

static void the_cpus_in_nohz_full_measure_their_cpu_time(void **state)
{
    struct camp_kernel kernel = kernel_of("measured-cpus");

    (void)state;
    assert_int_equal(kernel.known & (CAMP_KERNEL_ACCOUNTING | CAMP_KERNEL_TICKLESS_IDLE),
                     CAMP_KERNEL_ACCOUNTING | CAMP_KERNEL_TICKLESS_IDLE);
    assert_int_equal(kernel.accounting, CAMP_ACCOUNTING_GEN);
    assert_string_equal(kernel.measured_cpus, "1-3,5");
    assert_int_equal(kernel.tickless_idle, 1);
}

static void all_kernel_facts_except_the_tick_are_read_from_stored_files(void **state)
{
    struct camp_kernel kernel = kernel_of("measured-cpus");
    struct camp_linux facts = linux_of("measured-cpus");

    (void)state;
    assert_int_equal(kernel.known, CAMP_KERNEL_ACCOUNTING | CAMP_KERNEL_TICKLESS_IDLE |
                                       CAMP_KERNEL_SHORT_IDLE | CAMP_KERNEL_IRQ_TIME |
                                       CAMP_KERNEL_STEAL | CAMP_KERNEL_IMITATION);
    assert_int_equal(kernel.tick_hz, 0);
    assert_int_equal(kernel.irq_time, 1);
    assert_int_equal(kernel.steal, 0);
    assert_int_equal(kernel.short_idle_sampled, 0);
    assert_string_equal(kernel.system, "Linux");
    assert_string_equal(kernel.release, "6.8.0-31-generic");
    assert_int_equal(facts.known, (CAMP_LINUX_CAPABILITIES << 1) - 1);
    assert_int_equal(facts.sched_info, 1);
    assert_int_equal(facts.schedstats, 1);
    assert_int_equal(facts.taskstats, 1);
    assert_int_equal(facts.delay_accounting, 1);
    assert_int_equal(facts.psi, 1);
    assert_int_equal(facts.btf, 1);
    assert_int_equal(facts.cgroup_version, 2);
    assert_int_equal(facts.capabilities, 1 << 12);
}

static void kernel_facts_that_an_old_kernel_does_not_show_are_unknown(void **state)
{
    struct camp_kernel kernel = kernel_of("old");
    struct camp_linux facts = linux_of("old");

    (void)state;
    assert_int_equal(
        kernel.known & (CAMP_KERNEL_ACCOUNTING | CAMP_KERNEL_IRQ_TIME | CAMP_KERNEL_TICK), 0);
    assert_int_equal(facts.known & (CAMP_LINUX_TASKSTATS | CAMP_LINUX_CAPABILITIES), 0);
    assert_int_equal(kernel.tickless_idle, 0);
    assert_true((kernel.known & CAMP_KERNEL_TICKLESS_IDLE) != 0); /* nohz=off */
    assert_int_equal(facts.delay_accounting, 0);
    assert_true((facts.known & CAMP_LINUX_DELAY_ACCOUNTING) != 0); /* nodelayacct */
    assert_int_equal(facts.sched_info, 0);
    assert_true((facts.known & CAMP_LINUX_SCHED_INFO) != 0);
    assert_int_equal(facts.cgroup_version, 1);
    assert_int_equal(kernel.steal, 1);
}

static void linux_samples_idle_periods_shorter_than_a_tick_since_7_2(void **state)
{
    (void)state;
    assert_int_equal(short_idle("6.12.48+deb13-amd64", "x86_64", TICK_STOPS), 0);
    assert_int_equal(short_idle("6.19.0", "x86_64", TICK_STOPS), 0);
    assert_int_equal(short_idle("7.0.1", "x86_64", TICK_STOPS), UNKNOWN);
    assert_int_equal(short_idle("7.1.9-rt", "x86_64", TICK_STOPS), UNKNOWN);
    assert_int_equal(short_idle("7.2.0-rc1", "x86_64", TICK_STOPS), 1);
    assert_int_equal(short_idle("7.3.4", "aarch64", TICK_STOPS), 1);
    assert_int_equal(short_idle("10.0.0", "x86_64", TICK_STOPS), 1);
    assert_int_equal(short_idle("custom", "x86_64", TICK_STOPS), UNKNOWN);
}

static void short_idle_periods_depend_on_the_release_also_if_the_tick_never_stops(void **state)
{
    (void)state;
    assert_int_equal(short_idle("6.12.48", "x86_64", TICK_GOES_ON), 0);
    assert_int_equal(short_idle("7.0.1", "x86_64", TICK_GOES_ON), UNKNOWN);
    assert_int_equal(short_idle("7.2.13", "x86_64", TICK_GOES_ON), 1);
}

static void short_idle_periods_do_not_depend_on_the_configuration(void **state)
{
    (void)state;
    assert_int_equal(short_idle("6.12.48", "x86_64", NULL), 0);
    assert_int_equal(short_idle("7.2.13", "x86_64", NULL), 1);
}

static void short_idle_periods_are_measured_with_native_accounting(void **state)
{
    (void)state;
    assert_int_equal(short_idle("7.2.13", "s390x", TICK_STOPS), 0);
    assert_int_equal(short_idle("7.2.13", "s390x", NULL), 0);
    /* POWER has native accounting only with some configurations */
    assert_int_equal(short_idle("7.2.13", "ppc64le", TICK_STOPS), UNKNOWN);
}

static void every_cpu_of_an_s390x_machine_measures_its_cpu_time(void **state)
{
    struct camp_kernel kernel = kernel_of("s390x");

    (void)state;
    assert_int_equal(kernel.accounting, CAMP_ACCOUNTING_NATIVE);
    assert_string_equal(kernel.measured_cpus, "0-1");
}

static void kernel_facts_in_broken_files_are_unknown(void **state)
{
    struct camp_kernel kernel = kernel_of("broken");
    struct camp_linux facts = linux_of("broken");

    (void)state;
    assert_int_equal(kernel.known & (CAMP_KERNEL_STEAL | CAMP_KERNEL_TICKLESS_IDLE), 0);
    assert_int_equal(facts.known & (CAMP_LINUX_SCHED_INFO | CAMP_LINUX_CAPABILITIES |
                                    CAMP_LINUX_DELAY_ACCOUNTING | CAMP_LINUX_CGROUP),
                     0);
    assert_int_equal(facts.cgroup_version, 0);
    assert_string_equal(kernel.measured_cpus, "");
}

static void a_caller_with_a_smaller_kernel_struct_gets_its_first_fields(void **state)
{
    char bytes[sizeof(struct camp_kernel)];
    struct camp_kernel begun;

    (void)state;
    memset(bytes, 7, sizeof bytes);
    assert_int_equal(camp_kernel_read(NULL, (void *)bytes, 8, NULL), CAMP_OK);
    memcpy(&begun, bytes, sizeof begun);
    assert_true(begun.known != 0x07070707);
    for (size_t i = 8; i < sizeof bytes; i++)
        assert_int_equal(bytes[i], 7);
}

static void a_kernel_configuration_option_is_yes_or_no_or_unknown(void **state)
{
    struct kernel_config config = KERNEL_CONFIG_UNKNOWN;

    (void)state;
    camp_kernel_config_line(&config, text("CONFIG_NO_HZ_COMMON=y"));
    camp_kernel_config_line(&config, text("# CONFIG_IRQ_TIME_ACCOUNTING is not set"));
    camp_kernel_config_line(&config, text("CONFIG_TASKSTATS_OTHER=y"));
    camp_kernel_config_line(&config, text("# CONFIG_TASK_DELAY_ACCT=y"));
    assert_int_equal(config.tickless, ANSWER_YES);
    assert_int_equal(config.irq_time, ANSWER_NO);
    assert_int_equal(config.taskstats, ANSWER_UNKNOWN);
    assert_int_equal(config.delay_accounting, ANSWER_UNKNOWN);
}

static void proc_timer_list_shows_whether_the_tick_stops_on_an_idle_cpu(void **state)
{
    (void)state;
    assert_int_equal(camp_kernel_tickless_line(text("  .nohz           : 1")), ANSWER_YES);
    assert_int_equal(camp_kernel_tickless_line(text("  .nohz_mode      : 2")), ANSWER_YES);
    assert_int_equal(camp_kernel_tickless_line(text("  .nohz_mode      : 0")), ANSWER_NO);
    assert_int_equal(camp_kernel_tickless_line(text("  .highres        : 1")), ANSWER_UNKNOWN);
    assert_int_equal(camp_kernel_tickless_line(text("  .nohz")), ANSWER_UNKNOWN);
}

static void a_cpu_list_too_long_for_its_buffer_ends_in_dots(void **state)
{
    char list[12];

    (void)state;
    assert_true(camp_kernel_cpu_list(text("1-3,5\n"), list, sizeof list));
    assert_string_equal(list, "1-3,5");
    assert_true(camp_kernel_cpu_list(text("1,3,5,7,9,11,13\n"), list, sizeof list));
    assert_string_equal(list, "1,3,5,7,...");
    assert_true(camp_kernel_cpu_list(text("(null)\n"), list, sizeof list));
    assert_string_equal(list, "");
    assert_false(camp_kernel_cpu_list(text("1;3\n"), list, sizeof list));
}

static void the_cgroup_version_is_read_from_the_file_system_type_of_a_mount(void **state)
{
    (void)state;
    assert_int_equal(camp_kernel_cgroup_of_mount(text("1 2 0:3 / /a rw shared:1 - cgroup2 x rw")),
                     2);
    assert_int_equal(camp_kernel_cgroup_of_mount(text("1 2 0:3 / /a rw - cgroup x rw")), 1);
    assert_int_equal(camp_kernel_cgroup_of_mount(text("1 2 0:3 / /cgroup2 rw - ext4 x rw")), 0);
    assert_int_equal(camp_kernel_cgroup_of_mount(text("1 2 0:3 / /a rw -")), 0);
}

static void a_capability_set_of_more_than_16_digits_is_refused(void **state)
{
    uint64_t value = 0;

    (void)state;
    assert_true(camp_kernel_capabilities_line(text("CapEff:\t000001fffeffffff"), &value));
    assert_true(value == 0x1fffeffffffull);
    assert_false(camp_kernel_capabilities_line(text("CapEff:\t0000001fffeffffff0"), &value));
    assert_false(camp_kernel_capabilities_line(text("CapEff:\t12g4"), &value));
    assert_false(camp_kernel_capabilities_line(text("CapPrm:\t1"), &value));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_cpus_in_nohz_full_measure_their_cpu_time),
        cmocka_unit_test(all_kernel_facts_except_the_tick_are_read_from_stored_files),
        cmocka_unit_test(kernel_facts_that_an_old_kernel_does_not_show_are_unknown),
        cmocka_unit_test(linux_samples_idle_periods_shorter_than_a_tick_since_7_2),
        cmocka_unit_test(short_idle_periods_depend_on_the_release_also_if_the_tick_never_stops),
        cmocka_unit_test(short_idle_periods_do_not_depend_on_the_configuration),
        cmocka_unit_test(short_idle_periods_are_measured_with_native_accounting),
        cmocka_unit_test(every_cpu_of_an_s390x_machine_measures_its_cpu_time),
        cmocka_unit_test(kernel_facts_in_broken_files_are_unknown),
        cmocka_unit_test(a_caller_with_a_smaller_kernel_struct_gets_its_first_fields),
        cmocka_unit_test(a_kernel_configuration_option_is_yes_or_no_or_unknown),
        cmocka_unit_test(proc_timer_list_shows_whether_the_tick_stops_on_an_idle_cpu),
        cmocka_unit_test(a_cpu_list_too_long_for_its_buffer_ends_in_dots),
        cmocka_unit_test(the_cgroup_version_is_read_from_the_file_system_type_of_a_mount),
        cmocka_unit_test(a_capability_set_of_more_than_16_digits_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
