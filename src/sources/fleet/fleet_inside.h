/* What the files of the source share. */
#ifndef CAMP_SOURCES_FLEET_FLEET_INSIDE_H
#define CAMP_SOURCES_FLEET_FLEET_INSIDE_H

#include "counters/units.h"
#include "fleet.h"
#include "fleet_book.h"
#include "fleet_columns.h"
#include "fleet_text.h"
#include "prometheus_answer.h"
#include "prometheus_client.h"

/* What camp export calls them. */
#define METRIC_CPUS "camp_cpus"
#define METRIC_CLOCK "camp_clock_seconds_total"
#define METRIC_MEASURED "camp_cpu_measured_seconds_total"
#define METRIC_SAMPLED "camp_cpu_seconds_total"
#define METRIC_GROUPS "camp_group_state_seconds_total"
#define IDLE_MODES "idle|iowait" /* of METRIC_SAMPLED: what is not busy */
#define HOST_LABEL "instance"
#define GROUP_LABEL "groupname"

#define MARGIN_NS ((int64_t)200 * NS_PER_MS)     /* until a scrape that began is to be seen */
#define FIRST_PERIOD_NS ((int64_t)15 * NS_PER_S) /* of scrapes, where nothing is known */

enum fleet_kind {
    FLEET_HOSTS,
    FLEET_GROUPS,   /* of from->host */
    FLEET_COUNTERS, /* --query with a range: whatever counters it selects */
    FLEET_LEVELS    /* --query without: shares, or time in each second */
};

struct fleet {
    struct source source; /* first: a fleet is a source */
    const volatile sig_atomic_t *stop;
    struct prometheus_client *client;
    struct fleet_columns columns;
    struct fleet_book hosts;  /* columns: those of the rows */
    struct fleet_book groups; /* likewise, where the rows are groups */
    enum fleet_kind kind;
    char *host;               /* as it was said; NULL */
    char *matchers;           /* 'job="x"', of all that is asked; "" */
    char *jobs;               /* a pattern: whose hosts may be down; NULL: not known */
    const char *metric;       /* whose series are rows; of a query NULL: all */
    char *column;             /* the label whose value is the column; "": there is one column */
    size_t sampled;           /* column of sampled busy time; SIZE_MAX: none */
    bool has_elapsed;         /* of a query: a column says how long its rows are */
    double factor;            /* of a query: its unit in s, or in parts of the interval */
    char *names[LABELS_MOST]; /* [name_count] of a query: the labels that tell its rows apart */
    size_t name_count;
    char *question; /* the one of each look; of what is past: what a range is asked of */

    /* Of looks: */
    int64_t offset_ns;    /* the server's wall clock less CLOCK_MONOTONIC */
    int64_t eval_ns;      /* the server's wall clock at the last look, answered or not */
    uint64_t snapshot_ns; /* CLOCK_MONOTONIC when the last question was asked, */
    uint64_t data_ns;     /* and the last that was answered */
    int64_t age_ns;       /* so old answers are when their interval ends, or a little more */
    int64_t levels_ns;    /* of the evaluation that was shown last */
    int64_t period_ns;    /* usual time between two scrapes of a host */
    int64_t reach_ns;     /* so far apart are two samples of nearly any host: what is asked for */
    struct camp_error failure;
    bool is_failed;

    struct frame frame;
    uint64_t values[FLEET_COLUMNS_MOST];
    char note[FRAME_NOTE_SIZE];

    /* Of what is past: */
    int64_t begin_ns, end_ns;  /* begin_ns 0: it is live */
    int64_t interval_ns;       /* that was asked for; 0: a scrape */
    int64_t at_ns, asked_ns;   /* what was told, and what was asked for: until then */
    int64_t step_ns, piece_ns; /* of an interval, and of what is asked for at once */
    double speed;              /* struct from's */
    uint64_t due_ns;
};

static inline bool fleet_is_query(const struct fleet *fleet)
{
    return fleet->kind >= FLEET_COUNTERS;
}

