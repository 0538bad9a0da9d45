/* Microstates of illumos, from a /proc that the test makes. */
#include "fake_kstat.h"
#include "fake_proc.h"

#include "microstates/illumos/lusage.h"
#include "microstates/illumos/session.h"

#include "counters/platform.h"

#define S INT64_C(1000000000)
#define EARLY S /* a start before any session of this test */
#define THREADS_MAX 8

/* The accounts of a thread: multiples of `unit`, which add up to its elapsed time. */
static prusage_t usage_of(int32_t tid, int64_t start, int64_t unit)
{
    return (prusage_t){
        .pr_lwpid = tid,
        .pr_count = 1,
        .pr_create = time_of_ns(start),
        .pr_tstamp = time_of_ns(start + 55 * unit),
        .pr_rtime = time_of_ns(55 * unit),
        .pr_utime = time_of_ns(1 * unit),
        .pr_stime = time_of_ns(2 * unit),
        .pr_ttime = time_of_ns(3 * unit),
        .pr_tftime = time_of_ns(4 * unit),
        .pr_dftime = time_of_ns(5 * unit),
        .pr_kftime = time_of_ns(6 * unit),
        .pr_ltime = time_of_ns(7 * unit),
        .pr_slptime = time_of_ns(8 * unit),
        .pr_wtime = time_of_ns(9 * unit),
        .pr_stoptime = time_of_ns(10 * unit),
        .pr_sysc = (unsigned long)unit,
        .pr_vctx = (unsigned long)(2 * unit),
    };
}

/* Writes psinfo, and lusage with `exited` and the threads. entry_more bytes follow each entry, as
 * in a later system. */
static void write_process(int32_t pid, int64_t start, const prusage_t *exited,
                          const prusage_t *threads, size_t count, size_t entry_more)
{
    static char file[sizeof(prheader_t) + (THREADS_MAX + 1) * (sizeof(prusage_t) + 64)];
    const prheader_t header = { (long)count + 1, (long)(sizeof(prusage_t) + entry_more) };
    const size_t entry = sizeof(prusage_t) + entry_more;
    psinfo_t psinfo = fake_psinfo(pid, "server", start);
    char name[64];

    psinfo.pr_nlwp = (int)count;
    psinfo.pr_size = 100;
    psinfo.pr_euid = 77;
    write_psinfo(&psinfo);
    memset(file, 0xff, sizeof file);
    memcpy(file, &header, sizeof header);
    memcpy(file + sizeof header, exited, sizeof *exited);
    for (size_t i = 0; i < count; i++)
        memcpy(file + sizeof header + (i + 1) * entry, &threads[i], sizeof threads[i]);
    snprintf(name, sizeof name, "%d/lusage", pid);
    write_fake(name, file, sizeof header + (count + 1) * entry);
}

static const prusage_t none_exited;

static struct camp_states *open_session(void)
{
    struct camp_states *session = NULL;
    struct camp_error error;

    if (session_open(&session, fake_folder, 0, &error) != CAMP_OK)
        fail_msg("%s", error.message);
    return session;
}

static size_t read_threads(struct camp_states *session, struct camp_thread_states *ret)
{
    size_t count;

    assert_int_equal(camp_states_threads(session, ret, sizeof *ret, THREADS_MAX, &count, NULL),
                     CAMP_OK);
    return count;
}

static uint64_t sum_of_states(const struct camp_thread_states *thread)
{
    uint64_t sum = 0;

    for (int i = 0; i < CAMP_STATE_COUNT; i++) {
        sum += thread->state_ns[i];
        if ((thread->known_states >> i & 1u) == 0)
            assert_int_equal(thread->state_ns[i], 0);
    }
    return sum;
}

