/* The option --from opens any source by its name. from_list.c has the list of sources. */
#pragma once

#include "source.h"

/* What to open, and how. Once the source is open, the caller may free this struct and its texts.
 * Only `pids`, `stop` and `context` must outlive the source. */
struct from {
    const char *text; /* the source as the user gave it; NULL means "threads" */
    /* [more_count] further sources that the user gave: with `text` they are several database
     * servers (servers/servers.h) */
    const char *const *more;
    size_t more_count;
    const char *query; /* SQL for sqlite: and odbc:, PromQL for prometheus: */
    /* For a table: the unit of its values, such as "ms"; NULL if camp must find the unit. */
    const char *unit;
    int64_t begin_ns;     /* --begin in ns since 1970; 0 means no limit */
    int64_t end_ns;       /* --end in ns since 1970; 0 means no limit */
    uint64_t interval_ns; /* for the history of a fleet; 0 means the period of its scrapes */
    double speed; /* of a replay: 1 is the original speed, 2 is twice as fast, 0 never waits */
    uint32_t states_options; /* enum camp_states_option */
    /* For threads and groups of them: the source has the causes of waits (source_causes()). */
    bool causes;
    /* With `causes`: a process, or the name of processes, that is always a group of its own; 0 and
     * NULL: none. */
    int32_t causes_pid;
    const char *causes_name;
    /* For threads: the rows are the groups of the ledger of causes (sources/causes/waits_source.h),
     * with CAMP_STATES_BY_PROCESS processes. Needs microstates. */
    bool waits;
    bool microstates_alone; /* an option needs microstates, so threads must not use another tier */
    /* For threads on tier schedstat: the rows are "processes", "users" or "commands". NULL: the
     * rows are threads. */
    const char *rows_without_states;
    /* For threads on tier schedstat: only threads of the processes pids[pid_count] are rows. If
     * pid_count is 0, all threads are rows. The caller may change the pids while the source is
     * open. */
    const int32_t *pids;
    size_t pid_count;
    bool no_kernel_threads; /* for threads on tier schedstat: kernel threads are left out */
    /* For threads and groups of them: rows have the labels of sources/containers/containers.h. */
    bool names_containers;
    /* The caller needs rows that have states, and no row that is a total. With this member, "check"
     * opens its CPUs instead of its processes. */
    bool wants_states;
    const char *tier;  /* the measurement tier; NULL means the best available tier */
    const char *rules; /* for database sessions: a file of rules; NULL means the built-in rules */
    bool detail;       /* for database sessions: the columns of the rules are states */
    bool background;   /* for database sessions: processes of the server itself are rows, too */
    bool queries;      /* for database sessions: the text of the statement is a label */
    /* For database sessions: source.session_facts() is called. Without it, the source may leave out
     * ages that take a further statement. */
    bool session_facts;
    /* For database sessions: source_set_division() can divide time by statement, which costs some
     * memory. If the server does not say which statement a session runs, facts.no_statements says
     * so, and the source opens without. */
    bool by_statement;
    /* For sessions of PostgreSQL: rows have the columns of how long sleeps lasted
     * (session_lengths.h). Fails where they are unknown: on all tiers but bpf. With `if_known` the
     * source opens without them there. */
    bool lengths, lengths_if_known;
    /* For a fleet: the rows are the groups of threads on this host. NULL: the rows are hosts. */
    const char *host;
    /* For PromQL: the label whose values are the columns; NULL if camp must choose the label. */
    const char *column;
    const volatile sig_atomic_t *stop;
    /* Called before a database server is asked the first time, when all microstates are open. The
     * caller gives up its capabilities there. May be NULL. */
    void (*before_server)(void);
    /* Called from time to time while a long file is read, with the bytes of a table or the
     * intervals of a recording; may be NULL. A `total` of 0 means unknown. */
    void (*progress)(void *context, uint64_t done, uint64_t total);
    void *context;
};

/* Returns the middle of an interval. --begin and --end select an interval if its middle is between
 * them. So each interval is in exactly one of two adjacent selections, and it does not matter if
 * --end differs a little from the end of an interval. */
static inline int64_t from_middle_ns(int64_t end_ns, uint64_t length_ns)
{
    return end_ns - (int64_t)(length_ns / 2);
}

#define FROM_NAME_SIZE 512

struct from_facts {
    char name[FROM_NAME_SIZE]; /* shown in titles: "threads", "run.camp (threads)" */
    char kind[32];    /* what the rows are, such as "threads"; if empty, the name of the schema */
    const char *tier; /* a string constant, such as "bpf", "schedstat" or "table" */
    bool note_warns;  /* `note` is a warning, which commands write to stderr once */
    bool live;        /* the source measures now and has no end */
    bool has_causes;  /* source_causes() has the causes of waits, at least of some intervals */
    /* Of recorded sessions: SOURCE_DIVISION_BESIDE, and division by wait event, are possible. */
    bool has_events;
    bool is_unmeasured; /* the source of check has no measured times: exit status 3 */
    /* The number of CPUs of this machine, if the source measures this machine now; otherwise 0. */
    size_t cpus;
    /* The number of CPUs of the machine on which the database server of the sessions runs, together
     * with other programs. It is known if that is this machine or, of a recording, if it was the
     * machine that recorded; otherwise 0. */
    size_t server_cpus;
    uint64_t interval_ns; /* if not live: usual length of an interval; 0 if unknown */
    uint64_t frames;      /* if not live: number of frames; 0 if unknown */
    /* If not live: start and end of the data in ns since 1970; 0 if unknown. */
    int64_t begin_ns;
    int64_t end_ns;
    /* A text for --from that opens the same sessions again. Passwords are left out: the user must
     * supply them as before. "" if the connection cannot be shown, and for other rows. */
    char from[FROM_NAME_SIZE + 16];
    /* The start of a command that shows the parts of a row; the name of the row must follow. May be
     * "". */
    char below[FROM_NAME_SIZE + 64];
    /* With from.by_statement: why time is not divided by statement, and what to do; NULL if it is.
     * A string constant. */
    const char *no_statements;
    char note[FRAME_NOTE_SIZE]; /* how the source was read, for the user; may be empty */
};

/* Opens the source that `from` describes. Returns CAMP_E_INVALID if there is no such source; the
 * message lists the sources. Other errors are those of the function that opens the source. */
int from_open(const struct from *from, struct source **ret, struct from_facts *ret_facts,
              struct camp_error *error);

/* The text of --from without secrets. For a database it is "postgres:...", because a password may
 * follow the colon. */
struct from_shown {
    char text[CAMP_ERROR_SIZE - 256];
};

struct from_shown from_shown(const char *text);

/* Returns the file or folder that the source reads, or NULL if it reads none, or standard input.
 * `buffer` must live as long as the path. */
#define FROM_PATH_SIZE 8192
struct from_source;
const char *from_path(const struct from_source *source, const char *text,
                      char buffer[FROM_PATH_SIZE]);

/* Returns whether the source is a fleet ("prometheus:..."). */
bool from_is_fleet(const char *text);
