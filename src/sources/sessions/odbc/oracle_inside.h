/* What the parts of the source of Oracle's sessions know of each other: oracle.c (when to look, and
 * what when that fails), oracle_rows.c (what lies between two looks, booked). */
#ifndef CAMP_SOURCES_SESSIONS_ODBC_ORACLE_INSIDE_H
#define CAMP_SOURCES_SESSIONS_ODBC_ORACLE_INSIDE_H

#include "odbc_text.h"
#include "odbc_thread.h"
#include "oracle_times.h"
#include "sources/from.h"
#include "sources/sessions/session.h"
#include "sources/source.h"

/* What the thread has, while it is at work. */
struct reading {
    char connect[ODBC_TEXT_SIZE]; /* with secrets */
    bool background, use_clock;
    struct odbc_connection *connection;
    bool is_there; /* it could be connected to */
    struct oracle_texts texts;
    struct oracle_look look;
    int result; /* of the last look */
    struct camp_error error;
};

struct oracle_source {
    struct source source;           /* first: it is a source */
    char shown[FROM_NAME_SIZE + 8]; /* "odbc:sales", for messages */
    struct session_frame sessions;
    struct odbc_thread *thread;
    struct reading *reading;
    bool is_asked; /* the thread is at work */
    struct oracle_look before;
    bool has_before; /* the next look goes on from it; false: it begins anew */
    size_t lost;     /* sessions whose interval was cut off, and that is not told yet */
    struct oracle_times times;
    struct session_time *kinds; /* [kind_capacity] */
    size_t kind_capacity;
    uint64_t end_ns;                             /* of the last frame */
    bool is_in_trouble;                          /* the database does not answer */
    char note[FRAME_NOTE_SIZE + FROM_NAME_SIZE]; /* of the last frame */
    unsigned failed_in_a_row;
    uint64_t retry_ns; /* when to ask again after a failure */
    struct from from;  /* its texts are the caller's, until it is open */
};

#define ORACLE_LABELS 4
extern const char *const oracle_label_names[ORACLE_LABELS]; /* user, program, ... */

/* Fills the frame that was begun with what lies between source->before and `after`. Who was there
 * before and is not now, or is known too little, is counted as partial. CAMP_OK or CAMP_E_NOMEM. */
int oracle_rows_fill(struct oracle_source *source, struct oracle_look *after);

#endif
