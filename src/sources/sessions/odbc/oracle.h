/*
 * Sessions of an Oracle database, through ODBC.
 *
 * Each look reads v$session, v$session_event and v$sess_time_model (oracle_look.h); what lies
 * between two looks (oracle_times.h) is booked by rules/oracle.rules. DB CPU is written down by
 * Oracle every 5 s or so, so that CPU time is the operating system's wherever the server runs on
 * this machine (tier schedstat+SQL); elsewhere it is DB CPU, right only over longer times (SQL).
 *
 * A session's first look is where it begins. Who ends between two looks is counted as partial: what
 * it did since the last one is not known. So is everybody while the database does not answer:
 * frames are empty then and say why, and camp connects again, with growing pauses.
 */
#ifndef CAMP_SOURCES_SESSIONS_ODBC_ORACLE_H
#define CAMP_SOURCES_SESSIONS_ODBC_ORACLE_H

#include "sources/from.h"

/* `connect` is what odbc_text_to_connect() wrote; facts->name says what may be shown of it.
 * Failures as odbc_connection.h. */
int oracle_source_open(const struct from *from, const char *connect, struct source **ret,
                       struct from_facts *facts, struct camp_error *error);

#endif
