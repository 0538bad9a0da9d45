/*
 * The laws of a PostgreSQL server's backends, measured in the kernel and read from memory, with
 * sessions that know what they did. The server is the caller's:
 *
 *   postgres_laws POSTMASTER_PID CONNINFO [LAW]
 *
 * with a superuser in CONNINFO. Ends as cmocka does: the number of laws that failed.
 */
#include "../live/states_session.h"
#include "microstates/backends.h"
#include "sources/sessions/postgres/postgres_learn.h"
#include "sources/sessions/postgres/postgres_memory.h"
#include "sources/sessions/postgres/postgres_place.h"
#include "sources/sessions/proc_clock.h"

#include <libpq-fe.h>
#include <string.h>

#define ACCOUNTS 256

static pid_t postmaster;
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

/* Where this server has what. */
static struct postgres_place learn_place(void)
{
    static const volatile sig_atomic_t stop;
    struct postgres_place place;
    struct camp_error error;

    if (postgres_place_find(&place, postmaster, &error) != CAMP_OK ||
        postgres_learn(&place, conninfo, &stop, &error) != CAMP_OK)
        fail_msg("%s", error.message);
    return place;
}

/* ------------------------------------------------------------------------------- Accounts -- */

static struct backends *open_backends(const struct postgres_place *place)
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

static void measure(const struct postgres_place *place, unsigned ms)
{
    struct backends *backends = open_backends(place);
    struct backends_losses losses;

    before_count = read_accounts(backends, before);
    usleep(ms * 1000);
    after_count = read_accounts(backends, after);
    backends_losses(backends, &losses);
    print_message("%zu backends, %llu unread, %llu unseen\n", after_count,
                  (unsigned long long)losses.unread, (unsigned long long)losses.unseen);
    assert_int_equal(losses.unwatched, 0);
    assert_int_equal(losses.misbooked, 0);
    backends_close(backends);
}

/* The share in per cent of an interval that was spent in waits of a class with an activity. */
static double share_of(const struct postgres_place *place, const struct interval *interval,
                       uint32_t class, enum postgres_activity activity)
{
    uint64_t ns = 0;

    for (uint32_t i = 0; i < interval->last->wait_count; i++) {
        const struct backend_wait *wait = &interval->last->waits[i];

        if (BACKEND_EVENT_CLASS(wait->event) == class &&
            postgres_place_activity(place, wait->activity) == activity)
            ns += wait->ns - (i < interval->first->wait_count ? interval->first->waits[i].ns : 0);
    }
    return 100.0 * (double)ns / (double)interval->time_ns;
}

static void assert_share(const char *what, const struct postgres_place *place, pid_t pid,
                         uint32_t class, enum postgres_activity activity)
{
    struct interval interval = interval_of(pid);
    double share = share_of(place, &interval, class, activity);

    print_message("%s: %.3f %% of %llu ms\n", what, share,
                  (unsigned long long)interval.time_ns / NS_PER_MS);
    assert_true(share >= 95.0 && share <= 100.0);
}

/* ----------------------------------------------------------------------------------- Laws -- */

enum { CLASS_LOCK = 3, CLASS_CLIENT = 6, CLASS_TIMEOUT = 9 };

static void a_session_that_sleeps_is_in_its_sleep(void **state)
{
    struct postgres_place place = learn_place();
    PGconn *sleeper = connect_to_server(), *observer = connect_to_server();
    struct postgres_backend backend = { .pid = PQbackendPID(sleeper) };
    struct postgres_memory *memory = NULL;
    char sql[128];

    (void)state;
    send_query(sleeper, "select pg_sleep(60)");
    usleep(100000);
    measure(&place, 1000);
    assert_share("pg_sleep", &place, backend.pid, CLASS_TIMEOUT, POSTGRES_ACTIVE);
    snprintf(sql, sizeof sql, "select wait_event from pg_stat_activity where pid = %d",
             backend.pid);
    assert_string_equal(query(observer, sql), "PgSleep");
    assert_int_equal(postgres_memory_open(&memory, &place, NULL), CAMP_OK);
    assert_int_equal(postgres_memory_read(memory, &backend, 1, NULL), CAMP_OK);
    assert_true(backend.known);
    assert_int_equal(backend.event, interval_of(backend.pid).last->waits[0].event);
    assert_int_equal(postgres_place_activity(&place, backend.code), POSTGRES_ACTIVE);
    postgres_memory_close(memory);
    kill(backend.pid, SIGTERM);
    disconnect_all((PGconn *[]){ sleeper, observer }, 2);
}

