/* What camp check makes of the cycles and ticks of a real Windows. */
#include "fakes.h"
#include "sources/machine/tasks_frame.h"

#include <string.h>

#define TICK 156250u /* in units of 100 ns */
#define CYCLES_OF_MS (FAKE_MHZ * 1000u)
#define MS 1000000u

static const volatile sig_atomic_t never_stop;

/* Makes the table of three processes: pids[i] == 0 leaves the rest out. All can be opened. */
static void list_processes(const int pids[3])
{
    fakes_reset();
    memset(fake_table, 0, sizeof fake_table);
    for (int i = 0; i < 3 && pids[i] != 0; i++) {
        fake_table[i].process.next = i < 2 && pids[i + 1] != 0 ? sizeof fake_table[i] : 0;
        fake_table[i].process.threads = 1;
        fake_table[i].process.create_time = FAKE_BOOT_TIME + 1000 * pids[i];
        fake_table[i].process.process = (HANDLE)(uintptr_t)pids[i];
        fake_opened[i].pid = pids[i];
        fake_opened[i].create_time = fake_table[i].process.create_time;
        fake_opened[i].cycles = 1000 * CYCLES_OF_MS;
    }
}

/* Lets a process run for `ms`, in which it is charged `ticks`. */
static void run(int at, unsigned ms, unsigned ticks)
{
    fake_opened[at].cycles += (uint64_t)ms * CYCLES_OF_MS;
    fake_opened[at].user_time += (int64_t)ticks * TICK;
    fake_table[at].process.user_time += (int64_t)ticks * TICK;
}

/* The last processes of the table end. */
static void keep_first(int count)
{
    fake_table[count - 1].process.next = 0;
}

static struct source *open_tier(enum tasks_tier expected)
{
    enum tasks_tier tier = TASKS_AUTOMATIC;
    struct source *source = NULL;

    assert_int_equal(tasks_source_open(TASKS_AUTOMATIC, &never_stop, &source, &tier, NULL),
                     CAMP_OK);
    assert_int_equal(tier, expected);
    return source;
}

static const struct frame *next_of(struct source *source)
{
    const struct frame *frame = NULL;

    assert_int_equal(source->next(source, 0, &frame, NULL), CAMP_OK);
    return frame;
}

static void check_row(const struct frame *frame, size_t row, int pid, uint32_t flags,
                      uint64_t measured, uint64_t sampled)
{
    assert_true(row < frame->entity_count);
    assert_int_equal(frame->entities[row].id, pid);
    assert_int_equal(frame->entities[row].flags, flags);
    assert_int_equal(frame_values(frame, row)[TASKS_MEASURED], measured);
    assert_int_equal(frame_values(frame, row)[TASKS_SAMPLED], sampled);
}

static void faked_process_that_ran_between_ticks_is_measured_and_not_sampled(void **state)
{
    const struct frame *frame;
    struct source *source;

    (void)state;
    list_processes((const int[]){ 1000, 2000, 3000 });
    source = open_tier(TASKS_CYCLES);
    run(0, 300, 0);
    run(1, 20, 2);
    frame = next_of(source);
    assert_int_equal(frame->entity_count, 2);
    check_row(frame, 0, 1000, 0, 300 * MS, 0);
    assert_int_equal(frame_values(frame, 0)[TASKS_ABSOLUTE], 300 * MS);
    assert_int_equal(frame_values(frame, 0)[TASKS_MAXIMUM], 1000000);
    assert_int_equal(frame_values(frame, 0)[TASKS_ACTIVE], 1);
    check_row(frame, 1, 2000, 0, 20 * MS, 31250000);
    assert_int_equal(frame_values(frame, 1)[TASKS_ABSOLUTE], 11250000);
    assert_int_equal(frame_values(frame, 1)[TASKS_MAXIMUM], 562500);
    assert_int_equal(tasks_source_living(source), 3);
    assert_int_equal(tasks_source_unmeasured(source), 0);
    assert_int_equal(frame->losses.partial, 0);
    assert_int_equal(next_of(source)->entity_count, 0);
    source_close(source);
    assert_int_equal(fake_handles, 0);
}

static void faked_process_that_was_charged_for_others_has_stray_samples(void **state)
{
    const struct frame *frame;
    struct source *source;

    (void)state;
    list_processes((const int[]){ 1000, 0, 0 });
    source = open_tier(TASKS_CYCLES);
    run(0, 0, 4);
    frame = next_of(source);
    check_row(frame, 0, 1000, 0, 0, 62500000);
    assert_int_equal(frame_values(frame, 0)[TASKS_STRAY], 62500000);
    assert_int_equal(frame_values(frame, 0)[TASKS_ACTIVE], 0);
    source_close(source);
}

