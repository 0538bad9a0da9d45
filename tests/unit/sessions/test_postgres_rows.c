/* Rows of sessions from synthetic accounts and samples. */
#include "sources/sessions/postgres/postgres_inside.h"

#include "../tree.h"
#include "counters/units.h"

#include <string.h>
#include <unistd.h>

#define MS 1000000u
#define START_NS (1000 * (uint64_t)NS_PER_S)
#define LOCK 0x03000004u
#define CLIENT_READ 0x06000000u
#define ACTIVE 3u
#define PID 5000000 /* beyond the kernel's limit */

static struct postgres_source source;
static struct sampled_times by_sql;

/* An interval of 1 s whose last snapshot by SQL is empty. */
static void open_source(enum postgres_tier tier)
{
    const struct session_plan plan = {
        .name = "postgres",
        .has_reported = tier != POSTGRES_SQL,
        .has_sampled = tier == POSTGRES_MEMORY || tier == POSTGRES_GATED,
        .rules_text = session_rules_postgres,
        .label_names = postgres_label_names,
        .label_count = POSTGRES_LABELS,
    };

    source = (struct postgres_source){ .tier = tier, .reported = &by_sql };
    source.layout.activities_known = 1;
    for (uint32_t i = 0; i < POSTGRES_ACTIVITIES; i++)
        source.layout.code[i] = 2 + i; /* 3: active */
    source.registry.is_local = tier != POSTGRES_SQL;
    source.registry.snapshot_ns = START_NS + NS_PER_S;
    source.registry.own_pids[0] = 9;
    assert_int_equal(session_frame_init(&source.sessions, &plan, NULL), CAMP_OK);
    session_frame_begin(&source.sessions, START_NS, START_NS + NS_PER_S, 0);
    sampled_times_init(&by_sql, NS_PER_S);
    assert_int_equal(postgres_events_add(&source.events, LOCK, "Lock", "tuple"), CAMP_OK);
}

static void close_source(void)
{
    backend_accounts_release(&source.accounts);
    postgres_registry_release(&source.registry);
    postgres_events_release(&source.events);
    session_frame_release(&source.sessions);
    sampled_times_release(&by_sql);
    free(source.times);
    free(source.names);
}

/* The start of a process by the wall clock. */
static int64_t wall_us(uint64_t boot_ns)
{
    return (int64_t)((source_clock_ns(CLOCK_REALTIME) - source_clock_ns(CLOCK_BOOTTIME) + boot_ns) /
                     1000);
}

/* SQL has shown a session with this start. */
static void register_process(int32_t pid, int64_t start_us, const char *type, const char *user)
{
    struct postgres_session session = { .pid = pid,
                                        .start_us = start_us,
                                        .kind = { { "none", "none", "active", type } },
                                        .user = user,
                                        .database = "",
                                        .application = "",
                                        .client = "",
                                        .query = "" };
    const struct postgres_snapshot look = { .is_whole = true,
                                            .asked_ns = source.registry.snapshot_ns,
                                            .answered_ns = source.registry.snapshot_ns,
                                            .server_us = start_us,
                                            .sessions = &session,
                                            .count = 1,
                                            .own_pid = 9 };

    assert_int_equal(postgres_registry_update(&source.registry, &look), CAMP_OK);
}

/* 100 ms on a CPU, 200 ms in the run queue, 300 ms of a lock. */
static struct backend_account account(int32_t pid, uint32_t flags)
{
    return (struct backend_account){ .pid = pid,
                                     .flags = flags,
                                     .start_ns = NS_PER_S,
                                     .begin_ns = START_NS + 400 * MS,
                                     .time_ns = START_NS + 1000 * MS,
                                     .cpu_ns = 100 * MS,
                                     .run_queue_ns = 200 * MS,
                                     .wait_count = 1,
                                     .waits = { { LOCK, ACTIVE, 300 * MS, 1 } } };
}

static void fill(const struct backend_account *accounts, size_t count)
{
    const struct frame *frame = &source.sessions.frame;

    session_frame_begin(&source.sessions, frame->start_ns, frame->end_ns, 0);
    assert_int_equal(backend_accounts_replace(&source.accounts, accounts, count), CAMP_OK);
    assert_int_equal(postgres_rows_of_accounts(&source), CAMP_OK);
}

static size_t row_count(void)
{
    return source.sessions.frame.entity_count;
}

