/* Shared by the files of the Oracle source. oracle.c reads snapshots and handles failures;
 * oracle_rows.c makes rows of the differences between snapshots. */
#pragma once

#include "odbc_text.h"
#include "oracle_times.h"
#include "sources/from.h"
#include "sources/remote/remote_thread.h"
#include "sources/sessions/session.h"
#include "sources/source.h"

/* The data of the thread that calls ODBC (remote_thread.h). While that thread works, no other
 * thread may use the data. */
struct reading {
    char connect[ODBC_TEXT_SIZE]; /* contains secrets */
    bool background, use_clock;
    struct odbc_connection *connection;
    bool is_connected; /* the last attempt to connect succeeded */
    struct oracle_statements statements;
    struct oracle_snapshot snapshot;
};

struct oracle_source {
    struct source source;           /* must be the first member */
    char shown[FROM_NAME_SIZE + 8]; /* such as "odbc:sales", for messages */
    struct session_frame sessions;
    struct remote_thread *thread;
    struct reading *reading;
    struct oracle_snapshot before;
    bool has_before;
    size_t lost; /* number of sessions lost by a failure and not yet reported */
    struct oracle_times times;
    struct session_time *kinds; /* [kind_capacity] */
    size_t kind_capacity;
    uint64_t end_ns; /* end of the last frame */
    bool has_failed; /* the database does not answer */
    char note[FRAME_NOTE_SIZE + FROM_NAME_SIZE];
    /* The texts of `from` belong to the caller: they are valid only in oracle_source_open(). */
    struct from from;
};

#define ORACLE_LABELS 5
extern const char *const oracle_label_names[ORACLE_LABELS];

/* Adds a row for each session that is in both source->before and `after`, to a frame that
 * session_frame_begin() has started. A session of source->before without a row counts as partial.
 * Returns CAMP_OK or CAMP_E_NOMEM. */
int oracle_rows_fill(struct oracle_source *source, struct oracle_snapshot *after);
