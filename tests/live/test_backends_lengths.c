/*
 * Tests how long the sleeps of backends last: what the kernel counts of each adds up to the
 * accounts exactly, whatever was read when. The children have their wait event in their memory,
 * like the backends of a database server.
 */
#include "backends_children.h"

#include <inttypes.h>

#define LOCK 0x03000007u
#define SLEEP 0x09000001u
#define ACTIVE 2
#define SHORT 20

/* What all readings of a test have had of one backend. */
static struct backend_lengths_growth sums[2]; /* of LOCK and SLEEP */
static uint64_t own_count, other_count;

static struct backends_place place_with_lengths(void)
{
    struct backends_place place = place_of_this_test();

    place.lengths = 1;
    return place;
}

static uint64_t count_of(const struct backend_lengths_growth *growth)
{
    uint64_t count = 0;

    for (size_t i = 0; i < BACKEND_LENGTHS; i++)
        count += growth->counts[i];
    return count;
}

static void add(struct backend_lengths_growth *sum, const struct backend_lengths_growth *growth)
{
    sum->ns += growth->ns;
    for (size_t i = 0; i < BACKEND_LENGTHS; i++)
        sum->counts[i] += growth->counts[i];
    if (growth->longest_ns > sum->longest_ns) {
        sum->longest_ns = growth->longest_ns;
        sum->longest_end_ns = growth->longest_end_ns;
    }
}

/* Reads the accounts, and adds up the lengths of a child. */
static void read_lengths(struct backends *backends, pid_t pid)
{
    const struct backend_lengths_growth *growth;
    const struct backend_account *account;
    uint64_t uncounted;
    size_t count;

    read_all(backends);
    account = account_of(pid);
    growth = backends_lengths(backends, &count, &uncounted);
    for (size_t i = 0; i < count; i++) {
        const uint64_t grown = count_of(&growth[i]);

        assert_true(grown > 0 && growth[i].longest_ns > 0);
        assert_true(growth[i].longest_ns <= growth[i].ns);
        if (growth[i].row == BACKEND_LENGTHS_OTHER)
            other_count += grown;
        else if (account != NULL && growth[i].row == account->row)
            own_count += grown;
        if (account == NULL || growth[i].row != account->row)
            continue;
        if (growth[i].event == LOCK || growth[i].event == SLEEP)
            add(&sums[growth[i].event == SLEEP], &growth[i]);
    }
}

static int reset(void **state)
{
    (void)state;
    memset(sums, 0, sizeof sums);
    own_count = other_count = 0;
    return 0;
}

/* Reads until the last account of a child, and returns it. */
static struct backend_account read_to_the_end(struct backends *backends, pid_t pid)
{
    siginfo_t exited = { 0 };
    uint64_t began_ns;

    while (waitid(P_PID, (id_t)pid, &exited, WEXITED | WNOHANG | WNOWAIT) == 0 &&
           exited.si_pid == 0) {
        read_lengths(backends, pid);
        usleep(5000);
    }
    reap_well(pid);
    began_ns = now_ns(CLOCK_MONOTONIC);
    do
        read_lengths(backends, pid);
    while (last[pid % BACKENDS].pid != pid && wait_on(began_ns));
    assert_int_equal(last[pid % BACKENDS].pid, pid);
    return last[pid % BACKENDS];
}

static const struct backend_wait *wait_in(const struct backend_account *account, uint32_t of_event)
{
    for (uint32_t i = 0; i < account->wait_count; i++) {
        if (account->waits[i].event == of_event)
            return &account->waits[i];
    }
    fail_msg("the account has no wait in %x", of_event);
    return NULL;
}

static void sleep_short_and_long(void *truth)
{
    (void)truth;
    for (int i = 0; i < SHORT; i++)
        wait_for(SLEEP, ACTIVE, 10000, NULL);
    wait_for(LOCK, ACTIVE, 300000, &own[0]);
}

/* The bucket of a length. */
static size_t bucket_of(uint64_t ns)
{
    size_t bucket = 0;

    while (bucket + 1 < BACKEND_LENGTHS && ns >> (bucket + BACKEND_LENGTHS_FIRST + 1) != 0)
        bucket++;
    return bucket;
}

static void the_lengths_of_sleeps_add_up_to_their_time_exactly(void **state)
{
    const uint64_t steal = steal_ns();
    struct backends *backends = open_or_skip(place_with_lengths());
    const pid_t pid = start(sleep_short_and_long, NULL);
    const struct backend_account ended = read_to_the_end(backends, pid);
    const uint64_t tolerance = stolen_since(steal) + switches_tolerance(ended.voluntary_switches,
                                                                        ended.involuntary_switches);
    const struct backend_wait *lock = wait_in(&ended, LOCK), *asleep = wait_in(&ended, SLEEP);

    (void)state;
    print_message("%d sleeps of 10 ms: %.3f ms, longest %.3f; one of 300 ms: %.3f\n", SHORT,
                  (double)sums[1].ns / 1e6, (double)sums[1].longest_ns / 1e6,
                  (double)sums[0].longest_ns / 1e6);
    assert_int_equal(count_of(&sums[0]), lock->times);
    assert_int_equal(sums[0].ns, lock->ns);
    assert_int_equal(count_of(&sums[1]), asleep->times);
    assert_int_equal(sums[1].ns, asleep->ns);
    if (lock->times == 1) { /* else a signal or a stopped CPU has divided it */
        assert_int_equal(sums[0].longest_ns, lock->ns);
        assert_int_equal(sums[0].counts[bucket_of(lock->ns)], 1);
        assert_at_least("the long sleep", lock->ns, least_asleep_ns(&own[0]), tolerance);
        assert_at_most("the long sleep", lock->ns, own[0].wall_ns, tolerance);
    }
    for (size_t i = 0; i < bucket_of(10000000) && asleep->times == SHORT; i++)
        assert_int_equal(sums[1].counts[i], 0);
    assert_true(sums[0].longest_end_ns <= ended.time_ns && sums[0].longest_end_ns > ended.begin_ns);
    backends_close(backends);
}

