/*
 * Sessions of an Oracle database, through ODBC.
 *
 * A snapshot reads v$session, v$session_event and v$sess_time_model (oracle_snapshot.h); the
 * difference of two snapshots (oracle_times.h) is accounted by rules/oracle.rules. Oracle writes DB
 * CPU only about every 5 s, so CPU time comes from the operating system if the server runs on this
 * machine (tier schedstat+SQL); otherwise it is DB CPU, which is right only over longer times
 * (SQL).
 *
 * The first row of a session starts at its first snapshot. A session that ends between two
 * snapshots counts as partial: what it did since the last one is unknown. When the database does
 * not answer, every session counts as partial: frames are then empty with a note that says why, and
 * camp connects again, with growing pauses.
 */
#pragma once

#include "sources/from.h"

/* `connect` is the result of odbc_text_to_connect(); facts->name is what may be shown of it. Fails
 * as odbc_connection.h. */
int oracle_source_open(const struct from *from, const char *connect, struct source **ret,
                       struct from_facts *facts, struct camp_error *error);
