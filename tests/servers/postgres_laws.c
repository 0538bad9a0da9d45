/*
 * The laws of a PostgreSQL server's backends, measured in the kernel and read from memory, with
 * sessions that know what they did. The caller starts the server:
 *
 *   postgres_laws POSTMASTER_PID CONNINFO [LAW [PGBENCH_PID]]
 *
 * with a superuser in CONNINFO. Ends as cmocka does: the number of laws that failed.
 *
 * No law has a constant of its own: a backend's account is compared with the scheduler's counts of
 * the backend in the same interval.
 */
#include "../live/scheduler_witness.h"
#include "../live/states_session.h"
#include "microstates/backends.h"
#include "sources/machine/proc_clock.h"
#include "sources/sessions/postgres/postgres_layout.h"
#include "sources/sessions/postgres/postgres_layout_probe.h"
#include "sources/sessions/postgres/postgres_memory.h"

#include <libpq-fe.h>
#include <string.h>

#define ACCOUNTS 256

static pid_t postmaster;
static pid_t pgbench; /* 0: none */
static const char *conninfo;

static struct backend_account before[ACCOUNTS], after[ACCOUNTS];
static size_t before_count, after_count;

/* ------------------------------------------------------------------------------- Sessions -- */

static PGconn *connect_to_server(void)
{
    PGconn *connection = PQconnectdb(conninfo);

    if (PQstatus(connection) != CONNECTION_OK)
        fail_msg("%s", PQerrorMessage(connection));
    return connection;
}

static char *query(PGconn *connection, const char *sql)
{
    static char value[64];
    PGresult *result = PQexec(connection, sql);
    ExecStatusType status = PQresultStatus(result);

    if (status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK)
        fail_msg("%s: %s", sql, PQerrorMessage(connection));
    value[0] = '\0';
    if (PQntuples(result) > 0)
        snprintf(value, sizeof value, "%s", PQgetvalue(result, 0, 0));
    PQclear(result);
    return value;
}

/* Runs while we do something else. */
static void send_query(PGconn *connection, const char *sql)
{
    if (PQsendQuery(connection, sql) != 1)
        fail_msg("%s: %s", sql, PQerrorMessage(connection));
}

static void make_fail(PGconn *connection)
{
    PQclear(PQexec(connection, "begin"));
    PQclear(PQexec(connection, "select 1/0"));
}

static void disconnect_all(PGconn **connections, size_t count)
{
    for (size_t i = 0; i < count; i++)
        PQfinish(connections[i]);
}

/* How often a condition is tested, every millisecond, before a wait for it fails: at least a
 * minute, longer on a busy machine. A limit by a clock would also count the time in which the whole
 * machine was stopped. */
#define TRIES 60000

static bool is_over(unsigned *tries)
{
    usleep(1000);
    return ++*tries > TRIES;
}

/* Waits until the server reports this of a backend: "Lock/relation/active". */
static void await_wait(PGconn *observer, PGconn *session, const char *wanted)
{
    unsigned tries = 0;
    char sql[256];

    snprintf(sql, sizeof sql,
             "select concat_ws('/', wait_event_type, wait_event, state) from pg_stat_activity "
             "where pid = %d",
             PQbackendPID(session));
    while (strcmp(query(observer, sql), wanted) != 0) {
        if (is_over(&tries))
            fail_msg("%d: %s, not %s", PQbackendPID(session), query(observer, sql), wanted);
    }
}

/* Where this server has what. */
static struct postgres_layout read_address(void)
{
    static const volatile sig_atomic_t stop;
    struct postgres_layout place;
    struct camp_error error;

    if (postgres_layout_find(&place, postmaster, &error) != CAMP_OK ||
        postgres_layout_probe(&place, conninfo, &stop, &error) != CAMP_OK)
        fail_msg("%s", error.message);
    return place;
}

/* ------------------------------------------------------------------------------ Witnesses -- */

/* The scheduler's counts of a backend. They are exact while it sleeps. */
struct witness {
    struct camp_thread task;
    uint64_t cpu_ns, run_queue_ns, slept, switches;
    char state;
};