static const struct entity *row_at(size_t row)
{
    assert_true(row < row_count());
    return &source.sessions.frame.entities[row];
}

static uint64_t value_ms(size_t row, const char *column)
{
    const struct schema *schema = &source.sessions.schema;

    for (size_t i = 0; i < schema->column_count; i++) {
        if (strcmp(schema->columns[i].name, column) == 0)
            return frame_values(&source.sessions.frame, row)[i] / MS;
    }
    fail_msg("there is no column %s", column);
    return 0;
}

/* ------------------------------------------------------------------------------ Accounts -- */

static void an_account_is_a_row_with_its_name(void **state)
{
    const struct backend_account one = account(PID, 0);

    (void)state;
    open_source(POSTGRES_BPF);
    register_process(PID, wall_us(one.start_ns) + 5000, "client_backend", "bob");
    fill(&one, 1);
    assert_int_equal(row_count(), 1);
    assert_string_equal(row_at(0)->name, "bob");
    assert_int_equal(row_at(0)->pid, PID);
    assert_int_equal(row_at(0)->flags, ENTITY_NEW);
    assert_int_equal(source.sessions.frame.elapsed_ns[0], 600 * MS);
    assert_int_equal(frame_unaccounted_ns(&source.sessions.frame, 0), 0);
    assert_int_equal(value_ms(0, "contention_row_lock_ns"), 300);
    close_source();
}

static void an_unnamed_session_is_accounted_later_and_whole(void **state)
{
    struct backend_account one = account(PID, 0);

    (void)state;
    open_source(POSTGRES_BPF);
    fill(&one, 1);
    assert_int_equal(row_count(), 0);
    register_process(PID, wall_us(one.start_ns), "client_backend", "bob");
    one.time_ns += 50 * MS;
    one.cpu_ns += 50 * MS;
    fill(&one, 1);
    assert_int_equal(row_count(), 1);
    assert_int_equal(row_at(0)->flags, ENTITY_NEW);
    assert_int_equal(value_ms(0, "cpu_ns"), 150);
    fill(&one, 1);
    assert_int_equal(row_count(), 0); /* nothing since */
    close_source();
}

static void an_unnamed_client_that_ended_is_a_row(void **state)
{
    struct backend_account two[] = { account(PID, BACKEND_ENDED), account(PID + 1, BACKEND_ENDED) };

    (void)state;
    open_source(POSTGRES_BPF);
    two[1].waits[0].activity = BACKEND_ACTIVITY_NONE; /* a worker of the server */
    fill(two, 2);
    assert_int_equal(row_count(), 1);
    assert_int_equal(row_at(0)->id, PID);
    assert_string_equal(row_at(0)->name, "(gone before SQL saw it)");
    assert_int_equal(source.accounts.count, 2); /* it will not appear, so it is kept */
    assert_int_equal(row_at(0)->flags, ENTITY_NEW | ENTITY_ENDED);
    close_source();
}

/* Hidden from the role, older than camp, or camp's own. */
static void a_session_that_stays_unnamed_is_no_row(void **state)
{
    struct backend_account three[] = { account(9, BACKEND_ENDED), account(PID, 0),
                                       account(PID + 1, BACKEND_OLDER | BACKEND_ENDED) };

    (void)state;
    open_source(POSTGRES_BPF);
    source.registry.snapshot_ns = three[0].begin_ns + 2 * (uint64_t)NS_PER_S;
    three[0].begin_ns = three[2].begin_ns = source.registry.snapshot_ns;
    three[0].time_ns = three[2].time_ns = source.registry.snapshot_ns + 600 * MS;
    fill(three, 3);
    assert_int_equal(row_count(), 0);
    assert_int_equal(source.accounts.count, 3); /* none is kept for later */
    close_source();
}

static void a_reused_pid_is_two_rows(void **state)
{
    struct backend_account two[] = { account(PID, BACKEND_ENDED), account(PID, 0) };

    (void)state;
    open_source(POSTGRES_BPF);
    two[1].start_ns += 100 * MS;
    register_process(PID, wall_us(two[0].start_ns), "client_backend", "bob");
    register_process(PID, wall_us(two[1].start_ns), "client_backend", "eve");
    fill(two, 2);
    assert_int_equal(row_count(), 2);
    assert_string_equal(row_at(0)->name, "bob");
    assert_int_equal(row_at(0)->flags, ENTITY_NEW | ENTITY_ENDED);
    assert_string_equal(row_at(1)->name, "eve");
    close_source();
}

