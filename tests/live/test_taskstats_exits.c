/*
 * Compares the taskstats records of exited tasks with values that the children read about
 * themselves, and with their CPU clocks as zombies. The tests need CAP_NET_ADMIN, and are skipped
 * without it.
 */
#include "cpu_steal.h"
#include "taskstats_session.h"

#include <camp/linux.h>

#include <pthread.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>

#define CHILDREN 100
#define RECORDS 4096

/* Waits until a child has exited, and returns its CPU clock. The child is not reaped. */
static uint64_t clock_of_zombie(pid_t pid)
{
    clockid_t clock;
    siginfo_t info;

    assert_int_equal(clock_getcpuclockid(pid, &clock), 0);
    assert_int_equal(waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT), 0);
    return now_ns(clock);
}

/* Reads all pending records, up to `piece` records in each call. The caller must free the
 * result. */
static struct camp_task_exit *drain(struct camp_taskstats *session, size_t piece, size_t *ret_count)
{
    struct camp_task_exit *exits = calloc(RECORDS, sizeof *exits);
    size_t got, count = 0;

    assert_non_null(exits);
    do {
        assert_true(count + piece <= RECORDS);
        assert_int_equal(
            camp_taskstats_exits(session, exits + count, sizeof *exits, piece, &got, NULL),
            CAMP_OK);
        count += got;
    } while (got == piece);
    *ret_count = count;
    return exits;
}

/* Finds the record of a child. Its parent is checked too, because an exited process may have had
 * the same pid. */
static const struct camp_task_exit *process_record(const struct camp_task_exit *exits, size_t count,
                                                   int32_t pid)
{
    const struct camp_task_exit *found = NULL;

    for (size_t i = 0; i < count; i++) {
        if (exits[i].pid == pid && exits[i].is_process && exits[i].parent == getpid()) {
            assert_null(found);
            found = &exits[i];
        }
    }
    return found;
}

/* The records of an exited child: `whole` of the process, and the sums over its threads. */
struct ended {
    struct camp_task_exit whole;
    size_t threads;
    uint64_t threads_ns;
};

static struct ended records_of(struct camp_taskstats *session, int32_t pid)
{
    size_t count;
    struct camp_task_exit *exits = drain(session, 64, &count);
    const struct camp_task_exit *whole = process_record(exits, count, pid);
    struct ended ended = { 0 };

    assert_non_null(whole);
    ended.whole = *whole;
    for (size_t i = 0; i < count; i++) {
        /* The exit of a thread is not the end of its process, even if the thread is the leader. */
        assert_false(exits[i].tid == pid && exits[i].is_process && &exits[i] != whole);
        if (exits[i].pid == pid && !exits[i].is_process && exits[i].parent == getpid()) {
            ended.threads++;
            ended.threads_ns += exits[i].measured_ns;
        }
    }
    free(exits);
    return ended;
}

/* Each child stores the last reading of its clock in shared memory. The clock of the zombie
 * includes the whole exit, but the record includes only a part of the exit. */
