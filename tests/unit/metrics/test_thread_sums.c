/* Tests that each nanosecond of a thread is accounted once, also if the thread exits, gets another
 * tid, or is missing in some snapshots. */
#include "metrics/thread_sums.h"

#include "../tree.h"

static struct thread_sums sums;
static struct camp_states_visitor visitor;
static uint64_t now;

#define SNAPSHOT_NS 100

static struct camp_thread_states thread_of(int32_t tid, int32_t pid, const char *name,
                                           uint64_t begin)
{
    struct camp_thread_states thread = {
        .tid = tid, .pid = pid, .parent = 1, .count = 1, .begin_ns = begin, .time_ns = begin
    };

    snprintf(thread.name, sizeof thread.name, "%s", name);
    thread.state = CAMP_STATE_TIMER;
    return thread;
}

/* Returns a later reading of a thread: `user` ns of CPU time and `asleep` ns of sleep are added. */
static struct camp_thread_states after(struct camp_thread_states thread, uint64_t user,
                                       uint64_t asleep)
{
    thread.state_ns[CAMP_STATE_USER] += user;
    thread.state_ns[CAMP_STATE_TIMER] += asleep;
    thread.cpu_ns += user;
    thread.time_ns += user + asleep;
    return thread;
}

static void open_sums(enum group_key key, const struct workloads *rules)
{
    struct members members;

    assert_int_equal(members_init(&members, key, rules, LABEL_CONTAINER, NULL), CAMP_OK);
    assert_int_equal(thread_sums_init(&sums, &members, 8, 20), CAMP_OK);
    visitor = thread_sums_visitor(&sums);
    sums.snapshot_ns = 0;
    now = 0;
}

static void start_snapshot(void)
{
    now += 1000;
    thread_sums_start(&sums, now, false);
}

static void finish_snapshot(void)
{
    assert_int_equal(thread_sums_finish(&sums), CAMP_OK);
    sums.snapshot_ns = now + SNAPSHOT_NS;
}

static void see(const struct camp_thread_states *before, const struct camp_thread_states *thread,
                uint32_t *note)
{
    visitor.seen(visitor.context, before, thread, note);
}

static uint64_t total(void)
{
    uint64_t sum = 0;

    for (int i = 0; i < CAMP_STATE_COUNT; i++)
        sum += sums.top.total[i];
    return sum;
}

static uint64_t group_total(const char *name)
{
    uint64_t sum = 0;

    for (size_t i = 0; i < sums.top.count; i++) {
        const struct top_k_group *group = &sums.top.groups[i];

        for (int k = 0;
             group->shown != NULL && strcmp(group->name, name) == 0 && k < CAMP_STATE_COUNT; k++)
            sum += group->shown[k];
    }
    return sum;
}

static void a_thread_is_accounted_between_snapshots_and_until_its_exit(void **state)
{
    const struct camp_thread_states a = thread_of(10, 10, "a", 100);
    const struct camp_thread_states b = after(a, 300, 600), c = after(b, 50, 50);
    struct camp_states_wait wait = { .thread = &b, .elapsed_ns = 900, .state = CAMP_STATE_TIMER };
    uint32_t note = 0;

    (void)state;
    open_sums(GROUP_NAME, NULL);
    start_snapshot();
    see(NULL, &b, &note);
    finish_snapshot();
    assert_int_equal(total(), 900);
    wait.note = &note;
    start_snapshot();
    visitor.waited(visitor.context, &wait);
    finish_snapshot();
    assert_int_equal(total(), 1800);
    start_snapshot();
    visitor.ended(visitor.context, &b, &c, note);
    finish_snapshot();
    assert_int_equal(total(), 1900);
    assert_int_equal(group_total("a"), 1900);
    assert_int_equal(sums.top.total[SUM_MEASURED], 350);
    thread_sums_release(&sums);
}

static void a_thread_that_starts_and_exits_between_two_snapshots_is_accounted_once(void **state)
{
    struct camp_thread_states brief = after(thread_of(20, 20, "brief", 1500), 7, 3);

    (void)state;
    open_sums(GROUP_NAME, NULL);
    start_snapshot();
    finish_snapshot();
    start_snapshot();
    brief.flags |= CAMP_THREAD_ENDED;
    visitor.ended(visitor.context, NULL, &brief, 0);
    finish_snapshot();
    assert_int_equal(group_total("brief"), 10);
    assert_int_equal(sums.pending.count, 0);
    thread_sums_release(&sums);
}

/* The final reading arrives with a later snapshot than the snapshot that lacks the thread. */
static void a_final_reading_adds_only_the_time_not_yet_accounted(void **state)
{
    const struct camp_thread_states a = after(thread_of(10, 10, "a", 100), 400, 500);
    struct camp_thread_states last = after(a, 20, 30);
    uint32_t note = 0;

    (void)state;
    open_sums(GROUP_NAME, NULL);
    start_snapshot();
    see(NULL, &a, &note);
    finish_snapshot();
    start_snapshot();
    visitor.missed(visitor.context, &a, 0);
    finish_snapshot();
    start_snapshot();
    last.flags |= CAMP_THREAD_ENDED;
    visitor.ended(visitor.context, NULL, &last, 0);
    finish_snapshot();
    assert_int_equal(total(), 950);
    assert_int_equal(sums.pending.count, 0);
    thread_sums_release(&sums);
}

