/* What a session makes of the records that the programs in the kernel write. */
#include "../fake_session.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>
#include <pthread.h>

#define THREADS_MOST 200 /* their records do not fit in one buffer */
/* Later than the start of the snapshot that has the record, as in records of the kernel. */
#define LATER_NS (UINT64_C(1) << 62)

static struct camp_states session;
static struct camp_thread_states threads[THREADS_MOST];

static struct camp_thread_states thread_of(int32_t tid, uint32_t state, uint64_t time_ns)
{
    return (struct camp_thread_states){ .tid = tid,
                                        .pid = tid,
                                        .state = state,
                                        .count = 1,
                                        .name = "made-up",
                                        .begin_ns = 1000,
                                        .time_ns = time_ns };
}

static int open_session(void **state)
{
    (void)state;
    open_fake_session(&session);
    return 0;
}

static int release_session(void **state)
{
    (void)state;
    release_fake_session(&session);
    return 0;
}

static int read_threads(const void *records, size_t length, size_t *ret_count,
                        struct camp_error *error)
{
    fake_snapshot = records;
    fake_snapshot_length = length;
    return camp_states_threads(&session, threads, sizeof *threads, THREADS_MOST, ret_count, error);
}

static void a_snapshot_of_several_buffers_has_all_threads(void **state)
{
    static struct camp_thread_states records[THREADS_MOST];
    size_t count;

    (void)state;
    for (int32_t i = 0; i < THREADS_MOST; i++)
        records[i] = thread_of(i + 1, CAMP_STATE_USER, 2000);
    assert_int_equal(read_threads(records, sizeof records, &count, NULL), CAMP_OK);
    assert_int_equal(count, THREADS_MOST);
    assert_memory_equal(threads, records, sizeof records);
}

static void threads_out_of_order_are_sorted(void **state)
{
    const struct camp_thread_states records[] = { thread_of(3, CAMP_STATE_USER, 2000),
                                                  thread_of(1, CAMP_STATE_USER, 2000),
                                                  thread_of(2, CAMP_STATE_USER, 2000) };
    size_t count;

    (void)state;
    assert_int_equal(read_threads(records, sizeof records, &count, NULL), CAMP_OK);
    assert_int_equal(count, 3);
    for (int32_t i = 0; i < 3; i++)
        assert_int_equal(threads[i].tid, i + 1);
}

static void a_short_record_changes_the_parent_and_charges_the_time(void **state)
{
    const struct camp_thread_states record = thread_of(7, CAMP_STATE_POLL, LATER_NS);
    const struct unchanged_thread unchanged = {
        .tid = -7, .parent = 5, .time_ns = LATER_NS + 500, .name = "renamed"
    };
    size_t count;

    (void)state;
    assert_int_equal(read_threads(&record, sizeof record, &count, NULL), CAMP_OK);
    assert_int_equal(read_threads(&unchanged, sizeof unchanged, &count, NULL), CAMP_OK);
    assert_int_equal(count, 1);
    assert_int_equal(threads[0].parent, 5);
    assert_string_equal(threads[0].name, "renamed");
    assert_int_equal(threads[0].state_ns[CAMP_STATE_POLL], 500);
}

static void reject_record(const void *record, size_t length)
{
    const struct camp_thread_states before = thread_of(7, CAMP_STATE_POLL, 2000);
    struct camp_error error = { 0 };
    size_t count;

    assert_int_equal(read_threads(&before, sizeof before, &count, NULL), CAMP_OK);
    assert_int_equal(read_threads(record, length, &count, &error), CAMP_E_FORMAT);
    assert_non_null(strstr(error.message, "damaged record of a thread"));
    assert_int_equal(read_threads(&before, sizeof before, &count, NULL), CAMP_OK);
    assert_int_equal(count, 1);
}

static void a_record_with_an_unknown_state_is_rejected(void **state)
{
    const struct camp_thread_states record = thread_of(9, CAMP_STATE_COUNT, 2000);

    (void)state;
    reject_record(&record, sizeof record);
}

static void a_record_whose_name_does_not_end_is_rejected(void **state)
{
    struct camp_thread_states record = thread_of(9, CAMP_STATE_USER, 2000);
    struct unchanged_thread unchanged = { .tid = -7 };

    (void)state;
    memset(record.name, 'x', sizeof record.name);
    reject_record(&record, sizeof record);
    memset(unchanged.name, 'x', sizeof unchanged.name);
    reject_record(&unchanged, sizeof unchanged);
}