static void faked_process_that_ended_has_its_final_times(void **state)
{
    const struct frame *frame;
    struct source *source;

    (void)state;
    list_processes((const int[]){ 1000, 2000, 0 });
    source = open_tier(TASKS_CYCLES);
    assert_int_equal(fake_handles, 2);
    run(1, 70, 3);
    keep_first(1);
    frame = next_of(source);
    assert_int_equal(frame->entity_count, 1);
    check_row(frame, 0, 2000, ENTITY_ENDED, 70 * MS, 46875000);
    assert_int_equal(frame->losses.partial, 0);
    assert_int_equal(tasks_source_living(source), 1);
    assert_int_equal(fake_handles, 1); /* it is closed, so that Windows can forget it */
    assert_int_equal(next_of(source)->entity_count, 0);
    source_close(source);
    assert_int_equal(fake_handles, 0);
}

static void faked_process_that_started_has_all_its_time(void **state)
{
    const struct frame *frame;
    struct source *source;

    (void)state;
    list_processes((const int[]){ 1000, 2000, 0 });
    keep_first(1);
    source = open_tier(TASKS_CYCLES);
    fake_table[0].process.next = sizeof fake_table[0];
    fake_opened[1].cycles = 5 * CYCLES_OF_MS;
    frame = next_of(source);
    assert_int_equal(frame->entity_count, 1);
    check_row(frame, 0, 2000, ENTITY_NEW, 5 * MS, 0);
    source_close(source);
}

static void faked_process_that_may_not_be_opened_is_not_measured_to_be_idle(void **state)
{
    const struct frame *frame;
    struct source *source;

    (void)state;
    list_processes((const int[]){ 1000, 2000, 0 });
    fake_opened[1].pid = 0;
    source = open_tier(TASKS_CYCLES);
    run(1, 0, 1);
    frame = next_of(source);
    assert_int_equal(frame->entity_count, 1);
    check_row(frame, 0, 2000, ENTITY_UNMEASURED, 0, 15625000);
    assert_int_equal(tasks_source_unmeasured(source), 1);
    assert_int_equal(frame->losses.partial, 1);
    keep_first(1);
    frame = next_of(source);
    check_row(frame, 0, 2000, ENTITY_ENDED | ENTITY_UNMEASURED | ENTITY_UNSAMPLED, 0, 0);
    assert_int_equal(tasks_source_unmeasured(source), 0);
    assert_int_equal(frame->losses.partial, 1); /* its last interval */
    source_close(source);
}

static void faked_pid_that_is_reused_is_another_process(void **state)
{
    const struct frame *frame;
    struct source *source;

    (void)state;
    list_processes((const int[]){ 1000, 0, 0 });
    source = open_tier(TASKS_CYCLES);
    run(0, 10, 0);
    /* The old process stays open, as fake_opened[0]; OpenProcess() finds the new one. */
    fake_opened[1] = fake_opened[0];
    fake_opened[0].pid = 0;
    fake_opened[1].create_time = fake_table[0].process.create_time += 1;
    fake_opened[1].cycles = 3 * CYCLES_OF_MS;
    frame = next_of(source);
    assert_int_equal(frame->entity_count, 2);
    check_row(frame, 0, 1000, ENTITY_ENDED, 10 * MS, 0);
    check_row(frame, 1, 1000, ENTITY_NEW, 3 * MS, 0);
    source_close(source);
    assert_int_equal(fake_handles, 0);
}

static void faked_process_of_pid_has_a_row_although_it_did_not_run(void **state)
{
    const int32_t pids[] = { 2000 };
    const struct frame *frame;
    struct source *source;

    (void)state;
    list_processes((const int[]){ 1000, 2000, 0 });
    source = open_tier(TASKS_CYCLES);
    tasks_source_keep(source, pids, 1);
    frame = next_of(source);
    assert_int_equal(frame->entity_count, 1);
    check_row(frame, 0, 2000, 0, 0, 0);
    source_close(source);
}

static void faked_cycles_without_a_rate_leave_the_sampled_times(void **state)
{
    enum tasks_tier tier;
    const struct frame *frame;
    struct source *source;
    struct camp_error error;

    (void)state;
    list_processes((const int[]){ 1000, 2000, 0 });
    fakes.registry_has_mhz = false;
    source = open_tier(TASKS_TICKS);
    run(0, 20, 1);
    frame = next_of(source);
    assert_int_equal(frame->entity_count, 1);
    check_row(frame, 0, 1000, ENTITY_UNMEASURED, 0, 15625000);
    assert_int_equal(tasks_source_unmeasured(source), 0); /* it is not a matter of rights */
    source_close(source);
    assert_int_equal(tasks_source_open(TASKS_CYCLES, &never_stop, &source, &tier, &error),
                     CAMP_E_NOTSUP);
    assert_non_null(strstr(error.message, "--tier cycles: the rate of the cycles is unknown"));
}

static void faked_windows_refuses_the_tiers_of_linux(void **state)
{
    struct source *source;
    struct camp_error error;
    enum tasks_tier tier;

    (void)state;
    list_processes((const int[]){ 1000, 0, 0 });
    assert_int_equal(tasks_source_open(TASKS_TASKSTATS, &never_stop, &source, &tier, &error),
                     CAMP_E_NOTSUP);
    assert_non_null(strstr(error.message, "--tier taskstats: Windows has only the tier cycles"));
    assert_int_equal(fake_handles, 0);
}

static struct source *open_cpus(void)
{
    struct source *source = NULL;