static void who_wants_a_lock_waits_for_it(void **state)
{
    struct postgres_place place = learn_place();
    PGconn *owner = connect_to_server(), *waiter = connect_to_server();

    (void)state;
    query(owner, "create table if not exists locked (a int)");
    query(owner, "begin; lock table locked");
    send_query(waiter, "begin; lock table locked");
    usleep(100000);
    measure(&place, 1000);
    assert_share("waits for a lock", &place, PQbackendPID(waiter), CLASS_LOCK, POSTGRES_ACTIVE);
    assert_share("owns it", &place, PQbackendPID(owner), CLASS_CLIENT, POSTGRES_IN_TRANSACTION);
    kill(PQbackendPID(waiter), SIGTERM);
    disconnect_all((PGconn *[]){ owner, waiter }, 2);
}

static void idle_and_idle_in_transaction_are_told_apart(void **state)
{
    struct postgres_place place = learn_place();
    PGconn *idle = connect_to_server(), *open = connect_to_server(), *failed = connect_to_server();

    (void)state;
    query(open, "begin");
    make_fail(failed);
    usleep(100000);
    measure(&place, 500);
    assert_share("idle", &place, PQbackendPID(idle), CLASS_CLIENT, POSTGRES_IDLE);
    assert_share("in transaction", &place, PQbackendPID(open), CLASS_CLIENT,
                 POSTGRES_IN_TRANSACTION);
    assert_share("aborted", &place, PQbackendPID(failed), CLASS_CLIENT,
                 POSTGRES_IN_TRANSACTION_ABORTED);
    disconnect_all((PGconn *[]){ idle, open, failed }, 3);
}

/* Others may want the CPUs as well: then it is more. */
static void three_burners_a_core_wait_two_thirds(void **state)
{
    const size_t count = 3 * (size_t)sysconf(_SC_NPROCESSORS_ONLN);
    struct postgres_place place = learn_place();
    PGconn **burners = calloc(count, sizeof *burners);
    uint64_t cpu_ns = 0, run_queue_ns = 0, time_ns = 0;

    (void)state;
    for (size_t i = 0; i < count; i++) {
        burners[i] = connect_to_server();
        query(burners[i], "set max_parallel_workers_per_gather = 0");
        send_query(burners[i], "select count(*) from generate_series(1, 1000000000000) a");
    }
    usleep(300000);
    measure(&place, 2000);
    for (size_t i = 0; i < count; i++) {
        struct interval interval = interval_of(PQbackendPID(burners[i]));

        cpu_ns += interval.last->cpu_ns - interval.first->cpu_ns;
        run_queue_ns += interval.last->run_queue_ns - interval.first->run_queue_ns;
        time_ns += interval.time_ns;
        kill(PQbackendPID(burners[i]), SIGTERM);
    }
    disconnect_all(burners, count);
    free(burners);
    print_message("CPU %.2f %%, run queue %.2f %%\n", 100.0 * (double)cpu_ns / (double)time_ns,
                  100.0 * (double)run_queue_ns / (double)time_ns);
    assert_at_least("CPU and run queue", cpu_ns + run_queue_ns, time_ns / 100 * 95, 0);
    assert_at_least("run queue", run_queue_ns, time_ns / 100 * 60, 0);
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
    struct postgres_place place = learn_place();
    struct backends *backends = open_backends(&place);
    uint64_t begin = now_ns(CLOCK_MONOTONIC), end;
    PGconn *connection = connect_to_server();
    pid_t pid = PQbackendPID(connection);
    struct backend_account account;

    (void)state;
    usleep(50000);
    PQfinish(connection);
    for (int i = 0; i < 2000 && !has_ended(backends, pid, &account); i++)
        usleep(1000);
    end = now_ns(CLOCK_MONOTONIC);
    assert_int_equal(account.pid, pid);
    assert_int_equal(account.flags & BACKEND_OLDER, 0);
    assert_true(account.begin_ns > begin && account.time_ns < end);
    assert_true(account.time_ns - account.begin_ns >= 50 * NS_PER_MS);
    print_message("%llu us, on CPU %llu us\n",
                  (unsigned long long)(account.time_ns - account.begin_ns) / NS_PER_US,
                  (unsigned long long)account.cpu_ns / NS_PER_US);
    assert_false(has_ended(backends, pid, &account));
    backends_close(backends);
}

/* ---------------------------------------------------------------------- Beside schedstat -- */

static struct witness {
    struct camp_thread task;
    struct proc_clock first, last;
} witnesses[ACCOUNTS];

/* Witnesses of those that are there, in the order of `before`. */
static void see_first(void)
{
    for (size_t i = 0; i < before_count; i++) {
        assert_int_equal(proc_clock_find(before[i].pid, &witnesses[i].task, NULL), CAMP_OK);
        assert_int_equal(proc_clock_read(&witnesses[i].task, &witnesses[i].first, NULL), CAMP_OK);
    }
}

