/* A thread that is not its process's first runs another program: it goes on under the first one's
 * tid, and that one has ended. */
#include "states_session.h"

#include "sources/source.h"

#include <pthread.h>

#define STEP_US 150000

static volatile sig_atomic_t stop;

static void *run_another(void *unused)
{
    (void)unused;
    usleep(2 * STEP_US);
    execl("/bin/sleep", "sleep", "10", (char *)NULL);
    _exit(1);
}

static void have_a_thread_run_another(void *unused)
{
    pthread_t thread;

    (void)unused;
    if (pthread_create(&thread, NULL, run_another, NULL) != 0)
        _exit(1);
    pause();
}

/* Elapsed time of all threads of a process in the next interval; its states are as much. */
static uint64_t told_ns(struct source *source, pid_t pid)
{
    const struct frame *frame;
    uint64_t elapsed_ns = 0;

    assert_int_equal(source->next(source, 0, &frame, NULL), CAMP_OK);
    for (size_t i = 0; i < frame->entity_count; i++) {
        if (frame->entities[i].pid != pid)
            continue;
        elapsed_ns += frame->elapsed_ns[i];
        assert_in_range(frame_unaccounted_ns(frame, i) + 1000, 0, 2000);
    }
    return elapsed_ns;
}

static void a_thread_that_takes_the_first_ones_tid_goes_on(void **state)
{
    struct camp_states *session = open_states_or_skip(0); /* skips without privilege */
    struct source *source;
    uint64_t begin_ns, one_ns = 0, two_ns = 0;
    pid_t child;

    (void)state;
    camp_states_close(session);
    assert_int_equal(threads_source_open(0, &stop, &source, NULL), CAMP_OK);
    begin_ns = now_ns(CLOCK_MONOTONIC);
    child = start(have_a_thread_run_another, NULL);
    usleep(STEP_US);
    two_ns = told_ns(source, child);
    assert_near("two threads", two_ns, 2 * (now_ns(CLOCK_MONOTONIC) - begin_ns), 10 * NEAR_NS);
    usleep(2 * STEP_US); /* they are two for half of it */
    one_ns = told_ns(source, child);
    usleep(STEP_US);
    one_ns += told_ns(source, child);
    assert_near("from two to one", two_ns + one_ns,
                now_ns(CLOCK_MONOTONIC) - begin_ns + 2 * STEP_US * (uint64_t)NS_PER_US,
                10 * NEAR_NS);
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    source_close(source);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_thread_that_takes_the_first_ones_tid_goes_on),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