static struct witness see(pid_t pid)
{
    const uint32_t wanted =
        CAMP_TASK_CPU | CAMP_TASK_RUN_DELAY | CAMP_TASK_STATE | CAMP_TASK_SWITCHES;
    struct witness ret = { .state = 0 };
    struct camp_task now;

    assert_int_equal(proc_clock_find(pid, &ret.task, NULL), CAMP_OK);
    assert_int_equal(camp_thread_read(NULL, &ret.task, wanted, &now, sizeof now, NULL), CAMP_OK);
    assert_int_equal(now.known & wanted, wanted);
    ret.cpu_ns = now.cpu_ns;
    ret.run_queue_ns = now.run_delay_ns;
    ret.slept = now.voluntary_switches;
    ret.switches = now.voluntary_switches + now.involuntary_switches;
    ret.state = now.state;
    return ret;
}

static struct witness see_asleep(pid_t pid)
{
    unsigned tries = 0;
    struct witness ret = see(pid);

    while (ret.state != 'S') {
        if (is_over(&tries))
            fail_msg("%d does not sleep: %c", pid, ret.state);
        ret = see(pid);
    }
    return ret;
}

/* Waits until all sleep at two readings with equal counts: then no task is left that wakes them. */
static void await_still(const pid_t *pids, size_t count, struct witness *ret)
{
    unsigned tries = 0;
    bool is_still;

    do {
        is_still = true;
        for (size_t i = 0; i < count; i++)
            ret[i] = see_asleep(pids[i]);
        usleep(100000);
        for (size_t i = 0; i < count; i++) {
            const struct witness now = see(pids[i]);

            is_still &= now.state == 'S' && now.cpu_ns == ret[i].cpu_ns;
        }
        if (is_over(&tries))
            fail_msg("%zu backends are not still", count);
    } while (!is_still);
}

/* ------------------------------------------------------------------------------- Accounts -- */

static struct backends *open_backends(const struct postgres_layout *place)
{
    const struct backends_place where = {
        .parent = place->pid,
        .event_pointer = place->event_pointer,
        .activity_pointer = place->entry_pointer,
        .activity_offset = place->activity_offset,
    };
    struct backends *backends = NULL;
    struct camp_error error;
    int r = backends_open(&backends, &where, &error);

    if (r == CAMP_E_PERM || r == CAMP_E_NOTSUP) {
        print_message("skipped, not passed: %s\n", error.message);
        skip();
    }
    if (r != CAMP_OK)
        fail_msg("%s", error.message);
    return backends;
}

/* All, of which each adds up to its time. */
static size_t read_accounts(struct backends *backends, struct backend_account *accounts)
{
    struct camp_error error;
    size_t count = 0;

    if (backends_read(backends, accounts, ACCOUNTS, &count, &error) != CAMP_OK)
        fail_msg("%s", error.message);
    for (size_t i = 0; i < count; i++) {
        uint64_t sum = accounts[i].cpu_ns + accounts[i].run_queue_ns;

        for (uint32_t w = 0; w < accounts[i].wait_count; w++)
            sum += accounts[i].waits[w].ns;
        assert_int_equal(sum, accounts[i].time_ns - accounts[i].begin_ns);
    }
    return count;
}

static const struct backend_account *find_account(const struct backend_account *accounts,
                                                  size_t count, pid_t pid)
{
    for (size_t i = 0; i < count; i++) {
        if (accounts[i].pid == pid)
            return &accounts[i];
    }
    fail_msg("no account of %d", pid);
    return NULL;
}

/* An interval of one backend. */
struct interval {
    const struct backend_account *first, *last;
    uint64_t time_ns;
};

static struct interval interval_of(pid_t pid)
{
    struct interval interval = { find_account(before, before_count, pid),
                                 find_account(after, after_count, pid), 0 };

    interval.time_ns = interval.last->time_ns - interval.first->time_ns;
    return interval;
}