static void a_new_thread_has_its_whole_life_and_its_states_add_up_to_it(void **state)
{
    const int64_t start = (int64_t)camp_now_ns() + S;
    const prusage_t threads[] = { usage_of(2, start, 1000), usage_of(1, start, 2000) };
    struct camp_thread_states read[THREADS_MAX];
    struct camp_states *session = open_session();
    struct camp_states_known known;

    (void)state;
    write_process(70, start, &none_exited, threads, 2, 0);
    assert_int_equal(read_threads(session, read), 2);
    assert_int_equal(camp_states_known(session, &known, sizeof known, NULL), CAMP_OK);
    assert_int_equal(read[0].known_states, known.states);
    assert_int_equal(read[0].known, known.thread);
    assert_int_equal(read[0].tid, 1);
    assert_int_equal(read[0].pid, 70);
    assert_int_equal(read[0].flags, 0);
    assert_int_equal(read[0].uid, 77);
    assert_int_equal(read[0].processes, 1);
    assert_int_equal(read[1].processes, 0);
    assert_string_equal(read[0].name, "server");
    assert_int_equal(read[0].start_ns, start);
    assert_int_equal(read[0].begin_ns, start);
    assert_int_equal(read[0].time_ns - read[0].begin_ns, 55 * 2000);
    assert_int_equal(sum_of_states(&read[0]), 55 * 2000);
    assert_int_equal(read[1].state_ns[CAMP_STATE_USER], 1000);
    assert_int_equal(read[1].state_ns[CAMP_STATE_SYSTEM], 2000);
    assert_int_equal(read[1].state_ns[CAMP_STATE_TRAP], 3000);
    assert_int_equal(read[1].state_ns[CAMP_STATE_TEXT_FAULT], 4000);
    assert_int_equal(read[1].state_ns[CAMP_STATE_DATA_FAULT], 5000);
    assert_int_equal(read[1].state_ns[CAMP_STATE_KERNEL_FAULT], 6000);
    assert_int_equal(read[1].state_ns[CAMP_STATE_LOCK], 7000);
    assert_int_equal(read[1].state_ns[CAMP_STATE_SLEEP], 8000);
    assert_int_equal(read[1].state_ns[CAMP_STATE_RUN_QUEUE], 9000);
    assert_int_equal(read[1].state_ns[CAMP_STATE_STOPPED], 10000);
    assert_int_equal(read[1].cpu_ns, 6000);
    assert_int_equal(read[1].run_delay_ns, 9000);
    assert_int_equal(read[1].known & (CAMP_THREAD_STATES_STATE | CAMP_THREAD_STATES_CGROUP |
                                      CAMP_THREAD_STATES_READ_BYTES | CAMP_THREAD_STATES_SAMPLED),
                     0);
    camp_states_close(session);
}

static void what_an_older_thread_did_before_the_session_is_not_shown(void **state)
{
    prusage_t thread = usage_of(1, EARLY, 1000);
    struct camp_thread_states read[THREADS_MAX];
    struct camp_states *session;

    (void)state;
    write_process(70, EARLY, &none_exited, &thread, 1, 0);
    session = open_session();
    thread = usage_of(1, EARLY, 1500);
    write_process(70, EARLY, &none_exited, &thread, 1, 0);
    assert_int_equal(read_threads(session, read), 1);
    assert_int_equal(read[0].flags, CAMP_THREAD_OLDER);
    assert_int_equal(read[0].start_ns, EARLY);
    assert_int_equal(read[0].begin_ns, EARLY + 55 * 1000);
    assert_int_equal(sum_of_states(&read[0]), 55 * 500);
    assert_int_equal(read[0].system_calls, 500);
    assert_int_equal(read[0].voluntary_switches, 3000); /* since its start */
    camp_states_close(session);
}

static void time_that_the_states_lack_is_left_and_not_spread_over_them(void **state)
{
    const int64_t start = (int64_t)camp_now_ns() + S;
    prusage_t thread = usage_of(1, start, 1000);
    struct camp_thread_states read[THREADS_MAX];
    struct camp_states *session = open_session();

    (void)state;
    thread.pr_slptime = time_of_ns(8000 - 30);
    write_process(70, start, &none_exited, &thread, 1, 0);
    assert_int_equal(read_threads(session, read), 1);
    assert_int_equal(read[0].time_ns - read[0].begin_ns - sum_of_states(&read[0]), 30);
    camp_states_close(session);
}

