/* Tests which backend is charged with the waits of others for locks. */
#include "lock_children.h"

static uint64_t waited_ns(const struct backend_account *account, uint32_t of_class)
{
    uint64_t ns = 0;

    for (uint32_t i = 0; i < account->wait_count; i++)
        ns += BACKEND_EVENT_CLASS(account->waits[i].event) == of_class ? account->waits[i].ns : 0;
    return ns;
}

/* Sums the blocks of a blocker and a root; 0 stands for any. */
static uint64_t blocked_ns(pid_t waiter, pid_t blocker, pid_t root)
{
    const struct backend_blocks *of = &last_blocks[waiter % BACKENDS];
    uint64_t ns = 0;

    for (size_t i = 0; i < BACKEND_BLOCKS; i++) {
        const struct backend_block *block = &of->blocks[i];

        if (block->used != 0 && (blocker == 0 || block->blocker == blocker) &&
            (root == 0 || block->root == root))
            ns += block->ns;
    }
    return ns;
}

/* Asserts that all of a wait is of one blocker, which is the root. */
static void assert_blocked_by(struct backends *backends, pid_t blocker, uint32_t of_class)
{
    const struct backend_account ended = last_of_child(backends, scene->waiter);
    const uint64_t ns = waited_ns(&ended, of_class);

    print_message(
        "%.3f ms, of it for %d %.3f, for others %.3f\n", (double)ns / 1e6, (int)blocker,
        (double)blocked_ns(scene->waiter, blocker, blocker) / 1e6,
        (double)(blocked_ns(scene->waiter, 0, 0) - blocked_ns(scene->waiter, blocker, blocker)) /
            1e6);
    assert_true(ns > 0);
    assert_int_equal(blocked_ns(scene->waiter, blocker, blocker), ns);
    assert_int_equal(blocked_ns(scene->waiter, 0, 0), ns);
}

static int start_scene(void **state)
{
    (void)state;
    memset(scene, 0, sizeof *scene);
    return sem_init(&scene->semaphore, 1, 0);
}

static void a_wait_is_charged_to_the_backend_that_ends_it(void **state)
{
    void (*const waits[])(void *) = { wait_once, wait_for_a_semaphore };
    void (*const releases[])(void *) = { release_latch, release_semaphore };
    const uint32_t classes[] = { BACKEND_CLASS_LOCK, BACKEND_CLASS_LWLOCK };

    for (size_t i = 0; i < 2; i++) {
        struct backends *backends = open_or_skip(place_by_blocker());
        pid_t releaser;

        start_scene(state);
        scene->waiter = start(waits[i], NULL);
        releaser = start(releases[i], NULL);
        await_wait(scene->waiter, 0);
        scene->may_release = 1;
        assert_blocked_by(backends, releaser, classes[i]);
        reap_well(releaser);
        backends_close(backends);
    }
}

static void wait_with_a_timer(void *truth)
{
    const struct itimerval each = { { 0, 5000 }, { 0, 5000 } };
    const struct sigaction action = { .sa_handler = count_alarm };

    stay_on(last_cpu());
    sigaction(SIGALRM, &action, NULL);
    setitimer(ITIMER_REAL, &each, NULL);
    if (truth == NULL)
        wait_once(NULL);
    else
        wait_for_a_semaphore(NULL);
}

static void burn_on_the_same_cpu(void *truth)
{
    (void)truth;
    stay_on(last_cpu());
    while (scene->may_release == 0)
        continue;
}

/* The interrupt of the timer mostly comes while the busy backend has the CPU. */
static void a_timer_that_interrupts_another_backend_ends_no_wait(void **state)
{
    for (size_t i = 0; i < 2; i++) {
        struct backends *backends = open_or_skip(place_by_blocker());
        pid_t releaser, busy;

        start_scene(state);
        scene->waiter = start(wait_with_a_timer, i == 0 ? NULL : scene);
        busy = start(burn_on_the_same_cpu, NULL);
        releaser = start(i == 0 ? release_latch : release_semaphore, NULL);
        await(&scene->waits[0]);
        while (scene->alarms < 10)
            usleep(1000);
        await_wait(scene->waiter, 0);
        scene->may_release = 1;
        assert_blocked_by(backends, releaser, i == 0 ? BACKEND_CLASS_LOCK : BACKEND_CLASS_LWLOCK);
        assert_true(last[scene->waiter % BACKENDS].voluntary_switches >= 10);
        reap_well(releaser);
        reap_well(busy);
        backends_close(backends);
    }
}