static void each_exit_record_has_at_least_the_cpu_time_of_its_child(void **state)
{
    struct camp_taskstats session = open_or_skip(true);
    uint64_t *known = mmap(NULL, CHILDREN * sizeof *known, PROT_READ | PROT_WRITE,
                           MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    uint64_t whole[CHILDREN];
    pid_t pids[CHILDREN];
    struct camp_task_exit *exits;
    size_t count;

    (void)state;
    assert_true(known != MAP_FAILED);
    for (int i = 0; i < CHILDREN; i++) {
        pids[i] = fork();
        if (pids[i] == 0) {
            burn(CLOCK_PROCESS_CPUTIME_ID, NS_PER_MS);
            known[i] = now_ns(CLOCK_PROCESS_CPUTIME_ID);
            _exit(3);
        }
        whole[i] = clock_of_zombie(pids[i]);
        reap(pids[i]);
    }
    exits = drain(&session, 64, &count);
    for (int i = 0; i < CHILDREN; i++) {
        const struct camp_task_exit *record = process_record(exits, count, pids[i]);

        assert_non_null(record);
        assert_int_equal(record->parent, getpid());
        assert_int_equal(record->exit_code, 3 << 8);
        assert_in_range(record->measured_ns, known[i], record->at_most_ns);
        assert_at_most("measured", record->measured_ns, whole[i], 0);
    }
    assert_int_equal(session.overruns, 0);
    free(exits);
    munmap(known, CHILDREN * sizeof *known);
    camp_taskstats_close(&session);
}

/* The CPU clock of a zombie child that did not read its own clock, and its life in wall time. */
struct used {
    uint64_t cpu_ns, life_ns;
};

static struct used burn_in_child(struct camp_taskstats *session, struct camp_task_exit *ret_record)
{
    uint64_t began_ns = now_ns(CLOCK_MONOTONIC);
    struct used used;
    pid_t pid = fork();

    if (pid == 0) {
        burn(CLOCK_MONOTONIC, 2 * NS_PER_MS);
        _exit(0);
    }
    used.cpu_ns = clock_of_zombie(pid);
    used.life_ns = now_ns(CLOCK_MONOTONIC) - began_ns;
    reap(pid);
    *ret_record = records_of(session, pid).whole;
    return used;
}

/* The CPU time of a child is at least measured_ns of its record. It is at most at_most_ns plus the
 * CPU time after the record. This CPU time is measured with a child that only exits, by its CPU
 * clock. */
static void the_bounds_in_an_exit_record_enclose_the_cpu_time(void **state)
{
    struct camp_taskstats session = open_or_skip(true);
    uint64_t steal = steal_ns(), most = 0, used = 0, life = 0, after = 0;
    enum { TRIES = 50 };

    (void)state;
    for (int i = 0; i < TRIES; i++) {
        struct camp_task_exit record;
        struct used child = burn_in_child(&session, &record);
        pid_t idle = fork();

        if (idle == 0)
            _exit(0);
        after += clock_of_zombie(idle);
        reap(idle);
        assert_at_most("measured", record.measured_ns, child.cpu_ns, 0);
        most += record.at_most_ns;
        used += child.cpu_ns;
        life += child.life_ns;
    }
    print_message("used %.3f ms, at most %.3f by their records; exits %.3f, lives %.3f\n",
                  (double)used / 1e6, (double)most / 1e6, (double)after / 1e6, (double)life / 1e6);
    assert_at_least("at most", most, used, after + stolen_since(steal));
    assert_at_most("at most", most, life, 0);
    camp_taskstats_close(&session);
}

static void *burn_5_ms(void *unused)
{
    (void)unused;
    burn(CLOCK_THREAD_CPUTIME_ID, 5 * NS_PER_MS);
    return NULL;
}

static void start_thread(void)
{
    pthread_t thread;

    if (pthread_create(&thread, NULL, burn_5_ms, NULL) != 0)
        _exit(1);
    pthread_detach(thread);
}

/* Waits until only the first thread is left. The directory has a link for each thread, and two
 * other links. */
static void await_end_of_threads(void)
{
    struct stat directory;

    while (stat("/proc/self/task", &directory) == 0 && directory.st_nlink > 3)
        usleep(100);
}

/* For children: the first thread exits before the second one. */
static void end_leader_first(void)
{
    start_thread();
    pthread_exit(NULL);
}

static void the_threads_of_a_process_add_up_to_its_exit_record(void **state)
{
    struct camp_taskstats session = open_or_skip(true);
    struct ended ended;
    pid_t pid = fork();

    (void)state;
    if (pid == 0) {
        pthread_t threads[3];

        for (int i = 0; i < 3; i++)
            pthread_create(&threads[i], NULL, burn_5_ms, NULL);
        for (int i = 0; i < 3; i++)
            pthread_join(threads[i], NULL);
        await_end_of_threads(); /* pthread_join() may return earlier. */
        _exit(0);
    }
    reap(pid);
    ended = records_of(&session, pid);
    assert_int_equal(ended.threads, 4);
    assert_int_equal(ended.whole.measured_ns, ended.threads_ns);
    assert_at_least("measured", ended.whole.measured_ns, 15 * NS_PER_MS, 0);
    camp_taskstats_close(&session);
}

static void the_exit_of_the_first_thread_is_not_the_end_of_its_process(void **state)
{
    struct camp_taskstats session = open_or_skip(true);
    struct ended ended;
    pid_t pid = fork();

    (void)state;
    if (pid == 0)
        end_leader_first();
    reap(pid);
    ended = records_of(&session, pid);
    assert_int_equal(ended.whole.tid, pid);
    assert_int_equal(ended.threads, 2);
    assert_at_least("measured", ended.whole.measured_ns, 5 * NS_PER_MS, 0);
    camp_taskstats_close(&session);
}

static void the_exit_record_of_a_process_includes_its_earlier_exited_threads(void **state)
{
    struct camp_taskstats session = open_or_skip(true);
    struct ended ended;
    pid_t pid = fork();

    (void)state;
    if (pid == 0) {
        start_thread();
        await_end_of_threads();
        burn(CLOCK_THREAD_CPUTIME_ID, 2 * NS_PER_MS);
        _exit(0);
    }
    reap(pid);
    ended = records_of(&session, pid);
    assert_int_equal(ended.threads, 2);
    assert_int_equal(ended.whole.measured_ns, ended.threads_ns);
    assert_at_least("measured", ended.whole.measured_ns, 7 * NS_PER_MS, 0);
    camp_taskstats_close(&session);
}

/* Two sessions receive the same records. One session reads them one at a time, the other session
 * several at a time. */
static void exit_records_read_one_at_a_time_equal_those_read_together(void **state)
{
    struct camp_taskstats one = open_or_skip(true);
    struct camp_taskstats many = open_or_skip(true);
    struct camp_task_exit *single, *whole;
    size_t single_count, whole_count, seen = 0;

    (void)state;
    for (int i = 0; i < 10; i++) {
        pid_t pid = fork();

        if (pid == 0)
            end_leader_first();
        reap(pid);
    }
    whole = drain(&many, 7, &whole_count);
    single = drain(&one, 1, &single_count);
    for (size_t i = 0; i < whole_count; i++) {
        if (whole[i].parent != getpid())
            continue;
        while (seen < single_count && single[seen].parent != getpid())
            seen++;
        assert_true(seen < single_count);
        assert_memory_equal(&whole[i], &single[seen], sizeof whole[i]);
        seen++;
    }
    assert_in_range(whole_count, 30, RECORDS);
    free(whole);
    free(single);
    camp_taskstats_close(&one);
    camp_taskstats_close(&many);
}

static void dropped_exit_records_are_counted(void **state)
{
    struct camp_taskstats session = open_or_skip(true);
    const int bytes = 4096;
    struct camp_task_exit *exits;
    size_t count;

    (void)state;
    assert_int_equal(setsockopt(session.descriptor, SOL_SOCKET, SO_RCVBUF, &bytes, sizeof bytes),
                     0);
    for (int i = 0; i < 500; i++) {
        pid_t pid = fork();

        if (pid == 0)
            _exit(0);
        reap(pid);
    }
    exits = drain(&session, 64, &count);
    assert_in_range(count, 0, 499);
    assert_in_range(session.overruns + count, 500, UINT64_MAX);
    free(exits);
    camp_taskstats_close(&session);
}

/* Returns whether the parent still gets exit records after a child has ended the session that it
 * inherited: by camp_taskstats_close(), or by close(2) of the descriptor. */
static bool listens_after_child(bool closes_session)
{
    struct camp_taskstats session = open_or_skip(true);
    struct camp_task_exit *exits;
    pid_t closer = fork(), later;
    bool found;
    size_t count;

    if (closer == 0) {
        if (closes_session)
            camp_taskstats_close(&session);
        else
            close(session.descriptor);
        _exit(0);
    }
    reap(closer);
    later = fork();
    if (later == 0)
        _exit(0);
    reap(later);
    exits = drain(&session, 64, &count);
    found = process_record(exits, count, later) != NULL;
    free(exits);
    camp_taskstats_close(&session);
    return found;
}

static void a_child_of_fork_that_closes_the_session_does_not_end_that_of_its_parent(void **state)
{
    (void)state;
    assert_true(listens_after_child(false));
    assert_true(listens_after_child(true));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_exit_record_has_at_least_the_cpu_time_of_its_child),
        cmocka_unit_test(the_bounds_in_an_exit_record_enclose_the_cpu_time),
        cmocka_unit_test(the_threads_of_a_process_add_up_to_its_exit_record),
        cmocka_unit_test(the_exit_of_the_first_thread_is_not_the_end_of_its_process),
        cmocka_unit_test(the_exit_record_of_a_process_includes_its_earlier_exited_threads),
        cmocka_unit_test(exit_records_read_one_at_a_time_equal_those_read_together),
        cmocka_unit_test(dropped_exit_records_are_counted),
        cmocka_unit_test(a_child_of_fork_that_closes_the_session_does_not_end_that_of_its_parent),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
