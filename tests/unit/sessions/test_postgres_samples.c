/* Rows of PostgreSQL sessions from samples and the scheduler's counts. */
#include "postgres_rows_fixture.h"

/* Adds samples by SQL: 300 ms active without an event, then 700 ms waiting for a lock. */
static void sample(int32_t pid, int64_t start_us, bool is_asleep)
{
    struct session_sample sample = {
        pid, start_us, 0, { { "none", "none", "active", "client_backend" } }, is_asleep
    };

    sampled_times_add(&source.sampler.times, START_NS, &sample, 1);
    sampled_times_begin(&source.sampler.times, START_NS);
    sampled_times_add(&source.sampler.times, START_NS + 300 * MS, &sample, 1);
    sample.kind.texts[SESSION_CLASS] = "Lock";
    sample.kind.texts[SESSION_EVENT] = "tuple";
    sampled_times_add(&source.sampler.times, START_NS + 300 * MS, &sample, 1);
    sampled_times_add(&source.sampler.times, START_NS + 1000 * MS, &sample, 1);
    sampled_times_end(&source.sampler.times, START_NS + 1000 * MS);
}

static void times_that_the_database_reports_have_their_own_columns(void **state)
{
    const struct backend_account one = account(PID, 0);
    const int64_t start_us = wall_us(one.start_ns);

    (void)state;
    open_source(POSTGRES_BPF);
    register_process(PID, start_us, "client_backend", "bob");
    sample(PID, start_us, false);
    fill(&one, 1);
    assert_int_equal(value_ms(0, "reported_cpu_ns"), 300);
    assert_int_equal(value_ms(0, "reported_contention_ns"), 700);
    assert_int_equal(value_ms(0, "contention_ns"), 300);
    close_source();
}

static void a_remote_session_has_only_times_that_the_database_reports(void **state)
{
    (void)state;
    open_source(POSTGRES_SQL);
    register_process(PID, 5, "client_backend", "bob");
    sample(PID, 5, false);
    assert_int_equal(postgres_rows_of_samples(&source), CAMP_OK);
    assert_int_equal(row_count(), 1);
    assert_int_equal(row_at(0)->id, PID);
    /* The pid of a remote process is not valid on this machine. */
    assert_int_equal(row_at(0)->pid, 0);
    assert_int_equal(value_ms(0, "cpu_ns"), 300);
    assert_int_equal(value_ms(0, "contention_ns"), 700);
    assert_int_equal(frame_unaccounted_ns(&source.sessions.frame, 0), 0);
    close_source();
}

static void a_session_without_a_state_is_on_a_cpu_only_if_its_waits_would_be_known(void **state)
{
    struct session_sample sample = {
        PID, 5, 0, { { "none", "none", "disabled", "client_backend" } }, false
    };

    (void)state;
    for (int has_waits = 0; has_waits <= 1; has_waits++) {
        open_source(POSTGRES_SQL);
        source.sampler.has_untracked_waits = has_waits;
        register_process(PID, 5, "client_backend", "bob");
        sampled_times_add(&source.sampler.times, START_NS, &sample, 1);
        sampled_times_begin(&source.sampler.times, START_NS);
        sampled_times_add(&source.sampler.times, START_NS + 1000 * MS, &sample, 1);
        sampled_times_end(&source.sampler.times, START_NS + 1000 * MS);
        assert_int_equal(postgres_rows_of_samples(&source), CAMP_OK);
        assert_int_equal(value_ms(0, "cpu_ns"), has_waits ? 1000 : 0);
        assert_int_equal(frame_unaccounted_ns(&source.sessions.frame, 0) / MS,
                         has_waits ? 0 : 1000);
        close_source();
    }
}

/* Fills the rows of a tier from samples of this process, which has used CPU time. */
static void fill_samples(enum postgres_tier tier, bool is_asleep)
{
    open_source(tier);
    register_process(getpid(), 5, "client_backend", "bob");
    sample(getpid(), 5, is_asleep);
    if (tier == POSTGRES_MEMORY)
        source.memory_samples.times = source.sampler.times;
    /* The CPU time must have grown since the last reading. */
    source.registry.processes[0].clock.cpu_ns = 0;
    assert_int_equal(postgres_rows_of_samples(&source), CAMP_OK);
    assert_int_equal(source.sessions.frame.losses.partial, 0);
    assert_true(frame_values(&source.sessions.frame, 0)[SESSION_CPU] > 0);
}

