#include "postgres_backend.h"

pid_t postmaster;
pid_t pgbench; /* or 0 */
const char *conninfo;

struct backend_account before[ACCOUNTS], after[ACCOUNTS];
size_t before_count, after_count;

PGconn *connect_to_server(void)
{
    PGconn *connection = PQconnectdb(conninfo);

    if (PQstatus(connection) != CONNECTION_OK)
        fail_msg("%s", PQerrorMessage(connection));
    return connection;
}

char *query(PGconn *connection, const char *sql)
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

void send_query(PGconn *connection, const char *sql)
{
    if (PQsendQuery(connection, sql) != 1)
        fail_msg("%s: %s", sql, PQerrorMessage(connection));
}

void make_fail(PGconn *connection)
{
    PQclear(PQexec(connection, "begin"));
    PQclear(PQexec(connection, "select 1/0"));
}

void disconnect_all(PGconn **connections, size_t count)
{
    for (size_t i = 0; i < count; i++)
        PQfinish(connections[i]);
}

/* The number of tests of a condition, one every millisecond, before waiting fails. That takes at
 * least a minute, and longer on a busy machine. A time limit is not used, because it would include
 * the time in which a hypervisor stopped the machine. */
#define TRIES 60000

bool is_over(unsigned *tries)
{
    usleep(1000);
    return ++*tries > TRIES;
}

void await_wait(PGconn *observer, PGconn *session, const char *wanted)
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

struct postgres_layout read_address(void)
{
    static const volatile sig_atomic_t stop;
    struct postgres_layout place = { 0 };
    struct camp_error error;

    if (library_load(&libpq_library, &error) != CAMP_OK ||
        postgres_layout_find(&place, postmaster, &error) != CAMP_OK ||
        postgres_layout_probe(&place, NULL, NULL, conninfo, &stop, &error) != CAMP_OK)
        fail_msg("%s", error.message);
    return place;
}

static struct witness see(pid_t pid)
{
    const uint32_t wanted = CAMP_TASK_CPU | CAMP_TASK_RUN_DELAY | CAMP_TASK_STATE |
                            CAMP_TASK_VOLUNTARY_SWITCHES | CAMP_TASK_INVOLUNTARY_SWITCHES;
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

void await_still(const pid_t *pids, size_t count, struct witness *ret)
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

struct backends *open_backends(const struct postgres_layout *place)
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

size_t read_accounts(struct backends *backends, struct backend_account *accounts)
{
    struct camp_error error;
    size_t count = 0;

    if (backends_read(backends, accounts, NULL, NULL, ACCOUNTS, &count, &error) != CAMP_OK)
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

struct interval interval_of(pid_t pid)
{
    struct interval interval = { find_account(before, before_count, pid),
                                 find_account(after, after_count, pid), 0 };

    interval.time_ns = interval.last->time_ns - interval.first->time_ns;
    return interval;
}

void measure(const struct postgres_layout *place, const pid_t *pids, size_t count,
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
    assert_int_equal(losses.misaccounted, 0);
    backends_close(backends);
}

/* Returns the time in waits with the class and the activity of the sleeper. */
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

void assert_asleep(const struct postgres_layout *place, const struct sleeper *sleepers,
                   size_t count)
{
    struct witness witnesses[ACCOUNTS][2];
    pid_t pids[ACCOUNTS] = { 0 };

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
