/* Shared by the files of the fleet source. */
#pragma once

#include "counters/units.h"
#include "fleet.h"
#include "fleet_samples.h"
#include "fleet_text.h"
#include "prometheus_answer.h"
#include "prometheus_client.h"

/* The metric names of camp export. */
#define METRIC_CPUS "camp_cpus"
#define METRIC_CLOCK "camp_clock_seconds_total"
#define METRIC_MEASURED "camp_cpu_measured_seconds_total"
#define METRIC_SAMPLED "camp_cpu_seconds_total"
#define METRIC_GROUPS "camp_group_state_seconds_total"
#define IDLE_MODES "idle|iowait" /* idle time, among the modes of METRIC_SAMPLED */
#define HOST_LABEL "instance"
#define GROUP_LABEL "groupname"

#define MARGIN_NS ((int64_t)200 * NS_PER_MS) /* time until the samples of a scrape are visible */
#define FIRST_PERIOD_NS ((int64_t)15 * NS_PER_S) /* period of scrapes as long as it is unknown */

#define FLEET_COLUMNS_MOST 100

/* The columns of the rows: a state per value of a label, then counters. */
struct fleet_columns {
    struct schema schema;
    struct column columns[FLEET_COLUMNS_MOST]; /* [schema.column_count]; owned texts */
    char *values[FLEET_COLUMNS_MOST];          /* [schema.state_count] of the label; owned */
    char *labels[LABELS_MOST];                 /* [schema.label_count]; owned */
};

enum fleet_kind {
    FLEET_HOSTS,
    FLEET_GROUPS,   /* of from->host */
    FLEET_COUNTERS, /* --query with a range: the counters that it selects */
    FLEET_LEVELS    /* --query without a range: shares, or time per second */
};

struct fleet {
    struct source source; /* first: a fleet is a source */
    const volatile sig_atomic_t *stop;
    struct prometheus_client *client;
    struct fleet_columns columns;
    struct fleet_samples hosts;  /* with the columns of the rows */
    struct fleet_samples groups; /* likewise, if the rows are groups */
    enum fleet_kind kind;
    char *host;         /* as given; NULL */
    char *matchers;     /* 'job="x"', part of every question; may be "" */
    char *jobs;         /* pattern of the jobs whose hosts may be down; NULL: unknown */
    const char *metric; /* the metric that the rows show; with a query NULL: all metrics */
    char *column;       /* the label whose value is the column; "": a single column */
    size_t sampled;     /* column of sampled busy time; SIZE_MAX: none */
    bool has_elapsed;   /* with a query: one column gives the time of each row */
    double factor;      /* with a query: values times this are seconds or, for shares, parts of 1 */
    char *names[LABELS_MOST]; /* [name_count] with a query: the labels that identify its rows */
    size_t name_count;
    char *question; /* for each snapshot; for history, the selector of ranges */

    /* For snapshots: */
    int64_t offset_ns;    /* the server's wall clock less CLOCK_MONOTONIC */
    int64_t eval_ns;      /* the server's wall clock at the last snapshot, answered or not */
    uint64_t snapshot_ns; /* CLOCK_MONOTONIC of the last question */
    uint64_t data_ns;     /* CLOCK_MONOTONIC of the last question that was answered */
    int64_t age_ns;       /* age of answers at the end of their interval, or a little more */
    int64_t levels_ns;    /* time of the evaluation that the last frame showed */
    int64_t period_ns;    /* usual time between two scrapes of a host */
    int64_t reach_ns;     /* time between two samples of nearly any host: the range of a question */
    struct camp_error failure;
    bool is_failed;

    struct frame frame;
    uint64_t values[FLEET_COLUMNS_MOST];
    char note[FRAME_NOTE_SIZE];

    /* For history: */
    int64_t begin_ns, end_ns;  /* begin_ns 0: live */
    int64_t interval_ns;       /* as given; 0: the period of scrapes */
    int64_t at_ns, asked_ns;   /* end of the time shown, and of the time read so far */
    int64_t step_ns, piece_ns; /* length of an interval, and of the time read by one question */
    double speed;              /* of struct from */
    uint64_t due_ns;
};

static inline bool fleet_is_query(const struct fleet *fleet)
{
    return fleet->kind >= FLEET_COUNTERS;
}

/* fleet_columns.c: makes a state of each of values[count] of a label; states that camp knows come
 * first, in camp's order. `metric` is for the help texts. CAMP_OK; CAMP_E_NOMEM; CAMP_E_INVALID:
 * more than 90. `ret` must not move. Call fleet_columns_release() in any case. */
int fleet_columns_init(struct fleet_columns *ret, const char *schema_name, const char *metric,
                       enum camp_provenance provenance, const char *const *values, size_t count);
void fleet_columns_release(struct fleet_columns *columns);

/* Adds a counter after the states; texts are copied. */
bool fleet_columns_add(struct fleet_columns *columns, enum column_kind kind,
                       enum camp_provenance provenance, const char *name, const char *title,
                       const char *help);