static uint64_t left_ms(void)
{
    const uint64_t *values = frame_values(&source.sessions.frame, 0);

    return (source.sessions.frame.elapsed_ns[0] - values[SESSION_CPU] - values[SESSION_RUN_QUEUE]) /
           MS;
}

static void samples_divide_the_time_that_is_neither_cpu_nor_run_queue(void **state)
{
    (void)state;
    fill_samples(POSTGRES_MEMORY, true);
    assert_in_range(value_ms(0, "contention_ns"), left_ms() * 7 / 10 - 1, left_ms() * 7 / 10 + 1);
    assert_in_range(value_ms(0, "wait_without_event_ns"), left_ms() * 3 / 10 - 1,
                    left_ms() * 3 / 10 + 1);
    assert_in_range(frame_unaccounted_ns(&source.sessions.frame, 0), 0, 10);
    /* The time of the samples is not scaled. */
    assert_int_equal(value_ms(0, "sampled_asleep_ns"), 1000);
    assert_int_equal(value_ms(0, "reported_contention_ns"), 700);
    close_source();
}

/* SQL reported the session as on a CPU, and its task fell asleep a moment later. */
static void a_sleeping_session_that_sql_reports_on_a_cpu_adds_no_wait_without_event(void **state)
{
    (void)state;
    fill_samples(POSTGRES_GATED, true);
    assert_int_equal(value_ms(0, "contention_ns"), left_ms());
    assert_int_equal(value_ms(0, "wait_without_event_ns"), 0);
    assert_int_equal(value_ms(0, "sampled_asleep_ns"), 1000);
    close_source();
}

static void a_session_without_a_sleeping_sample_has_unaccounted_time(void **state)
{
    (void)state;
    fill_samples(POSTGRES_GATED, false);
    assert_int_equal(value_ms(0, "contention_ns"), 0);
    assert_int_equal(value_ms(0, "sampled_asleep_ns"), 0);
    assert_int_equal(frame_unaccounted_ns(&source.sessions.frame, 0) / MS, left_ms());
    close_source();
}

static void sleep_without_an_event_is_accounted_if_no_sample_has_an_event(void **state)
{
    struct session_sample sample = {
        getpid(), 5, 0, { { "none", "none", "active", "client_backend" } }, true
    };

    (void)state;
    open_source(POSTGRES_GATED);
    register_process(getpid(), 5, "client_backend", "bob");
    sampled_times_add(&source.sampler.times, START_NS, &sample, 1);
    sampled_times_begin(&source.sampler.times, START_NS);
    sampled_times_add(&source.sampler.times, START_NS + 1000 * MS, &sample, 1);
    sampled_times_end(&source.sampler.times, START_NS + 1000 * MS);
    assert_int_equal(postgres_rows_of_samples(&source), CAMP_OK);
    assert_int_equal(value_ms(0, "wait_without_event_ns"), left_ms());
    close_source();
}

/* The snapshots are 2 s apart, but samples cover at most 1 s. */
static void time_without_samples_is_unaccounted(void **state)
{
    struct session_sample sample = {
        getpid(), 5, 0, { { "Lock", "tuple", "active", "client_backend" } }, true
    };

    (void)state;
    open_source(POSTGRES_GATED);
    register_process(getpid(), 5, "client_backend", "bob");
    sampled_times_add(&source.sampler.times, START_NS, &sample, 1);
    sampled_times_begin(&source.sampler.times, START_NS);
    sampled_times_add(&source.sampler.times, START_NS + 2000 * MS, &sample, 1);
    sampled_times_end(&source.sampler.times, START_NS + 2000 * MS);
    assert_int_equal(postgres_rows_of_samples(&source), CAMP_OK);
    assert_in_range(value_ms(0, "contention_ns"), left_ms() / 2 - 1, left_ms() / 2);
    assert_in_range(frame_unaccounted_ns(&source.sessions.frame, 0) / MS, left_ms() / 2 - 1,
                    left_ms() / 2 + 1);
    close_source();
}

static void a_session_whose_process_ended_before_its_clock_was_read_counts_as_partial(void **state)
{
    (void)state;
    open_source(POSTGRES_GATED);
    register_process(getpid(), 5, "client_backend", "bob");
    source.registry.processes[0].task.start++; /* Another process has the pid now. */
    source.registry.processes[0].start_ns = START_NS + 1;
    sample(getpid(), 5, true);
    assert_int_equal(postgres_rows_of_samples(&source), CAMP_OK);
    assert_int_equal(row_count(), 1);
    assert_int_equal(source.sessions.frame.losses.partial, 1);
    assert_int_equal(value_ms(0, "cpu_ns"), 0);
    close_source();
}

