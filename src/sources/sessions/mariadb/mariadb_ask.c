/*
 * Sends statements to the server, but only so often that each of the two kinds of statements
 * (samples and instruments) costs at most 1 % of a CPU. The cost is the CPU time of camp and of the
 * server's thread that serves camp. If camp does not read the server's threads, the cost is the
 * time until the answer.
 */
#include "counters/clock.h"
#include "counters/error.h"
#include "mariadb_inside.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PERIOD_NS (100 * (uint64_t)NS_PER_MS)       /* between two samples */
#define TRANSACTIONS_NS (250 * (uint64_t)NS_PER_MS) /* between samples with transactions */
#define COST_LIMIT 100 /* a statement that costs C ns is sent at most every 100 C ns */

/* Returns the clock that costs are measured by: the CPU time of camp and of the thread that serves
 * camp, or CLOCK_MONOTONIC if camp does not read threads. */
static uint64_t spent_ns(struct mariadb_source *source)
{
    struct proc_clock clock;

    if (source->threads == NULL || proc_clock_read(&source->own.task, &clock, NULL) != CAMP_OK)
        return now_ns(CLOCK_MONOTONIC);
    return now_ns(CLOCK_THREAD_CPUTIME_ID) + clock.cpu_ns;
}

/* Returns a period that is up to 25 % shorter or longer, at random. With a fixed period, a load
 * that repeats with the same period would always be sampled at the same point. */
static uint64_t jittered_ns(uint64_t period_ns)
{
    static uint32_t state = 1;

    state = state * 1664525u + 1013904223u;
    return period_ns * 3 / 4 + period_ns / 2 * (state >> 16) / 65536;
}

static void add_cost(struct pace *pace, uint64_t cost_ns, uint64_t shortest_ns)
{
    pace->cost_ns = pace->cost_ns == 0 ? cost_ns : (7 * pace->cost_ns + cost_ns) / 8;
    pace->asked_ns = now_ns(CLOCK_MONOTONIC);
    pace->period_ns = pace->cost_ns * COST_LIMIT;
    if (pace->period_ns < shortest_ns)
        pace->period_ns = shortest_ns;
}

static bool is_due(const struct pace *pace, uint64_t now)
{
    return now >= pace->asked_ns + pace->period_ns;
}

const struct mariadb_statement mariadb_place_statement = {
    .columns = 3,
    .rows_most = 1,
    .sql = "select TID as " MARIADB_OWN
           ", @@thread_handling, @@hostname from information_schema.PROCESSLIST"
           " where ID = connection_id()",
};

/* Returns true if `server` is the host name of this machine. A connection to 127.0.0.1 may be a
 * tunnel to another machine; the thread ids of a server there are not valid here. */
static bool has_our_name(const char *server)
{
    char ours[256] = "";

    gethostname(ours, sizeof ours - 1);
    return server != NULL && strcmp(server, ours) == 0;
}

/* Sets server->pid if the server is a local process with a thread for each session. Otherwise
 * server->without_pid says why not. */
static void read_address(struct mariadb_server *server, const char *const *row,
                         const struct mariadb_client_facts *facts)
{
    const int32_t tid = row[0] != NULL ? (int32_t)strtol(row[0], NULL, 10) : 0;
    const char *handling = row[1] != NULL ? row[1] : "";
    const char *why = "";

    if (!facts->is_loopback || (facts->server_pid == 0 && !has_our_name(row[2])))
        why = "the server is on another machine";
    else if (strcmp(handling, "one-thread-per-connection") != 0)
        why = "its sessions share threads (thread_handling)";
    else if (tid > 0)
        server->pid = mariadb_server_of_thread(tid, facts->server_pid);
    if (why[0] == '\0' && server->pid == 0)
        why = "its threads are not visible here (a container?)";
    server->own_tid = tid;
    snprintf(server->without_pid, sizeof server->without_pid, "%s", why);
}

/* Sets server->has_process. Returns CAMP_OK even if camp lacks the right PROCESS. */
static int read_rights(struct mariadb_client *client, uint64_t until_ns,
                       struct mariadb_server *server, struct camp_error *error)
{
    struct mariadb_answer *rows;
    int r = mariadb_client_ask(client, mariadb_sessions_statement(true, MARIADB_NO_TEXTS), until_ns,
                               &rows, error);

    server->has_process = r == CAMP_OK;
    return r == CAMP_E_PERM ? CAMP_OK : r;
}

