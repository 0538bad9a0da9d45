/*
 * --from: any source by its name, the same in every command.
 *
 *     cpus threads processes users commands cgroups    of this machine, by microstates (states.h)
 *     check                                            sampled beside measured CPU time (tasks)
 *     demo                                             the table that comes with camp (demo.h)
 *     FILE.camp                                        a recording (camp record)
 *     FOLDER                                           one that was rotated, all its files
 *     FILE.csv, FILE.tsv, FILE.txt                     a table: time, entity, numbers
 *     -                                                one on standard input
 *     sqlite:FILE                                      a table by a query
 *     mariadb:CONNINFO                                 sessions of MariaDB (docs/sessions.md)
 *     prometheus:URL                                   a fleet, or a host's groups (docs/fleet.md)
 *     odbc:DSN                                         sessions of Oracle, or with a query a table
 *     postgres:CONNINFO                                sessions of a database (docs/sessions.md)
 */
#ifndef CAMP_SOURCES_FROM_H
#define CAMP_SOURCES_FROM_H

#include "source.h"

/* The caller's, with its texts, until the source is open: what is needed later is copied. `stop`
 * and `context` stay. */
struct from {
    const char *text;        /* what was said; NULL: "threads" */
    const char *query;       /* of sqlite: */
    const char *unit;        /* of a table's values ("ms"); NULL: by their names, or guessed */
    int64_t begin_ns;        /* of what has an end: wall clock, since 1970. 0: from its beginning */
    int64_t end_ns;          /* 0: to its end */
    uint64_t interval_ns;    /* of a fleet's past: an interval's length; 0: as it was scraped */
    double speed;            /* of a replay: 1 as it was, 2 twice as fast; 0: without waiting */
    uint32_t states_options; /* enum camp_states_option */
    bool microstates_alone;  /* an option needs microstates: no other tier of threads may be used */
    const char *rows_without_states; /* of threads on tier schedstat: "processes", "users" or
                                      * "commands" that they are added up to; NULL: threads */
    const int32_t *pids; /* [pid_count] of threads on tier schedstat: of these processes only. They
                          * may change until the source is closed. None: all */
    size_t pid_count;
    bool no_kernel_threads; /* of threads on tier schedstat */
    bool wants_states;  /* of what has none (check), the CPUs that stand beside it; of CPUs each,
                         * without the row of all together */
    const char *tier;   /* how it is to be measured; NULL: the best way that can be had */
    const char *rules;  /* of database sessions: a file of rules; NULL: the built-in ones */
    bool detail;        /* of database sessions: what the rules name are the states */
    bool background;    /* likewise: the server's own processes, too */
    bool queries;       /* likewise: the texts of their statements are a label */
    const char *host;   /* of a fleet: the groups of this one are the rows; NULL: hosts are */
    const char *column; /* of a query to Prometheus: the label that is the column; NULL: found */
    const volatile sig_atomic_t *stop;
    /* Called now and then while a long file is read; NULL: not. */
    void (*progress)(void *context, uint64_t done, uint64_t total);
    void *context;
};

/* Of an interval that ended then, the time by which --begin and --end choose it: its middle. Two
 * parts that meet have no interval in common, and a moment between the asked time and the end that
 * a clock wrote down neither adds an interval nor takes one away. */
static inline int64_t from_middle_ns(int64_t end_ns, uint64_t length_ns)
{
    return end_ns - (int64_t)(length_ns / 2);
}

#define FROM_NAME_SIZE 512 /* a file's name, a socket's path or an address, with some words */

/* What is known of a source once it is open. */
struct from_facts {
    char name[FROM_NAME_SIZE]; /* for titles: "threads", "run.camp (threads)" */
    char kind[32];    /* what its rows are: "threads", "processes", ...; "": as its schema says */
    const char *tier; /* "bpf", "taskstats", "schedstat", "recording", "table"; static */
    bool note_warns;  /* the note says what is missing: commands report it on stderr, once */
    bool live;        /* it goes on with this machine; otherwise it has an end */
    uint64_t interval_ns; /* of what has an end: usual length of an interval; 0: not known */
    uint64_t frames;      /* how many it has; 0: not known */
    int64_t begin_ns;     /* of what has an end: wall clock of its whole; 0: not known */
    int64_t end_ns;
    char below[FROM_NAME_SIZE +
               64]; /* the command that shows what a row is made of, but for its name; "": none */
    char note[FRAME_NOTE_SIZE]; /* what a reader should know of how it was read; "": nothing */
};

/* CAMP_E_INVALID: there is no such source; the message says which there are. Otherwise as the
 * source's own opening. */
int from_open(const struct from *from, struct source **ret, struct from_facts *ret_facts,
              struct camp_error *error);

/* What may be shown of what was said: of databases the word before the colon alone
 * ("postgres:..."), as a password may stand behind. */
struct from_shown {
    char text[CAMP_ERROR_SIZE - 256];
};

struct from_shown from_shown(const char *text);

/* Is it prometheus:, whose hosts have groups? */
bool from_is_fleet(const char *text);

#endif
