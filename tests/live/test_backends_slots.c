/* Tests the run-queue time of backends, the watching of grandchildren, and the reuse of slots. */
#include "backends_children.h"

static void burn_on_one_cpu(void *truth)
{
    stay_on(0);
    begin_stretch(truth);
    for (uint64_t end = now_ns(CLOCK_MONOTONIC) + BURN_NS; now_ns(CLOCK_MONOTONIC) < end;)
        continue;
    end_stretch(truth);
}

static void have_a_child(void *truth)
{
    pid_t pid = fork();

    if (pid == 0)
        wait_long(truth);
    *(volatile pid_t *)truth = pid;
    wait_long(truth);
}

/* The wall time of each child without its CPU time must be in the run queue. The scheduler updates
 * its run-queue time when the child leaves its CPU. */
static void three_busy_children_on_one_cpu_wait_in_the_run_queue(void **state)
{
    const uint64_t steal = steal_ns();
    struct backends *backends = open_or_skip(place_of_this_test());
    struct stretch *burners = shared_memory(3 * sizeof *burners);
    pid_t pids[3];

    (void)state;
    for (size_t i = 0; i < 3; i++)
        pids[i] = start(burn_on_one_cpu, &burners[i]);
    for (size_t i = 0; i < 3; i++) {
        struct backend_account ended = last_of_child(backends, pids[i]);
        uint64_t tolerance =
            switches_tolerance(ended.voluntary_switches, ended.involuntary_switches) +
            stolen_since(steal);

        print_message("on CPU %llu us (scheduler %llu), run queue %llu (%llu); tolerance %llu\n",
                      (unsigned long long)ended.cpu_ns / 1000,
                      (unsigned long long)ended.scheduler_cpu_ns / 1000,
                      (unsigned long long)ended.run_queue_ns / 1000,
                      (unsigned long long)ended.scheduler_run_queue_ns / 1000,
                      (unsigned long long)tolerance / 1000);
        assert_near("on CPU", ended.cpu_ns, ended.scheduler_cpu_ns, tolerance);
        assert_near("run queue", ended.run_queue_ns, ended.scheduler_run_queue_ns, tolerance);
        assert_at_least("run queue", ended.run_queue_ns,
                        less(burners[i].wall_ns, burners[i].cpu_ns), tolerance);
    }
    munmap(burners, 3 * sizeof *burners);
    backends_close(backends);
}

static void a_grandchild_of_the_server_is_measured_only_on_request(void **state)
{
    struct backends *backends = open_or_skip(place_of_this_test());
    volatile pid_t *grandchild = shared_memory(sizeof *grandchild);
    pid_t pid = start(have_a_child, (void *)grandchild);

    (void)state;
    while (*grandchild == 0)
        usleep(1000);
    read_all(backends);
    assert_non_null(account_of(pid));
    assert_null(account_of(*grandchild));
    assert_int_equal(backends_watch(backends, *grandchild, NULL), CAMP_OK);
    assert_int_equal(backends_watch(backends, *grandchild, NULL), CAMP_OK);
    read_all(backends);
    assert_non_null(account_of(*grandchild));
    assert_int_equal(account_count, 2);
    kill(*grandchild, SIGKILL);
    end_child(pid);
    assert_int_equal(backends_watch(backends, pid, NULL), CAMP_E_GONE);
    backends_close(backends);
}

static void sit(void *truth)
{
    (void)truth;
    usleep(1000);
}

/* There are more children than slots. */
static void memory_slots_of_exited_backends_are_reused(void **state)
{
    struct backends *backends = open_or_skip(place_of_this_test());
    struct backends_losses losses;
    uint64_t began_ns;
    size_t ended = 0;
    /* With sanitizers a fork takes ten milliseconds, so there are only 450 children instead of
     * 4,500. */
    size_t rounds = getenv("CAMP_SANITIZED") != NULL ? 15 : 150;

    (void)state;
    for (size_t round = 0; round < rounds; round++) {
        pid_t pids[30];

        for (size_t i = 0; i < 30; i++)
            pids[i] = start(sit, NULL);
        for (size_t i = 0; i < 30; i++)
            waitpid(pids[i], NULL, 0);
        read_all(backends);
        for (size_t i = 0; i < account_count; i++)
            ended += (accounts[i].flags & BACKEND_ENDED) != 0;
    }
    began_ns = now_ns(CLOCK_MONOTONIC);
    do { /* waitpid() may return before a child has left its CPU. */
        read_all(backends);
        for (size_t i = 0; i < account_count; i++)
            ended += (accounts[i].flags & BACKEND_ENDED) != 0;
    } while (ended < rounds * 30 && wait_on(began_ns));
    assert_int_equal(ended, rounds * 30);
    backends_losses(backends, &losses);
    assert_int_equal(losses.unwatched, 0);
    backends_close(backends);
}

static void a_read_into_a_short_array_loses_no_backend(void **state)
{
    struct backends *backends = open_or_skip(place_of_this_test());
    size_t count = 0;

    (void)state;
    reap_well(start(sit, NULL));
    reap_well(start(sit, NULL));
    assert_int_equal(backends_read(backends, accounts, NULL, NULL, 1, &count, NULL), CAMP_E_SPACE);
    assert_int_equal(count, 2);
    read_all(backends);
    assert_int_equal(account_count, 2);
    backends_close(backends);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(three_busy_children_on_one_cpu_wait_in_the_run_queue),
        cmocka_unit_test(a_grandchild_of_the_server_is_measured_only_on_request),
        cmocka_unit_test(memory_slots_of_exited_backends_are_reused),
        cmocka_unit_test(a_read_into_a_short_array_loses_no_backend),
    };

    own = mmap(NULL, 3 * sizeof *own, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (own == MAP_FAILED)
        return 1;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