static int read_instruments(struct mariadb_client *client, uint64_t until_ns,
                            struct mariadb_server *server, struct camp_error *error)
{
    struct mariadb_answer *rows;
    const char *row[MARIADB_COLUMNS_MOST];
    int r = mariadb_client_ask(client, &mariadb_instruments_statement, until_ns, &rows, error);

    if (r != CAMP_OK)
        return r == CAMP_E_PERM ? CAMP_OK : r;
    if (!mariadb_answer_next(rows, row))
        return CAMP_OK;
    if (row[0] != NULL)
        server->instruments = (unsigned)strtoul(row[0], NULL, 10);
    if (row[1] != NULL)
        server->lost = strtoull(row[1], NULL, 10);
    return CAMP_OK;
}

int mariadb_server_read(struct mariadb_client *client, uint64_t until_ns,
                        struct mariadb_server *ret, struct camp_error *error)
{
    struct mariadb_server server = { 0 };
    struct mariadb_answer *rows;
    const char *row[MARIADB_COLUMNS_MOST];
    int r = mariadb_client_ask(client, &mariadb_place_statement, until_ns, &rows, error);

    if (r != CAMP_OK)
        return r;
    if (mariadb_answer_next(rows, row))
        read_address(&server, row, mariadb_client_facts(client));
    else
        return camp_fail(error, CAMP_E_NOTSUP, 0,
                         "performance_schema of this server is off, in which MySQL has its "
                         "sessions: start it with performance_schema = ON");
    r = read_rights(client, until_ns, &server, error);
    if (r == CAMP_OK)
        r = read_instruments(client, until_ns, &server, error);
    if (r == CAMP_OK)
        *ret = server;
    return r;
}

void mariadb_find_own_thread(struct mariadb_source *source)
{
    mariadb_thread_release(&source->own);
    if (source->threads != NULL)
        mariadb_threads_find(source->threads, source->server.own_tid, &source->own.task);
}

int mariadb_read_server(struct mariadb_source *source, uint64_t until_ns)
{
    int r = mariadb_server_read(source->client, until_ns, &source->server, &source->failure);

    if (r != CAMP_OK)
        return r;
    mariadb_sessions_release(&source->sessions);
    mariadb_waits_release(&source->waits);
    blocker_samples_release(&source->blockers);
    source->asked_waits.asked_ns = 0;
    source->transactions_ns = 0;
    source->connections = mariadb_client_facts(source->client)->connections;
    if (source->threads != NULL)
        mariadb_threads_set_server(source->threads, source->server.pid);
    mariadb_find_own_thread(source);
    return CAMP_OK;
}

static bool is_known_server(const struct mariadb_source *source)
{
    const struct mariadb_client_facts *facts = mariadb_client_facts(source->client);

    return facts->connections == source->connections && facts->connection != 0;
}

/* Sends a statement. If the connection is new, reads source->server and sends the statement again.
 * On CAMP_OK, *ret has the rows of the answer. */
static int ask(struct mariadb_source *source, const struct mariadb_statement *statement,
               uint64_t until_ns, struct mariadb_answer **ret)
{
    int r = mariadb_client_ask(source->client, statement, until_ns, ret, &source->failure);

    if (r == CAMP_OK && !is_known_server(source)) {
        r = mariadb_read_server(source, until_ns);
        if (r == CAMP_OK)
            r = mariadb_client_ask(source->client, statement, until_ns, ret, &source->failure);
    }
    return r;
}

bool mariadb_ask_row(struct mariadb_source *source, const struct mariadb_statement *statement,
                     uint64_t until_ns, const char *ret[MARIADB_COLUMNS_MOST])
{
    struct mariadb_answer *rows;

    return ask(source, statement, until_ns, &rows) == CAMP_OK && mariadb_answer_next(rows, ret);
}

bool mariadb_sample_is_due(const struct mariadb_source *source, uint64_t now)
{
    return (source->tier != TIER_INSTRUMENTS || source->by_statement) &&
           is_due(&source->samples, now);
}

static bool wants_transactions(const struct mariadb_source *source)
{
    return source->server.has_process && source->tier != TIER_INSTRUMENTS &&
           now_ns(CLOCK_MONOTONIC) >= source->transactions_ns + TRANSACTIONS_NS;
}

/* Samples which session blocks which, after a sample with transactions. A failure of the server
 * goes to source->failure, and leaves blockers unknown. */
