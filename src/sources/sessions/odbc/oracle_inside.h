/* Shared by the files of the Oracle source: oracle.c reads snapshots and handles failures,
 * oracle_rows.c makes rows of their differences. */
#pragma once

#include "odbc_text.h"
#include "odbc_thread.h"
#include "oracle_times.h"
#include "sources/from.h"
#include "sources/sessions/session.h"
#include "sources/source.h"

/* Owned by the thread while it works. */
struct reading {
    char connect[ODBC_TEXT_SIZE]; /* with secrets */
    bool background, use_clock;
    struct odbc_connection *connection;
    bool is_connected; /* a connection succeeded */
    struct oracle_statements statements;
    struct oracle_snapshot snapshot;
};

struct oracle_source {
    struct source source;           /* first: it is a source */
    char shown[FROM_NAME_SIZE + 8]; /* "odbc:sales", for messages */
    struct session_frame sessions;
    struct odbc_thread *thread;
    struct reading *reading;
    struct oracle_snapshot before;
    bool has_before; /* the next snapshot has an earlier one to compare with */
    size_t lost;     /* sessions with a cut interval, not reported yet */
    struct oracle_times times;
    struct session_time *kinds; /* [kind_capacity] */
    size_t kind_capacity;
    uint64_t end_ns;                             /* of the last frame */
    bool has_failed;                             /* the database does not answer */
    char note[FRAME_NOTE_SIZE + FROM_NAME_SIZE]; /* of the last frame */
    struct from from; /* its texts remain the caller's, and are used only to open */
};

#define ORACLE_LABELS 4
extern const char *const oracle_label_names[ORACLE_LABELS]; /* user, program, ... */

/* Fills a started frame with the differences between source->before and `after`. A session that has
 * ended, or of which too little is known, counts as partial. CAMP_OK or CAMP_E_NOMEM. */
int oracle_rows_fill(struct oracle_source *source, struct oracle_snapshot *after);
