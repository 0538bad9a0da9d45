/*
 * A fleet by a Prometheus that scrapes it (docs/fleet.md): --from prometheus:URL.
 *
 * - A row a host, of camp_cpu_measured_seconds_total; with from->host a row for each group of that
 *   host, of camp_group_state_seconds_total; with from->query whatever it says. A query that is
 *   matchers alone, '{datacenter="fra"}', says which hosts.
 * - The newest samples are asked for at the end of each interval, and booked to it by fleet_book.h.
 * The intervals lie one scrape behind: until then a sample after their end is there.
 * - Who is not up, or has no samples for two scrapes, is missing: counted in losses.lost, named in
 *   the note, and in no row.
 * - With from->begin_ns (and end_ns) it is what Prometheus keeps of that time, and has an end.
 */
#ifndef CAMP_SOURCES_FLEET_FLEET_H
#define CAMP_SOURCES_FLEET_FLEET_H

#include "sources/from.h"

/* `place`: prometheus_place.h. CAMP_E_INVALID, CAMP_E_GONE, ... with what to do. */
int fleet_source_open(const struct from *from, const char *place, struct source **ret,
                      struct from_facts *facts, struct camp_error *error);

#endif
