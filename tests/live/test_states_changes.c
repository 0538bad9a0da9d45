/*
 * Tests snapshots from the list of changes: they report of each thread what the iterator of the
 * kernel reports, lose no thread and no exit, and go on after more changes than fit.
 */
#include "changes_session.h"

#include <string.h>
#include <sys/syscall.h>

static bool rests(const struct camp_thread_states *thread)
{
    return is_asleep((int)thread->state) && (thread->flags & CAMP_THREAD_UNSURE) == 0;
}

/* Returns whether a thread did not run between two readings. The time of its other states is the
 * witness. */
static bool slept_through(const struct camp_thread_states *a, const struct camp_thread_states *b)
{
    for (uint32_t i = 0; i < CAMP_STATE_COUNT; i++) {
        if (i != a->state && a->state_ns[i] != b->state_ns[i])
            return false;
    }
    return rests(a) && rests(b) && a->state == b->state;
}

/* Returns whether two records are equal but for their time, and the state that lasts. Since
 * Linux 6.12 the scheduler may move a sleeping thread that it has not yet removed from its run
 * queue to another one. It counts the sleep from then on as run delay (1 in 51,000 records). */
static bool are_same(struct camp_thread_states listed, const struct camp_thread_states *iterated)
{
    listed.time_ns = iterated->time_ns;
    listed.state_ns[listed.state] = iterated->state_ns[iterated->state];
    if (listed.run_delay_ns <= iterated->run_delay_ns)
        listed.run_delay_ns = iterated->run_delay_ns;
    return memcmp(&listed, iterated, sizeof listed) == 0;
}

struct busy {
    bool renames; /* Each new name puts a thread into the list. */
    volatile bool stop;
    uint32_t round;
};

