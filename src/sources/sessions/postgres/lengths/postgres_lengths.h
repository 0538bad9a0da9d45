/*
 * How long the sleeps of the sessions of a PostgreSQL server lasted (tier bpf). The kernel counts
 * the sleeps of each backend by wait event, activity and statement (microstates/backend_lengths.h).
 */
#pragma once

#include "microstates/backends.h"
#include "sources/sessions/postgres/postgres_events.h"
#include "sources/sessions/session.h"

struct postgres_source;

struct postgres_lengths {
    bool is_open;           /* the kernel keeps them */
    struct of_backend *all; /* [count] of this interval, by the pid and start of a backend */
    size_t count, capacity;
    size_t kept;                 /* the first ones, of omitted accounts, stay until the next */
    struct session_lengths *one; /* [one_capacity] of one session, in the order of statements */
    int64_t *statements;         /* [one_capacity] of each of them */
    char (*names)[POSTGRES_EVENT_SIZE]; /* [one_capacity], texts for events without a known name */
    size_t one_capacity;
    uint64_t uncounted; /* sleeps without a place, up to the last reading */
};

void postgres_lengths_release(struct postgres_lengths *lengths);

/* Reads the lengths after the accounts, and sets *ret_lost to the number of sleeps that were not
 * counted. CAMP_OK or CAMP_E_NOMEM. */
int postgres_lengths_read(struct postgres_source *source, uint64_t *ret_lost);

/* The same of growth[count], whose rows are those of source->accounts. */
int postgres_lengths_take(struct postgres_source *source,
                          const struct backend_lengths_growth *growth, size_t count);

/* Sets the lengths of a session. `type` must outlive them. CAMP_OK or CAMP_E_NOMEM. */
int postgres_lengths_of(struct postgres_source *source, const struct backend_account *account,
                        const char *type, struct session *session);

/* Sets row->lengths to those of `session` with a statement. */
void postgres_lengths_of_statement(const struct postgres_source *source,
                                   const struct session *session, int64_t statement,
                                   struct session *row);

/* Keeps the lengths of an account that is omitted, for the next interval. */
void postgres_lengths_keep(struct postgres_source *source, const struct backend_account *account);

/* Adds a row without time for the sessions that the kernel had no place for. CAMP_OK or
 * CAMP_E_NOMEM. */
int postgres_lengths_add_other(struct postgres_source *source);