static void wait_with_a_handler(void *truth)
{
    const struct sigaction action = { .sa_handler = count_alarm };

    (void)truth;
    sigaction(SIGUSR1, &action, NULL);
    wait_once(NULL);
}

static void send_signals(void *truth)
{
    (void)truth;
    for (int i = 0; i < 5; i++) {
        const int before = scene->alarms;

        await_wait(scene->waiter, 0);
        if (kill(scene->waiter, SIGUSR1) != 0)
            _exit(1);
        while (scene->alarms == before)
            usleep(200);
    }
}

static void a_signal_of_another_backend_ends_no_wait(void **state)
{
    struct backends *backends = open_or_skip(place_by_blocker());
    pid_t releaser;

    (void)state;
    scene->waiter = start(wait_with_a_handler, NULL);
    releaser = start(release_latch, NULL);
    reap_well(start(send_signals, NULL));
    await_wait(scene->waiter, 0);
    scene->may_release = 1;
    assert_blocked_by(backends, releaser, BACKEND_CLASS_LOCK);
    reap_well(releaser);
    backends_close(backends);
}

static void give_up(void *truth)
{
    const struct itimerval once = { { 0, 0 }, { 0, 20000 } };
    const struct sigaction action = { .sa_handler = count_alarm };

    (void)truth;
    sigaction(SIGALRM, &action, NULL);
    setitimer(ITIMER_REAL, &once, NULL);
    wait_for_latch(LOCK, 0, true);
    usleep(1000);
}

static void a_wait_that_a_timeout_ends_has_no_blocker(void **state)
{
    struct backends *backends = open_or_skip(place_by_blocker());
    struct backend_account ended;

    (void)state;
    scene->waiter = start(give_up, NULL);
    ended = last_of_child(backends, scene->waiter);
    assert_true(waited_ns(&ended, BACKEND_CLASS_LOCK) > 10000000);
    assert_int_equal(blocked_ns(scene->waiter, 0, 0), 0);
    backends_close(backends);
}

static void a_process_that_is_no_backend_ends_a_wait_without_a_blocker(void **state)
{
    struct backends *backends = open_or_skip(place_by_blocker());
    struct backend_account ended;

    (void)state;
    scene->waiter = start(wait_once, NULL);
    await_wait(scene->waiter, 0);
    scene->may_release = 1;
    release_latch(NULL); /* by the server itself */
    ended = last_of_child(backends, scene->waiter);
    assert_true(waited_ns(&ended, BACKEND_CLASS_LOCK) > 0);
    assert_int_equal(blocked_ns(scene->waiter, 0, 0), 0);
    backends_close(backends);
}

/* The blocker of the first one: waits for a third one, and then releases. */
static void wait_and_release(void *truth)
{
    (void)truth;
    await(&scene->may_wait);
    wait_for_latch(LOCK, 1, false);
    release_latch(NULL);
}

static void release_second(void *truth)
{
    (void)truth;
    await_wait(scene->second, 1);
    usleep(20000);
    if (kill(scene->second, SIGURG) != 0)
        _exit(1);
}

static void the_root_of_a_wait_is_what_its_blocker_waited_for_meanwhile(void **state)
{
    struct backends *backends = open_or_skip(place_by_blocker());
    const pid_t waiter = scene->waiter = start(wait_once, NULL);
    const pid_t second = scene->second = start(wait_and_release, NULL);
    struct backend_account ended, of_second;
    pid_t third;

    (void)state;
    await_wait(waiter, 0);
    usleep(10000);
    third = start(release_second, NULL);
    scene->may_wait = 1;
    reap_well(third);
    usleep(10000);
    scene->may_release = 1;
    await_exit(waiter);
    of_second = last_of_child(backends, second);
    ended = last_of_child(backends, waiter);
    print_message("%.3f ms for %d: of it for %d %.3f\n",
                  (double)blocked_ns(waiter, second, 0) / 1e6, (int)second, (int)third,
                  (double)blocked_ns(waiter, second, third) / 1e6);
    assert_int_equal(blocked_ns(second, third, third), waited_ns(&of_second, BACKEND_CLASS_LOCK));
    assert_int_equal(blocked_ns(waiter, second, third), blocked_ns(second, third, third));
    assert_true(blocked_ns(waiter, second, third) > 10000000);
    assert_true(blocked_ns(waiter, second, second) > 10000000);
    assert_int_equal(blocked_ns(waiter, second, third) + blocked_ns(waiter, second, second),
                     waited_ns(&ended, BACKEND_CLASS_LOCK));
    backends_close(backends);
}