/* The sum over exited threads. */
static prusage_t plus(prusage_t sum, prusage_t thread)
{
    timestruc_t *times = &sum.pr_rtime;
    const timestruc_t *others = &thread.pr_rtime;

    for (size_t i = 0; i < 11; i++)
        times[i] = time_of_ns((int64_t)(camp_proc_ns(times[i]) + camp_proc_ns(others[i])));
    sum.pr_count++;
    sum.pr_sysc += thread.pr_sysc;
    sum.pr_vctx += thread.pr_vctx;
    return sum;
}

static void exited_threads_of_a_living_process_come_as_an_exact_total(void **state)
{
    const int64_t start = (int64_t)camp_now_ns() + S;
    const prusage_t living = usage_of(1, EARLY, 1000);
    const prusage_t threads[] = { living, usage_of(2, EARLY, 100) };
    /* Thread 2 goes on for 60 units and exits; thread 3 starts and exits unseen. */
    prusage_t exited = plus(none_exited, usage_of(9, EARLY, 5000));
    struct camp_thread_states read[THREADS_MAX], totals[2];
    struct camp_states_losses losses;
    struct camp_states *session;
    size_t count;

    (void)state;
    write_process(70, EARLY, &exited, threads, 2, 0);
    session = open_session();
    exited = plus(plus(exited, usage_of(2, EARLY, 160)), usage_of(3, start, 7));
    write_process(70, EARLY, &exited, threads, 1, 0);
    assert_int_equal(read_threads(session, read), 1);
    assert_int_equal(camp_states_exits(session, totals, sizeof totals[0], 2, &count, NULL),
                     CAMP_OK);
    assert_int_equal(count, 1);
    assert_int_equal(totals[0].flags, CAMP_THREAD_ENDED | CAMP_THREAD_TOTAL);
    assert_int_equal(totals[0].count, 2);
    assert_int_equal(totals[0].pid, 0);
    assert_int_equal(totals[0].parent, 1);
    assert_string_equal(totals[0].name, "server");
    assert_int_equal(sum_of_states(&totals[0]), 55 * (60 + 7));
    assert_int_equal(totals[0].time_ns - totals[0].begin_ns, 55 * (60 + 7));
    assert_int_equal(totals[0].system_calls, 60 + 7);
    assert_int_equal(totals[0].cpu_ns, 6 * (160 + 7)); /* since their starts */
    assert_int_equal(camp_states_losses(session, &losses, sizeof losses, NULL), CAMP_OK);
    assert_int_equal(losses.exits_added_up, 2);
    assert_int_equal(losses.exits_lost, 0);
    assert_int_equal(losses.known & (CAMP_STATES_LOSSES_SWITCHES | CAMP_STATES_LOSSES_UNSEEN), 0);
    assert_int_equal(camp_states_exits(session, totals, sizeof totals[0], 2, &count, NULL),
                     CAMP_OK);
    assert_int_equal(count, 0);
    camp_states_close(session);
}

static void threads_of_an_exited_process_are_counted_as_lost(void **state)
{
    const prusage_t threads[] = { usage_of(1, EARLY, 1000), usage_of(2, EARLY, 100) };
    struct camp_thread_states read[THREADS_MAX];
    struct camp_states_losses losses;
    struct camp_states *session;

    (void)state;
    write_process(70, EARLY, &none_exited, threads, 2, 0);
    session = open_session();
    remove_fake("70/psinfo");
    assert_int_equal(read_threads(session, read), 0);
    assert_int_equal(camp_states_losses(session, &losses, sizeof losses, NULL), CAMP_OK);
    assert_int_equal(losses.exits_lost, 2);
    camp_states_close(session);
}