/* An interval with witnesses of `pids`, which are read before and after it. */
static void measure(const struct postgres_layout *place, const pid_t *pids, size_t count,
                    struct witness (*ret)[2])
{
    struct backends *backends = open_backends(place);
    struct backends_losses losses;

    for (size_t i = 0; i < count; i++)
        ret[i][0] = see(pids[i]);
    before_count = read_accounts(backends, before);
    usleep(500000);
    after_count = read_accounts(backends, after);
    for (size_t i = 0; i < count; i++)
        ret[i][1] = see(pids[i]);
    backends_losses(backends, &losses);
    print_message("%zu backends, %llu unread, %llu unseen\n", after_count,
                  (unsigned long long)losses.unread, (unsigned long long)losses.unseen);
    assert_int_equal(losses.unwatched, 0);
    assert_int_equal(losses.misbooked, 0);
    backends_close(backends);
}

/* A session that only sleeps: its class of waits and its activity. */
struct sleeper {
    const char *what;
    PGconn *session;
    uint32_t class;
    enum postgres_activity activity;
};

/* The time of an interval in waits of this class with this activity. */
static uint64_t time_in(const struct postgres_layout *place, const struct interval *interval,
                        const struct sleeper *sleeper)
{
    uint64_t ns = 0;

    for (uint32_t i = 0; i < interval->last->wait_count; i++) {
        const struct backend_wait *wait = &interval->last->waits[i];

        if (BACKEND_EVENT_CLASS(wait->event) == sleeper->class &&
            postgres_layout_activity(place, wait->activity) == sleeper->activity)
            ns += wait->ns - (i < interval->first->wait_count ? interval->first->waits[i].ns : 0);
    }
    return ns;
}

/* Each session sleeps in its wait for all of the interval, except the scheduler's counts. It was
 * asleep before the interval and is asleep at the end, so no wait for a CPU is incomplete. */
static void assert_asleep(const struct postgres_layout *place, const struct sleeper *sleepers,
                          size_t count)
{
    struct witness witnesses[ACCOUNTS][2];
    pid_t pids[ACCOUNTS];

    for (size_t i = 0; i < count; i++)
        pids[i] = PQbackendPID(sleepers[i].session);
    measure(place, pids, count, witnesses);
    for (size_t i = 0; i < count; i++) {
        struct interval interval = interval_of(pids[i]);
        const struct witness last = see_asleep(pids[i]);
        const uint64_t awake =
            last.cpu_ns - witnesses[i][0].cpu_ns + last.run_queue_ns - witnesses[i][0].run_queue_ns;

        print_message("%s: %llu us of %llu, %llu awake\n", sleepers[i].what,
                      (unsigned long long)time_in(place, &interval, &sleepers[i]) / NS_PER_US,
                      (unsigned long long)interval.time_ns / NS_PER_US,
                      (unsigned long long)awake / NS_PER_US);
        assert_at_least(sleepers[i].what, time_in(place, &interval, &sleepers[i]), interval.time_ns,
                        awake);
    }
}

/* ----------------------------------------------------------------------------------- Laws -- */

enum { CLASS_LOCK = 3, CLASS_CLIENT = 6, CLASS_TIMEOUT = 9 };

static void a_session_that_sleeps_is_in_its_sleep(void **state)
{
    struct postgres_layout place = read_address();
    PGconn *session = connect_to_server(), *observer = connect_to_server();
    const struct sleeper sleeper = { "pg_sleep", session, CLASS_TIMEOUT, POSTGRES_ACTIVE };
    struct postgres_backend backend = { .pid = PQbackendPID(session) };
    struct postgres_memory *memory = NULL;

    (void)state;
    send_query(session, "select pg_sleep(600)");
    await_wait(observer, session, "Timeout/PgSleep/active");
    assert_asleep(&place, &sleeper, 1);
    assert_int_equal(postgres_memory_open(&memory, &place, NULL), CAMP_OK);
    assert_int_equal(postgres_memory_read(memory, &backend, 1, NULL), CAMP_OK);
    assert_true(backend.known);
    assert_int_equal(backend.event, interval_of(backend.pid).last->waits[0].event);
    assert_int_equal(postgres_layout_activity(&place, backend.code), POSTGRES_ACTIVE);
    postgres_memory_close(memory);
    kill(backend.pid, SIGTERM);
    disconnect_all((PGconn *[]){ session, observer }, 2);
}