static int sample_blockers(struct mariadb_source *source, uint64_t until_ns)
{
    struct mariadb_answer *rows = NULL;
    const uint64_t at_ns = now_ns(CLOCK_MONOTONIC);
    int r = CAMP_OK;

    if (mariadb_sessions_wait_for_rows(&source->sessions))
        r = mariadb_client_ask(source->client, &mariadb_lock_waits_statement, until_ns, &rows,
                               &source->failure);
    if (r != CAMP_OK) {
        rows = NULL;
        source->is_answered &= r == REMOTE_PENDING;
    }
    return mariadb_blockers_add(&source->blockers, at_ns, &source->sessions, rows);
}

static enum mariadb_texts texts_of(const struct mariadb_source *source)
{
    return source->by_statement ? MARIADB_TEXTS_TO_DIVIDE
           : source->queries    ? MARIADB_TEXTS_AS_LABELS
                                : MARIADB_NO_TEXTS;
}

int mariadb_sample(struct mariadb_source *source, uint64_t until_ns)
{
    const bool transactions = wants_transactions(source);
    uint64_t begin_ns = spent_ns(source), end_ns;
    struct mariadb_answer *rows;
    int r =
        ask(source, mariadb_sessions_statement(transactions, texts_of(source)), until_ns, &rows);

    if (r != CAMP_OK) {
        source->samples.asked_ns = now_ns(CLOCK_MONOTONIC);
        source->is_answered &= r == REMOTE_PENDING;
        return CAMP_OK;
    }
    if (transactions)
        source->transactions_ns = now_ns(CLOCK_MONOTONIC);
    r = mariadb_sessions_sample(
        &source->sessions, rows, now_ns(CLOCK_MONOTONIC), transactions,
        source->tier <= TIER_SCHEDSTAT || source->by_statement ? source->threads : NULL,
        source->by_statement ? &source->statements : NULL);
    source->is_answered = r != CAMP_E_SPACE;
    if (r == CAMP_E_SPACE)
        camp_fail(&source->failure, r, 0,
                  "MariaDB: more than %zu sessions in an interval: shorten the interval",
                  MARIADB_SESSIONS_MOST);
    if (transactions && r == CAMP_OK)
        r = sample_blockers(source, until_ns);
    end_ns = spent_ns(source);
    add_cost(&source->samples, end_ns > begin_ns ? end_ns - begin_ns : 0, jittered_ns(PERIOD_NS));
    return r == CAMP_E_SPACE ? CAMP_OK : r;
}

int mariadb_learn_digests(struct mariadb_source *source, uint64_t until_ns)
{
    struct mariadb_statements *statements = &source->statements;
    uint64_t begin_ns, end_ns;
    struct mariadb_answer *rows;
    int r;

    if (!statements->has_digests || statements->unknown == 0 ||
        !is_due(&source->learned, now_ns(CLOCK_MONOTONIC)))
        return CAMP_OK;
    begin_ns = spent_ns(source);
    r = ask(source, &mariadb_digests_statement, until_ns, &rows);
    r = r == CAMP_OK ? mariadb_statements_learn(statements, rows) : CAMP_OK;
    end_ns = spent_ns(source);
    add_cost(&source->learned, end_ns > begin_ns ? end_ns - begin_ns : 0,
             jittered_ns(TRANSACTIONS_NS));
    return r;
}

static bool uses_instruments(const struct mariadb_source *source)
{
    return source->tier <= TIER_INSTRUMENTS && (source->server.instruments & INSTRUMENTS_IDLE) != 0;
}

int mariadb_ask_instruments(struct mariadb_source *source, uint64_t until_ns)
{
    const uint64_t before_ns = source->asked_waits.asked_ns;
    uint64_t begin_ns, end_ns;
    struct mariadb_answer *rows;
    int r;

    source->reported = (struct mariadb_reported){ 0 };
    if (!uses_instruments(source) || !is_due(&source->asked_waits, now_ns(CLOCK_MONOTONIC)))
        return CAMP_OK;
    begin_ns = spent_ns(source);
    if (ask(source, &mariadb_waits_statement, until_ns, &rows) != CAMP_OK)
        return CAMP_OK;
    r = mariadb_waits_read(&source->waits, rows, source->server.instruments,
                           now_ns(CLOCK_MONOTONIC) - before_ns, &source->sessions);
    end_ns = spent_ns(source);
    add_cost(&source->asked_waits, end_ns > begin_ns ? end_ns - begin_ns : 0, 0);
    if (before_ns != 0)
        source->reported = (struct mariadb_reported){
            .waits = &source->waits,
            .elapsed_ns = source->asked_waits.asked_ns - before_ns,
            .has_synch = (source->server.instruments & INSTRUMENTS_SYNCH) != 0,
        };
    return r;
}