static void what_a_reading_reported_of_a_wait_is_not_charged_when_it_ends(void **state)
{
    struct backends *backends = open_or_skip(place_by_blocker());
    struct backend_account ended;
    const struct backend_account *account;
    uint64_t reported_ns = 0;
    pid_t releaser;

    (void)state;
    scene->waiter = start(wait_once, NULL);
    releaser = start(release_latch, NULL);
    await_wait(scene->waiter, 0);
    for (int i = 0; i < 3; i++) {
        usleep(5000);
        read_all(backends);
        account = account_of(scene->waiter);
        assert_non_null(account);
        assert_int_equal(blocks[account->row].event, LOCK);
        assert_int_equal(blocks[account->row].asleep_ns, waited_ns(account, BACKEND_CLASS_LOCK));
        assert_true(blocks[account->row].asleep_ns > reported_ns);
        reported_ns = blocks[account->row].asleep_ns;
    }
    usleep(5000);
    scene->may_release = 1;
    reap_well(releaser);
    ended = last_of_child(backends, scene->waiter);
    assert_int_equal(last_blocks[scene->waiter % BACKENDS].subtracted_ns, reported_ns);
    assert_int_equal(blocked_ns(scene->waiter, releaser, releaser) + reported_ns,
                     waited_ns(&ended, BACKEND_CLASS_LOCK));
    backends_close(backends);
}

static void wait_many_times(void *truth)
{
    (void)truth;
    for (size_t i = 0; i < MANY; i++)
        wait_for_latch(LOCK + (uint32_t)i, i, false);
}

static void release_many_times(void *truth)
{
    (void)truth;
    for (size_t i = 0; i < MANY; i++) {
        await_wait(scene->waiter, i);
        if (kill(scene->waiter, SIGURG) != 0)
            _exit(1);
    }
}

static void what_finds_no_place_is_counted_and_charged_to_nobody(void **state)
{
    struct backends *backends = open_or_skip(place_by_blocker());
    struct backends_losses losses;
    struct backend_account ended;
    size_t used = 0;

    (void)state;
    scene->waiter = start(wait_many_times, NULL);
    reap_well(start(release_many_times, NULL));
    ended = last_of_child(backends, scene->waiter);
    backends_losses(backends, &losses);
    for (size_t i = 0; i < BACKEND_BLOCKS; i++)
        used += last_blocks[scene->waiter % BACKENDS].blocks[i].used != 0;
    print_message("%zu blocks, %llu waits without a place\n", used,
                  (unsigned long long)losses.unkept);
    assert_true(used > BACKEND_BLOCKS / 2);
    /* A wakeup is left out if it comes while an event of a timer is lost. */
    assert_in_range(used + losses.unkept, MANY * 9 / 10, MANY);
    assert_true(blocked_ns(scene->waiter, 0, 0) < waited_ns(&ended, BACKEND_CLASS_LOCK));
    backends_close(backends);
}

static void without_the_option_there_are_no_blockers(void **state)
{
    struct backends *backends = open_or_skip(place_of_this_test());
    pid_t releaser;

    (void)state;
    memset(blocks, 0, sizeof blocks);
    scene->waiter = start(wait_once, NULL);
    releaser = start(release_latch, NULL);
    await_wait(scene->waiter, 0);
    scene->may_release = 1;
    reap_well(releaser);
    last_of_child(backends, scene->waiter);
    for (size_t i = 0; i < BACKENDS; i++)
        assert_int_equal(blocks[i].blocks[0].used + blocks[i].number, 0);
    backends_close(backends);
}

#define TEST(name) cmocka_unit_test_setup(name, start_scene)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_wait_is_charged_to_the_backend_that_ends_it),
        TEST(a_timer_that_interrupts_another_backend_ends_no_wait),
        TEST(a_signal_of_another_backend_ends_no_wait),
        TEST(a_wait_that_a_timeout_ends_has_no_blocker),
        TEST(a_process_that_is_no_backend_ends_a_wait_without_a_blocker),
        TEST(the_root_of_a_wait_is_what_its_blocker_waited_for_meanwhile),
        TEST(what_a_reading_reported_of_a_wait_is_not_charged_when_it_ends),
        TEST(what_finds_no_place_is_counted_and_charged_to_nobody),
        TEST(without_the_option_there_are_no_blockers),
    };

    own = NULL;
    scene = mmap(NULL, sizeof *scene, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (scene == MAP_FAILED)
        return 1;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