    assert_int_equal(cpus_source_open(NULL, &never_stop, &source, NULL), CAMP_OK);
    return source;
}

static int provenance_of(const struct source *source, enum cpus_column column)
{
    return (int)source->describe(source)->columns[column].provenance;
}

/* In units of 100 ns. Kernel time contains idle time, interrupts and deferred calls. */
static void run_cpus(int64_t user, int64_t system, int64_t interrupt, int64_t deferred_call)
{
    fakes.cpu.user_time += user;
    fakes.cpu.interrupt_time += interrupt;
    fakes.cpu.deferred_call_time += deferred_call;
    fakes.cpu.kernel_time += system + interrupt + deferred_call;
}

static void faked_cpus_are_idle_by_cycles_and_busy_by_ticks(void **state)
{
    static const uint64_t expected[CPUS_COLUMN_COUNT] = {
        [CPUS_USER] = 62500000,    [CPUS_SYSTEM] = 31250000, [CPUS_IRQ] = 15625000,
        [CPUS_SOFTIRQ] = 46875000, [CPUS_IDLE] = 700 * MS,
    };
    const struct frame *frame;
    struct source *source;

    (void)state;
    fakes_reset();
    source = open_cpus();
    run_cpus(4 * TICK, 2 * TICK, 1 * TICK, 3 * TICK);
    fakes.idle_cycles += 700ull * CYCLES_OF_MS;
    frame = next_of(source);
    assert_int_equal(frame->entity_count, 1 + FAKE_GROUPS * FAKE_CPUS);
    assert_int_equal(frame->entities[0].id, CAMP_CPU_TOTAL);
    for (size_t i = 0; i < CPUS_COLUMN_COUNT; i++) {
        assert_int_equal(frame_values(frame, 0)[i], FAKE_GROUPS * FAKE_CPUS * expected[i]);
        for (size_t row = 1; row < frame->entity_count; row++)
            assert_int_equal(frame_values(frame, row)[i], expected[i]);
    }
    assert_int_equal(frame->losses.partial, 0);
    assert_int_equal(provenance_of(source, CPUS_IDLE), CAMP_MEASURED);
    assert_int_equal(provenance_of(source, CPUS_USER), CAMP_SAMPLED);
    assert_int_equal(provenance_of(source, CPUS_SOFTIRQ), CAMP_SAMPLED);
    assert_int_equal(provenance_of(source, CPUS_NICE), CAMP_UNKNOWN);
    assert_int_equal(provenance_of(source, CPUS_IOWAIT), CAMP_UNKNOWN);
    assert_int_equal(provenance_of(source, CPUS_STEAL), CAMP_UNKNOWN);
    source_close(source);
}

static void faked_cpu_without_idle_cycles_is_not_whole(void **state)
{
    const struct frame *frame;
    struct source *source;

    (void)state;
    fakes_reset();
    fakes.first_cpu_is_never_idle = true;
    source = open_cpus();
    fakes.idle_cycles += 100ull * CYCLES_OF_MS;
    frame = next_of(source);
    assert_int_equal(frame->entity_count, 3); /* in each group the second CPU */
    assert_int_equal(frame->entities[1].id, 1);
    assert_int_equal(frame->entities[2].id, 65);
    assert_int_equal(frame_values(frame, 0)[CPUS_IDLE], 200 * MS);
    assert_int_equal(frame->elapsed_ns[0], frame->elapsed_ns[1] + frame->elapsed_ns[2]);
    assert_int_equal(frame->losses.partial, 2);
    source_close(source);
}

static void faked_idle_time_without_cycles_is_sampled(void **state)
{
    const struct frame *frame;
    struct source *source;

    (void)state;
    fakes_reset();
    fakes.registry_has_mhz = false;
    source = open_cpus();
    fakes.cpu.idle_time += TICK;
    fakes.cpu.kernel_time += TICK;
    frame = next_of(source);
    assert_int_equal(frame_values(frame, 1)[CPUS_IDLE], 15625000);
    assert_int_equal(provenance_of(source, CPUS_IDLE), CAMP_SAMPLED);
    source_close(source);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(faked_process_that_ran_between_ticks_is_measured_and_not_sampled),
        cmocka_unit_test(faked_process_that_was_charged_for_others_has_stray_samples),
        cmocka_unit_test(faked_process_that_ended_has_its_final_times),
        cmocka_unit_test(faked_process_that_started_has_all_its_time),
        cmocka_unit_test(faked_process_that_may_not_be_opened_is_not_measured_to_be_idle),
        cmocka_unit_test(faked_pid_that_is_reused_is_another_process),
        cmocka_unit_test(faked_process_of_pid_has_a_row_although_it_did_not_run),
        cmocka_unit_test(faked_cycles_without_a_rate_leave_the_sampled_times),
        cmocka_unit_test(faked_windows_refuses_the_tiers_of_linux),
        cmocka_unit_test(faked_cpus_are_idle_by_cycles_and_busy_by_ticks),
        cmocka_unit_test(faked_cpu_without_idle_cycles_is_not_whole),
        cmocka_unit_test(faked_idle_time_without_cycles_is_sampled),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
