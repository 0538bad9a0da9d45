/* Tests that a session has the last record of a thread for which its parent has waited, although
 * the thread may still be on its CPU: its parent preempts it as soon as the kernel reports the
 * exit. Only a preemptible kernel lets the parent do so (tests/kernels has one). */
#include "states_session.h"

#define CHILDREN 20

static void exit_unimportantly(void *truth)
{
    const struct sched_param none = { 0 };

    (void)truth;
    assert_int_equal(sched_setscheduler(0, SCHED_IDLE, &none), 0);
}

static void an_exit_that_was_waited_for_is_awaited(void **state)
{
    struct camp_states *session = open_states_or_skip(0);
    struct threads ended = { 0 };
    int late = 0;

    (void)state;
    stay_on(last_cpu());
    for (int i = 0; i < CHILDREN; i++) {
        const pid_t child = start(exit_unimportantly, NULL);
        const struct camp_thread_states *last;
        uint64_t left;

        reap_well(child);
        add_exited(session, &ended);
        late += find_tid(&ended, child) == NULL;
        assert_int_equal(camp_states_await_exits(session, PATIENCE_NS, &left, NULL), CAMP_OK);
        assert_int_equal(left, 0);
        add_exited(session, &ended);
        last = find_tid(&ended, child);
        if (last == NULL)
            fail_msg("no last record of child %d, number %d", child, i);
        assert_int_equal(last->parent, getpid());
        assert_int_equal(sum_ns(last), last->time_ns - last->start_ns);
    }
    print_message("%d of %d children left their CPU after their parent had waited for them\n", late,
                  CHILDREN);
    free(ended.of);
    close_states(session);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_exit_that_was_waited_for_is_awaited),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