static void a_later_process_with_the_same_pid_is_another_one(void **state)
{
    const int64_t start = (int64_t)camp_now_ns() + S;
    const prusage_t earlier = usage_of(1, EARLY, 1000), later = usage_of(1, start, 10);
    struct camp_thread_states read[THREADS_MAX];
    struct camp_states_losses losses;
    struct camp_states *session;

    (void)state;
    write_process(70, EARLY, &none_exited, &earlier, 1, 0);
    session = open_session();
    write_process(70, start, &none_exited, &later, 1, 0);
    assert_int_equal(read_threads(session, read), 1);
    assert_int_equal(sum_of_states(&read[0]), 55 * 10);
    assert_int_equal(camp_states_losses(session, &losses, sizeof losses, NULL), CAMP_OK);
    assert_int_equal(losses.exits_lost, 1);
    camp_states_close(session);
}

struct visits {
    size_t seen, with_before, ended, missed, snapshots;
    uint32_t note;
};

static void count_seen(void *context, const struct camp_thread_states *before,
                       const struct camp_thread_states *now, uint32_t *note)
{
    struct visits *visits = context;

    assert_int_equal(now->pid, 70);
    visits->seen++;
    visits->with_before += before != NULL;
    visits->note = (*note)++;
}

static void count_ended(void *context, const struct camp_thread_states *before,
                        const struct camp_thread_states *last, uint32_t note)
{
    struct visits *visits = context;

    assert_null(before);
    assert_int_equal(note, 0);
    visits->ended += last->count;
}

static void count_missed(void *context, const struct camp_thread_states *before, uint32_t note)
{
    struct visits *visits = context;

    assert_int_equal(before->tid, 2);
    assert_int_equal(note, 1);
    visits->missed++;
}

static void count_idle(void *context, uint64_t time_ns)
{
    ((struct visits *)context)->snapshots += time_ns > 0;
}

static void a_visitor_is_shown_living_missed_and_ended_threads(void **state)
{
    const prusage_t threads[] = { usage_of(1, EARLY, 1000), usage_of(2, EARLY, 100) };
    const prusage_t exited = plus(none_exited, usage_of(2, EARLY, 160));
    struct visits visits = { 0 };
    const struct camp_states_visitor visitor = { &visits,     count_seen,   NULL,
                                                 count_ended, count_missed, count_idle };
    struct camp_states *session;

    (void)state;
    write_process(70, EARLY, &none_exited, threads, 2, 0);
    session = open_session();
    assert_int_equal(camp_states_visit(session, &visitor, sizeof visitor, NULL), CAMP_OK);
    assert_int_equal(visits.seen, 2);
    assert_int_equal(visits.with_before, 2);
    write_process(70, EARLY, &exited, threads, 1, 0);
    assert_int_equal(camp_states_visit(session, &visitor, sizeof visitor, NULL), CAMP_OK);
    assert_int_equal(visits.seen, 3);
    assert_int_equal(visits.missed, 1);
    assert_int_equal(visits.ended, 1);
    assert_int_equal(visits.note, 1); /* the note was kept */
    assert_int_equal(camp_states_visit_exits(session, &visitor, sizeof visitor, NULL), CAMP_OK);
    assert_int_equal(visits.seen, 3);
    assert_int_equal(visits.snapshots, 2);
    camp_states_close(session);
}

static void entries_of_a_later_system_may_be_longer(void **state)
{
    const prusage_t threads[] = { usage_of(1, EARLY, 1000), usage_of(2, EARLY, 100) };
    struct camp_thread_states read[THREADS_MAX];
    struct camp_states *session;

    (void)state;
    write_process(70, EARLY, &none_exited, threads, 2, 64);
    session = open_session();
    assert_int_equal(read_threads(session, read), 2);
    assert_int_equal(read[1].tid, 2);
    camp_states_close(session);
}

