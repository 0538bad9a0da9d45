/* What is usual makes no rule find something, and what cannot be known is not quiet. */
#include "fake_evidence.h"

static void add_thread(struct fake *fake, int64_t tid, int32_t pid, const char *name)
{
    fake_row(fake, &fake->rows, tid, pid, name);
}

/* The row of all threads outside of a container: CPU time only, which clock ticks do not sample. */
static void add_outside(struct fake *fake, uint32_t flags)
{
    const size_t row = fake->rows.entity_count;

    fake_row(fake, &fake->rows, 0, 0, "outside")->flags = flags;
    fake_set(&fake->rows, "user_ns", 0.3);
    fake_set(&fake->rows, "system_ns", 0.65);
    fake_set(&fake->rows, "cpu_ns", 0.95);
    fake_set(&fake->rows, "minor_faults", 30000);
    fake_set(&fake->rows, "system_calls", 60000);
    fake_set(&fake->rows, "voluntary_switches", 20000);
    frame_values(&fake->rows, row)[column_find(&fake_threads, "other_sleep_ns")] = 0;
    fake->rows.elapsed_ns[row] = (uint64_t)(0.95 * SECONDS * NS);
}

/* Threads of a pool wait for work in futex(2) and in epoll_wait(2). */
static void add_pool(struct fake *fake)
{
    for (int i = 0; i < 8; i++) {
        add_thread(fake, 100 + i, 100, "pool");
        fake_set(&fake->rows, "lock_ns", 0.6);
        fake_set(&fake->rows, "user_ns", 0.001);
    }
}

static void add_suspended_editor(struct fake *fake)
{
    for (int i = 0; i < 2; i++) {
        add_thread(fake, 200 + i, 200, "editor");
        fake_set(&fake->rows, "stopped_ns", 1);
    }
}

/* Daemons that wake up by timers or by each other, and wait for a CPU hardly ever. */
static void add_quiet_causes(struct fake *fake)
{
    enum { OTHERS, DAEMON, LOGGER, POOL };

    fake_add_group(fake, CAMP_GROUP_OTHER, 0, "");
    fake_add_group(fake, CAMP_GROUP_NAME, 0, "daemon");
    fake_add_group(fake, CAMP_GROUP_NAME, 0, "logger");
    fake_add_group(fake, CAMP_GROUP_NAME, 0, "pool");
    fake_run(fake, DAEMON, 0.05);
    fake_wait(fake, DAEMON, CAMP_STATE_RUN_QUEUE, CAMP_CAUSE_IDLE, 0, 0.02);
    fake_wait(fake, DAEMON, CAMP_STATE_RUN_QUEUE, CAMP_CAUSE_GROUP, LOGGER, 0.01);
    fake_wait(fake, DAEMON, CAMP_STATE_RUN_QUEUE, CAMP_CAUSE_INTERRUPTS, 0, 0.002);
    fake_wait(fake, DAEMON, CAMP_STATE_RUN_QUEUE, CAMP_CAUSE_REAL_TIME, 0, 0.002);
    fake_wait(fake, DAEMON, CAMP_STATE_TIMER, CAMP_CAUSE_TIMER, 0, 45);
    fake_run(fake, LOGGER, 0.01);
    fake_wait(fake, LOGGER, CAMP_STATE_PIPE, CAMP_CAUSE_GROUP, DAEMON, 0.99);
    fake_run(fake, POOL, 0.008);
    fake_wait(fake, POOL, CAMP_STATE_LOCK, CAMP_CAUSE_GROUP, DAEMON, 4.8);
    fake_open(fake, POOL, 100, "futex", "futex 0x7f00", 8);
    fake_open(fake, POOL, 101, "semop", "", 1);
    fake_wait(fake, POOL, CAMP_STATE_SOCKET, CAMP_CAUSE_TIMER, 0, 3);
}

