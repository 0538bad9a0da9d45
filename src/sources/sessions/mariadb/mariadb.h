/*
 * The source mariadb: sessions of a MariaDB server (docs/sessions.md). from->tier chooses the
 * measurement tier; without it the best available tier is used:
 *
 *      bpf                 The server is on this machine, and microstates are permitted. They
 *                          measure what the thread of each session slept in. The data of the
 *                          database divides the sleep further.
 *      schedstat+SQL       The operating system measures the CPU time and the run queue time of
 *                          each thread. Samples of the process list divide its sleep.
 *      performance_schema  The instruments of the server measure waits. A remote server has no
 *                          CPU time. What the instruments miss is unaccounted.
 *      SQL                 Samples of the process list.
 *
 * The tiers bpf and schedstat+SQL also have columns of what the database reports
 * (reported_..._ns).
 */
#pragma once

#include "sources/from.h"

/* `conninfo` is parsed by mariadb_options_parse(). Fills the name, kind, tier, live and note of
 * *facts. Returns CAMP_E_INVALID for an unknown tier, CAMP_E_NOTSUP for an unavailable tier, or an
 * error of mariadb_options_parse() or mariadb_client_open(). If the connection is lost later, the
 * source does not fail: frames go on with what can be read. */
int mariadb_source_open(const struct from *from, const char *conninfo, struct source **ret,
                        struct from_facts *facts, struct camp_error *error);
