/* For postgres_laws.c: connections to a PostgreSQL server, the scheduler's counts of the server's
 * backends, and the accounts of the backends in an interval. */
#pragma once

#include "../live/scheduler_witness.h"
#include "../live/states_session.h"
#include "libraries/libpq.h"
#include "microstates/backends.h"
#include "sources/machine/proc_clock.h"
#include "sources/sessions/postgres/postgres_layout.h"
#include "sources/sessions/postgres/postgres_memory.h"

#include <libpq-fe.h>
#include <string.h>

#define ACCOUNTS 256

extern pid_t postmaster;
extern pid_t pgbench; /* or 0 */
extern const char *conninfo;

extern struct backend_account before[ACCOUNTS], after[ACCOUNTS];
extern size_t before_count, after_count;

PGconn *connect_to_server(void);

char *query(PGconn *connection, const char *sql);

void send_query(PGconn *connection, const char *sql);

void make_fail(PGconn *connection);

void disconnect_all(PGconn **connections, size_t count);

bool is_over(unsigned *tries);

/* Waits until the server reports the wait `wanted` for the session, such as "Lock/relation/active".
 */
void await_wait(PGconn *observer, PGconn *session, const char *wanted);

struct postgres_layout read_address(void);

/* The scheduler's counts of a backend. They are exact while the backend sleeps. */
struct witness {
    struct camp_thread task;
    uint64_t cpu_ns, run_queue_ns, slept, switches;
    char state;
};

/* Waits until all tasks sleep, and have equal counts 100 ms later. No task is then left that will
 * wake another one. */
void await_still(const pid_t *pids, size_t count, struct witness *ret);

struct backends *open_backends(const struct postgres_layout *place);

/* Reads all accounts, and asserts that the states of each account add up to its time. */
size_t read_accounts(struct backends *backends, struct backend_account *accounts);

struct interval {
    const struct backend_account *first, *last;
    uint64_t time_ns;
};

struct interval interval_of(pid_t pid);

/* Fills `before` and `after` with the accounts at the start and the end of an interval. Fills
 * ret[i] with the scheduler's counts of pids[i] before and after the interval. */
void measure(const struct postgres_layout *place, const pid_t *pids, size_t count,
             struct witness (*ret)[2]);

/* A session that only sleeps, with the expected class of its wait and its expected activity. */
struct sleeper {
    const char *what;
    PGconn *session;
    uint32_t class;
    enum postgres_activity activity;
};

/* Asserts that each session spends the whole interval in its wait, except the time that the
 * scheduler counted on a CPU or in the run queue. The session is asleep before and after the
 * interval, so the scheduler's counts are complete. */
void assert_asleep(const struct postgres_layout *place, const struct sleeper *sleepers,
                   size_t count);
