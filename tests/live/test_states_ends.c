/* Tests that no exited thread is lost, and none of its time, even if its life is short. */
#include "states_session.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#define CHILDREN 500
#define EVERY_NS (2 * (uint64_t)NS_PER_MS) /* 500 children per second */
#define THREADS 4

struct short_child {
    pid_t pid;
    char name[CAMP_STATES_NAME_SIZE];
    uint64_t own_ns; /* CPU clock just before the exit */
};

static void be_short(void *truth)
{
    struct short_child *self = truth;

    prctl(PR_SET_NAME, self->name);
    burn(CLOCK_PROCESS_CPUTIME_ID, 3 * (uint64_t)NS_PER_MS / 2);
    self->own_ns = now_ns(CLOCK_PROCESS_CPUTIME_ID);
}

static void run_short_children(struct short_child *children)
{
    uint64_t next = now_ns(CLOCK_MONOTONIC);
    int left = CHILDREN;

    for (int i = 0; i < CHILDREN; i++) {
        uint64_t now = now_ns(CLOCK_MONOTONIC);

        snprintf(children[i].name, sizeof children[i].name, "short%d", i);
        children[i].pid = start(be_short, &children[i]);
        while (waitpid(-1, NULL, WNOHANG) > 0)
            left--;
        next += EVERY_NS;
        if (now < next)
            usleep((useconds_t)((next - now) / NS_PER_US));
    }
    while (left > 0 && waitpid(-1, NULL, 0) > 0)
        left--;
}

static void every_short_lived_child_has_a_final_record(void **state)
{
    struct camp_states *session = open_states_or_skip(0);
    struct short_child *children = shared_memory(CHILDREN * sizeof *children);
    struct threads ended = { 0 };
    uint64_t steal = steal_ns(), own_ns = 0, told_ns = 0, scheduler_ns = 0, irq_ns = 0, tolerance;
    uint64_t sleeps = 0, preemptions = 0;

    (void)state;
    run_short_children(children);
    for (int i = 0; i < CHILDREN; i++) {
        struct camp_thread_states last = last_of(session, &ended, children[i].pid);

        assert_string_equal(last.name, children[i].name);
        assert_int_equal(last.parent, getpid());
        assert_true((last.flags & CAMP_THREAD_ENDED) != 0);
        assert_int_equal(sum_ns(&last), last.time_ns - last.start_ns);
        own_ns += children[i].own_ns;
        told_ns += on_cpu_ns(&last);
        irq_ns += last.state_ns[CAMP_STATE_IRQ];
        scheduler_ns += last.cpu_ns;
        sleeps += last.voluntary_switches;
        preemptions += last.involuntary_switches;
    }
    tolerance = switches_tolerance(sleeps, preemptions) + stolen_since(steal);
    print_message(
        "%d children: %.3f ms, by their own clocks %.3f, by the scheduler's %.3f; tolerance "
        "%.3f\n",
        CHILDREN, (double)told_ns / 1e6, (double)own_ns / 1e6, (double)scheduler_ns / 1e6,
        (double)tolerance / 1e6);
    assert_at_least("CPU time of the short", told_ns, own_ns, tolerance);
    assert_at_least("CPU time of the short", told_ns, scheduler_ns, tolerance);
    assert_at_most("CPU time of the short", told_ns, scheduler_ns, tolerance + irq_ns);
    munmap(children, CHILDREN * sizeof *children);
    free(ended.of);
    close_states(session);
}

struct crew {
    pid_t pid;
    struct {
        pid_t tid;
        uint64_t own_ns;
    } of[THREADS];
    atomic_int next;
};

static void *burn_as_one(void *truth)
{
    struct crew *crew = truth;
    int i = atomic_fetch_add(&crew->next, 1);

    crew->of[i].tid = gettid();
    burn(CLOCK_THREAD_CPUTIME_ID, 10 * (uint64_t)NS_PER_MS);
    crew->of[i].own_ns = now_ns(CLOCK_THREAD_CPUTIME_ID);
    return NULL;
}

static void start_crew(struct crew *crew, pthread_t threads[THREADS])
{
    for (int i = 0; i < THREADS; i++) {
        if (pthread_create(&threads[i], NULL, burn_as_one, crew) != 0)
            _exit(1);
    }
}

static void be_several(void *truth)
{
    pthread_t threads[THREADS];

    start_crew(truth, threads);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
}

static void every_thread_of_a_process_has_a_final_record(void **state)
{
    struct camp_states *session = open_states_or_skip(0);
    struct crew *crew = shared_memory(sizeof *crew);
    struct threads ended = { 0 };
    uint64_t steal = steal_ns();

    (void)state;
    crew->pid = start(be_several, crew);
    reap_well(crew->pid);
    for (int i = 0; i < THREADS; i++) {
        struct camp_thread_states last = last_of(session, &ended, crew->of[i].tid);

        assert_int_equal(last.pid, crew->pid);
        assert_at_least("of a thread", on_cpu_ns(&last), crew->of[i].own_ns,
                        tolerance_of(&last) + stolen_since(steal));
        assert_scheduled(&last, stolen_since(steal), 0);
    }
    assert_int_equal(last_of(session, &ended, crew->pid).pid, crew->pid);
    munmap(crew, sizeof *crew);
    free(ended.of);
    close_states(session);
}

static void *become_another(void *unused)
{
    (void)unused;
    execl("/bin/sh", "sh", "-c", "i=0; while [ $i -lt 20000 ]; do i=$((i + 1)); done", NULL);
    _exit(1);
}

static void run_another_in_a_thread(void *unused)
{
    pthread_t thread;

    (void)unused;
    pthread_create(&thread, NULL, become_another, NULL);
    pause();
}

/* Waits for the last records of all threads of a process, and returns the last of these records. */
static struct camp_thread_states last_of_all(struct camp_states *session, pid_t pid, size_t threads)
{
    struct threads ended = { 0 };
    struct camp_thread_states last = { 0 };
    size_t count = 0;

    uint64_t began_ns = now_ns(CLOCK_MONOTONIC);

    while (count < threads && wait_on(began_ns)) {
        add_exited(session, &ended);
        count = 0;
        for (size_t k = 0; k < ended.count; k++) {
            if (ended.of[k].pid != pid)
                continue;
            last = ended.of[k];
            count++;
        }
    }
    free(ended.of);
    assert_int_equal(count, threads);
    return last;
}

static void after_exec_the_final_record_of_a_thread_has_the_tid_of_the_first_thread(void **state)
{
    struct camp_states *session = open_states_or_skip(0);
    uint64_t steal = steal_ns();
    pid_t child = start(run_another_in_a_thread, NULL);
    struct camp_thread_states last;

    (void)state;
    reap_well(child);
    last = last_of_all(session, child, 2);
    assert_int_equal(last.tid, child);
    assert_string_equal(last.name, "sh");
    assert_scheduled(&last, stolen_since(steal), 0);
    close_states(session);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_short_lived_child_has_a_final_record),
        cmocka_unit_test(every_thread_of_a_process_has_a_final_record),
        cmocka_unit_test(after_exec_the_final_record_of_a_thread_has_the_tid_of_the_first_thread),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