static void a_short_record_without_a_tid_is_rejected(void **state)
{
    const struct unchanged_thread unchanged = { .tid = INT32_MIN };

    (void)state;
    reject_record(&unchanged, sizeof unchanged);
}

static void a_record_that_is_cut_short_is_rejected(void **state)
{
    const struct camp_thread_states record = thread_of(9, CAMP_STATE_USER, 2000);

    (void)state;
    reject_record(&record, sizeof record - 1);
}

static void an_exit_with_an_unknown_state_is_rejected(void **state)
{
    const struct camp_thread_states records[] = { thread_of(9, 77, 2000),
                                                  thread_of(10, CAMP_STATE_USER, 2000) };
    struct camp_error error = { 0 };
    size_t count;

    (void)state;
    for (size_t i = 0; i < 2; i++)
        fake_exits[fake_exit_count++] = (struct fake_exit){ &records[i], sizeof records[i] };
    assert_int_equal(
        camp_states_exits(&session, threads, sizeof *threads, THREADS_MOST, &count, &error),
        CAMP_E_FORMAT);
    assert_non_null(strstr(error.message, "damaged record of a thread"));
    assert_int_equal(
        camp_states_exits(&session, threads, sizeof *threads, THREADS_MOST, &count, &error),
        CAMP_OK);
    assert_int_equal(count, 1);
    assert_int_equal(threads[0].tid, 10);
}

/* The kernel's part: a thread that began to exit leaves its CPU after a while. */
static void *leave(void *phase)
{
    usleep(5000);
    __atomic_sub_fetch(&fake_bss.exiting[*(const uint32_t *)phase], 1, __ATOMIC_SEQ_CST);
    return NULL;
}

static void exits_of_the_phase_before_are_awaited_and_later_ones_are_not(void **state)
{
    const uint32_t phase = fake_bss.exits_phase = 1;
    pthread_t thread;
    uint64_t left;

    (void)state;
    fake_bss.exiting[1] = 1;
    assert_int_equal(camp_states_await_exits(&session, 2000000, &left, NULL), CAMP_OK);
    assert_int_equal(left, 1);
    assert_int_equal(fake_bss.exits_phase, 0);
    fake_bss.exits_phase = 1;
    assert_int_equal(pthread_create(&thread, NULL, leave, (void *)&phase), 0);
    fake_bss.exiting[0] = 7;
    assert_int_equal(camp_states_await_exits(&session, UINT64_MAX, &left, NULL), CAMP_OK);
    assert_int_equal(left, 0);
    pthread_join(thread, NULL);
    fake_bss.exiting[0] = 0;
}

static void a_cpu_with_a_number_above_1023_is_reported(void **state)
{
    struct camp_states_losses losses;
    struct camp_cpu_states cpus[2];
    size_t count;

    (void)state;
    fake_cpus[FAKE_CPUS - 1] = (struct cpu_account){ .begin_ns = 1, .switches = 5, .lost = 2 };
    assert_int_equal(camp_states_cpus(&session, cpus, sizeof *cpus, 2, &count, NULL), CAMP_OK);
    assert_int_equal(count, 1);
    assert_int_equal(cpus[0].cpu, FAKE_CPUS - 1);
    assert_int_equal(camp_states_losses(&session, &losses, sizeof losses, NULL), CAMP_OK);
    assert_int_equal(losses.switches, 5);
    assert_int_equal(losses.lost, 2);
}

/* A session gives each CPU and the losses the masks of what it knows. */
static void only_what_the_session_knows_has_its_bit(void **state)
{
    struct camp_states_known known;
    struct camp_states_losses losses;
    struct camp_cpu_states cpu;
    size_t count;

    (void)state;
    session.knows =
        (struct camp_states_known){ .cpu = CAMP_CPU_STATES_IRQ, .losses = CAMP_STATES_LOSSES_LOST };
    fake_cpus[0] = (struct cpu_account){ .begin_ns = 1 };
    assert_int_equal(camp_states_cpus(&session, &cpu, sizeof cpu, 1, &count, NULL), CAMP_OK);
    assert_int_equal(cpu.known, CAMP_CPU_STATES_IRQ);
    assert_int_equal(camp_states_losses(&session, &losses, sizeof losses, NULL), CAMP_OK);
    assert_int_equal(losses.known, CAMP_STATES_LOSSES_LOST);
    assert_int_equal(camp_states_known(&session, &known, sizeof known, NULL), CAMP_OK);
    assert_memory_equal(&known, &session.knows, sizeof known);
}