/* Sets the labels of the rows, at most LABELS_MOST of names[count]. False: no memory. */
bool fleet_columns_label(struct fleet_columns *columns, const char *const *names, size_t count);

/* The state of a value of the label; SIZE_MAX: there is none. */
size_t fleet_columns_find(const struct fleet_columns *columns, const char *value);

/* fleet_ask.c: questions; the caller frees them. NULL: no memory. */
char *fleet_matchers(const struct from *from);
char *fleet_raw_selector(const struct fleet *fleet);   /* selects all counters, for a range */
char *fleet_question(const struct fleet *fleet);       /* the question of a snapshot */
char *fleet_probe_question(const struct fleet *fleet); /* asks for periods and jobs */
bool fleet_is_matchers(const char *query);             /* is the query only matchers, "{...}"? */

/* Sends one question and waits until it is answered or fails; at_ns 0: now. REMOTE_PENDING:
 * until_ns has passed, or *stop is set. prometheus_answer_release(). */
int fleet_ask(struct fleet *fleet, const char *text, int64_t at_ns, uint64_t until_ns,
              struct prometheus_answer *ret, struct camp_error *error);

/* As fleet_ask(), but frees `text` (NULL: no memory), and waits for limit_ns at most. */
int fleet_ask_text(struct fleet *fleet, char *text, int64_t at_ns, uint64_t limit_ns,
                   struct prometheus_answer *ret, struct camp_error *error);

/* As fleet_ask_text(), evaluated every step_ns from from_ns to to_ns. */
int fleet_ask_steps(struct fleet *fleet, const char *text, int64_t from_ns, int64_t to_ns,
                    int64_t step_ns, uint64_t until_ns, struct prometheus_answer *ret,
                    struct camp_error *error);

/* fleet_open.c: asks all questions that precede the first snapshot. */
int fleet_open_samples(struct fleet *fleet, const struct from *from, struct from_facts *facts,
                       struct camp_error *error);

/* fleet_query.c: resolves which labels of an answer are rows and columns, and the unit; removes the
 * range of the query. */
int fleet_query_read(struct fleet *fleet, const struct from *from, struct camp_error *error);
int fleet_query_columns(struct fleet *fleet, const struct from *from,
                        const struct prometheus_answer *answer, struct from_facts *facts,
                        struct camp_error *error);

/* fleet_answers.c: adds an answer to the samples. CAMP_OK or CAMP_E_NOMEM. */
int fleet_add_snapshot(struct fleet *fleet, const struct prometheus_answer *answer);
int fleet_add_series(struct fleet *fleet, const struct prometheus_answer *answer);
void fleet_update_clock(struct fleet *fleet, int64_t time_ns);

/* fleet_rows.c: fills the frame: live up to one scrape before eval_ns, for history up to
 * `until_ns`. */
int fleet_fill(struct fleet *fleet, int64_t until_ns);
void fleet_forget(struct fleet *fleet,
                  int64_t now_ns); /* removes members that have had no samples for long */
void fleet_find_period(struct fleet *fleet);

/* How long before now an interval ends, so that by now there is a sample after its end. Levels are
 * evaluated now. */
static inline int64_t fleet_lag(const struct fleet *fleet, int64_t period_ns)
{
    return fleet->kind == FLEET_LEVELS ? 0 : period_ns + MARGIN_NS + fleet->age_ns;
}

/* fleet_period.c: the usual distance between two samples of the series of `metric` (NULL: all) in a
 * matrix; 0: no series has two. */
int64_t fleet_distance(const struct prometheus_answer *answer, const char *metric);

/* The usual time between the newest samples of a member; a late or early one does not change it. */
int64_t fleet_usual_period(const struct fleet_member *member);

/* The median of distances[count], which it sorts; 0: there is none. */
int64_t fleet_median(int64_t *distances, size_t count);

/* fleet_missing.c: explains why --host or matchers select no host. Fills *error, and returns its
 * code. */
int fleet_fail_without_hosts(struct fleet *fleet, const struct from *from,
                             struct camp_error *error);

/* Writes to facts->note why a host has no groups. at_ns 0: now. */
void fleet_note_without_groups(struct fleet *fleet, int64_t at_ns, struct from_facts *facts);

/* Fails with CAMP_E_INVALID: --host matches several instances of an answer, which are named. */
int fleet_refuse_several(const struct fleet *fleet, const struct prometheus_answer *answer,
                         struct camp_error *error);

/* A time in the range that has samples; 0: there is none. */
int64_t fleet_find_moment(struct fleet *fleet);

/* fleet_missing.c: the number of missing hosts, named in `ret`. */
size_t fleet_missing(const struct fleet *fleet, char *ret, size_t size);

/* fleet_past.c */
void fleet_past_start(struct fleet *fleet, size_t series);
int fleet_past_next(struct source *base, uint64_t deadline_ns, const struct frame **ret_frame,
                    struct camp_error *error);
