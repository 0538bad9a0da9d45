/*
 * The option --from, the same in every command: opens any source by its name. from_list.c has the
 * list of sources.
 */
#pragma once

#include "source.h"

/* What to open, and how. The caller may free it and its texts once the source is open: the source
 * copies what it needs later. Only `stop` and `context` must outlive the source. */
struct from {
    const char *text;  /* as given; NULL: "threads" */
    const char *query; /* for sqlite: */
    /* unit of a table's values ("ms"); NULL: by the names of its columns, or guessed */
    const char *unit;
    int64_t begin_ns;     /* for a source with an end: wall clock, since 1970; 0: its start */
    int64_t end_ns;       /* the same; 0: its end */
    uint64_t interval_ns; /* for a fleet's history; 0: the period of scrapes */
    double speed;         /* speed of a replay: 1 original, 2 twice as fast; 0: without waiting */
    uint32_t states_options; /* enum camp_states_option */
    bool microstates_alone;  /* an option needs microstates, so threads must not use another tier */
    /* for threads on tier schedstat: "processes", "users" or "commands": what the threads are added
     * up to; NULL: threads are the rows */
    const char *rows_without_states;
    /* for threads on tier schedstat: only those of these processes; none: of all. [pid_count]; the
     * caller may change the pids while the source is open */
    const int32_t *pids;
    size_t pid_count;
    bool no_kernel_threads; /* for threads on tier schedstat */
    bool wants_states; /* rows must have states and be disjoint: for "check" its CPUs, for CPUs all
                        * but the total */
    const char *tier;  /* NULL: the best available one */
    const char *rules; /* for database sessions: a file of rules; NULL: the built-in ones */
    bool detail;       /* for database sessions: the columns of the rules are the states */
    bool background;   /* for database sessions: the server's own processes are rows, too */
    bool queries;      /* for database sessions: the text of the statement is a label */
    const char *host;  /* for a fleet: the groups of this host are the rows; NULL: hosts are */
    /* for PromQL: the label whose values are the columns; NULL: chosen by camp */
    const char *column;
    const volatile sig_atomic_t *stop;
    /* Called from time to time while a long file is read; NULL: not called. */
    void (*progress)(void *context, uint64_t done, uint64_t total);
    void *context;
};

/* Returns the middle of an interval, given its end: --begin and --end select an interval by its
 * middle. So two adjacent selections have no interval in common, and a small difference between the
 * requested time and a recorded end neither adds nor drops an interval. */
static inline int64_t from_middle_ns(int64_t end_ns, uint64_t length_ns)
{
    return end_ns - (int64_t)(length_ns / 2);
}

#define FROM_NAME_SIZE 512 /* a file's name, a socket's path or an address, with some words */

/* The facts of an open source. */
struct from_facts {
    char name[FROM_NAME_SIZE]; /* for titles: "threads", "run.camp (threads)" */
    char kind[32];    /* what its rows are: "threads", "processes", ...; "": the schema's name */
    const char *tier; /* "bpf", "taskstats", "schedstat", "recording", "table"; static */
    bool note_warns;  /* the note says what is missing: commands report it on stderr, once */
    bool live;        /* it measures now and has no end; otherwise it has an end */
    uint64_t interval_ns; /* for a source with an end: usual length of an interval; 0: unknown */
    uint64_t frames;      /* number of frames; 0: unknown */
    int64_t begin_ns; /* for a source with an end: wall clock of its start and end; 0: unknown */
    int64_t end_ns;
    char below[FROM_NAME_SIZE + 64]; /* the command that shows the parts of a row, without the row's
                                      * name; "": none */
    char note[FRAME_NOTE_SIZE]; /* how the source was read, for the reader; "": nothing to note */
};

/* CAMP_E_INVALID: unknown source; the message lists the known ones. Other failures are those of the
 * function that opens the source. */
int from_open(const struct from *from, struct source **ret, struct from_facts *ret_facts,
              struct camp_error *error);

/* The text of --from as it may be shown: for a database only the word before the colon
 * ("postgres:..."), because a password may follow. */
struct from_shown {
    char text[CAMP_ERROR_SIZE - 256];
};

struct from_shown from_shown(const char *text);

/* Whether the source is prometheus:, whose hosts have groups. */
bool from_is_fleet(const char *text);
