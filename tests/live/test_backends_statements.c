/*
 * Tests that the times of backends are divided by statement. The children have the number of their
 * statement in their memory, like the backends of a database server.
 */
#include "backends_children.h"

#define LOCK 0x03000007u
#define ACTIVE 2

static struct backends_place place_by_statement(void)
{
    struct backends_place place = place_of_this_test();

    place.by_statement = 1;
    place.statement_offset = offsetof(struct entry, statement);
    return place;
}

static void burn_for(uint64_t ns, struct stretch *stretch)
{
    begin_stretch(stretch);
    for (uint64_t end = now_ns(CLOCK_MONOTONIC) + ns; now_ns(CLOCK_MONOTONIC) < end;)
        continue;
    end_stretch(stretch);
}

/* Like a server, it sets the number of the next statement only after it was woken. */
static void run_three_statements(void *truth)
{
    (void)truth;
    entry.statement = 11;
    wait_for(LOCK, ACTIVE, 50000, &own[0]);
    entry.statement = 12;
    burn_for(100000000, &own[1]);
    wait_for(LOCK, ACTIVE, 20000, &own[2]);
    entry.statement = UINT64_MAX;
    wait_for(LOCK, ACTIVE, 10000, &own[3]);
}

static uint64_t sum_of(const struct backend_statements *of, uint64_t statement, uint32_t of_event)
{
    uint64_t ns = 0;

    for (size_t i = 0; i < BACKEND_SHARES; i++) {
        const struct backend_share *share = &of->shares[i];

        if (share->used != 0 && share->statement == statement && share->event == of_event)
            ns += share->ns;
    }
    return ns;
}

/* Asserts that the shares, and the time in none yet, add up to the account. */
static void assert_whole(const struct backend_account *account, const struct backend_statements *of)
{
    uint64_t ns = of->cpu_ns + of->run_queue_ns;

    for (size_t i = 0; i < BACKEND_SHARES; i++)
        ns += of->shares[i].used != 0 ? of->shares[i].ns : 0;
    assert_int_equal(ns, account_sum_ns(account));
}

static void assert_within(const char *what, uint64_t ns, uint64_t least, uint64_t most,
                          const struct backend_account *ended, uint64_t stolen_ns)
{
    print_message("%s: %.3f ms, by its own clocks %.3f to %.3f\n", what, (double)ns / 1e6,
                  (double)least / 1e6, (double)most / 1e6);
    assert_at_least(what, ns, least,
                    stolen_ns +
                        switches_tolerance(ended->voluntary_switches, ended->involuntary_switches));
    assert_at_most(what, ns, most,
                   stolen_ns +
                       switches_tolerance(ended->voluntary_switches, ended->involuntary_switches));
}

static void each_statement_has_the_time_that_passed_while_it_ran(void **state)
{
    const uint64_t steal = steal_ns();
    struct backends *backends = open_or_skip(place_by_statement());
    const pid_t pid = start(run_three_statements, NULL);
    struct backend_account ended = last_of_child(backends, pid);
    const struct backend_statements *of = &last_statements[pid % BACKENDS];

    (void)state;
    assert_whole(&ended, of);
    assert_within("wait of 11", sum_of(of, 11, LOCK), least_asleep_ns(&own[0]), own[0].wall_ns,
                  &ended, stolen_since(steal));
    assert_within("wait of 12", sum_of(of, 12, LOCK), least_asleep_ns(&own[2]), own[2].wall_ns,
                  &ended, stolen_since(steal));
    assert_within("wait of the last", sum_of(of, UINT64_MAX, LOCK), least_asleep_ns(&own[3]),
                  own[3].wall_ns, &ended, stolen_since(steal));
    assert_at_least("CPU of 12", sum_of(of, 12, BACKEND_EVENT_CPU), own[1].cpu_ns,
                    stolen_since(steal) +
                        switches_tolerance(ended.voluntary_switches, ended.involuntary_switches));
    backends_close(backends);
}

#define MANY 1000u