static void the_message_names_the_argument_that_is_null(void **state)
{
    struct camp_states_known known;
    struct camp_error error;
    size_t count;

    (void)state;
    assert_int_equal(camp_states_known(NULL, &known, sizeof known, &error), CAMP_E_INVALID);
    assert_non_null(strstr(error.message, "the argument session must not be NULL"));
    assert_int_equal(camp_states_known(&session, NULL, 0, &error), CAMP_E_INVALID);
    assert_non_null(strstr(error.message, "the argument ret must not be NULL"));
    assert_int_equal(camp_states_cpus(&session, NULL, 0, 0, NULL, &error), CAMP_E_INVALID);
    assert_non_null(strstr(error.message, "the argument ret_count must not be NULL"));
    assert_int_equal(camp_states_threads(&session, NULL, 0, 1, &count, &error), CAMP_E_INVALID);
    assert_non_null(strstr(error.message, "the argument ret must not be NULL"));
    assert_int_equal(camp_states_await_exits(&session, 0, NULL, &error), CAMP_E_INVALID);
    assert_non_null(strstr(error.message, "the argument ret_left must not be NULL"));
    assert_int_equal(camp_states_visit(&session, NULL, 0, &error), CAMP_E_INVALID);
    assert_non_null(strstr(error.message, "the argument visitor must not be NULL"));
}

static void the_device_of_a_wait_for_input_of_another_thread_is_unknown(void **state)
{
    const struct disk_wait_key keys[] = { { 5, 10, 8u << 20 | 1 }, { 5, 11, 0 } };
    const struct disk_wait wait = { .pid = 10, .name = "reader" };
    struct camp_disk_wait waits[2];
    struct camp_error error;
    size_t count;

    (void)state;
    for (size_t i = 0; i < 2; i++) {
        memcpy(FAKE_DISK_WAITS->keys[i], &keys[i], sizeof keys[i]);
        memcpy(FAKE_DISK_WAITS->values[i], &wait, sizeof wait);
    }
    FAKE_DISK_WAITS->count = 2;
    assert_int_equal(camp_states_disk_waits(&session, waits, sizeof *waits, 2, &count, NULL),
                     CAMP_OK);
    assert_int_equal(waits[0].known, CAMP_DISK_WAIT_DEVICE);
    assert_int_equal(waits[0].major, 8);
    assert_int_equal(waits[1].known, 0);
    session.has_disks = false;
    assert_int_equal(camp_states_disk_waits(&session, waits, sizeof *waits, 2, &count, &error),
                     CAMP_E_INVALID);
    assert_non_null(strstr(error.message, "CAMP_STATES_DISKS"));
}

static void see(void *context, const struct camp_thread_states *before,
                const struct camp_thread_states *now, uint32_t *note)
{
    (void)before;
    (void)now;
    (void)note;
    ++*(size_t *)context;
}

static void wait_on(void *context, const struct camp_states_wait *wait)
{
    (void)context;
    (void)wait;
}

static void end(void *context, const struct camp_thread_states *before,
                const struct camp_thread_states *last, uint32_t note)
{
    (void)context;
    (void)before;
    (void)last;
    (void)note;
}

static void miss(void *context, const struct camp_thread_states *before, uint32_t note)
{
    (void)context;
    (void)before;
    (void)note;
}

static void note_time(void *context, uint64_t time_ns)
{
    *(uint64_t *)context = time_ns;
}

static void a_visitor_without_a_function_for_each_wait_gets_the_end_of_all_waits(void **state)
{
    struct camp_thread_states record = thread_of(9, CAMP_STATE_TIMER, 2000);
    static const int32_t idle = -9;
    uint64_t end_ns = 0;
    const struct camp_states_visitor brief = { &end_ns, see, NULL, end, miss, note_time };

    (void)state;
    fake_snapshot = &record;
    fake_snapshot_length = sizeof record;
    assert_int_equal(camp_states_visit(&session, &brief, sizeof brief, NULL), CAMP_OK);
    assert_true(end_ns > 2000);
    fake_snapshot = &idle;
    fake_snapshot_length = sizeof idle;
    end_ns = 0;
    session.lists_changes = true; /* else the snapshot also has its name, parent and group */
    session.known_whole = false;  /* after more changes than the list has space for */
    assert_int_equal(camp_states_visit(&session, &brief, sizeof brief, NULL), CAMP_OK);
    session.lists_changes = false;
    assert_true(fake_bss.snapshot_brief);
    assert_int_equal(session.known_count, 1);
    assert_int_equal(session.known[0].time_ns, end_ns);
    fake_exits[fake_exit_count++] = (struct fake_exit){ &record, sizeof record };
    assert_int_equal(camp_states_visit_exits(&session, &brief, sizeof brief, NULL), CAMP_OK);
    assert_true(session.known[0].has_ended);
    assert_int_equal(session.known[0].time_ns, end_ns);
}