static void who_wants_a_lock_waits_for_it(void **state)
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

static void idle_and_idle_in_transaction_are_told_apart(void **state)
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

/* The loops have at most the time of all CPUs. The rest is run queue, because a loop does not
 * sleep. Under concurrent load the run queue is longer. */
static void burners_share_the_cpus_and_wait_for_them(void **state)
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

static void a_short_connection_is_told_with_its_end(void **state)
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
                50 * NS_PER_MS); /* usleep() takes at least that */
    print_message("%llu us, on CPU %llu us\n",
                  (unsigned long long)(account.time_ns - account.begin_ns) / NS_PER_US,
                  (unsigned long long)account.cpu_ns / NS_PER_US);
    assert_false(has_ended(backends, pid, &account));
    backends_close(backends);
}

/* ---------------------------------------------------------------------- Beside schedstat -- */

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

/* Interrupts and stolen time, which the scheduler charges to no task. */
static uint64_t taken_ns(void)
{
    struct camp_cpu total;

    assert_int_equal(camp_cpu_read(NULL, CAMP_CPU_TOTAL, &total, sizeof total, NULL), CAMP_OK);
    return total.irq_ns + total.softirq_ns + total.steal_ns;
}

/* The two ends of each run are within a switch of the scheduler's. */
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

/* The client is stopped before and after, so that its backends sleep and their counts are exact. */
static void cpu_and_run_queue_are_schedstats(void **state)
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
    assert_int_equal(losses.misbooked, 0);
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

/* A server that came back after a crash has other shared memory, and the same addresses. */
static void the_place_is_the_same_after_a_crash(void **state)
{
    struct postgres_layout place = read_address(), again;
    struct postgres_memory *memory = NULL;
    PGconn *connection = connect_to_server(), *observer = connect_to_server();
    struct postgres_backend backend = { .pid = PQbackendPID(connection) };
    unsigned tries = 0;

    (void)state;
    assert_int_equal(postgres_memory_open(&memory, &place, NULL), CAMP_OK);
    assert_int_equal(postgres_memory_read(memory, &backend, 1, NULL), CAMP_OK);
    assert_true(backend.known);
    kill(backend.pid, SIGKILL);
    PQfinish(connection);
    /* Waits until the server has reported the end of another backend, and then until it accepts
     * clients. */
    await_end(observer);
    while (PQping(conninfo) != PQPING_OK && !is_over(&tries))
        ;
    assert_int_equal(postgres_memory_read(memory, &backend, 1, NULL), CAMP_OK);
    assert_false(backend.known);
    connection = connect_to_server();
    backend.pid = PQbackendPID(connection);
    assert_int_equal(postgres_memory_read(memory, &backend, 1, NULL), CAMP_OK);
    assert_true(backend.known);
    assert_int_equal(postgres_layout_activity(&place, backend.code), POSTGRES_IDLE);
    assert_int_equal(postgres_layout_find(&again, postmaster, NULL), CAMP_OK);
    assert_int_equal(again.event_pointer, place.event_pointer);
    PQfinish(connection);
    postgres_memory_close(memory);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_session_that_sleeps_is_in_its_sleep),
        cmocka_unit_test(who_wants_a_lock_waits_for_it),
        cmocka_unit_test(idle_and_idle_in_transaction_are_told_apart),
        cmocka_unit_test(burners_share_the_cpus_and_wait_for_them),
        cmocka_unit_test(a_short_connection_is_told_with_its_end),
        cmocka_unit_test(cpu_and_run_queue_are_schedstats),
        cmocka_unit_test(the_place_is_the_same_after_a_crash),
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
