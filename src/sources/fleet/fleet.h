/*
 * The source of --from prometheus:URL: many hosts, read from a Prometheus server that scrapes their
 * camp export (docs/fleet.md).
 *
 *  - Without options a row is a host, with the states of camp_cpu_measured_seconds_total. With
 *    from->host a row is a group of threads of that host (the label groupname), with the states of
 *    camp_group_state_seconds_total. With from->query the rows are the result of a PromQL query. If
 *    the query is only matchers, such as '{datacenter="fra"}', the rows are the hosts that match.
 *  - New samples are read at the end of each interval. fleet_samples.h divides the growth of
 *    counters among intervals. An interval ends one scrape period before it is shown, because its
 *    end must lie between two samples.
 *  - A host is missing if it is down, or has had no samples for two scrape periods. A missing host
 *    has no row, is counted in losses.lost, and is named in the note of the frame.
 *  - With from->begin_ns the source reads the past from Prometheus, until from->end_ns or now.
 */
#pragma once

#include "sources/from.h"

/* `place` is the address as described in prometheus_place.c. Returns CAMP_OK, CAMP_E_INVALID,
 * CAMP_E_GONE or another error code; the error message says what to do. */
int fleet_source_open(const struct from *from, const char *place, struct source **ret,
                      struct from_facts *facts, struct camp_error *error);