static void run_many_statements(void *truth)
{
    for (uint64_t i = 1; i <= MANY; i++) {
        entry.statement = i;
        wait_for(LOCK, ACTIVE, 1000, NULL);
        *(volatile uint64_t *)truth = i;
    }
}

/* Each statement needs shares for its wait, its CPU time and its run-queue time, so the table is
 * full after some 40 statements unless shares that were read are replaced. */
static void statements_that_were_read_give_their_places_to_later_ones(void **state)
{
    struct backends *backends = open_or_skip(place_by_statement());
    volatile uint64_t *reached = shared_memory(sizeof *reached);
    const pid_t pid = start(run_many_statements, (void *)reached);
    static bool is_seen[MANY + 1];
    size_t seen = 0, readings = 0;

    (void)state;
    for (uint64_t next = 0; *reached < MANY; readings++) {
        const struct backend_account *account;

        while (*reached < next && *reached < MANY)
            usleep(1000);
        next = *reached + 5; /* so that no reading finds the table full */
        read_all(backends);
        account = account_of(pid);
        for (size_t i = 0; account != NULL && i < BACKEND_SHARES; i++) {
            const struct backend_share *share = &statements[account->row].shares[i];

            if (share->used != 0 && share->event == LOCK && share->statement <= MANY)
                is_seen[share->statement] = true;
        }
    }
    reap_well(pid);
    for (size_t i = 1; i <= MANY; i++)
        seen += is_seen[i];
    print_message("%zu of %u statements seen in %zu readings\n", seen, MANY, readings);
    /* The last ones may run after the last reading. On a busy machine a reading may come late, and
     * the statements before it, of which the table holds 40, are seen all the same. */
    assert_at_least("statements seen", seen, readings * 5 < MANY / 2 ? 1 : MANY / 2, 0);
    backends_close(backends);
}

static void wait_long_in_a_statement(void *truth)
{
    entry.statement = 21;
    wait_long(truth);
}

static void await_sleep_in_a_statement(struct backends *backends, pid_t pid)
{
    const uint64_t began_ns = now_ns(CLOCK_MONOTONIC);
    const struct backend_account *account = NULL;

    do {
        read_all(backends);
        account = account_of(pid);
    } while ((account == NULL || sum_of(&statements[account->row], 21, 0x06000000) == 0) &&
             wait_on(began_ns));
    assert_non_null(account);
}

static void
a_backend_that_slept_before_camp_started_has_the_statement_that_it_slept_in(void **state)
{
    struct backends *backends = open_or_skip(place_by_statement());
    const pid_t pid = start(wait_long_in_a_statement, NULL);
    const struct backend_account *account;

    (void)state;
    await_sleep_in_a_statement(backends, pid);
    backends_close(backends);
    backends = open_or_skip(place_by_statement());
    usleep(20000);
    read_all(backends);
    account = account_of(pid);
    assert_non_null(account);
    assert_true((account->flags & BACKEND_OLDER) != 0);
    assert_int_equal(sum_of(&statements[account->row], 21, 0x06000000),
                     account->time_ns - account->begin_ns);
    backends_close(backends);
    end_child(pid);
}

static void without_the_option_there_are_no_times_by_statement(void **state)
{
    struct backends *backends = open_or_skip(place_of_this_test());
    const pid_t pid = start(run_three_statements, NULL);

    (void)state;
    memset(statements, 0, sizeof statements);
    last_of_child(backends, pid);
    for (size_t i = 0; i < BACKENDS; i++)
        assert_int_equal(statements[i].cpu_ns + statements[i].shares[0].used, 0);
    backends_close(backends);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_statement_has_the_time_that_passed_while_it_ran),
        cmocka_unit_test(statements_that_were_read_give_their_places_to_later_ones),
        cmocka_unit_test(
            a_backend_that_slept_before_camp_started_has_the_statement_that_it_slept_in),
        cmocka_unit_test(without_the_option_there_are_no_times_by_statement),
    };

    own = mmap(NULL, 4 * sizeof *own, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (own == MAP_FAILED)
        return 1;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
