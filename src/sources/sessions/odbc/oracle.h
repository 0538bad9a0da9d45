/*
 * Sessions of an Oracle database, through ODBC.
 *
 * A snapshot reads v$session, v$session_event and v$sess_time_model (oracle_snapshot.h). The
 * difference of two snapshots (oracle_times.h) is accounted by rules/oracle.rules.
 *
 * Oracle writes DB CPU only about every 5 s. So CPU time comes from the operating system if the
 * server runs on this machine (tier schedstat+SQL). Otherwise CPU time is DB CPU, which is right
 * only over longer times (tier SQL).
 *
 * The first row of a session starts at its first snapshot. A session that ends between two
 * snapshots counts as partial, because its time after the first of these snapshots is unknown.
 * While the database does not answer, every session counts as partial. Frames are then empty, with
 * a note that says why, and camp connects again after growing pauses.
 */
#pragma once

#include "sources/from.h"

/* `connect` is the result of odbc_text_to_connect(). facts->name is the part of it that may be
 * shown. Errors are those of odbc_connection.h. */
int oracle_source_open(const struct from *from, const char *connect, struct source **ret,
                       struct from_facts *facts, struct camp_error *error);
