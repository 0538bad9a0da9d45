/* Tests the source "cpus" with a /proc/stat that is rewritten between two snapshots. */
#include "sources/machine/idle_time.h"
#include "sources/source.h"

#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

static const volatile sig_atomic_t never_stop;

struct made_proc {
    char folder[32];
    char path[48];
    struct camp_source root;
    struct source *source;
};

/* Writes to the same file, because the source keeps the file open. */
static void write_stat(const struct made_proc *proc, const char *text)
{
    FILE *file = fopen(proc->path, "w");

    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static void open_on(struct made_proc *proc, const char *text)
{
    struct camp_error error = { 0 };

    *proc = (struct made_proc){ .folder = "/tmp/camp-test-XXXXXX" };
    assert_non_null(mkdtemp(proc->folder));
    snprintf(proc->path, sizeof proc->path, "%s/stat", proc->folder);
    proc->root.proc = proc->folder;
    write_stat(proc, text);
    assert_int_equal(cpus_source_open(&proc->root, &never_stop, &proc->source, &error), CAMP_OK);
}

static void close_made(struct made_proc *proc)
{
    source_close(proc->source);
    unlink(proc->path);
    rmdir(proc->folder);
}

static const struct frame *next_frame(struct made_proc *proc, const char *text)
{
    struct camp_error error = { 0 };
    const struct frame *frame;

    write_stat(proc, text);
    if (proc->source->next(proc->source, 0, &frame, &error) != CAMP_OK)
        fail_msg("%s", error.message);
    return frame;
}

static void the_total_of_cpus_is_the_sum_of_their_rows(void **state)
{
    struct made_proc proc;
    const struct frame *frame;

    (void)state;
    open_on(&proc, "cpu  21 0 0 100 0 0 0 0 0 0\ncpu0 10 0 0 50 0 0 0 0 0 0\n"
                   "cpu1 10 0 0 50 0 0 0 0 0 0\nintr 0\n");
    frame = next_frame(&proc, "cpu  24 0 0 199 0 0 0 0 0 0\ncpu0 11 0 0 99 0 0 0 0 0 0\n"
                              "cpu1 12 0 0 99 0 0 0 0 0 0\nintr 0\n");
    assert_int_equal(frame->entity_count, 3);
    assert_int_equal(frame->entities[0].id, CAMP_CPU_TOTAL);
    assert_int_equal(frame_values(frame, 0)[CPUS_USER], 30000000);
    assert_int_equal(frame_values(frame, 0)[CPUS_IDLE], 980000000); /* the line "cpu" has 990 ms */
    assert_int_equal(frame->elapsed_ns[0], frame->elapsed_ns[1] + frame->elapsed_ns[2]);
    close_made(&proc);
}

static void cpu_times_are_the_difference_of_two_readings_in_ns(void **state)
{
    struct made_proc proc;
    const struct frame *frame;

    (void)state;
    open_on(&proc, "cpu  20 2 10 100 5 1 1 1 3 1\ncpu0 20 2 10 100 5 1 1 1 3 1\nintr 0\n");
    frame =
        next_frame(&proc, "cpu  25 4 11 102 4 2 3 5 5 2\ncpu0 25 4 11 102 4 2 3 5 5 2\nintr 0\n");
    assert_int_equal(frame->entity_count, 2);
    assert_int_equal(frame->entities[0].id, CAMP_CPU_TOTAL);
    assert_int_equal(frame->entities[1].id, 0);
    /* "user" of /proc/stat includes guest time, which is subtracted */
    assert_int_equal(frame_values(frame, 1)[CPUS_USER], 30000000);
    assert_int_equal(frame_values(frame, 1)[CPUS_NICE], 10000000);
    assert_int_equal(frame_values(frame, 1)[CPUS_SYSTEM], 10000000);
    assert_int_equal(frame_values(frame, 1)[CPUS_IDLE], 20000000);
    /* iowait decreased, which the kernel allows */
    assert_int_equal(frame_values(frame, 1)[CPUS_IOWAIT], 0);
    assert_int_equal(frame_values(frame, 1)[CPUS_IRQ], 10000000);
    assert_int_equal(frame_values(frame, 1)[CPUS_SOFTIRQ], 20000000);
    assert_int_equal(frame_values(frame, 1)[CPUS_STEAL], 40000000);
    assert_int_equal(frame_values(frame, 1)[CPUS_GUEST], 20000000);
    assert_int_equal(frame_values(frame, 1)[CPUS_GUEST_NICE], 10000000);
    close_made(&proc);
}

/* 184467440737095516 units of 10 ms do not fit into 64 bits as ns, so the value is unknown. */
static void a_cpu_time_that_one_reading_lacks_is_zero(void **state)
{
    struct made_proc proc;
    const struct frame *frame;

    (void)state;
    open_on(&proc, "cpu  1 0 184467440737095516 1 0 0 0 0 0 0\n"
                   "cpu0 1 0 184467440737095516 1 0 0 0 0 0 0\nintr 0\n");
    frame = next_frame(&proc, "cpu  2 0 99 1 0 0 0 0 0 0\ncpu0 2 0 99 1 0 0 0 0 0 0\nintr 0\n");
    assert_int_equal(frame_values(frame, 1)[CPUS_SYSTEM], 0);
    assert_int_equal(frame_values(frame, 1)[CPUS_USER], 10000000);
    close_made(&proc);
}

static void a_cpu_that_went_offline_or_online_is_counted_as_partial(void **state)
{
    struct made_proc proc;
    const struct frame *frame;

    (void)state;
    open_on(&proc, "cpu  9 0 0 9 0 0 0 0 0 0\ncpu0 1 0 0 1 0 0 0 0 0 0\ncpu1 2 0 0 2 0 0 0 0 0 0\n"
                   "cpu3 3 0 0 3 0 0 0 0 0 0\nintr 0\n");
    frame = next_frame(&proc, "cpu  9 0 0 9 0 0 0 0 0 0\ncpu0 1 0 0 1 0 0 0 0 0 0\n"
                              "cpu3 4 0 0 3 0 0 0 0 0 0\nintr 0\n");
    assert_int_equal(frame->entity_count, 3);
    assert_int_equal(frame->entities[2].id, 3);
    assert_int_equal(frame_values(frame, 2)[CPUS_USER], 10000000);
    assert_int_equal(frame->losses.partial, 1);
    frame = next_frame(&proc, "cpu  9 0 0 9 0 0 0 0 0 0\ncpu0 1 0 0 1 0 0 0 0 0 0\n"
                              "cpu2 4 0 0 3 0 0 0 0 0 0\ncpu3 4 0 0 3 0 0 0 0 0 0\nintr 0\n");
    assert_int_equal(frame->entity_count, 3);
    assert_int_equal(frame->losses.partial, 1);
    close_made(&proc);
}

static void the_next_interval_after_a_malformed_proc_stat_is_read(void **state)
{
    struct made_proc proc;
    struct camp_error error = { 0 };
    const struct frame *frame;

    (void)state;
    open_on(&proc, "cpu  1 0 0 1 0 0 0 0 0 0\ncpu0 1 0 0 1 0 0 0 0 0 0\nintr 0\n");
    write_stat(&proc, "cpu  \377\n");
    assert_int_equal(proc.source->next(proc.source, 0, &frame, &error), CAMP_E_FORMAT);
    frame = next_frame(&proc, "cpu  3 0 0 1 0 0 0 0 0 0\ncpu0 3 0 0 1 0 0 0 0 0 0\nintr 0\n");
    assert_int_equal(frame->entity_count, 2);
    assert_int_equal(frame_values(frame, 1)[CPUS_USER], 20000000);
    close_made(&proc);
}

/* The columns of the source belong to this kernel, and the default columns do not change. */
static void idle_time_of_linux_7_2_is_a_sampled_column(void **state)
{
    const char *fixtures = getenv("CAMP_FIXTURES");
    char proc[PATH_MAX];
    const struct camp_source root = { proc, "/none" };
    struct camp_error error = { 0 };
    struct source *source = NULL;
    const struct frame *frame;
    const struct schema *schema;

    (void)state;
    assert_non_null(fixtures);
    snprintf(proc, sizeof proc, "%s/kernel/short-idle/proc", fixtures);
    assert_int_equal(cpus_source_open(&root, &never_stop, &source, &error), CAMP_OK);
    assert_int_equal(source->next(source, 0, &frame, &error), CAMP_OK);
    schema = source->describe(source);
    assert_ptr_equal(frame->schema, schema);
    assert_int_equal(schema->columns[CPUS_IDLE].provenance, CAMP_SAMPLED);
    assert_int_equal(schema->columns[CPUS_IOWAIT].provenance, CAMP_SAMPLED);
    assert_int_equal(schema->columns[CPUS_STEAL].provenance, CAMP_MEASURED);
    assert_string_equal(schema->columns[CPUS_IDLE].name, "idle_ns");
    assert_int_equal(cpus_schema.columns[CPUS_IDLE].provenance, CAMP_MEASURED);
    source_close(source);
}

static void busy_time_is_in_doubt_on_kernels_that_do_not_measure_all_idle_time(void **state)
{
    struct camp_kernel kernel = { .known = CAMP_KERNEL_ACCOUNTING | CAMP_KERNEL_TICKLESS_IDLE |
                                           CAMP_KERNEL_SHORT_IDLE,
                                  .accounting = CAMP_ACCOUNTING_TICK,
                                  .tickless_idle = 1 };

    (void)state;
    assert_null(idle_time_doubt(&kernel));
    kernel.short_idle_sampled = 1;
    assert_string_equal(idle_time_doubt(&kernel), "this kernel samples short idle periods");
    kernel.tickless_idle = kernel.short_idle_sampled = 0;
    assert_string_equal(idle_time_doubt(&kernel), "this kernel samples idle time");
    kernel.accounting = CAMP_ACCOUNTING_NATIVE;
    assert_null(idle_time_doubt(&kernel));
    kernel.known = CAMP_KERNEL_SHORT_IDLE; /* an old kernel in a container */
    assert_null(idle_time_doubt(&kernel));
    kernel.known = CAMP_KERNEL_TICKLESS_IDLE;
    kernel.tickless_idle = 1;
    assert_string_equal(idle_time_doubt(&kernel), "this kernel may sample short idle periods");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_total_of_cpus_is_the_sum_of_their_rows),
        cmocka_unit_test(cpu_times_are_the_difference_of_two_readings_in_ns),
        cmocka_unit_test(a_cpu_time_that_one_reading_lacks_is_zero),
        cmocka_unit_test(a_cpu_that_went_offline_or_online_is_counted_as_partial),
        cmocka_unit_test(the_next_interval_after_a_malformed_proc_stat_is_read),
        cmocka_unit_test(idle_time_of_linux_7_2_is_a_sampled_column),
        cmocka_unit_test(busy_time_is_in_doubt_on_kernels_that_do_not_measure_all_idle_time),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
