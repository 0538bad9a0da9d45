/*
 * mariadb: sessions of a MariaDB server (docs/sessions.md). Tiers, the best that can be had unless
 * from->tier says which:
 *
 *     bpf                 the server is on this machine, and microstates may be measured: what each
 *                         session's thread slept in, divided by what the database says
 *     schedstat+SQL       CPU time and run queue of the thread; its sleep divided by samples
 *     performance_schema  the server's own instruments; no CPU time of a server elsewhere. What
 * they do not see is unaccounted SQL                 samples of the process list
 *
 * With the first two, what the database says of itself stands beside (reported_..._ns).
 */
#ifndef CAMP_SOURCES_SESSIONS_MARIADB_MARIADB_H
#define CAMP_SOURCES_SESSIONS_MARIADB_MARIADB_H

#include "sources/from.h"

/* `conninfo`: as mariadb_options_parse(). Fills facts->name, kind, tier, live and note. Failures:
 * as mariadb_options_parse() and mariadb_client_open(); CAMP_E_INVALID: there is no such tier;
 * CAMP_E_NOTSUP: this tier cannot be had. A connection that is lost later is no failure: frames go
 * on with what can be read. */
int mariadb_source_open(const struct from *from, const char *conninfo, struct source **ret,
                        struct from_facts *facts, struct camp_error *error);

#endif