static void background_processes_are_rows_on_request(void **state)
{
    const struct backend_account one = account(PID, BACKEND_OLDER);

    (void)state;
    open_source(POSTGRES_BPF);
    register_process(PID, wall_us(one.start_ns), "walwriter", "");
    fill(&one, 1);
    assert_int_equal(row_count(), 0);
    close_source();
    open_source(POSTGRES_BPF);
    source.background = true;
    register_process(PID, wall_us(one.start_ns), "walwriter", "");
    fill(&one, 1);
    assert_int_equal(row_count(), 1);
    assert_string_equal(row_at(0)->name, "walwriter");
    assert_int_equal(row_at(0)->flags, 0);
    close_source();
}

/* ------------------------------------------------------------------------------- Samples -- */

/* Snapshots by SQL: 300 ms active without an event, then 700 ms in a lock. */
static void sample(int32_t pid, int64_t start_us, bool is_asleep)
{
    struct session_sample sample = {
        pid, start_us, 0, { { "none", "none", "active", "client_backend" } }, is_asleep
    };

    sampled_times_add(&by_sql, START_NS, &sample, 1);
    sampled_times_begin(&by_sql, START_NS);
    sampled_times_add(&by_sql, START_NS + 300 * MS, &sample, 1);
    sample.kind.texts[SESSION_CLASS] = "Lock";
    sample.kind.texts[SESSION_EVENT] = "tuple";
    sampled_times_add(&by_sql, START_NS + 300 * MS, &sample, 1);
    sampled_times_add(&by_sql, START_NS + 1000 * MS, &sample, 1);
    sampled_times_end(&by_sql, START_NS + 1000 * MS);
}

static void the_database_s_report_has_columns_of_its_own(void **state)
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

static void a_remote_session_has_only_the_database_s_report(void **state)
{
    (void)state;
    open_source(POSTGRES_SQL);
    register_process(PID, 5, "client_backend", "bob");
    sample(PID, 5, false);
    assert_int_equal(postgres_rows_of_samples(&source), CAMP_OK);
    assert_int_equal(row_count(), 1);
    assert_int_equal(row_at(0)->id, PID);
    assert_int_equal(row_at(0)->pid, 0); /* a remote pid is no pid here */
    assert_int_equal(value_ms(0, "cpu_ns"), 300);
    assert_int_equal(value_ms(0, "contention_ns"), 700);
    assert_int_equal(frame_unaccounted_ns(&source.sessions.frame, 0), 0);
    close_source();
}