static void see_last(void)
{
    for (size_t i = 0; i < before_count; i++)
        assert_int_equal(proc_clock_read(&witnesses[i].task, &witnesses[i].last, NULL), CAMP_OK);
}

/* Wall time on a CPU holds what the hypervisor stole meanwhile, the scheduler's does not. */
static void compare_with_schedstat(size_t number, uint64_t stolen_ns, uint64_t *most_ns)
{
    const struct witness *witness = &witnesses[number];
    struct interval interval = interval_of(before[number].pid);
    uint64_t cpu = interval.last->cpu_ns - interval.first->cpu_ns;
    uint64_t run_queue = interval.last->run_queue_ns - interval.first->run_queue_ns;
    uint64_t room = interval.time_ns / 100 + stolen_ns;
    const uint64_t theirs[] = { witness->last.cpu_ns - witness->first.cpu_ns,
                                witness->last.run_queue_ns - witness->first.run_queue_ns };

    assert_near("on CPU", cpu, theirs[0], room);
    assert_near("run queue", run_queue, theirs[1], room);
    for (int i = 0; i < 2; i++) {
        uint64_t ours = i == 0 ? cpu : run_queue;
        uint64_t off = ours > theirs[i] ? ours - theirs[i] : theirs[i] - ours;

        if (off > most_ns[i])
            most_ns[i] = off;
    }
}

/* While pgbench runs, which the caller has started. */
static void cpu_and_run_queue_are_schedstats(void **state)
{
    struct postgres_place place = learn_place();
    struct backends *backends;
    uint64_t most_ns[2] = { 0, 0 }, stolen_before_ns, stolen_ns;
    struct backends_losses losses;

    (void)state;
    usleep(500000); /* those who learned have left */
    backends = open_backends(&place);
    stolen_before_ns = steal_ns();
    before_count = read_accounts(backends, before);
    see_first();
    usleep(4000000);
    after_count = read_accounts(backends, after);
    see_last();
    stolen_ns = stolen_since(stolen_before_ns);
    assert_true(before_count >= 8);
    for (size_t i = 0; i < before_count; i++)
        compare_with_schedstat(i, stolen_ns, most_ns);
    backends_losses(backends, &losses);
    print_message("%zu backends, of 4 s at most: CPU %.2f ms off, run queue %.2f ms; %.0f ms "
                  "stolen; %llu unread, %llu unseen\n",
                  before_count, (double)most_ns[0] / 1e6, (double)most_ns[1] / 1e6,
                  (double)stolen_ns / 1e6, (unsigned long long)losses.unread,
                  (unsigned long long)losses.unseen);
    assert_int_equal(losses.unwatched, 0);
    assert_int_equal(losses.misbooked, 0);
    backends_close(backends);
}

/* A server that came back after a crash has other shared memory, and the same addresses. */
static void the_place_is_the_same_after_a_crash(void **state)
{
    struct postgres_place place = learn_place(), again;
    struct postgres_memory *memory = NULL;
    PGconn *connection = connect_to_server();
    struct postgres_backend backend = { .pid = PQbackendPID(connection) };

    (void)state;
    assert_int_equal(postgres_memory_open(&memory, &place, NULL), CAMP_OK);
    assert_int_equal(postgres_memory_read(memory, &backend, 1, NULL), CAMP_OK);
    assert_true(backend.known);
    kill(backend.pid, SIGKILL);
    PQfinish(connection);
    for (int i = 0; i < 200 && PQping(conninfo) == PQPING_OK; i++)
        usleep(1000);
    for (int i = 0; i < 500 && PQping(conninfo) != PQPING_OK; i++)
        usleep(20000);
    assert_int_equal(postgres_memory_read(memory, &backend, 1, NULL), CAMP_OK);
    assert_false(backend.known);
    connection = connect_to_server();
    backend.pid = PQbackendPID(connection);
    assert_int_equal(postgres_memory_read(memory, &backend, 1, NULL), CAMP_OK);
    assert_true(backend.known);
    assert_int_equal(postgres_place_activity(&place, backend.code), POSTGRES_IDLE);
    assert_int_equal(postgres_place_find(&again, postmaster, NULL), CAMP_OK);
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
        cmocka_unit_test(three_burners_a_core_wait_two_thirds),
        cmocka_unit_test(a_short_connection_is_told_with_its_end),
        cmocka_unit_test(cpu_and_run_queue_are_schedstats),
        cmocka_unit_test(the_place_is_the_same_after_a_crash),
    };

    if (argc < 3) {
        fprintf(stderr, "usage: postgres_laws POSTMASTER_PID CONNINFO [LAW]\n");
        return 2;
    }
    postmaster = (pid_t)strtol(argv[1], NULL, 10);
    conninfo = argv[2];
    if (argc > 3)
        cmocka_set_test_filter(argv[3]);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