/* Sleeps, reads and writes, faults pages, and may change its name. */
static void be_busy(void *memory)
{
    struct busy *busy = memory;
    char name[CAMP_STATES_NAME_SIZE], byte;
    int pipes[2];

    if (pipe(pipes) != 0)
        _exit(1);
    while (!busy->stop) {
        char *page = mmap(NULL, 65536, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

        snprintf(name, sizeof name, "busy%u", busy->round++);
        if (busy->renames)
            prctl(PR_SET_NAME, name);
        memset(page, 1, 65536);
        munmap(page, 65536);
        if (write(pipes[1], name, 1) != 1 || read(pipes[0], &byte, 1) != 1)
            _exit(1);
        usleep(1000 + busy->round % 7 * 1000);
    }
}

#define BUSY_CHILDREN 8

struct comparison {
    pid_t children[BUSY_CHILDREN];
    size_t compared, different;
    size_t outdated; /* The kernel had counted more sleeps before the snapshot. */
};

static void compare_records(const struct threads *listed, const struct threads *iterated,
                            struct comparison *comparison)
{
    for (size_t i = 0; i < iterated->count; i++) {
        const struct camp_thread_states *now = &iterated->of[i];
        const struct camp_thread_states *before = find(listed, now->tid, now->start_ns);

        if (before == NULL || !slept_through(before, now))
            continue;
        assert_int_equal(sum_ns(before), before->time_ns - before->begin_ns);
        comparison->different += !are_same(*before, now);
        comparison->compared++;
    }
}

static void compare_ways(struct camp_states *session, struct comparison *comparison)
{
    uint64_t sleeps[BUSY_CHILDREN];
    struct threads listed, iterated;

    for (int i = 0; i < BUSY_CHILDREN; i++)
        sleeps[i] = sleeps_of(comparison->children[i]);
    listed = read_list(session);
    iterated = read_iterator(session);
    for (int i = 0; i < BUSY_CHILDREN; i++) {
        const struct camp_thread_states *child = find_tid(&listed, comparison->children[i]);

        assert_non_null(child);
        comparison->outdated += child->voluntary_switches < sleeps[i];
    }
    compare_records(&listed, &iterated, comparison);
    free(listed.of);
    free(iterated.of);
}

/* If no event reported that a thread woke up and came to a CPU, its account says that it sleeps
 * while it runs. The session counts such a switch as unseen. */
static void the_list_reports_of_sleeping_threads_what_the_iterator_reports(void **state)
{
    struct camp_states *session = open_changes_session();
    struct busy *busy = shared_memory(BUSY_CHILDREN * sizeof *busy);
    struct comparison all = { 0 };

    (void)state;
    for (int i = 0; i < BUSY_CHILDREN; i++) {
        busy[i].renames = i % 2 == 0;
        all.children[i] = start(be_busy, &busy[i]);
    }
    for (int round = 0; round < 200; round++) {
        compare_ways(session, &all);
        usleep(3000);
    }
    for (int i = 0; i < BUSY_CHILDREN; i++) {
        busy[i].stop = true;
        reap_well(all.children[i]);
    }
    print_message("%zu records of sleeping threads compared, %zu differ; %zu records of busy "
                  "threads are outdated\n",
                  all.compared, all.different, all.outdated);
    munmap(busy, BUSY_CHILDREN * sizeof *busy);
    assert_true(all.compared > 200);
    assert_true(all.different <= all.compared / 1000);
    assert_at_most("different and outdated records", all.different + all.outdated,
                   close_states(session), 0);
}

#define SHORT_THREADS 6000
#define AT_ONCE 20

static void *end_soon(void *unused)
{
    usleep(200);
    return unused;
}

static void start_short_threads(void *unused)
{
    pthread_t threads[AT_ONCE];

    (void)unused;
    for (int i = 0; i < SHORT_THREADS / AT_ONCE; i++) {
        for (int j = 0; j < AT_ONCE; j++) {
            if (pthread_create(&threads[j], NULL, end_soon, NULL) != 0)
                _exit(1);
        }
        for (int j = 0; j < AT_ONCE; j++)
            pthread_join(threads[j], NULL);
    }
}

/* What the visitor saw of the threads of one process. */
struct witness {
    pid_t pid;
    uint64_t
        last_begin_ns[65536]; /* by the low bits of a tid: begin_ns of the last exited thread */
    size_t seen, ended, ended_again, seen_after_exit, idle;
    int32_t last_seen;
};

/* Interrupts are left out: up to 13 of some 200,000 records have some microseconds less of them
 * than the record before. Why is not yet known. */
static void check_times(const struct camp_thread_states *before,
                        const struct camp_thread_states *now)
{
    const bool sure = (now->flags & CAMP_THREAD_UNSURE) == 0;

    if (sure)
        assert_int_equal(sum_ns(now), now->time_ns - now->begin_ns);
    if (before == NULL)
        return;
    assert_int_equal(before->begin_ns, now->begin_ns);
    assert_int_equal(before->start_ns, now->start_ns);
    for (int i = 0; i < CAMP_STATE_COUNT && sure && (before->flags & CAMP_THREAD_UNSURE) == 0; i++)
        assert_true(i == (int)before->state || i == CAMP_STATE_IRQ ||
                    before->state_ns[i] <= now->state_ns[i]);
}

static void see(void *context, const struct camp_thread_states *before,
                const struct camp_thread_states *now, uint32_t *note)
{
    struct witness *witness = context;

    (void)note;
    if (now->pid != witness->pid)
        return;
    check_times(before, now);
    witness->seen++;
    witness->last_seen = now->tid;
    witness->seen_after_exit += witness->last_begin_ns[(uint16_t)now->tid] == now->begin_ns;
}

static void end(void *context, const struct camp_thread_states *before,
                const struct camp_thread_states *last, uint32_t note)
{
    struct witness *witness = context;
    uint64_t *begin_ns = &witness->last_begin_ns[(uint16_t)last->tid];

    (void)note;
    if ((last->flags & CAMP_THREAD_TOTAL) != 0 || last->pid != witness->pid)
        return;
    check_times(before, last);
    witness->ended_again += *begin_ns == last->begin_ns;
    *begin_ns = last->begin_ns;
    witness->ended++;
}

static void miss(void *context, const struct camp_thread_states *before, uint32_t note)
{
    (void)context;
    (void)before;
    (void)note;
}

static void count_idle(void *context, uint64_t time_ns)
{
    struct witness *witness = context;

    witness->idle += time_ns != 0;
}

static struct witness witness;
static const struct camp_states_visitor visitor = {
    .context = &witness, .seen = see, .ended = end, .missed = miss, .idle = count_idle
};

static void visit(struct camp_states *session)
{
    assert_int_equal(camp_states_visit(session, &visitor, sizeof visitor, NULL), CAMP_OK);
}

static void the_exit_of_each_short_thread_is_reported_once(void **state)
{
    struct camp_states *session = open_changes_session();
    const size_t expected = SHORT_THREADS + 1;
    struct threads left;
    uint64_t began_ns, without_space;
    size_t snapshots = 0;

    (void)state;
    memset(&witness, 0, sizeof witness);
    visit(session);
    witness.pid = start(start_short_threads, NULL);
    while (waitpid(witness.pid, NULL, WNOHANG) == 0) {
        visit(session);
        snapshots++;
    }
    began_ns = now_ns(CLOCK_MONOTONIC);
    do {
        visit(session);
        without_space = ends_without_space(session);
    } while (witness.ended + without_space < expected && wait_on(began_ns));
    left = read_list(session);
    print_message("%zu snapshots: %zu exits, %zu times seen alive, %u snapshots by the iterator\n",
                  snapshots, witness.ended, witness.seen, (unsigned)session->snapshots);
    assert_int_equal(count_of_process(&left, witness.pid), 0);
    assert_int_equal(witness.ended_again, 0);
    assert_int_equal(witness.seen_after_exit, 0);
    assert_at_least("exits", witness.ended + without_space, expected, 0);
    assert_at_most("exits", witness.ended, expected, 0);
    free(left.of);
    close_states(session);
}

/* Reads snapshots until a process of short threads has ended. Returns how many of its threads the
 * snapshots after its end still report. */
static size_t count_left(struct camp_states *session)
{
    const pid_t child = start(start_short_threads, NULL);
    struct threads threads;
    uint64_t began_ns;
    size_t left;

    while (waitpid(child, NULL, WNOHANG) == 0) {
        threads = read_threads(session);
        for (size_t i = 0; i < threads.count; i++)
            check_times(NULL, &threads.of[i]);
        free(threads.of);
    }
    /* wait(2) may return before the last thread has left its CPU. */
    began_ns = now_ns(CLOCK_MONOTONIC);
    do {
        threads = read_list(session);
        left = count_of_process(&threads, child);
        free(threads.of);
    } while (left > 0 && now_ns(CLOCK_MONOTONIC) - began_ns < NS_PER_S && wait_on(began_ns));
    return left;
}

#define PROCESSES 4

/* Without a visitor, no exit tells the session that a thread is gone. A snapshot that copies the
 * account of a thread just when it leaves its CPU for ever happens in about 1 of 3 processes. */
static void no_thread_remains_after_its_exit_if_the_exits_are_not_read(void **state)
{
    struct camp_states *session = open_changes_session();
    size_t left = 0;

    (void)state;
    for (int i = 0; i < PROCESSES; i++)
        left += count_left(session);
    print_message("%zu of %d threads remain\n", left, PROCESSES * SHORT_THREADS);
    assert_int_equal(left, 0);
    close_states(session);
}

#define RENAMES 40000
_Static_assert(RENAMES > CHANGES_MAX, "more changes than the list holds");

static void rename_often(void *memory)
{
    char name[CAMP_STATES_NAME_SIZE];

    for (int i = 1; i <= RENAMES; i++) {
        snprintf(name, sizeof name, "name%d", i);
        prctl(PR_SET_NAME, name);
    }
    sleep_for_ever(memory);
}

static void the_iterator_takes_one_snapshot_after_more_changes_than_the_list_holds(void **state)
{
    struct camp_states *session = open_changes_session();
    struct sleepers *early = make_sleepers(3), *renamed = make_sleepers(1);
    const struct camp_thread_states *last;
    struct threads threads;
    uint64_t began_ns;
    uint32_t iterated;
    pid_t first, second;
    size_t left;

    (void)state;
    free(read_list(session).of);
    iterated = session->snapshots;
    /* The renames overwrite the entries of these threads in the list. */
    first = start(be_sleepers, early);
    began_ns = now_ns(CLOCK_MONOTONIC);
    while (early->asleep < early->threads && wait_on(began_ns))
        continue;
    second = start(rename_often, renamed);
    began_ns = now_ns(CLOCK_MONOTONIC);
    while (renamed->asleep == 0 && wait_on(began_ns))
        continue;
    threads = read_threads(session);
    print_message("%u snapshots by the iterator\n", (unsigned)(session->snapshots - iterated));
    assert_int_equal(session->snapshots, iterated + 1);
    assert_int_equal(count_of_process(&threads, first), 3);
    last = find_tid(&threads, second);
    assert_non_null(last);
    assert_string_equal(last->name, "name40000");
    free(threads.of);
    await_sleep(session, second, renamed);
    await_sleep(session, first, early);
    end_process(first);
    began_ns = now_ns(CLOCK_MONOTONIC);
    do {
        threads = read_list(session);
        left = count_of_process(&threads, first);
        free(threads.of);
    } while (left > 0 && wait_on(began_ns));
    assert_int_equal(left, 0);
    end_process(second);
    munmap(early, sizeof *early);
    munmap(renamed, sizeof *renamed);
    close_states(session);
}

#define IDLE_THREADS 201

static void wake(int signal)
{
    (void)signal;
}

static void be_wakeable_sleepers(void *memory)
{
    const struct sigaction action = { .sa_handler = wake };

    if (sigaction(SIGUSR1, &action, NULL) != 0)
        _exit(1);
    be_sleepers(memory);
}

/* If no event reported that a thread left its CPU, the session looks at it in each snapshot. It
 * counts such a switch as unseen. */
static void a_visitor_that_counts_idle_threads_sees_only_threads_that_changed(void **state)
{
    struct camp_states *session = open_changes_session();
    struct sleepers *sleepers = make_sleepers(IDLE_THREADS);
    struct camp_states_losses losses;
    uint64_t began_ns;
    size_t idle_seen, woken_seen;
    int32_t woken;
    pid_t child;

    (void)state;
    child = start(be_wakeable_sleepers, sleepers);
    await_sleep(session, child, sleepers);
    memset(&witness, 0, sizeof witness);
    witness.pid = child;
    visit(session);
    witness.seen = witness.idle = 0;
    visit(session);
    idle_seen = witness.seen;
    assert_int_equal(witness.idle, 1);
    woken = sleepers->last_tid;
    assert_int_equal(syscall(SYS_tgkill, child, woken, SIGUSR1), 0);
    began_ns = now_ns(CLOCK_MONOTONIC);
    witness.last_seen = 0;
    do {
        witness.seen = 0;
        visit(session);
        woken_seen = witness.seen;
    } while (witness.last_seen != woken && wait_on(began_ns));
    end_process(child);
    assert_int_equal(camp_states_losses(session, &losses, sizeof losses, NULL), CAMP_OK);
    print_message("%zu of %d idle threads seen; %zu after one was woken\n", idle_seen, IDLE_THREADS,
                  woken_seen);
    assert_at_most("idle threads seen", idle_seen, losses.unseen, 0);
    assert_int_equal(witness.last_seen, woken);
    assert_at_most("threads seen after one was woken", woken_seen, losses.unseen + 1, 0);
    munmap(sleepers, sizeof *sleepers);
    close_states(session);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_list_reports_of_sleeping_threads_what_the_iterator_reports),
        cmocka_unit_test(the_exit_of_each_short_thread_is_reported_once),
        cmocka_unit_test(no_thread_remains_after_its_exit_if_the_exits_are_not_read),
        cmocka_unit_test(the_iterator_takes_one_snapshot_after_more_changes_than_the_list_holds),
        cmocka_unit_test(a_visitor_that_counts_idle_threads_sees_only_threads_that_changed),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
