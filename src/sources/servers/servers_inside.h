/* Shared by the files of the source of several servers: servers.c (intervals of all servers),
 * server_worker.c (the thread of one server), servers_columns.c (columns and labels) and
 * servers_note.c (texts). */
#pragma once

#include "servers.h"

#include <pthread.h>
#include <stdatomic.h>

#define SERVER_LABELS_BYTES ((size_t)16 * 1024 * 1024)

/* The columns and labels of all servers. All texts are copies, because a server that fails is
 * closed. */
struct servers_columns {
    struct schema schema;
    struct column *columns; /* [schema.column_count] */
    char **label_names;     /* [schema.label_count] */
};

/* Where the columns and labels of one server are among those of all; SIZE_MAX: nowhere. */
struct server_places {
    size_t *columns;      /* [column_count of the server] */
    size_t *labels;       /* [label_count of the server] */
    bool lacks_throttled; /* another server has COLUMN_THROTTLED, and this one does not */
};

enum server_state {
    SERVER_OPENING, /* for the first time */
    SERVER_WAITS,   /* open, until the columns of all servers are known */
    SERVER_RUNS,
    SERVER_DOWN /* cannot be opened; its thread tries again */
};

/* An interval of one server, on its way from its thread. The rows have the columns of all servers.
 */
struct server_interval {
    /* The labels of its rows are only LABELS_LOST or not. Rows from the index `first_event` on are
     * of the second frame. */
    struct frame frame;
    size_t first_event;
    char *texts; /* for each row the values of all labels but "server", each with its NUL */
    size_t length, capacity;
    struct session_facts facts;
    char note[FRAME_NOTE_SIZE];
};

struct servers;

struct server_worker {
    struct servers *servers;
    size_t number; /* from 1 on, in the order of the command line */
    char *text, name[LABELS_VALUE_SIZE];
    pthread_t thread;
    bool has_thread;

    /* Protected by servers->lock. */
    enum server_state state;
    bool is_ready;      /* `interval` has rows that next() has not taken */
    bool is_late;       /* next() did not get its last interval in time */
    uint64_t delivered; /* the request that the last interval was for */
    struct server_interval interval;
    struct camp_error failure; /* in SERVER_DOWN */
    struct from_facts facts;   /* from SERVER_WAITS on */
    const char *kind;          /* likewise: the name of the schema, a string constant */
    int32_t *pids;             /* [pid_count] sorted: processes of the sessions at the start */
    size_t pid_count;

    /* Used by the thread alone; the schema of `source` also by the opening thread while the state
     * is SERVER_WAITS. */
    struct source *source;
    struct labels_store *labels;
    struct server_places places;
    const char *division; /* of `source` */
    uint64_t failures;    /* in a row */

    /* Used by next() and the functions after it. */
    struct server_report report;
    char note[FRAME_NOTE_SIZE]; /* of the report */
};

struct servers {
    struct source source; /* must be first, because a pointer to it is cast */
    struct from from;     /* for the sources of the servers; its texts are copies */
    server_opener *open;
    struct server_worker *workers; /* [count] */
    size_t count;
    struct servers_columns columns;
    struct frame frame;
    struct frame events; /* the second frame: the rows of SOURCE_DIVISION_BESIDE */
    char note[FRAME_NOTE_SIZE];
    const volatile sig_atomic_t *stop; /* of the caller */
    volatile sig_atomic_t is_stopped;  /* ends the waits of the threads */

    pthread_mutex_t lock;
    pthread_cond_t asked;    /* signals to threads: a request, rows that were taken, the end */
    pthread_cond_t answered; /* signals from threads */
    bool goes;               /* `columns` are known. Protected by the lock. */
    /* Written with the lock; a thread may read them without. */
    atomic_bool is_closing;
    _Atomic(const char *) division;   /* of source_set_division() */
    atomic_uint_fast64_t request;     /* number of the interval that next() waits for */
    atomic_uint_fast64_t deadline_ns; /* of this interval */
};

/* Adds the columns and labels of a source to *columns, which may be all zero. `are_first` says that
 * no other source was added. CAMP_OK or CAMP_E_NOMEM. */
int servers_columns_add(struct servers_columns *columns, const struct schema *schema,
                        bool are_first);
void servers_columns_release(struct servers_columns *columns);

/* Finds the places of a server's columns. Returns CAMP_E_INVALID if a state of the server is not
 * among the columns, or if the server lacks one of the counters; CAMP_E_NOMEM. */
int server_places_find(struct server_places *ret, const struct schema *of_server,
                       const struct servers_columns *columns, struct camp_error *error);
void server_places_release(struct server_places *places);

/* Starts the thread of a server. CAMP_OK or CAMP_E_NOMEM. */
int server_worker_start(struct server_worker *worker);

/* Waits for the end of the thread, after servers->is_closing was set, and frees what it had. */
void server_worker_close(struct server_worker *worker);

/* Waits for a signal of a condition, at most until `until_ns` (CLOCK_MONOTONIC). Called with the
 * lock. Returns false if the time is over. */
bool servers_wait(struct servers *servers, pthread_cond_t *condition, uint64_t until_ns);

/* Writes the note of an interval, and returns how many servers are missing. Called with the lock,
 * before the rows of the servers are taken. */
size_t servers_note(struct servers *servers);

/* Fills the report of a server. Called with the lock, before its rows are taken. */
void servers_report(struct server_worker *worker);

/* Fills the facts of all servers when they are open. */
void servers_facts(const struct servers *servers, struct from_facts *facts);
