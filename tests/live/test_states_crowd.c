/*
 * Tests microstates with many threads: a limited fork bomb, whose lost processes are counted, and
 * 32,000 threads at the same time.
 */
#include "sources/source.h"
#include "states_session.h"

#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>

/* A unique name of the processes of this test. It is set before they are started. */
static char name[CAMP_STATES_NAME_SIZE];

static void set_name(const char *kind)
{
    snprintf(name, sizeof name, "%s%d", kind, getpid() % 1000000);
}

#define BOMB_MAX 9000 /* more records than the ring holds */

struct bomb {
    pid_t pid;
    atomic_uint lit; /* futex that starts the bomb */
    atomic_int size; /* how many more processes may start */
    atomic_int made;
    uint64_t own_ns[BOMB_MAX]; /* CPU clocks of the processes just before they exit */
};

/* Each process starts up to two others while `size` allows it, and waits for none of them. */
static void go_off(struct bomb *bomb)
{
    int number = atomic_fetch_add(&bomb->made, 1);

    for (int children = 0; children < 2 && atomic_fetch_sub(&bomb->size, 1) > 0; children++) {
        if (fork() == 0) {
            number = atomic_fetch_add(&bomb->made, 1);
            children = -1;
        }
    }
    bomb->own_ns[number] = now_ns(CLOCK_PROCESS_CPUTIME_ID);
    _exit(0);
}

static void sleep_while_zero(atomic_uint *futex)
{
    while (*futex == 0)
        syscall(SYS_futex, futex, FUTEX_WAIT, 0, NULL, NULL, 0);
}

/* Starts the bomb. This process is a subreaper, so it reaps all other processes and exits last. */
static void be_a_bomb(void *memory)
{
    struct bomb *bomb = memory;

    prctl(PR_SET_NAME, name);
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    sleep_while_zero(&bomb->lit);
    if (fork() == 0)
        go_off(bomb);
    while (waitpid(-1, NULL, 0) > 0 || errno == EINTR)
        continue;
}

/* Must be called before the session is opened, so that fork(2) does not copy the memory of the
 * session. */
static struct bomb *make_bomb(int size)
{
    struct bomb *bomb = shared_memory(sizeof *bomb);

    set_name("bomb");
    bomb->size = size - 1;
    bomb->pid = start(be_a_bomb, bomb);
    return bomb;
}

/* Returns the number of processes. */
static uint64_t run_bomb(struct bomb *bomb)
{
    bomb->lit = 1;
    syscall(SYS_futex, &bomb->lit, FUTEX_WAKE, 1, NULL, NULL, 0);
    reap_well(bomb->pid);
    return (uint64_t)bomb->made + 1; /* be_a_bomb() is one more process. */
}

/* sums of the records of this test's exited threads */
struct reported {
    uint64_t count, processes, totals;
    uint64_t on_cpu_ns, scheduler_ns, irq_ns, sleeps, preemptions;
};

static struct reported sum_of_exited(const struct threads *ended)
{
    struct reported reported = { 0 };

    for (size_t i = 0; i < ended->count; i++) {
        const struct camp_thread_states *of = &ended->of[i];

        if (strcmp(of->name, name) != 0)
            continue;
        reported.count += of->count;
        reported.processes += of->processes;
        reported.totals += (of->flags & CAMP_THREAD_TOTAL) != 0;
        reported.on_cpu_ns += on_cpu_ns(of);
        reported.scheduler_ns += of->cpu_ns;
        reported.irq_ns += of->state_ns[CAMP_STATE_IRQ];
        reported.sleeps += of->voluntary_switches;
        reported.preemptions += of->involuntary_switches;
        assert_int_equal(sum_ns(of), of->time_ns - of->begin_ns);
    }
    return reported;
}

/* Reads exited threads until `count` of them are reported or counted as lost. wait(2) may return
 * before a thread has left its CPU. */
static struct reported wait_for_all(struct camp_states *session, struct threads *ended,
                                    uint64_t count, struct camp_states_losses *ret_losses)
{
    uint64_t began_ns = now_ns(CLOCK_MONOTONIC);
    struct reported reported;

    do {
        add_exited(session, ended);
        reported = sum_of_exited(ended);
        assert_int_equal(camp_states_losses(session, ret_losses, sizeof *ret_losses, NULL),
                         CAMP_OK);
    } while (reported.count + ret_losses->exits_lost < count && wait_on(began_ns));
    return reported;
}

/* Returns the number of processes and threads that were created since boot. */
static uint64_t made_ever(void)
{
    FILE *file = fopen("/proc/stat", "r");
    unsigned long long made = 0;
    char line[4096];

    assert_non_null(file);
    while (made == 0 && fgets(line, sizeof line, file) != NULL)
        sscanf(line, "processes %llu", &made);
    fclose(file);
    assert_true(made > 0);
    return made;
}

