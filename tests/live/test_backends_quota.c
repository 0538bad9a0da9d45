/* Tests the throttled time of backends whose cgroup has a quota of CPU time, against the kernel's
 * own count in the file cpu.stat. */
#include "backends_children.h"
#include "quota_group.h"

#include <errno.h>

#define RUN_NS 1500000000u
#define APART_US 17000 /* some readings are within a throttled time, some are not */

static struct limited *make_limited_or_skip(struct backends *backends)
{
    struct limited *limited = shared_memory(sizeof *limited);

    if (has_throttled_clock() && make_quota(&limited->quota)) {
        limited->cpu = last_cpu();
        return limited;
    }
    print_message("skipped, not passed: %s\n",
                  has_throttled_clock() ? strerror(errno)
                                        : "this kernel has no clock of throttled time (Linux 6.6)");
    backends_close(backends);
    skip();
    return NULL;
}

static struct backend_account copy_of(pid_t pid)
{
    const struct backend_account *account = account_of(pid);

    assert_non_null(account);
    return *account;
}

/* Returns whether all of the time between two readings was throttled. */
static bool was_throttled(const struct backend_account *before, const struct backend_account *now)
{
    return before->state == BACKEND_IN_RUN_QUEUE && now->state == BACKEND_IN_RUN_QUEUE &&
           now->throttled_ns - before->throttled_ns == now->time_ns - before->time_ns;
}

/* Both children are on one CPU, so each is throttled for as long as the cgroup is: from when it has
 * used up its quota, or from its next switch on, until the next period. The kernel's count grows
 * only at the end of a throttled time. */
static void throttled_time_is_that_of_the_group_and_known_while_it_lasts(void **state)
{
    struct backends *backends = open_or_skip(place_of_this_test());
    struct limited *limited = make_limited_or_skip(backends);
    struct backend_account before = { 0 }, now;
    size_t throttled_readings = 0;
    uint64_t throttled;
    pid_t pids[2];

    (void)state;
    assert_true(backends_measure_throttled(backends));
    limited->until_ns = now_ns(CLOCK_MONOTONIC) + RUN_NS;
    for (size_t i = 0; i < 2; i++)
        pids[i] = start(use_up_quota, limited);
    while (now_ns(CLOCK_MONOTONIC) + APART_US * 2000 < limited->until_ns) {
        usleep(APART_US);
        read_all(backends);
        now = copy_of(pids[0]);
        throttled_readings += was_throttled(&before, &now);
        before = now;
    }
    for (size_t i = 0; i < 2; i++)
        last_of_child(backends, pids[i]);
    throttled = throttled_ns(&limited->quota);
    for (size_t i = 0; i < 2; i++) {
        const struct backend_account ended = last[pids[i] % BACKENDS];
        const uint64_t tolerance =
            switches_tolerance(ended.voluntary_switches, ended.involuntary_switches);

        print_message("throttled %.3f ms (cpu.stat %.3f), run queue %.3f ms\n",
                      (double)ended.throttled_ns / 1e6, (double)throttled / 1e6,
                      (double)ended.run_queue_ns / 1e6);
        assert_near("throttled", ended.throttled_ns, throttled, throttled / 10 + tolerance);
        assert_near("without a CPU", ended.throttled_ns + ended.run_queue_ns,
                    ended.scheduler_run_queue_ns, tolerance);
    }
    print_message("%zu readings were throttled since the one before\n", throttled_readings);
    assert_true(throttled_readings > 0);
    rmdir(limited->quota.folder);
    munmap(limited, sizeof *limited);
    backends_close(backends);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(throttled_time_is_that_of_the_group_and_known_while_it_lasts),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
