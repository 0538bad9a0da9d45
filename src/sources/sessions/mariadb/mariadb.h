/*
 * mariadb: sessions of a MariaDB server (docs/sessions.md), by the best available tier, or
 * from->tier:
 *
 *      bpf                 the server is on this machine, and microstates are permitted: what each
 *                          session's thread slept in, divided by what the database reports
 *      schedstat+SQL       CPU time and run queue of the thread; its sleep divided by samples
 *      performance_schema  the server's own instruments; without CPU time of a remote server.
 *                          What they miss is unaccounted
 *      SQL                 samples of the process list
 *
 * The first two also have columns of what the database reports (reported_..._ns).
 */
#pragma once

#include "sources/from.h"

/* `conninfo`: as mariadb_options_parse(). Fills facts->name, kind, tier, live and note. Fails as
 * mariadb_options_parse() and mariadb_client_open(); CAMP_E_INVALID: unknown tier; CAMP_E_NOTSUP:
 * the tier is unavailable. A connection lost later is no failure: frames go on with what can be
 * read. */
int mariadb_source_open(const struct from *from, const char *conninfo, struct source **ret,
                        struct from_facts *facts, struct camp_error *error);