static void every_lost_process_of_a_fork_bomb_is_counted(void **state)
{
    struct bomb *bomb = make_bomb(BOMB_MAX);
    struct camp_states *session = open_states_or_skip(0);
    struct threads before = read_threads(session), ended = { 0 };
    const uint64_t steal = steal_ns(), ever = made_ever(), made = run_bomb(bomb);
    struct camp_states_losses losses;
    struct reported reported = wait_for_all(session, &ended, made, &losses);
    const uint64_t others = less(made_ever() - ever + before.count, made);
    uint64_t own_ns = 0, tolerance;

    (void)state;
    for (int i = 0; i < bomb->made; i++)
        own_ns += bomb->own_ns[i];
    print_message("%llu processes; reported %llu, %llu of them in %llu totals, lost %llu; CPU time "
                  "%.1f ms, their own clocks %.1f, the scheduler's %.1f\n",
                  (unsigned long long)made, (unsigned long long)reported.count,
                  (unsigned long long)losses.exits_added_up, (unsigned long long)reported.totals,
                  (unsigned long long)losses.exits_lost, (double)reported.on_cpu_ns / 1e6,
                  (double)own_ns / 1e6, (double)reported.scheduler_ns / 1e6);
    assert_true(losses.exits_added_up > 0);
    /* A lost thread may belong to another program. At most `others` threads of other programs can
     * have exited. */
    assert_at_most("reported", reported.count, made, 0);
    assert_at_least("reported and lost", reported.count + losses.exits_lost, made, 0);
    assert_at_most("reported and lost", reported.count + losses.exits_lost, made, others);
    assert_int_equal(reported.processes, reported.count);
    assert_int_equal(losses.lost, 0);
    tolerance = switches_tolerance(reported.sleeps, reported.preemptions) + stolen_since(steal);
    if (reported.count == made)
        assert_at_least("CPU time", reported.on_cpu_ns, own_ns, tolerance);
    assert_at_least("CPU time", reported.on_cpu_ns, reported.scheduler_ns, tolerance);
    assert_at_most("CPU time", reported.on_cpu_ns, reported.scheduler_ns,
                   tolerance + reported.irq_ns);
    free(before.of);
    munmap(bomb, sizeof *bomb);
    free(ended.of);
    camp_states_close(session);
}

/* Because the source is read continuously, no process is added to a total. */
static void a_source_read_continuously_reports_every_process_of_a_fork_bomb(void **state)
{
    static const volatile sig_atomic_t never_stop;
    struct source *source = NULL;
    struct camp_error error;
    struct bomb *bomb = make_bomb(BOMB_MAX / 4);
    uint64_t count = 0, made, began_ns;

    (void)state;
    camp_states_close(open_states_or_skip(0));
    assert_int_equal(threads_source_open(0, &never_stop, &source, &error), CAMP_OK);
    made = run_bomb(bomb);
    began_ns = now_ns(CLOCK_MONOTONIC);
    while (count < made && wait_on(began_ns)) {
        const struct frame *frame;

        assert_int_equal(
            source->next(source, now_ns(CLOCK_MONOTONIC) + 20 * NS_PER_MS, &frame, &error),
            CAMP_OK);
        assert_int_equal(frame->losses.lost, 0);
        for (size_t i = 0; i < frame->entity_count; i++) {
            if ((frame->entities[i].flags & ENTITY_ENDED) != 0 &&
                strcmp(frame->entities[i].name, name) == 0)
                count += frame->entities[i].count;
        }
    }
    assert_int_equal(count, made);
    munmap(bomb, sizeof *bomb);
    source_close(source);
}

#define CROWD 32000
#define CROWD_PROCESSES 4

struct crowd {
    atomic_uint go; /* futex that stays 0, so that the threads sleep */
    atomic_int there;
    atomic_int failed; /* errno of the failed call, or 0 */
};

static void *be_one_of_many(void *memory)
{
    struct crowd *crowd = memory;

    atomic_fetch_add(&crowd->there, 1);
    sleep_while_zero(&crowd->go);
    return NULL;
}

/* Starts a process of the crowd. Its first thread is also a member of the crowd. */
static void be_a_crowd(void *memory)
{
    struct crowd *crowd = memory;
    pthread_attr_t small;
    pthread_t thread;

    prctl(PR_SET_NAME, name);
    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, (size_t)sysconf(_SC_THREAD_STACK_MIN) + 4096);
    pthread_attr_setguardsize(&small, 0);
    for (int i = 1; i < CROWD / CROWD_PROCESSES && crowd->failed == 0; i++)
        crowd->failed = pthread_create(&thread, &small, be_one_of_many, crowd);
    be_one_of_many(crowd);
    _exit(0);
}

static void start_crowd(struct crowd *crowd, pid_t pids[CROWD_PROCESSES])
{
    set_name("crowd");
    for (int i = 0; i < CROWD_PROCESSES; i++)
        pids[i] = start(be_a_crowd, crowd);
    while (crowd->there < CROWD && crowd->failed == 0)
        usleep(10000);
}

/* Fails if another program killed a process of the crowd. A program with an outdated pid may do
 * this, because the crowd has nearly all pids. */