/* Adds a machine that does almost nothing: daemons that wake up ten times a second. */
static void add_quiet(struct fake *fake)
{
    fake->evidence.pressure.is_known = true;
    fake->evidence.own_pid = 3;
    fake_add_cpus(fake, 0.02, 0.03);
    fake_set(&fake->cpus, "kernel_wait_ns", 0.01);
    fake_set(&fake->cpus, "irq_ns", 0.004);
    for (int i = 0; i < 50; i++) {
        add_thread(fake, 3 + i, 3 + i / 5 * 5, "daemon");
        fake_set(&fake->rows, "user_ns", 0.0005);
        fake_set(&fake->rows, "system_ns", 0.0005);
        fake_set(&fake->rows, "run_queue_ns", 0.0001);
        fake_set(&fake->rows, "disk_ns", i == 0 ? 0.01 : 0);
        fake_set(&fake->rows, "timer_ns", 0.9);
        fake_set(&fake->rows, "cpu_ns", 0.001);
        fake_set(&fake->rows, "sampled_ns", 0.0008);
        fake_set(&fake->rows, "voluntary_switches", 10);
        fake_set(&fake->rows, "system_calls", 50);
    }
    add_quiet_causes(fake);
    fake->rows.losses.unseen = 20;
}

static void assert_quiet(struct fake *fake)
{
    struct judgement found[64];

    assert_true(rule_count <= ARRAY_COUNT(found));
    fake_finish(fake);
    judge_all(found, &fake->evidence, "");
    for (size_t i = 0; i < rule_count; i++) {
        const bool is_of_sessions = (found[i].rule->kinds & 1u << EVIDENCE_SESSIONS) != 0;

        if (found[i].verdict != (is_of_sessions ? VERDICT_UNKNOWN : VERDICT_QUIET))
            fail_msg("%s: verdict %d, value %g of %s, %s", found[i].rule->id, found[i].verdict,
                     found[i].finding.value, found[i].finding.who, found[i].reason);
    }
}

static void no_rule_finds_something_on_a_quiet_machine(void **state)
{
    struct fake fake;

    (void)state;
    fake_start(&fake, &fake_threads);
    add_quiet(&fake);
    add_pool(&fake);
    add_suspended_editor(&fake);
    assert_quiet(&fake);
    fake_end(&fake);
}

/* Recordings have the row without its flag. */
static void no_rule_finds_something_in_a_quiet_container_on_a_busy_machine(void **state)
{
    static const uint32_t flags[] = { ENTITY_OUTSIDE, 0 };

    (void)state;
    for (size_t i = 0; i < ARRAY_COUNT(flags); i++) {
        struct fake fake;

        fake_start(&fake, &fake_threads);
        add_quiet(&fake);
        add_outside(&fake, flags[i]);
        assert_quiet(&fake);
        fake_end(&fake);
    }
}

static void no_rule_finds_something_in_idle_sessions(void **state)
{
    struct judgement found[64];
    struct fake fake;

    (void)state;
    fake_start(&fake, &fake_sessions);
    for (int i = 0; i < 20; i++) {
        fake_row(&fake, &fake.rows, 3 + i, 0, "session");
        fake_set(&fake.rows, "cpu_ns", 0.001);
        fake_set(&fake.rows, "reported_cpu_ns", 0.001);
        fake_set(&fake.rows, "reported_idle_ns", 0.999);
    }
    fake.rows.losses.partial = 3; /* sessions that started in the interval */
    fake_finish(&fake);
    assert_int_equal(judge_all(found, &fake.evidence, ""), 0);
    fake_end(&fake);
}

/* Finishes the evidence, and asserts the verdict of one rule. */
static void assert_verdict(struct fake *fake, const char *id, enum verdict verdict)
{
    struct judgement found;

    fake_finish(fake);
    judge(&found, rule_find(id), &fake->evidence, "");
    if (found.verdict != verdict)
        fail_msg("%s: verdict %d, value %g of %s, %s", id, found.verdict, found.finding.value,
                 found.finding.who, found.reason);
}

