/*
 * Tests the accounts of a PostgreSQL server's backends, which the kernel measures, with sessions
 * whose waits are known. The caller starts the server:
 *
 *     postgres_laws POSTMASTER_PID CONNINFO [LAW [PGBENCH_PID]]
 *
 * CONNINFO must have a superuser. LAW is the name of a test. The exit status is the number of
 * failed tests.
 *
 * No test has a tolerance of its own. It compares a backend's account with the scheduler's counts
 * of the backend in the same interval.
 */
#include "postgres_backend.h"

enum { CLASS_LOCK = 3, CLASS_CLIENT = 6, CLASS_TIMEOUT = 9 };

static void a_session_in_pg_sleep_has_all_its_time_in_the_event_pg_sleep(void **state)
{
    struct postgres_layout place = read_address();
    PGconn *session = connect_to_server(), *observer = connect_to_server();
    const struct sleeper sleeper = { "pg_sleep", session, CLASS_TIMEOUT, POSTGRES_ACTIVE };
    struct postgres_backend backend = { .pid = PQbackendPID(session) };

    (void)state;
    send_query(session, "select pg_sleep(600)");
    await_wait(observer, session, "Timeout/PgSleep/active");
    assert_asleep(&place, &sleeper, 1);
    assert_int_equal(postgres_memory_read(&place, &backend, 1, NULL), CAMP_OK);
    assert_true(backend.known);
    assert_int_equal(backend.event, interval_of(backend.pid).last->waits[0].event);
    assert_int_equal(postgres_layout_activity(&place, backend.code), POSTGRES_ACTIVE);
    kill(backend.pid, SIGTERM);
    disconnect_all((PGconn *[]){ session, observer }, 2);
}

static void a_session_that_waits_for_a_lock_has_all_its_time_in_lock_waits(void **state)
{
    struct postgres_layout place = read_address();
    PGconn *owner = connect_to_server(), *waiter = connect_to_server();
    PGconn *observer = connect_to_server();
    const struct sleeper sleepers[] = {
        { "waits for a lock", waiter, CLASS_LOCK, POSTGRES_ACTIVE },
        { "owns it", owner, CLASS_CLIENT, POSTGRES_IN_TRANSACTION },
    };

    (void)state;
    query(owner, "create table if not exists locked (a int)");
    query(owner, "begin; lock table locked");
    send_query(waiter, "begin; lock table locked");
    await_wait(observer, waiter, "Lock/relation/active");
    await_wait(observer, owner, "Client/ClientRead/idle in transaction");
    assert_asleep(&place, sleepers, 2);
    kill(PQbackendPID(waiter), SIGTERM);
    disconnect_all((PGconn *[]){ owner, waiter, observer }, 3);
}

static void sessions_idle_in_transaction_are_distinguished_from_idle_sessions(void **state)
{
    struct postgres_layout place = read_address();
    PGconn *idle = connect_to_server(), *open = connect_to_server(), *failed = connect_to_server();
    PGconn *observer = connect_to_server();
    const struct sleeper sleepers[] = {
        { "idle", idle, CLASS_CLIENT, POSTGRES_IDLE },
        { "in transaction", open, CLASS_CLIENT, POSTGRES_IN_TRANSACTION },
        { "aborted", failed, CLASS_CLIENT, POSTGRES_IN_TRANSACTION_ABORTED },
    };

    (void)state;
    query(open, "begin");
    make_fail(failed);
    await_wait(observer, idle, "Client/ClientRead/idle");
    await_wait(observer, open, "Client/ClientRead/idle in transaction");
    await_wait(observer, failed, "Client/ClientRead/idle in transaction (aborted)");
    assert_asleep(&place, sleepers, 3);
    disconnect_all((PGconn *[]){ idle, open, failed, observer }, 4);
}

/* All loops together have at most the time of all CPUs. A loop does not sleep, so the rest of its
 * time is run queue. */
