/*
 * A fleet by a Prometheus that scrapes it (docs/fleet.md): --from prometheus:URL.
 *
 *  - A row per host, of camp_cpu_measured_seconds_total; with from->host a row per group of that
 *    host, of camp_group_state_seconds_total; with from->query the rows of that query. A query of
 *    matchers alone, '{datacenter="fra"}', selects hosts.
 *  - The newest samples are read at the end of each interval; fleet_samples.h accounts them to it.
 *    Intervals lag one scrape behind: by then there is a sample after their end.
 *  - A host that is down, or without samples for two scrapes, is missing: it is counted in
 *    losses.lost, named in the note, and has no row.
 *  - With from->begin_ns (and end_ns) the source shows Prometheus' history, and has an end.
 */
#pragma once

#include "sources/from.h"

/* `place`: prometheus_place.c. CAMP_E_INVALID, CAMP_E_GONE, ... with what to do. */
int fleet_source_open(const struct from *from, const char *place, struct source **ret,
                      struct from_facts *facts, struct camp_error *error);