/* A session that started while SQL did not answer has used CPU time before the interval. */
static void cpu_time_from_before_the_interval_is_left_out(void **state)
{
    (void)state;
    open_source(POSTGRES_GATED);
    register_process(getpid(), 5, "client_backend", "bob");
    source.registry.processes[0].clock = (struct proc_clock){ 0 };
    source.registry.processes[0].start_ns = START_NS - 1;
    sample(getpid(), 5, true);
    assert_int_equal(postgres_rows_of_samples(&source), CAMP_OK);
    assert_int_equal(source.sessions.frame.losses.partial, 1);
    assert_int_equal(frame_values(&source.sessions.frame, 0)[SESSION_CPU], 0);
    /* The clock is known for the next interval. */
    assert_true(source.registry.processes[0].clock.time_ns > 0);
    close_source();
}

static void a_background_process_that_is_not_shown_does_not_count_as_partial(void **state)
{
    (void)state;
    open_source(POSTGRES_GATED);
    register_process(getpid(), 5, "checkpointer", "");
    source.registry.processes[0].task.start++;
    sample(getpid(), 5, true);
    assert_int_equal(postgres_rows_of_samples(&source), CAMP_OK);
    assert_int_equal(row_count(), 0);
    assert_int_equal(source.sessions.frame.losses.partial, 0);
    close_source();
}

/* The session runs statement 5 for 300 ms, waits for a lock in statement 6 for 500 ms, and has
 * nothing to do for 200 ms. */
static void sample_statements(int32_t pid, bool may_sleep)
{
    struct session_sample one = { pid,   5, 0, { { "none", "none", "active", "client_backend" } },
                                  false, 5 };

    sampled_times_add(&source.sampler.times, START_NS, &one, 1);
    sampled_times_begin(&source.sampler.times, START_NS);
    sampled_times_add(&source.sampler.times, START_NS + 300 * MS, &one, 1);
    one = (struct session_sample){ pid,       5,
                                   0,         { { "Lock", "tuple", "active", "client_backend" } },
                                   may_sleep, 6 };
    sampled_times_add(&source.sampler.times, START_NS + 300 * MS, &one, 1);
    sampled_times_add(&source.sampler.times, START_NS + 800 * MS, &one, 1);
    one = (struct session_sample){
        pid, 5, 0, { { "Client", "ClientRead", "idle", "client_backend" } }, may_sleep, 0
    };
    sampled_times_add(&source.sampler.times, START_NS + 800 * MS, &one, 1);
    sampled_times_add(&source.sampler.times, START_NS + 1000 * MS, &one, 1);
    sampled_times_end(&source.sampler.times, START_NS + 1000 * MS);
}

static void samples_by_sql_are_divided_by_the_statement_of_each(void **state)
{
    (void)state;
    open_source(POSTGRES_SQL);
    source.by_statement = source.has_parts = true;
    register_process(PID, 5, "client_backend", "bob");
    sample_statements(PID, false);
    assert_int_equal(postgres_rows_of_samples(&source), CAMP_OK);
    assert_int_equal(row_count(), 3);
    assert_parts(1000);
    assert_string_equal(statement_at(0), "5");
    assert_int_equal(value_ms(0, "cpu_ns"), 300);
    assert_string_equal(statement_at(1), "6");
    assert_int_equal(value_ms(1, "contention_row_lock_ns"), 500);
    assert_string_equal(statement_at(2), "");
    assert_int_equal(value_ms(2, "idle_ns"), 200);
    close_source();
}

/* The CPU time belongs to the statement with which the samples found the session awake. */
static void measured_cpu_time_is_divided_by_the_samples_that_were_awake(void **state)
{
    uint64_t cpu_ns = 0;

    (void)state;
    open_source(POSTGRES_GATED);
    source.by_statement = source.has_parts = true;
    register_process(getpid(), 5, "client_backend", "bob");
    sample_statements(getpid(), true);
    source.registry.processes[0].clock.cpu_ns = 0;
    assert_int_equal(postgres_rows_of_samples(&source), CAMP_OK);
    assert_int_equal(row_count(), 3);
    assert_parts(1000);
    for (size_t i = 0; i < row_count(); i++) {
        const bool is_awake = strcmp(statement_at(i), "5") == 0;

        cpu_ns = frame_values(&source.sessions.frame, i)[SESSION_CPU];
        assert_int_equal(cpu_ns > 0, is_awake);
        assert_int_equal(value_ms(i, "reported_cpu_ns"), is_awake ? 300 : 0);
        assert_int_equal(value_ms(i, "contention_ns") > 0, strcmp(statement_at(i), "6") == 0);
        assert_int_equal(value_ms(i, "idle_ns") > 0, strcmp(statement_at(i), "") == 0);
    }
    close_source();
}