static void assert_crowd_is_there(const pid_t pids[CROWD_PROCESSES])
{
    siginfo_t ended = { 0 };

    for (int i = 0; i < CROWD_PROCESSES; i++) {
        assert_int_equal(waitid(P_PID, (id_t)pids[i], &ended, WEXITED | WNOHANG | WNOWAIT), 0);
        if (ended.si_pid != 0)
            fail_msg("process %d of the crowd was ended from outside (%d, %d)", pids[i],
                     ended.si_code, ended.si_status);
    }
}

static void end_crowd(const pid_t pids[CROWD_PROCESSES])
{
    for (int i = 0; i < CROWD_PROCESSES; i++)
        kill(pids[i], SIGKILL);
    for (int i = 0; i < CROWD_PROCESSES; i++)
        waitpid(pids[i], NULL, 0);
}

/* Runs `camp top` for one interval and returns its wait status. */
static int run_top(const char *camp, long *ret_resident_kb)
{
    struct rusage usage;
    int status;
    pid_t pid = fork();

    if (pid == 0) {
        if (freopen("/dev/null", "w", stdout) != NULL)
            execl(camp, "camp", "top", "--count", "1", "--interval", "300ms", (char *)NULL);
        _exit(99);
    }
    assert_int_equal(wait4(pid, &status, 0, &usage), pid);
    *ret_resident_kb = usage.ru_maxrss;
    return status;
}

/* Returns how many threads of the crowd sleep. The last threads may have started, but may not sleep
 * yet. */
static size_t assert_all_of_a_crowd_add_up(struct camp_states *session,
                                           const pid_t pids[CROWD_PROCESSES])
{
    struct threads all = read_threads(session);
    size_t members = 0, asleep = 0;

    for (size_t i = 0; i < all.count; i++) {
        const struct camp_thread_states *of = &all.of[i];

        if ((of->flags & CAMP_THREAD_UNSURE) == 0)
            assert_int_equal(sum_ns(of), of->time_ns - of->begin_ns);
        members += strcmp(of->name, name) == 0;
        asleep += strcmp(of->name, name) == 0 && of->state == CAMP_STATE_LOCK;
    }
    print_message("%zu threads, %zu of the crowd, %zu of these in futex(2)\n", all.count, members,
                  asleep);
    assert_crowd_is_there(pids);
    assert_int_equal(members, CROWD);
    free(all.of);
    return asleep;
}

static void a_snapshot_has_each_of_32000_threads_with_its_states(void **state)
{
    struct camp_states *session = open_states_or_skip(0);
    struct crowd *crowd = shared_memory(sizeof *crowd);
    const char *camp = getenv("CAMP");
    struct camp_states_losses losses;
    struct threads ended = { 0 };
    pid_t pids[CROWD_PROCESSES];
    long resident_kb = 0;
    int status = 0;
    size_t asleep = CROWD;
    uint64_t began_ns, ever = made_ever(), others;
    struct threads before = read_threads(session);
    struct reported reported;

    (void)state;
    start_crowd(crowd, pids);
    if (crowd->failed == 0) {
        began_ns = now_ns(CLOCK_MONOTONIC);
        do
            asleep = assert_all_of_a_crowd_add_up(session, pids);
        while (asleep < CROWD && wait_on(began_ns));
        status = camp != NULL ? run_top(camp, &resident_kb) : 0;
    }
    end_crowd(pids);
    if (crowd->failed != 0) {
        print_message("skipped, not passed: %d threads, and then: %s (kernel.pid_max, "
                      "kernel.threads-max, pids.max)\n",
                      crowd->there, strerror(crowd->failed));
        camp_states_close(session);
        skip();
    }
    reported = wait_for_all(session, &ended, CROWD, &losses);
    others = less(made_ever() - ever + before.count, CROWD);
    free(before.of);
    print_message(
        "camp top: status %d, %ld MB resident; ends reported %llu, %llu of them in totals\n",
        status, resident_kb / 1024, (unsigned long long)reported.count,
        (unsigned long long)losses.exits_added_up);
    assert_int_equal(status, 0);
    assert_int_equal(losses.lost, 0);
    assert_int_equal(asleep, CROWD);
    assert_at_most("reported", reported.count, CROWD, 0);
    assert_at_least("reported and lost", reported.count + losses.exits_lost, CROWD, 0);
    assert_at_most("reported and lost", reported.count + losses.exits_lost, CROWD, others);
    assert_at_most("processes", reported.processes, CROWD_PROCESSES, 0);
    assert_at_least("processes", reported.processes + losses.exits_lost, CROWD_PROCESSES, 0);
    munmap(crowd, sizeof *crowd);
    free(ended.of);
    camp_states_close(session);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_lost_process_of_a_fork_bomb_is_counted),
        cmocka_unit_test(a_source_read_continuously_reports_every_process_of_a_fork_bomb),
        cmocka_unit_test(a_snapshot_has_each_of_32000_threads_with_its_states),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
