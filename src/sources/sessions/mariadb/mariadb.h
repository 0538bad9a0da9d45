/*
 * The source mariadb: sessions of a MariaDB server (docs/sessions.md). from->tier selects how they
 * are measured; if it is NULL, the best available tier is used:
 *
 *      bpf                 For a server on this machine. Microstates (camp/states.h) measure each
 *                          kind of sleep of each thread. What the database reports divides the
 *                          sleep further.
 *      schedstat+SQL       For a server on this machine. The operating system measures the CPU
 *                          time and the run queue time of each thread. Samples of the process
 *                          list divide the rest of the time.
 *      performance_schema  The instruments of the server measure waits. CPU time is known only if
 *                          the server is on this machine. The rest of the time is unaccounted.
 *      SQL                 Samples of the process list only.
 *
 * The tiers bpf and schedstat+SQL also have the columns reported_..._ns, with the times that the
 * database reports.
 */
#pragma once

#include "sources/from.h"

/* `conninfo` is parsed by mariadb_options_parse(). Fills the name, kind, tier, live and note of
 * *facts. Returns CAMP_E_INVALID for an unknown tier, CAMP_E_NOTSUP for an unavailable tier, or an
 * error of mariadb_options_parse() or mariadb_client_open(). If the connection is lost later, the
 * source goes on: its frames have a note, and the data that camp can still read. */
int mariadb_source_open(const struct from *from, const char *conninfo, struct source **ret,
                        struct from_facts *facts, struct camp_error *error);

/* Writes the name of the server as a title shows it, such as "mariadb camp@db1:3306", without
 * asking the server. Also prepares libmariadb to be used by several threads. CAMP_E_NOTSUP if
 * libmariadb is missing, CAMP_E_NOMEM, or an error of mariadb_options_parse(). */
int mariadb_source_name(const char *conninfo, char *ret, size_t size, struct camp_error *error);