/* Registers a session that started in this interval, and whose process has ended. */
static void register_ended(struct child_exit *records, int64_t start_us)
{
    register_process(getpid(), start_us, "client_backend", "bob");
    source.registry.processes[0].task.start++; /* Another process has the pid now. */
    source.registry.processes[0].start_ns = START_NS + 1;
    source.registry.processes[0].clock = (struct proc_clock){ 0 };
    source.exits.records = records;
    source.exits.count = 2;
}

static void a_session_that_ended_has_the_times_of_its_exit_record(void **state)
{
    static struct child_exit records[CHILD_EXITS];
    const int64_t start_us = 1700000000000000;

    (void)state;
    records[0] = (struct child_exit){ getpid(), 1700000001, 200 * MS, 100 * MS, 600 * MS };
    records[1] = (struct child_exit){ getpid(), 1600000000, 1, 1, 1 }; /* of an older process */
    open_source(POSTGRES_GATED);
    register_ended(records, start_us);
    sample(getpid(), start_us, true);
    source.sampler.times.sessions[0]->is_ended = true;
    assert_int_equal(postgres_rows_of_samples(&source), CAMP_OK);
    assert_int_equal(row_count(), 1);
    assert_int_equal(source.sessions.frame.losses.partial, 0);
    assert_int_equal(source.sessions.frame.elapsed_ns[0], 600 * MS);
    assert_int_equal(value_ms(0, "cpu_ns"), 200);
    assert_int_equal(value_ms(0, "run_queue_ns"), 100);
    assert_int_equal(value_ms(0, "contention_ns"), 300);
    assert_int_equal(frame_unaccounted_ns(&source.sessions.frame, 0), 0);
    source.exits = (struct child_exits){ 0 };
    close_source();
}

/* The exit record leaves 300 ms that no sample found asleep; the samples say what it waited for. */
static void the_sleep_of_an_ended_session_is_divided_by_its_samples_if_none_was_asleep(void **state)
{
    static struct child_exit records[CHILD_EXITS];
    const int64_t start_us = 1700000000000000;

    (void)state;
    records[0] = (struct child_exit){ getpid(), 1700000000, 200 * MS, 100 * MS, 600 * MS };
    open_source(POSTGRES_GATED);
    register_ended(records, start_us);
    sample(getpid(), start_us, false);
    source.sampler.times.sessions[0]->is_ended = true;
    assert_int_equal(postgres_rows_of_samples(&source), CAMP_OK);
    assert_int_equal(value_ms(0, "contention_ns"), 300);
    assert_int_equal(frame_unaccounted_ns(&source.sessions.frame, 0), 0);
    source.exits = (struct child_exits){ 0 };
    close_source();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(times_that_the_database_reports_have_their_own_columns),
        cmocka_unit_test(a_remote_session_has_only_times_that_the_database_reports),
        cmocka_unit_test(a_session_without_a_state_is_on_a_cpu_only_if_its_waits_would_be_known),
        cmocka_unit_test(samples_divide_the_time_that_is_neither_cpu_nor_run_queue),
        cmocka_unit_test(a_sleeping_session_that_sql_reports_on_a_cpu_adds_no_wait_without_event),
        cmocka_unit_test(a_session_without_a_sleeping_sample_has_unaccounted_time),
        cmocka_unit_test(sleep_without_an_event_is_accounted_if_no_sample_has_an_event),
        cmocka_unit_test(time_without_samples_is_unaccounted),
        cmocka_unit_test(a_session_whose_process_ended_before_its_clock_was_read_counts_as_partial),
        cmocka_unit_test(cpu_time_from_before_the_interval_is_left_out),
        cmocka_unit_test(samples_by_sql_are_divided_by_the_statement_of_each),
        cmocka_unit_test(measured_cpu_time_is_divided_by_the_samples_that_were_awake),
        cmocka_unit_test(a_session_that_ended_has_the_times_of_its_exit_record),
        cmocka_unit_test(
            the_sleep_of_an_ended_session_is_divided_by_its_samples_if_none_was_asleep),
        cmocka_unit_test(a_background_process_that_is_not_shown_does_not_count_as_partial),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