static void a_file_of_many_threads_is_read_whole(void **state)
{
    const size_t count = 1000;
    const prheader_t header = { (long)count + 1, (long)sizeof(prusage_t) };
    psinfo_t psinfo = fake_psinfo(70, "large", EARLY);
    prusage_t *entries = calloc(count + 1, sizeof *entries);
    char *file = malloc(sizeof header + (count + 1) * sizeof *entries);
    struct camp_states *session;

    (void)state;
    assert_true(entries != NULL && file != NULL);
    for (size_t i = 1; i <= count; i++)
        entries[i] = usage_of((int32_t)(count + 1 - i), EARLY, 1);
    memcpy(file, &header, sizeof header);
    memcpy(file + sizeof header, entries, (count + 1) * sizeof *entries);
    write_psinfo(&psinfo);
    write_fake("70/lusage", file, sizeof header + (count + 1) * sizeof *entries);
    session = open_session();
    assert_int_equal(session->now.thread_count, count);
    assert_int_equal(session->now.threads[0].record.tid, 1);
    assert_int_equal(session->now.threads[999].record.tid, 1000);
    camp_states_close(session);
    free(entries);
    free(file);
}

static void a_damaged_file_is_a_format_error_and_the_session_goes_on(void **state)
{
    const prusage_t thread = usage_of(1, EARLY, 1000);
    struct camp_thread_states read[THREADS_MAX];
    struct camp_states *session;
    const prheader_t header = { 5, (long)sizeof(prusage_t) };
    struct camp_error error;
    size_t count;

    (void)state;
    write_process(70, EARLY, &none_exited, &thread, 1, 0);
    session = open_session();
    write_fake("70/lusage", &header, sizeof header);
    assert_int_equal(
        camp_states_threads(session, read, sizeof read[0], THREADS_MAX, &count, &error),
        CAMP_E_FORMAT);
    assert_non_null(strstr(error.message, "70/lusage"));
    write_process(70, EARLY, &none_exited, &thread, 1, 0);
    assert_int_equal(read_threads(session, read), 1);
    camp_states_close(session);
}

static size_t add_cpu(uint64_t user, uint64_t kernel, uint64_t idle, hrtime_t time)
{
    size_t cpu = fake_add("cpu", 4, "sys", "misc", KSTAT_TYPE_NAMED, time);

    fake_u64(cpu, "cpu_nsec_user", user);
    fake_u64(cpu, "cpu_nsec_kernel", kernel);
    fake_u64(cpu, "cpu_nsec_idle", idle);
    return cpu;
}

static void a_cpu_is_busy_in_user_and_system_time_since_the_session_was_opened(void **state)
{
    struct camp_cpu_states cpus[2];
    struct camp_states *session;
    size_t count, cpu = add_cpu(100, 200, 300, 1000);

    (void)state;
    session = open_session();
    fake_remove(cpu);
    add_cpu(110, 230, 360, 1100);
    assert_int_equal(camp_states_cpus(session, cpus, sizeof cpus[0], 2, &count, NULL), CAMP_OK);
    assert_int_equal(count, 1);
    assert_int_equal(cpus[0].cpu, 4);
    assert_int_equal(cpus[0].known, CAMP_CPU_STATES_SYSTEM);
    assert_int_equal(cpus[0].busy_ns, 40);
    assert_int_equal(cpus[0].system_ns, 30);
    assert_int_equal(cpus[0].idle_ns, 60);
    assert_int_equal(cpus[0].time_ns - cpus[0].begin_ns, 100);
    camp_states_close(session);
}

static int make(void **state)
{
    fake_reset();
    return make_fake_proc(state);
}

int main(void)
{
#define TEST(function) cmocka_unit_test_setup_teardown(function, make, remove_fake_proc)
    const struct CMUnitTest tests[] = {
        TEST(a_new_thread_has_its_whole_life_and_its_states_add_up_to_it),
        TEST(what_an_older_thread_did_before_the_session_is_not_shown),
        TEST(time_that_the_states_lack_is_left_and_not_spread_over_them),
        TEST(exited_threads_of_a_living_process_come_as_an_exact_total),
        TEST(threads_of_an_exited_process_are_counted_as_lost),
        TEST(a_later_process_with_the_same_pid_is_another_one),
        TEST(a_visitor_is_shown_living_missed_and_ended_threads),
        TEST(entries_of_a_later_system_may_be_longer),
        TEST(a_file_of_many_threads_is_read_whole),
        TEST(a_damaged_file_is_a_format_error_and_the_session_goes_on),
        TEST(a_cpu_is_busy_in_user_and_system_time_since_the_session_was_opened),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