static void the_process_that_ran_most_is_not_the_row_of_other_containers(void **state)
{
    struct judgement found;
    struct fake fake;

    (void)state;
    fake_start(&fake, &fake_threads);
    fake_add_cpus(&fake, 1, 1);
    add_outside(&fake, ENTITY_OUTSIDE);
    add_thread(&fake, 7, 7, "waiter");
    fake_set(&fake.rows, "run_queue_ns", 0.9);
    add_thread(&fake, 8, 8, "hog");
    fake_set(&fake.rows, "user_ns", 0.5);
    fake_finish(&fake);
    judge(&found, rule_find("E01"), &fake.evidence, "");
    assert_string_equal(found.finding.other, "hog (pid 8)");
    judge(&found, rule_find("E07"), &fake.evidence, "");
    assert_string_equal(found.finding.other, "hog (pid 8)");
    fake_end(&fake);
}

/* /proc/stat counts sleep for a page as I/O wait, too. */
static void waits_for_pages_are_io_wait(void **state)
{
    static const char *const faults[] = { "text_fault_ns", "data_fault_ns", "kernel_fault_ns" };

    (void)state;
    for (size_t i = 0; i < ARRAY_COUNT(faults); i++) {
        for (int hidden = 0; hidden < 2; hidden++) {
            struct fake fake;

            fake_start(&fake, &fake_threads);
            fake_add_cpus(&fake, 0.1, 0.1);
            fake_set(&fake.cpus, "kernel_wait_ns", hidden ? 0.1 : 0.5);
            add_thread(&fake, 7, 7, "reader");
            fake_set(&fake.rows, faults[i], 0.5);
            fake_finish(&fake);
            {
                struct judgement found;

                judge(&found, rule_find("E10"), &fake.evidence, "");
                assert_int_equal(found.verdict, VERDICT_QUIET);
                judge(&found, rule_find("E09"), &fake.evidence, "");
                assert_int_equal(found.verdict, hidden ? VERDICT_FIRES : VERDICT_QUIET);
            }
            fake_end(&fake);
        }
    }
}

static void short_waits_of_many_threads_are_not_for_one_cpu(void **state)
{
    struct fake fake;

    (void)state;
    fake_start(&fake, &fake_threads);
    fake_add_cpus(&fake, 1, 0.1);
    for (int i = 0; i < 100; i++) {
        add_thread(&fake, 7 + i, 7 + i, "daemon");
        fake_set(&fake.rows, "run_queue_ns", 0.01);
    }
    assert_verdict(&fake, "E02", VERDICT_QUIET);
    fake_end(&fake);
}

static void a_process_of_several_threads_has_an_error_of_chance(void **state)
{
    (void)state;
    /* Four threads that are half busy: one standard error of 1000 ticks is 3.2 % of a CPU. */
    for (int above = 0; above < 2; above++) {
        struct fake fake;

        fake_start(&fake, &fake_threads);
        fake_add_cpus(&fake, 0.1, 0.1);
        for (int i = 0; i < 4; i++) {
            add_thread(&fake, 7 + i, 7, "parallel");
            fake_set(&fake.rows, "user_ns", 0.5);
            fake_set(&fake.rows, "cpu_ns", 0.5);
            fake_set(&fake.rows, "sampled_ns", above ? 0.535 : 0.53);
        }
        assert_verdict(&fake, "E08", above ? VERDICT_FIRES : VERDICT_QUIET);
        fake_end(&fake);
    }
}

static const struct column check_columns[] = {
    FAKE_STATE("cpu_ns", CLASS_CPU),
    FAKE_STATE("idle_ns", CLASS_IDLE),
    FAKE_COUNTER("measured_ns", CAMP_MEASURED),
    FAKE_COUNTER("sampled_ns", CAMP_SAMPLED),
};
static const struct schema fake_check = { "check", check_columns, ARRAY_COUNT(check_columns), 2 };

/* Where threads are unknown, a process may have one on each CPU. */
static void a_process_of_check_has_an_error_of_chance(void **state)
{
    (void)state;
    for (int above = 0; above < 2; above++) {
        struct fake fake;

        fake_start(&fake, &fake_check);
        fake_add_cpus(&fake, 1, 1);
        fake_row(&fake, &fake.rows, 7, 7, "parallel");
        fake_set(&fake.rows, "measured_ns", 1);
        /* One standard error is 2.2 % of a CPU: that of two threads that are half busy. */
        fake_set(&fake.rows, "sampled_ns", above ? 1.12 : 1.08);
        fake_finish(&fake);
        {
            struct judgement found;

            judge(&found, rule_find("E08"), &fake.evidence, "");
            assert_int_equal(found.verdict, above ? VERDICT_FIRES : VERDICT_QUIET);
            assert_true((found.finding.value > 0) == (above != 0));
        }
        fake_end(&fake);
    }
}