static void loops_that_share_the_cpus_wait_in_the_run_queue(void **state)
{
    const size_t cpus = (size_t)sysconf(_SC_NPROCESSORS_ONLN), count = 3 * cpus;
    struct postgres_layout place = read_address();
    PGconn **burners = calloc(count, sizeof *burners), *observer = connect_to_server();
    pid_t *pids = calloc(count, sizeof *pids);
    struct witness(*witnesses)[2] = calloc(count, sizeof *witnesses);
    uint64_t cpu_ns = 0, run_queue_ns = 0, wall_ns, slept = 0;

    (void)state;
    for (size_t i = 0; i < count; i++) {
        burners[i] = connect_to_server();
        pids[i] = PQbackendPID(burners[i]);
        send_query(burners[i], "do $$ begin loop end loop; end $$");
    }
    for (size_t i = 0; i < count; i++)
        await_wait(observer, burners[i], "active");
    wall_ns = now_ns(CLOCK_MONOTONIC);
    measure(&place, pids, count, witnesses);
    wall_ns = now_ns(CLOCK_MONOTONIC) - wall_ns;
    for (size_t i = 0; i < count; i++) {
        struct interval interval = interval_of(pids[i]);
        const uint64_t ran = interval.last->cpu_ns - interval.first->cpu_ns;
        const uint64_t waited = interval.last->run_queue_ns - interval.first->run_queue_ns;

        if (witnesses[i][1].slept == witnesses[i][0].slept)
            assert_int_equal(ran + waited, interval.time_ns);
        slept += witnesses[i][1].slept - witnesses[i][0].slept;
        cpu_ns += ran;
        run_queue_ns += waited;
        kill(pids[i], SIGTERM);
    }
    disconnect_all(burners, count);
    PQfinish(observer);
    print_message("CPU %.2f s, run queue %.2f s; %llu sleeps\n", (double)cpu_ns / 1e9,
                  (double)run_queue_ns / 1e9, (unsigned long long)slept);
    assert_at_most("CPU", cpu_ns, cpus * wall_ns, 0);
    assert_at_least("run queue", run_queue_ns, 1, 0);
    free(burners);
    free(pids);
    free(witnesses);
}

static bool has_ended(struct backends *backends, pid_t pid, struct backend_account *ret)
{
    after_count = read_accounts(backends, after);
    for (size_t i = 0; i < after_count; i++) {
        if (after[i].pid == pid && (after[i].flags & BACKEND_ENDED) != 0) {
            *ret = after[i];
            return true;
        }
    }
    return false;
}

static void a_connection_of_50_ms_is_accounted_until_its_end(void **state)
{
    struct postgres_layout place = read_address();
    struct backends *backends = open_backends(&place);
    uint64_t begin = now_ns(CLOCK_MONOTONIC), end;
    PGconn *connection = connect_to_server();
    pid_t pid = PQbackendPID(connection);
    struct backend_account account = { 0 };
    unsigned tries = 0;

    (void)state;
    usleep(50000);
    PQfinish(connection);
    while (!has_ended(backends, pid, &account) && !is_over(&tries))
        ;
    end = now_ns(CLOCK_MONOTONIC);
    assert_int_equal(account.pid, pid);
    assert_int_equal(account.flags & BACKEND_OLDER, 0);
    assert_true(account.begin_ns > begin && account.time_ns < end);
    assert_true(account.time_ns - account.begin_ns >=
                50 * NS_PER_MS); /* usleep() takes at least 50 ms. */
    print_message("%llu us, on CPU %llu us\n",
                  (unsigned long long)(account.time_ns - account.begin_ns) / NS_PER_US,
                  (unsigned long long)account.cpu_ns / NS_PER_US);
    assert_false(has_ended(backends, pid, &account));
    backends_close(backends);
}

static size_t list_pgbench(pid_t *ret)
{
    PGconn *observer = connect_to_server();
    PGresult *result =
        PQexec(observer, "select pid from pg_stat_activity where application_name = 'pgbench'");
    const size_t count = (size_t)PQntuples(result);

    for (size_t i = 0; i < count && i < ACCOUNTS; i++)
        ret[i] = (pid_t)strtol(PQgetvalue(result, (int)i, 0), NULL, 10);
    PQclear(result);
    PQfinish(observer);
    return count < ACCOUNTS ? count : ACCOUNTS;
}

/* Returns the time of interrupts and stolen time, which the scheduler charges to no task. */
static uint64_t taken_ns(void)
{
    struct camp_cpu total;

    assert_int_equal(camp_cpu_read(NULL, CAMP_CPU_TOTAL, &total, sizeof total, NULL), CAMP_OK);
    return total.irq_ns + total.softirq_ns + total.steal_ns;
}

/* camp and the scheduler may differ by the time of a context switch each time the backend runs. */
static void compare_with_schedstat(pid_t pid, const struct witness *first,
                                   const struct witness *last, uint64_t taken, uint64_t switch_ns)
{
    struct interval interval = interval_of(pid);
    const uint64_t room = taken + (last->switches - first->switches) * switch_ns;
    const uint64_t cpu = interval.last->cpu_ns - interval.first->cpu_ns;
    const uint64_t run_queue = interval.last->run_queue_ns - interval.first->run_queue_ns;

    print_message("%d: CPU %llu us of %llu, run queue %llu us of %llu, room %llu us\n", pid,
                  (unsigned long long)cpu / NS_PER_US,
                  (unsigned long long)(last->cpu_ns - first->cpu_ns) / NS_PER_US,
                  (unsigned long long)run_queue / NS_PER_US,
                  (unsigned long long)(last->run_queue_ns - first->run_queue_ns) / NS_PER_US,
                  (unsigned long long)room / NS_PER_US);
    assert_true(cpu > 0);
    assert_near("on CPU", cpu, last->cpu_ns - first->cpu_ns, room);
    assert_near("run queue", run_queue, last->run_queue_ns - first->run_queue_ns, room);
}

