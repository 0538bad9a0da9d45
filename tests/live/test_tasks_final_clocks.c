/*
 * Tests that the tier taskstats accounts an exited process to its last switch. Exit records end at
 * the last tick, so only final clocks (CAP_BPF and CAP_PERFMON) have the rest.
 */
#include "exited_children.h"

/* A child that slept, so that its exit record does not tell how long it ran since its last tick. It
 * is read as a zombie, and then reaped. */
static pid_t sleeping_child(const char *name)
{
    pid_t child = fork_child();

    if (child == 0) {
        prctl(PR_SET_NAME, name);
        usleep(1000);
        burn_blindly();
        _exit(0);
    }
    return child;
}

static struct source *open_with_final_clocks(void)
{
    struct source *source = open_taskstats();

    if (!tasks_source_has_final_clocks(source)) {
        source_close(source);
        print_message("skipped: CAP_BPF or CAP_PERFMON is missing, or the kernel has no BTF\n");
        skip();
    }
    return source;
}

static void a_zombie_is_accounted_in_the_interval_in_which_the_process_ended(void **state)
{
    struct source *source = open_with_final_clocks();
    pid_t child = sleeping_child(own_name("undead"));
    struct own_time own = end_of(child);
    struct folded accounted = rows_of_name(next_frame(source, 0), own_name("undead"));

    (void)state;
    assert_int_equal(accounted.count, 1);
    assert_at_least("accounted", accounted.measured_ns, own.whole, 0);
    reap(child);
    source_close(source);
}

/* A final clock arrives after an RCU grace period, so the test reads intervals until it has. */
static void a_reaped_process_is_accounted_up_to_its_last_context_switch(void **state)
{
    enum { INTERVALS = 100 };
    struct source *source = open_with_final_clocks();
    pid_t child = sleeping_child(own_name("final"));
    struct own_time own = end_of(child);
    struct folded sum = { 0 };

    (void)state;
    reap(child);
    for (int i = 0; i < INTERVALS && sum.measured_ns < own.whole; i++) {
        struct folded part = rows_of_name(next_frame(source, 50 * NS_PER_MS), own_name("final"));

        sum.count += part.count;
        sum.measured_ns += part.measured_ns;
    }
    assert_int_equal(sum.count, 1);
    assert_at_least("accounted", sum.measured_ns, own.whole, 0);
    assert_at_most("accounted", sum.measured_ns, own.whole, cost_of_an_exit());
    source_close(source);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_zombie_is_accounted_in_the_interval_in_which_the_process_ended),
        cmocka_unit_test(a_reaped_process_is_accounted_up_to_its_last_context_switch),
    };

    if (!exited_children_start())
        return 1;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
