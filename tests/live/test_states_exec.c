/* Tests a thread that calls exec(2) and is not the first thread of its process. The first thread
 * exits, and the calling thread gets its tid. */
#include "states_session.h"

#include "sources/source.h"

#include <fcntl.h>
#include <pthread.h>

#define STEP_US 50000

static volatile sig_atomic_t stop;

/* readings of the clock before and after an event */
struct bracket {
    uint64_t early_ns, late_ns;
};

static struct {
    struct bracket second; /* start of the second thread */
    uint64_t exec_ns;      /* just before the second thread calls exec */
    int go[2];             /* pipe: a byte lets the second thread call exec */
    int gone[2];           /* pipe that exec closes */
} * facts;

static void *run_another(void *unused)
{
    char byte;

    (void)unused;
    facts->second.late_ns = now_ns(CLOCK_MONOTONIC);
    if (read(facts->go[0], &byte, 1) == 1) {
        facts->exec_ns = now_ns(CLOCK_MONOTONIC);
        execl("/bin/sleep", "sleep", "100", (char *)NULL);
    }
    _exit(1);
}

static void have_a_thread_run_another(void *unused)
{
    pthread_t thread;

    (void)unused;
    close(facts->gone[0]);
    facts->second.early_ns = now_ns(CLOCK_MONOTONIC);
    if (pthread_create(&thread, NULL, run_another, NULL) != 0)
        _exit(1);
    for (;;)
        pause();
}

/* Returns the elapsed time of all threads of a process in the next interval. Asserts that the
 * states of each thread add up. */
static uint64_t told_ns(struct source *source, pid_t pid, struct bracket *ret_when)
{
    const struct frame *frame;
    uint64_t elapsed_ns = 0;

    ret_when->early_ns = now_ns(CLOCK_MONOTONIC);
    assert_int_equal(source->next(source, 0, &frame, NULL), CAMP_OK);
    ret_when->late_ns = now_ns(CLOCK_MONOTONIC);
    for (size_t i = 0; i < frame->entity_count; i++) {
        if (frame->entities[i].pid != pid)
            continue;
        elapsed_ns += frame->elapsed_ns[i];
        assert_int_equal(frame_unaccounted_ns(frame, i), 0);
    }
    return elapsed_ns;
}

static void assert_in_bracket(const char *what, uint64_t ns, uint64_t least_ns, uint64_t most_ns)
{
    print_message("%s: %.3f ms, by the clock %.3f to %.3f\n", what, (double)ns / 1e6,
                  (double)least_ns / 1e6, (double)most_ns / 1e6);
    assert_at_least(what, ns, least_ns, 0);
    assert_at_most(what, ns, most_ns, 0);
}

/* The process has two threads until exec, and one thread afterwards. The clock is read before and
 * after each event, which gives bounds of the times. */
static void a_thread_that_calls_exec_is_accounted_under_the_tid_of_the_first_thread(void **state)
{
    struct camp_states *session = open_states_or_skip(0); /* skips the test without privileges */
    struct bracket first, when, exec;
    struct source *source;
    uint64_t elapsed_ns;
    pid_t child;
    char byte;

    (void)state;
    camp_states_close(session);
    facts = shared_memory(sizeof *facts);
    assert_int_equal(pipe(facts->go), 0);
    assert_int_equal(pipe2(facts->gone, O_CLOEXEC), 0);
    assert_int_equal(threads_source_open(0, &stop, &source, NULL), CAMP_OK);
    first.early_ns = now_ns(CLOCK_MONOTONIC);
    child = start(have_a_thread_run_another, NULL);
    first.late_ns = now_ns(CLOCK_MONOTONIC);
    close(facts->gone[1]);
    usleep(STEP_US);
    while (*(volatile uint64_t *)&facts->second.late_ns == 0)
        usleep(1000);
    elapsed_ns = told_ns(source, child, &when);
    assert_in_bracket("two threads", elapsed_ns,
                      2 * when.early_ns - first.late_ns - facts->second.late_ns,
                      2 * when.late_ns - first.early_ns - facts->second.early_ns);
    usleep(STEP_US);
    assert_int_equal(write(facts->go[1], "", 1), 1);
    /* The end of the file means that exec has happened. */
    assert_int_equal(read(facts->gone[0], &byte, 1), 0);
    exec = (struct bracket){ facts->exec_ns, now_ns(CLOCK_MONOTONIC) };
    elapsed_ns += told_ns(source, child, &when);
    usleep(STEP_US);
    elapsed_ns += told_ns(source, child, &when);
    assert_in_bracket("from two to one", elapsed_ns,
                      when.early_ns - first.late_ns + exec.early_ns - facts->second.late_ns,
                      when.late_ns - first.early_ns + exec.late_ns - facts->second.early_ns);
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    source_close(source);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_thread_that_calls_exec_is_accounted_under_the_tid_of_the_first_thread),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