static void a_sleep_that_lasts_is_not_counted(void **state)
{
    struct backends *backends = open_or_skip(place_with_lengths());
    const pid_t pid = start(wait_long, NULL);
    const uint64_t began_ns = now_ns(CLOCK_MONOTONIC);
    const struct backend_account *account;

    (void)state;
    do {
        read_lengths(backends, pid);
        account = account_of(pid);
    } while ((account == NULL || account->state != BACKEND_OFF_CPU || account->wait_count == 0 ||
              account->waits[0].event == 0) &&
             wait_on(began_ns));
    reset(NULL);
    read_lengths(backends, pid);
    read_lengths(backends, pid);
    assert_int_equal(own_count, 0);
    end_child(pid);
    backends_close(backends);
}

/* The slot of a backend that has ended is given to another one. */
static void a_later_backend_has_only_its_own_sleeps(void **state)
{
    struct backends *backends = open_or_skip(place_with_lengths());

    (void)state;
    for (int i = 0; i < 3; i++) {
        const pid_t pid = start(sleep_short_and_long, NULL);
        struct backend_account ended;

        reset(NULL);
        ended = read_to_the_end(backends, pid);
        assert_int_equal(sums[1].ns, wait_in(&ended, SLEEP)->ns);
        assert_int_equal(count_of(&sums[1]), wait_in(&ended, SLEEP)->times);
    }
    backends_close(backends);
}

#define MANY (BACKEND_LENGTHS_MAX + 3000)

static void run_many_statements(void *reached)
{
    for (uint64_t i = 1; i <= MANY; i++) {
        entry.statement = i;
        wait_for(SLEEP, ACTIVE, 100, NULL);
    }
    *(volatile uint64_t *)reached = 1;
    wait_long(NULL);
}

static void run_few_statements(void *reached)
{
    for (uint64_t i = 1; i <= 100; i++) {
        entry.statement = MANY + i;
        wait_for(SLEEP, ACTIVE, 1000, NULL);
    }
    *(volatile uint64_t *)reached = 1;
    wait_long(NULL);
}

/* Without a reading in between, the map becomes full. Later, statements that have not slept for two
 * readings make place for others. */
static void what_has_no_place_is_of_others_until_there_is_one(void **state)
{
    struct backends_place place = place_with_lengths();
    volatile uint64_t *reached = shared_memory(sizeof *reached);
    struct backends *backends;
    pid_t pid;
    uint64_t times;

    (void)state;
    place.by_statement = 1;
    place.statement_offset = offsetof(struct entry, statement);
    backends = open_or_skip(place);
    pid = start(run_many_statements, (void *)reached);
    while (*reached == 0)
        usleep(1000);
    read_lengths(backends, pid);
    times = wait_in(account_of(pid), SLEEP)->times;
    print_message("%" PRIu64 " of %" PRIu64 " sleeps have a place of their own, %" PRIu64
                  " are of others\n",
                  own_count, times, other_count);
    /* The child may also sleep without an event, and on a busy machine it does not sleep at all
     * when its time is over before it has left the CPU. */
    assert_true(own_count + other_count >= times);
    assert_true(times > BACKEND_LENGTHS_MAX);
    assert_true(own_count <= BACKEND_LENGTHS_MAX - BACKEND_LENGTHS_KEPT && own_count > MANY / 2);
    assert_true(other_count > 0);
    end_child(pid);
    for (int i = 0; i < 4; i++)
        read_lengths(backends, pid);
    *reached = 0;
    pid = start(run_few_statements, (void *)reached);
    while (*reached == 0)
        usleep(1000);
    reset(NULL);
    read_lengths(backends, pid);
    assert_true(count_of(&sums[1]) == wait_in(account_of(pid), SLEEP)->times);
    assert_int_equal(other_count, 0);
    end_child(pid);
    backends_close(backends);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(the_lengths_of_sleeps_add_up_to_their_time_exactly, reset),
        cmocka_unit_test_setup(a_sleep_that_lasts_is_not_counted, reset),
        cmocka_unit_test_setup(a_later_backend_has_only_its_own_sleeps, reset),
        cmocka_unit_test_setup(what_has_no_place_is_of_others_until_there_is_one, reset),
    };

    own = shared_memory(4 * sizeof *own);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