/* If a thread other than the first thread calls exec(2), it gets the tid of the first thread. */
static void a_thread_that_gets_another_tid_by_exec_is_accounted_once(void **state)
{
    const struct camp_thread_states first = after(thread_of(10, 10, "a", 100), 0, 900);
    const struct camp_thread_states other = after(thread_of(12, 10, "a", 200), 300, 500);
    struct camp_thread_states later = after(other, 40, 60), last = after(first, 1, 2);
    uint32_t notes[2] = { 0 }, fresh = 0;

    (void)state;
    open_sums(GROUP_NAME, NULL);
    start_snapshot();
    see(NULL, &first, &notes[0]);
    see(NULL, &other, &notes[1]);
    finish_snapshot();
    assert_int_equal(total(), 1700);
    start_snapshot();
    last.tid = 12;
    last.flags |= CAMP_THREAD_ENDED;
    visitor.ended(visitor.context, NULL, &last, 0);
    later.tid = 10;
    snprintf(later.name, sizeof later.name, "new");
    visitor.missed(visitor.context, &first, 0);
    see(NULL, &later, &fresh);
    visitor.missed(visitor.context, &other, 0);
    finish_snapshot();
    assert_int_equal(total(), 1803);
    assert_int_equal(group_total("new"), 100);
    thread_sums_release(&sums);
}

/* The thread starts after the start of a snapshot, but is contained in this snapshot. */
static void
a_thread_that_started_during_a_snapshot_and_gets_another_tid_is_accounted_once(void **state)
{
    const struct camp_thread_states other = after(thread_of(12, 10, "a", 1010), 20, 10);
    struct camp_thread_states later = after(other, 40, 60);
    uint32_t note = 0, fresh = 0;

    (void)state;
    open_sums(GROUP_NAME, NULL);
    start_snapshot();
    see(NULL, &other, &note);
    finish_snapshot();
    start_snapshot();
    later.tid = 10;
    see(NULL, &later, &fresh);
    visitor.missed(visitor.context, &other, 0);
    finish_snapshot();
    assert_int_equal(total(), 130);
    thread_sums_release(&sums);
}

/* After a failed snapshot the groups have other numbers, but some threads still have their old
 * group number. */
static void after_a_failed_snapshot_each_thread_is_assigned_to_a_group_again(void **state)
{
    const struct camp_thread_states a = after(thread_of(10, 10, "a", 100), 300, 600);
    struct camp_states_wait wait = { .thread = &a, .elapsed_ns = 900, .state = CAMP_STATE_TIMER };
    uint32_t note = 3;

    (void)state;
    open_sums(GROUP_NAME, NULL);
    now += 1000;
    thread_sums_start(&sums, now, true); /* this snapshot fails, so it is not finished */
    start_snapshot();
    wait.note = &note;
    visitor.waited(visitor.context, &wait);
    finish_snapshot();
    assert_int_equal(note, 1);
    assert_int_equal(group_total("a"), 900);
    start_snapshot();
    assert_false(sums.forgets);
    finish_snapshot();
    thread_sums_release(&sums);
}

/* A total of 3 exited threads. One of these threads was accounted while it lived. The parent of
 * this thread exited later, so the total has another parent. */
static void a_sum_of_exited_threads_adds_only_the_time_not_yet_accounted(void **state)
{
    const struct camp_thread_states read = after(thread_of(10, 10, "make", 100), 100, 200);
    struct camp_thread_states all = after(thread_of(0, 0, "make", 900), 500, 600);
    uint32_t note = 0;

    (void)state;
    open_sums(GROUP_NAME, NULL);
    start_snapshot();
    see(NULL, &read, &note);
    finish_snapshot();
    start_snapshot();
    visitor.missed(visitor.context, &read, 0);
    finish_snapshot();
    start_snapshot();
    all.count = 3;
    all.parent = 77;
    all.flags = CAMP_THREAD_ENDED | CAMP_THREAD_TOTAL;
    visitor.ended(visitor.context, NULL, &all, 0);
    finish_snapshot();
    assert_int_equal(total(), 1100);
    thread_sums_release(&sums);
}

static void the_time_of_a_thread_from_before_the_session_is_not_accounted(void **state)
{
    struct camp_thread_states old = after(thread_of(10, 10, "old", 1200), 5, 5);
    uint32_t note = 0;

    (void)state;
    old.cpu_ns = 1000000;
    old.flags = CAMP_THREAD_OLDER;
    open_sums(GROUP_NAME, NULL);
    start_snapshot();
    finish_snapshot();
    start_snapshot();
    see(NULL, &old, &note);
    finish_snapshot();
    assert_int_equal(total(), 10);
    assert_int_equal(sums.top.total[SUM_MEASURED], 0);
    thread_sums_release(&sums);
}