/* pgbench is stopped before and after the measurement. Its backends then sleep, and their counts
 * are exact. */
static void cpu_and_run_queue_time_of_pgbench_equal_schedstat(void **state)
{
    struct postgres_layout place = read_address();
    struct witness first[ACCOUNTS], last[ACCOUNTS];
    struct backends_losses losses;
    struct backends *backends;
    pid_t pids[ACCOUNTS];
    const size_t count = list_pgbench(pids);
    uint64_t taken, switch_ns;

    (void)state;
    assert_true(pgbench > 0 && count >= 8);
    kill(pgbench, SIGSTOP);
    await_still(pids, count, first);
    backends = open_backends(&place);
    before_count = read_accounts(backends, before);
    taken = taken_ns();
    kill(pgbench, SIGCONT);
    usleep(2000000);
    kill(pgbench, SIGSTOP);
    await_still(pids, count, last);
    after_count = read_accounts(backends, after);
    taken = taken_ns() - taken + proc_time_unit_ns();
    switch_ns = switch_cost_ns();
    for (size_t i = 0; i < count; i++)
        compare_with_schedstat(pids[i], &first[i], &last[i], taken, switch_ns);
    backends_losses(backends, &losses);
    print_message("%zu backends, %llu ns a switch; %llu unread, %llu unseen\n", count,
                  (unsigned long long)switch_ns, (unsigned long long)losses.unread,
                  (unsigned long long)losses.unseen);
    assert_int_equal(losses.unwatched, 0);
    assert_int_equal(losses.misaccounted, 0);
    backends_close(backends);
}

static void await_end(PGconn *connection)
{
    unsigned tries = 0;

    while (PQstatus(connection) == CONNECTION_OK) {
        PQclear(PQexec(connection, "select 1"));
        if (is_over(&tries))
            fail_msg("the server did not end its sessions");
    }
    PQfinish(connection);
}

/* After a crash the server has new shared memory, but the pointers to it are at the same addresses.
 */
static void new_backends_are_found_after_a_crash_of_the_server(void **state)
{
    struct postgres_layout place = read_address(), again;
    PGconn *connection = connect_to_server(), *observer = connect_to_server();
    struct postgres_backend backend = { .pid = PQbackendPID(connection) };
    unsigned tries = 0;

    (void)state;
    assert_int_equal(postgres_memory_read(&place, &backend, 1, NULL), CAMP_OK);
    assert_true(backend.known);
    kill(backend.pid, SIGKILL);
    PQfinish(connection);
    /* The server first ends the observer's session, too, and accepts clients again later. */
    await_end(observer);
    while (PQping(conninfo) != PQPING_OK && !is_over(&tries))
        ;
    assert_int_equal(postgres_memory_read(&place, &backend, 1, NULL), CAMP_OK);
    assert_false(backend.known);
    connection = connect_to_server();
    backend.pid = PQbackendPID(connection);
    assert_int_equal(postgres_memory_read(&place, &backend, 1, NULL), CAMP_OK);
    assert_true(backend.known);
    assert_int_equal(postgres_layout_activity(&place, backend.code), POSTGRES_IDLE);
    assert_int_equal(postgres_layout_find(&again, postmaster, NULL), CAMP_OK);
    assert_int_equal(again.event_pointer, place.event_pointer);
    PQfinish(connection);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_session_in_pg_sleep_has_all_its_time_in_the_event_pg_sleep),
        cmocka_unit_test(a_session_that_waits_for_a_lock_has_all_its_time_in_lock_waits),
        cmocka_unit_test(sessions_idle_in_transaction_are_distinguished_from_idle_sessions),
        cmocka_unit_test(loops_that_share_the_cpus_wait_in_the_run_queue),
        cmocka_unit_test(a_connection_of_50_ms_is_accounted_until_its_end),
        cmocka_unit_test(cpu_and_run_queue_time_of_pgbench_equal_schedstat),
        cmocka_unit_test(new_backends_are_found_after_a_crash_of_the_server),
    };

    if (argc < 3) {
        fprintf(stderr, "usage: postgres_laws POSTMASTER_PID CONNINFO [LAW [PGBENCH_PID]]\n");
        return 2;
    }
    postmaster = (pid_t)strtol(argv[1], NULL, 10);
    conninfo = argv[2];
    if (argc > 3)
        cmocka_set_test_filter(argv[3]);
    if (argc > 4)
        pgbench = (pid_t)strtol(argv[4], NULL, 10);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
