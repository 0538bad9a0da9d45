/*
 * Sessions of an Oracle database, through ODBC.
 *
 * A snapshot reads v$session, v$session_event and v$sess_time_model (oracle_snapshot.h). The
 * rules in rules/oracle.rules assign the difference between two snapshots (oracle_times.h) to
 * states.
 *
 * Oracle updates DB CPU, its own count of CPU time, only about every 5 s. If the server runs on
 * this machine, CPU time therefore comes from the operating system (tier schedstat+SQL). Otherwise
 * CPU time is DB CPU, which is right only over longer times (tier SQL).
 *
 * The first row of a session starts at the first snapshot that contains the session. A session that
 * ends between two snapshots has no row for that interval and counts as partial (struct losses).
 *
 * When the database stops answering, one frame counts all its sessions as partial. Until the
 * database answers again, frames are empty and have a note with the reason. camp connects again
 * after growing pauses.
 */
#pragma once

#include "sources/from.h"

/* `connect` is the result of odbc_text_to_connect(). The caller has set facts->name to the part of
 * `connect` that may be shown. Errors are those of odbc_connection.h. */
int oracle_source_open(const struct from *from, const char *connect, struct source **ret,
                       struct from_facts *facts, struct camp_error *error);