/* This process, which has run a little: the rows of a tier from its samples. */
static void fill_samples(enum postgres_tier tier, bool is_asleep)
{
    open_source(tier);
    register_process(getpid(), 5, "client_backend", "bob");
    sample(getpid(), 5, is_asleep);
    if (tier == POSTGRES_MEMORY)
        source.memory_samples.times = by_sql;
    source.registry.processes[0].clock.cpu_ns = 0; /* so that there is a difference */
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

static void samples_divide_the_time_that_the_scheduler_left(void **state)
{
    (void)state;
    fill_samples(POSTGRES_MEMORY, true);
    assert_in_range(value_ms(0, "contention_ns"), left_ms() * 7 / 10 - 1, left_ms() * 7 / 10 + 1);
    assert_in_range(value_ms(0, "wait_without_event_ns"), left_ms() * 3 / 10 - 1,
                    left_ms() * 3 / 10 + 1);
    assert_in_range(frame_unaccounted_ns(&source.sessions.frame, 0), 0, 10);
    assert_int_equal(value_ms(0, "sampled_asleep_ns"), 1000); /* unchanged */
    assert_int_equal(value_ms(0, "reported_contention_ns"), 700);
    close_source();
}

/* SQL reported "on a CPU", and the task slept a moment later. */
static void a_late_sleep_is_in_the_waits_of_other_samples(void **state)
{
    (void)state;
    fill_samples(POSTGRES_GATED, true);
    assert_int_equal(value_ms(0, "contention_ns"), left_ms());
    assert_int_equal(value_ms(0, "wait_without_event_ns"), 0);
    assert_int_equal(value_ms(0, "sampled_asleep_ns"), 1000);
    close_source();
}

static void a_session_without_sleeping_samples_has_unaccounted_time(void **state)
{
    (void)state;
    fill_samples(POSTGRES_GATED, false);
    assert_int_equal(value_ms(0, "contention_ns"), 0);
    assert_int_equal(value_ms(0, "sampled_asleep_ns"), 0);
    assert_int_equal(frame_unaccounted_ns(&source.sessions.frame, 0) / MS, left_ms());
    close_source();
}

static void sleep_without_an_event_counts_if_it_is_the_only_one(void **state)
{
    struct session_sample sample = {
        getpid(), 5, 0, { { "none", "none", "active", "client_backend" } }, true
    };

    (void)state;
    open_source(POSTGRES_GATED);
    register_process(getpid(), 5, "client_backend", "bob");
    sampled_times_add(&by_sql, START_NS, &sample, 1);
    sampled_times_begin(&by_sql, START_NS);
    sampled_times_add(&by_sql, START_NS + 1000 * MS, &sample, 1);
    sampled_times_end(&by_sql, START_NS + 1000 * MS);
    assert_int_equal(postgres_rows_of_samples(&source), CAMP_OK);
    assert_int_equal(value_ms(0, "wait_without_event_ns"), left_ms());
    close_source();
}

/* Snapshots 2 s apart cover half of the time. */
static void time_without_samples_is_not_filled(void **state)
{
    struct session_sample sample = {
        getpid(), 5, 0, { { "Lock", "tuple", "active", "client_backend" } }, true
    };

    (void)state;
    open_source(POSTGRES_GATED);
    register_process(getpid(), 5, "client_backend", "bob");
    sampled_times_add(&by_sql, START_NS, &sample, 1);
    sampled_times_begin(&by_sql, START_NS);
    sampled_times_add(&by_sql, START_NS + 2000 * MS, &sample, 1);
    sampled_times_end(&by_sql, START_NS + 2000 * MS);
    assert_int_equal(postgres_rows_of_samples(&source), CAMP_OK);
    assert_in_range(value_ms(0, "contention_ns"), left_ms() / 2 - 1, left_ms() / 2);
    assert_in_range(frame_unaccounted_ns(&source.sessions.frame, 0) / MS, left_ms() / 2 - 1,
                    left_ms() / 2 + 1);
    close_source();
}

static void a_session_that_ended_before_its_clock_was_read_is_partial(void **state)
{
    (void)state;
    open_source(POSTGRES_GATED);
    register_process(getpid(), 5, "client_backend", "bob");
    source.registry.processes[0].task.start++; /* another process had its pid */
    source.registry.processes[0].start_ns = START_NS + 1;
    sample(getpid(), 5, true);
    assert_int_equal(postgres_rows_of_samples(&source), CAMP_OK);
    assert_int_equal(row_count(), 1);
    assert_int_equal(source.sessions.frame.losses.partial, 1);
    assert_int_equal(value_ms(0, "cpu_ns"), 0);
    close_source();
}

/* A session that started while SQL did not answer has run before the interval. */
static void time_run_before_the_interval_is_left_out(void **state)
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
    assert_true(source.registry.processes[0].clock.time_ns > 0); /* known in the next interval */
    close_source();
}

static void a_session_without_a_row_is_no_loss(void **state)
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_account_is_a_row_with_its_name),
        cmocka_unit_test(an_unnamed_session_is_accounted_later_and_whole),
        cmocka_unit_test(an_unnamed_client_that_ended_is_a_row),
        cmocka_unit_test(a_session_that_stays_unnamed_is_no_row),
        cmocka_unit_test(a_reused_pid_is_two_rows),
        cmocka_unit_test(background_processes_are_rows_on_request),
        cmocka_unit_test(the_database_s_report_has_columns_of_its_own),
        cmocka_unit_test(a_remote_session_has_only_the_database_s_report),
        cmocka_unit_test(samples_divide_the_time_that_the_scheduler_left),
        cmocka_unit_test(a_late_sleep_is_in_the_waits_of_other_samples),
        cmocka_unit_test(a_session_without_sleeping_samples_has_unaccounted_time),
        cmocka_unit_test(sleep_without_an_event_counts_if_it_is_the_only_one),
        cmocka_unit_test(time_without_samples_is_not_filled),
        cmocka_unit_test(a_session_that_ended_before_its_clock_was_read_is_partial),
        cmocka_unit_test(time_run_before_the_interval_is_left_out),
        cmocka_unit_test(a_session_without_a_row_is_no_loss),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
