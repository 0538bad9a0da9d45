/* Tests the causes of waits of processes whose cgroup has a quota of CPU time: throttled time has
 * no culprit. It is checked against the kernel's own count in the file cpu.stat. */
#include "causes_session.h"
#include "quota_group.h"

#include <errno.h>

#define RUN_NS 2400000000u
#define READ_NS 1200000000u /* from then on the causes are not read before the end */
/* Asserts that no cause of a wait for a CPU is less than before. */
static void assert_none_fell(const struct causes *before, const struct causes *now)
{
    for (size_t i = 0; i < before->count; i++) {
        const struct camp_wait_cause *cause = &before->of[i];

        if (cause->state == CAMP_STATE_RUN_QUEUE)
            assert_at_least("cause",
                            cause_ns(now, cause->group, cause->state, cause->kind, cause->id),
                            cause->wait_ns, 0);
    }
}

/* Both are on one CPU, so each is throttled for as long as the cgroup is: from when it has used up
 * its quota, or from its next switch on, until the next period. */
static void throttled_time_has_no_culprit_and_no_cause_falls(void **state)
{
    struct camp_states *session = open_states_or_skip(CAMP_STATES_CULPRITS);
    struct limited *limited = shared_memory(sizeof *limited);
    struct threads ended = { 0 };
    struct camp_thread_states last[2];
    struct causes before, causes;
    uint64_t throttled;
    pid_t children[2];

    (void)state;
    if (!make_quota(&limited->quota)) {
        print_message("skipped, not passed: no cgroup with a quota of CPU time can be made: %s\n",
                      strerror(errno));
        close_states(session);
        skip();
    }
    limited->until_ns = now_ns(CLOCK_MONOTONIC) + RUN_NS;
    limited->cpu = last_cpu();
    for (size_t i = 0; i < 2; i++)
        children[i] = start_named(session, i, use_up_quota, limited);
    before = read_causes(session);
    while (now_ns(CLOCK_MONOTONIC) + READ_NS < limited->until_ns) {
        usleep(37000); /* often within a throttled time */
        causes = read_causes(session);
        assert_none_fell(&before, &causes);
        free(before.of);
        before = causes;
    }
    for (size_t i = 0; i < 2; i++)
        reap_well(children[i]);
    throttled = throttled_ns(&limited->quota);
    for (size_t i = 0; i < 2; i++)
        last[i] = last_of(session, &ended, children[i]);
    causes = read_causes(session);
    for (size_t i = 0; i < 2; i++) {
        const uint64_t own = last[i].state_ns[CAMP_STATE_THROTTLED];
        const uint32_t group = group_of_name(&causes, last[i].name);

        print_causes(&causes, group);
        /* The sleep in which it joins the cgroup may last over a reading, and has no cause then. */
        assert_int_equal(all_causes_ns(&causes, group, CAMP_STATE_RUN_QUEUE),
                         last[i].state_ns[CAMP_STATE_RUN_QUEUE]);
        print_message("throttled %.3f ms (cpu.stat %.3f)\n", (double)own / 1e6,
                      (double)throttled / 1e6);
        if (has_throttled_clock())
            assert_near("throttled", own, throttled, throttled / 10 + tolerance_of(&last[i]));
    }
    assert_none_fell(&before, &causes);
    rmdir(limited->quota.folder);
    munmap(limited, sizeof *limited);
    free(before.of);
    free(causes.of);
    free(ended.of);
    close_states(session);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(throttled_time_has_no_culprit_and_no_cause_falls),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
