/*
 * Sessions of a PostgreSQL server, by the best available tier (docs/sessions.md):
 *
 *      bpf               each switch of each backend, with its wait event and activity: measured
 *      schedstat+memory  the scheduler's CPU time and run queue; waits by samples of shared memory
 *      schedstat+SQL     the same; waits by samples of pg_stat_activity
 *      SQL               pg_stat_activity alone: a server on another machine
 *
 * The first three also have columns of what the server reports by SQL.
 */
#pragma once

#include "sources/from.h"

/* `conninfo`: a connection string or URI of libpq, "" for its defaults. CAMP_E_INVALID: the rules
 * cannot be read, or the tier is unknown; CAMP_E_PERM, CAMP_E_NOTSUP: the tier is unavailable. */
int postgres_source_open(const struct from *from, const char *conninfo, struct source **ret,
                         struct from_facts *facts, struct camp_error *error);
