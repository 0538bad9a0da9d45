/* Shared by the files of the Oracle source: oracle.c reads snapshots and handles failures,
 * oracle_rows.c makes rows of their differences. */
#pragma once

#include "odbc_text.h"
#include "odbc_thread.h"
#include "oracle_times.h"
#include "sources/from.h"
#include "sources/sessions/session.h"
#include "sources/source.h"

/* The data of the thread (odbc_thread.h), which owns them while it works. */
struct reading {
    char connect[ODBC_TEXT_SIZE]; /* contains secrets */
    bool background, use_clock;
    struct odbc_connection *connection;
    bool is_connected; /* a connection succeeded */
    struct oracle_statements statements;
    struct oracle_snapshot snapshot;
};

struct oracle_source {
    struct source source;           /* first: an oracle_source is a source */
    char shown[FROM_NAME_SIZE + 8]; /* "odbc:sales", for messages */
    struct session_frame sessions;
    struct odbc_thread *thread;
    struct reading *reading;
    struct oracle_snapshot before;
    bool has_before; /* `before` is a snapshot to compare with */
    size_t lost;     /* sessions with a cut interval, not reported yet */
    struct oracle_times times;
    struct session_time *kinds; /* [kind_capacity] */
    size_t kind_capacity;
    uint64_t end_ns;                             /* of the last frame */
    bool has_failed;                             /* the database does not answer */
    char note[FRAME_NOTE_SIZE + FROM_NAME_SIZE]; /* of the last frame */
    struct from from; /* only for opening: its texts belong to the caller */
};

#define ORACLE_LABELS 4
/* The names of the labels: user, program, ... */
extern const char *const oracle_label_names[ORACLE_LABELS];

/* Fills a started frame with the differences between source->before and `after`. A session that has
 * ended, or of which too little is known, counts as partial. CAMP_OK or CAMP_E_NOMEM. */
int oracle_rows_fill(struct oracle_source *source, struct oracle_snapshot *after);