static void processes_that_end_are_no_loss_of_check(void **state)
{
    for (int lost = 0; lost < 2; lost++) {
        struct fake fake;

        (void)state;
        fake_start(&fake, &fake_check);
        fake_row(&fake, &fake.rows, 7, 7, "any");
        fake.rows.losses.partial = 5;
        fake.rows.losses.lost = (uint64_t)lost;
        assert_verdict(&fake, "E24", lost ? VERDICT_FIRES : VERDICT_QUIET);
        fake_end(&fake);
    }
}

static void losses_of_rows_that_are_no_processes_are_not_those_of_threads(void **state)
{
    static const struct schema table = { "table", check_columns, 2, 2 };
    static const struct schema *const schemas[] = { &fake_sessions, &table, &fake_cpus };

    (void)state;
    for (size_t i = 0; i < ARRAY_COUNT(schemas); i++) {
        struct fake fake;

        fake_start(&fake, schemas[i]);
        fake_row(&fake, &fake.rows, 7, 0, "any");
        fake.rows.losses.partial = fake.rows.losses.lost = 2;
        assert_verdict(&fake, "E24", VERDICT_UNKNOWN);
        fake_end(&fake);
    }
}

static void losses_of_cpus_are_added_up_once(void **state)
{
    struct fake fake;

    (void)state;
    fake_start(&fake, &fake_cpus);
    fake_row(&fake, &fake.rows, 0, 0, "0");
    fake.rows.losses.partial = 1;
    assert_int_equal(evidence_add(&fake.evidence, &fake.rows, &fake.rows), CAMP_OK);
    assert_int_equal(fake.evidence.losses.partial, 1);
    fake_end(&fake);
}

static void what_camp_uses_is_unknown_in_a_recording_and_in_other_processes(void **state)
{
    (void)state;
    for (int part = 0; part < 2; part++) {
        struct fake fake;

        fake_start(&fake, &fake_threads);
        add_thread(&fake, 7, 7, "any");
        fake.evidence.is_part = part != 0;
        fake.evidence.own_pid = part != 0 ? 3 : 0;
        assert_verdict(&fake, "E26", VERDICT_UNKNOWN);
        fake_end(&fake);
    }
}

static void sessions_without_waits_for_files_are_unknown(void **state)
{
    static const struct column columns[] = { FAKE_STATE("contention_ns", CLASS_CONTENTION),
                                             FAKE_STATE("idle_ns", CLASS_IDLE) };
    static const struct schema schema = { "table", columns, 2, 2 };
    struct fake fake;

    (void)state;
    fake_start(&fake, &schema);
    fake_row(&fake, &fake.rows, 7, 0, "any");
    assert_verdict(&fake, "E30", VERDICT_UNKNOWN);
    fake_end(&fake);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_rule_finds_something_on_a_quiet_machine),
        cmocka_unit_test(no_rule_finds_something_in_a_quiet_container_on_a_busy_machine),
        cmocka_unit_test(no_rule_finds_something_in_idle_sessions),
        cmocka_unit_test(the_process_that_ran_most_is_not_the_row_of_other_containers),
        cmocka_unit_test(waits_for_pages_are_io_wait),
        cmocka_unit_test(short_waits_of_many_threads_are_not_for_one_cpu),
        cmocka_unit_test(a_process_of_several_threads_has_an_error_of_chance),
        cmocka_unit_test(a_process_of_check_has_an_error_of_chance),
        cmocka_unit_test(processes_that_end_are_no_loss_of_check),
        cmocka_unit_test(losses_of_rows_that_are_no_processes_are_not_those_of_threads),
        cmocka_unit_test(losses_of_cpus_are_added_up_once),
        cmocka_unit_test(what_camp_uses_is_unknown_in_a_recording_and_in_other_processes),
        cmocka_unit_test(sessions_without_waits_for_files_are_unknown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