/* fleet_ask.c: texts; the caller frees them. NULL: no memory. */
char *fleet_matchers(const struct from *from);
char *fleet_raw_selector(const struct fleet *fleet); /* all counters, for a range */
char *fleet_question(const struct fleet *fleet);     /* one look */
char *fleet_scouting(const struct fleet *fleet);     /* periods and jobs */
bool fleet_is_matchers(const char *query);           /* "{...}" alone */

/* One question until it is answered or fails; at_ns 0: now. REMOTE_PENDING when until_ns has
 * come, or *stop is set. prometheus_answer_release(). */
int fleet_ask(struct fleet *fleet, const char *text, int64_t at_ns, uint64_t until_ns,
              struct prometheus_answer *ret, struct camp_error *error);

/* The same at each step_ns from from_ns to to_ns. */
int fleet_ask_steps(struct fleet *fleet, const char *text, int64_t from_ns, int64_t to_ns,
                    int64_t step_ns, uint64_t until_ns, struct prometheus_answer *ret,
                    struct camp_error *error);

/* fleet_open.c: all that is asked before the first look. */
int fleet_open_books(struct fleet *fleet, const struct from *from, struct from_facts *facts,
                     struct camp_error *error);

/* fleet_query.c: which labels of an answer are rows and columns, and the unit; the range of a query
 * is taken off it. */
int fleet_query_read(struct fleet *fleet, const struct from *from, struct camp_error *error);
int fleet_query_columns(struct fleet *fleet, const struct from *from,
                        const struct prometheus_answer *answer, struct from_facts *facts,
                        struct camp_error *error);

/* fleet_take.c: an answer into the books. CAMP_OK or CAMP_E_NOMEM. */
int fleet_take_look(struct fleet *fleet, const struct prometheus_answer *answer);
int fleet_take_series(struct fleet *fleet, const struct prometheus_answer *answer);
void fleet_learn_clock(struct fleet *fleet, int64_t time_ns);

/* fleet_rows.c: the frame: of looks until eval_ns less a scrape; of the past until `until_ns`. */
int fleet_fill(struct fleet *fleet, int64_t until_ns);
void fleet_forget(struct fleet *fleet, int64_t now_ns); /* who has not been seen for long */
void fleet_find_period(struct fleet *fleet);

/* So long before now an interval ends, of who has this period: until a sample behind its end is
 * there. Levels are of now. */
static inline int64_t fleet_lag(const struct fleet *fleet, int64_t period_ns)
{
    return fleet->kind == FLEET_LEVELS ? 0 : period_ns + MARGIN_NS + fleet->age_ns;
}

/* fleet_period.c: the usual distance between two samples of a series, of those of `metric` (NULL:
 * all) in a matrix; 0: none has two. */
int64_t fleet_distance(const struct prometheus_answer *answer, const char *metric);

/* Likewise of the newest samples of a member: one that was late, or early, is nothing. */
int64_t fleet_usual_period(const struct fleet_member *member);

/* The one in the midst of distances[count], which are sorted by it; 0: there is none. */
int64_t fleet_median(int64_t *distances, size_t count);

/* fleet_nothing.c: why no host is there, of --host or matchers. Writes *error, returns its code. */
int fleet_fail_of_nobody(struct fleet *fleet, const struct from *from, struct camp_error *error);

/* Likewise why a host has no groups, into facts->note. at_ns 0: now. */
void fleet_tell_no_groups(struct fleet *fleet, int64_t at_ns, struct from_facts *facts);

/* CAMP_E_INVALID: --host is more than one instance of an answer; they are named. */
int fleet_refuse_several(const struct fleet *fleet, const struct prometheus_answer *answer,
                         struct camp_error *error);

/* A moment of the past at which there is something; 0: there is none. */
int64_t fleet_find_moment(struct fleet *fleet);

/* fleet_note.c: how many are missing; they are named in `ret`. */
size_t fleet_missing(const struct fleet *fleet, char *ret, size_t size);

/* fleet_past.c */
void fleet_past_begin(struct fleet *fleet, size_t series);
int fleet_past_next(struct source *base, uint64_t deadline_ns, const struct frame **ret_frame,
                    struct camp_error *error);

#endif