static struct camp_states_wait last_wait;
static struct camp_thread_states waiting;

static void note_wait(void *context, const struct camp_states_wait *wait)
{
    ++*(size_t *)context;
    last_wait = *wait;
    waiting = *wait->thread;
}

static void a_wait_has_the_parent_and_name_of_now_and_starts_at_the_end_of_the_last(void **state)
{
    const struct camp_thread_states record = thread_of(9, CAMP_STATE_TIMER, 2000);
    static const struct unchanged_thread idle = { .tid = -9, .parent = 77, .name = "renamed" };
    size_t calls = 0;
    const struct camp_states_visitor visitor = { &calls, see, note_wait, end, miss, NULL };
    uint64_t end_ns;

    (void)state;
    fake_snapshot = &record;
    fake_snapshot_length = sizeof record;
    assert_int_equal(camp_states_visit(&session, &visitor, sizeof visitor, NULL), CAMP_OK);
    assert_int_equal(calls, 1);
    end_ns = session.idle_until_ns; /* The record is older than its snapshot. */
    fake_snapshot = &idle;
    fake_snapshot_length = sizeof idle;
    for (size_t i = 2; i <= 3; i++) {
        assert_int_equal(camp_states_visit(&session, &visitor, sizeof visitor, NULL), CAMP_OK);
        assert_int_equal(calls, i);
        assert_int_equal(waiting.parent, 77);
        assert_string_equal(waiting.name, "renamed");
        assert_int_equal(waiting.time_ns, end_ns);
        end_ns += last_wait.elapsed_ns;
        assert_true(last_wait.elapsed_ns > 0);
        assert_int_equal(session.known[0].time_ns, end_ns);
    }
}

static void a_visitor_that_lacks_a_function_is_refused(void **state)
{
    const struct camp_thread_states record = thread_of(9, CAMP_STATE_USER, 2000);
    size_t seen = 0;
    const struct camp_states_visitor whole = { &seen, see, wait_on, end, miss, NULL };
    const struct camp_states_visitor no_waits = { &seen, see, NULL, end, miss, NULL };

    (void)state;
    fake_snapshot = &record;
    fake_snapshot_length = sizeof record;
    assert_int_equal(
        camp_states_visit(&session, &whole, offsetof(struct camp_states_visitor, missed), NULL),
        CAMP_E_INVALID);
    assert_int_equal(seen, 0);
    assert_int_equal(camp_states_visit(&session, &no_waits, sizeof no_waits, NULL), CAMP_E_INVALID);
    assert_int_equal(camp_states_visit_exits(&session, &no_waits, sizeof no_waits, NULL),
                     CAMP_E_INVALID);
    assert_int_equal(camp_states_visit(&session, &whole, sizeof whole, NULL), CAMP_OK);
    assert_int_equal(seen, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, open_session, release_session)
        TEST(a_snapshot_of_several_buffers_has_all_threads),
        TEST(threads_out_of_order_are_sorted),
        TEST(a_short_record_changes_the_parent_and_charges_the_time),
        TEST(a_record_with_an_unknown_state_is_rejected),
        TEST(a_record_whose_name_does_not_end_is_rejected),
        TEST(a_short_record_without_a_tid_is_rejected),
        TEST(a_record_that_is_cut_short_is_rejected),
        TEST(an_exit_with_an_unknown_state_is_rejected),
        TEST(exits_of_the_phase_before_are_awaited_and_later_ones_are_not),
        TEST(a_cpu_with_a_number_above_1023_is_reported),
        TEST(only_what_the_session_knows_has_its_bit),
        TEST(the_device_of_a_wait_for_input_of_another_thread_is_unknown),
        TEST(the_message_names_the_argument_that_is_null),
        TEST(a_visitor_that_lacks_a_function_is_refused),
        TEST(a_visitor_without_a_function_for_each_wait_gets_the_end_of_all_waits),
        TEST(a_wait_has_the_parent_and_name_of_now_and_starts_at_the_end_of_the_last),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