static void threads_are_added_to_the_group_of_their_process(void **state)
{
    const struct camp_thread_states first = after(thread_of(10, 10, "server", 1100), 1, 0);
    const struct camp_thread_states worker = after(thread_of(12, 10, "worker-1", 1200), 2, 0);
    struct camp_thread_states renamed = after(first, 4, 0);
    uint32_t notes[2] = { 0 };

    (void)state;
    open_sums(GROUP_NAME, NULL);
    start_snapshot();
    see(NULL, &first, &notes[0]);
    see(NULL, &worker, &notes[1]);
    finish_snapshot();
    assert_int_equal(group_total("server"), 3);
    assert_int_equal(sums.processes, 1);
    assert_int_equal(sums.threads, 2);
    start_snapshot();
    snprintf(renamed.name, sizeof renamed.name, "other");
    see(&first, &renamed, &notes[0]);
    finish_snapshot();
    assert_int_equal(group_total("server"), 3);
    /* "other" is the name of all groups that are not shown, so a group "other" gets a number */
    assert_int_equal(group_total("other (0)"), 4);
    thread_sums_release(&sums);
}

static void a_process_is_matched_to_a_workload_again_only_after_its_name_changed(void **state)
{
    static const char text[] = "web name=^nginx$\ndb name=^post\n";
    const struct camp_thread_states a = after(thread_of(10, 10, "nginx", 1100), 1, 0);
    const struct camp_thread_states b = after(thread_of(11, 11, "sh", 1100), 2, 0);
    struct camp_thread_states c = after(b, 4, 0);
    struct workloads rules;
    struct rule_fault fault;
    uint32_t notes[2] = { 0 };

    (void)state;
    assert_int_equal(workloads_parse(&rules, text, sizeof text - 1, &fault), CAMP_OK);
    open_sums(GROUP_NUMBER, &rules);
    start_snapshot();
    see(NULL, &a, &notes[0]);
    see(NULL, &b, &notes[1]);
    finish_snapshot();
    start_snapshot();
    snprintf(c.name, sizeof c.name, "postgres");
    see(&b, &c, &notes[1]);
    finish_snapshot();
    assert_int_equal(group_total("web"), 1);
    assert_int_equal(group_total("(unmatched)"), 2);
    assert_int_equal(group_total("db"), 4);
    thread_sums_release(&sums);
    workloads_release(&rules);
}

static void the_time_of_randomly_started_and_ended_threads_is_accounted_once(void **state)
{
    enum { MOST = 200 };
    static struct camp_thread_states threads[MOST];
    static uint32_t notes[MOST];
    static bool lives[MOST];
    uint64_t lived = 0, clock = 0;

    (void)state;
    srand(11);
    open_sums(GROUP_NAME, NULL);
    for (int snapshot = 0; snapshot < 300; snapshot++) {
        start_snapshot();
        for (int i = 0; i < MOST; i++) {
            const uint64_t user = (uint64_t)(rand() % 50), asleep = (uint64_t)(rand() % 50);
            struct camp_thread_states before = threads[i], next;
            char name[16];

            if (!lives[i]) {
                snprintf(name, sizeof name, "g%d", rand() % 30);
                threads[i] = thread_of(1 + i, 1 + i, name, sums.snapshot_ns + ++clock % 900);
                notes[i] = 0;
            }
            next = after(threads[i], user, asleep);
            lived += user + asleep;
            if (lives[i] ? rand() % 8 == 0 : rand() % 2 == 0) {
                next.flags |= CAMP_THREAD_ENDED;
                visitor.ended(visitor.context, lives[i] ? &before : NULL, &next, notes[i]);
                lives[i] = false;
                continue;
            }
            see(lives[i] ? &before : NULL, &next, &notes[i]);
            threads[i] = next;
            lives[i] = true;
        }
        finish_snapshot();
        assert_int_equal(total(), lived);
        assert_true(sums.members.count <= MOST);
    }
    thread_sums_release(&sums);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_thread_is_accounted_between_snapshots_and_until_its_exit),
        cmocka_unit_test(a_thread_that_starts_and_exits_between_two_snapshots_is_accounted_once),
        cmocka_unit_test(a_final_reading_adds_only_the_time_not_yet_accounted),
        cmocka_unit_test(a_thread_that_gets_another_tid_by_exec_is_accounted_once),
        cmocka_unit_test(
            a_thread_that_started_during_a_snapshot_and_gets_another_tid_is_accounted_once),
        cmocka_unit_test(after_a_failed_snapshot_each_thread_is_assigned_to_a_group_again),
        cmocka_unit_test(a_sum_of_exited_threads_adds_only_the_time_not_yet_accounted),
        cmocka_unit_test(the_time_of_a_thread_from_before_the_session_is_not_accounted),
        cmocka_unit_test(threads_are_added_to_the_group_of_their_process),
        cmocka_unit_test(a_process_is_matched_to_a_workload_again_only_after_its_name_changed),
        cmocka_unit_test(the_time_of_randomly_started_and_ended_threads_is_accounted_once),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
