/*
 * Sessions of a PostgreSQL server, measured by the best available tier (docs/sessions.md):
 *
 *      bpf               all by a BPF program, which reads the wait event when a backend sleeps
 *      schedstat+memory  CPU and run queue by the scheduler, waits by samples of shared memory
 *      schedstat+SQL     CPU and run queue by the scheduler, waits by samples of pg_stat_activity
 *      SQL               only samples of pg_stat_activity, for a server on another machine
 *
 * The first three tiers also have the columns reported_..._ns, from samples of pg_stat_activity.
 */
#pragma once

#include "sources/from.h"

/* `conninfo` is a connection string or URI of libpq; "" selects libpq's defaults. CAMP_E_INVALID if
 * the tier is unknown or libpq cannot read the connection string. CAMP_E_PERM or CAMP_E_NOTSUP if
 * the tier is not available. Other failures are those of session_frame_init() and of the
 * connection. */
int postgres_source_open(const struct from *from, const char *conninfo, struct source **ret,
                         struct from_facts *facts, struct camp_error *error);

/* Writes the name of the server as a title shows it, such as "host=db1 dbname=shop", without
 * secrets and without asking the server. CAMP_E_NOTSUP if libpq is missing, CAMP_E_NOMEM. */
int postgres_source_name(const char *conninfo, char *ret, size_t size, struct camp_error *error);
