#pragma once

#include "counters/clock.h"
#include "fleet.h"
#include "fleet_samples.h"
#include "fleet_text.h"
#include "prometheus_answer.h"
#include "prometheus_client.h"

#define METRIC_CPUS "camp_cpus"
#define METRIC_CLOCK "camp_clock_seconds_total"
#define METRIC_MEASURED "camp_cpu_measured_seconds_total"
#define METRIC_SAMPLED "camp_cpu_seconds_total"
#define METRIC_BUSY "camp_cpu_sampled_busy_seconds_total"
#define METRIC_GROUPS "camp_group_state_seconds_total"
#define IDLE_MODES "idle|iowait"
#define HOST_LABEL "instance"
#define GROUP_LABEL "groupname"

/* queries may not yet return a sample that is younger than this */
#define MARGIN_NS ((int64_t)200 * NS_PER_MS)
#define FIRST_PERIOD_NS ((int64_t)15 * NS_PER_S) /* assumed period of scrapes until it is known */

#define FLEET_COLUMNS_MOST 100
#define FLEET_TIMES_SIZE 128
#define FLEET_PARTS_MOST 3 /* questions of a snapshot, which are asked at the same time */

/* The columns of the rows: first one state for each value of a label, then counters. This struct
 * owns all texts in it. */
struct fleet_columns {
    struct schema schema;
    struct column columns[FLEET_COLUMNS_MOST]; /* [schema.column_count] */
    /* [schema.state_count] values of the label that names the states */
    char *values[FLEET_COLUMNS_MOST];
    char *labels[LABELS_MOST]; /* [schema.label_count] */
};

enum fleet_kind {
    FLEET_HOSTS,
    FLEET_GROUPS,
    FLEET_COUNTERS, /* the counters of a --query with a range */
    /* the values of a --query without a range: shares of time, or time per second */
    FLEET_LEVELS
};

struct fleet {
    struct source source; /* must be the first member, because functions cast it to struct fleet */
    const volatile sig_atomic_t *stop;
    struct prometheus_client *client; /* for single questions */
    /* [part_count] the questions of a snapshot (fleet_snapshot.c) */
    struct fleet_part {
        struct prometheus_client *client;
        char *question; /* NULL between two snapshots */
        char times[FLEET_TIMES_SIZE];
        struct prometheus_answer answer;
        bool is_answered;
    } parts[FLEET_PARTS_MOST];
    size_t part_count;
    int64_t delay_ns;        /* estimate of the time until a new sample can be queried */
    int64_t asked_before_ns; /* the server's wall clock at the newest answered snapshot */
    struct fleet_columns columns;
    struct fleet_samples hosts; /* one member for each host, or for each row of a query */
    /* one member for each group; empty unless `kind` is FLEET_GROUPS */
    struct fleet_samples groups;
    enum fleet_kind kind;
    char *host;
    char *matchers; /* the matchers that select hosts, without braces: 'job="x"'. May be "". */
    /* a PromQL pattern of the jobs that have exporters; NULL if there are none */
    char *jobs;
    /* the metric that the rows show; NULL for a query, which may have several metrics */
    const char *metric;
    char *column; /* the label whose value names the column; "" if there is only one column */
    /* index of the column of sampled busy time; SIZE_MAX if there is none */
    size_t sampled;
    /* the column is METRIC_BUSY; otherwise, because a host has an older exporter, the sum of modes
     * of METRIC_SAMPLED */
    bool has_busy;
    bool has_elapsed; /* the query has a column "elapsed" with the elapsed time of each row */
    /* for a query: value x factor is seconds (FLEET_COUNTERS) or a share of 1 (FLEET_LEVELS) */
    double factor;
    char *names[LABELS_MOST]; /* [name_count] for a query: the labels that name its rows */
    size_t name_count;
    /* the question of a query or, without its range, of history; NULL for other snapshots */
    char *question;

    int64_t offset_ns; /* the server's wall clock minus CLOCK_MONOTONIC */
    /* the server's wall clock at the end of the newest snapshot, computed from CLOCK_MONOTONIC; so
     * it is known even if the server did not answer */
    int64_t eval_ns;
    uint64_t snapshot_ns; /* CLOCK_MONOTONIC when the newest question was sent */
    uint64_t data_ns;     /* CLOCK_MONOTONIC when the newest answered question was sent */
    int64_t age_ns;       /* upper estimate of the time from data_ns until a frame is made */
    int64_t levels_ns;    /* for FLEET_LEVELS: evaluation time of the newest frame's values */
    int64_t period_ns;
    int64_t reach_ns; /* length of a time range in which nearly every host has a sample */
    struct camp_error failure;
    bool is_failed;

    struct frame frame;
    uint64_t values[FLEET_COLUMNS_MOST];
    char note[FRAME_NOTE_SIZE];

    int64_t begin_ns, end_ns; /* the range of history; begin_ns is 0 if the source is live */
    int64_t interval_ns;      /* --interval as given; 0 means the period of scrapes */
    /* For history: at_ns is the end of the newest frame. Samples up to asked_ns have been read. */
    int64_t at_ns, asked_ns;
    /* For history: step_ns is the length of an interval, and piece_ns is the length of the time
     * range that one question reads. */
    int64_t step_ns, piece_ns;
    double speed;
    uint64_t due_ns;
};

static inline bool fleet_is_query(const struct fleet *fleet)
{
    return fleet->kind >= FLEET_COUNTERS;
}

/* values[count] are values of a label. Each distinct value becomes a state. States that
 * camp knows come first, in camp's order. `metric` appears in the help texts. *ret has pointers to
 * itself, so it must not be moved. Returns CAMP_OK, CAMP_E_NOMEM, or CAMP_E_INVALID if there are
 * more than 90 states. In each case the caller calls fleet_columns_release(). */
int fleet_columns_init(struct fleet_columns *ret, const char *schema_name, const char *metric,
                       enum camp_provenance provenance, const char *const *values, size_t count);
void fleet_columns_release(struct fleet_columns *columns);

/* Adds a column after the states, and copies its texts. Returns false if there is no memory or no
 * space for another column. */
bool fleet_columns_add(struct fleet_columns *columns, enum column_kind kind,
                       enum camp_provenance provenance, const char *name, const char *title,
                       const char *help);

/* Sets the names of the rows' labels to names[count], or to the first LABELS_MOST of them. Returns
 * false if there is no memory. */
bool fleet_columns_label(struct fleet_columns *columns, const char *const *names, size_t count);

size_t fleet_columns_find(const struct fleet_columns *columns, const char *value);

/* The next four functions return a text that the caller frees, or NULL if there is no memory. */
char *fleet_matchers(const struct from *from);
/* Returns whether each host of an answer has METRIC_BUSY. `busy` may be the same answer. */
bool fleet_has_busy(const struct prometheus_answer *answer, const struct prometheus_answer *busy);

/* Returns a selector of all counters, without a range. */
char *fleet_raw_selector(const struct fleet *fleet);
/* Returns the question of a part of a snapshot. The samples are those of the last range_ns. */
char *fleet_question(const struct fleet *fleet, size_t part, int64_t range_ns);
/* Returns the number of these parts. */
size_t fleet_parts(const struct fleet *fleet);
/* Returns a question that asks how often hosts are scraped, and which jobs have exporters. */
char *fleet_probe_question(const struct fleet *fleet);

/* Returns whether a query is only matchers in braces, such as '{job="x"}'. */
bool fleet_is_matchers(const char *query);

/* Appends the parameter "&name=time" of a question. */
void fleet_add_time(char ret[FLEET_TIMES_SIZE], const char *name, int64_t at_ns);

/* Sends one question, and waits until it is answered or fails. at_ns is the time of the evaluation;
 * 0 means now. Returns REMOTE_PENDING if until_ns has passed or *stop is set. After CAMP_OK,
 * release *ret with prometheus_answer_release(). */
int fleet_ask(struct fleet *fleet, const char *text, int64_t at_ns, uint64_t until_ns,
              struct prometheus_answer *ret, struct camp_error *error);

/* Like fleet_ask(), but frees `text`, and waits for limit_ns at most. If `text` is NULL, returns
 * CAMP_E_NOMEM. */
int fleet_ask_text(struct fleet *fleet, char *text, int64_t at_ns, uint64_t limit_ns,
                   struct prometheus_answer *ret, struct camp_error *error);

/* Like fleet_ask(), but the answer has the values at from_ns, from_ns + step_ns, ... up to
 * to_ns. */
int fleet_ask_steps(struct fleet *fleet, const char *text, int64_t from_ns, int64_t to_ns,
                    int64_t step_ns, uint64_t until_ns, struct prometheus_answer *ret,
                    struct camp_error *error);

int fleet_open_samples(struct fleet *fleet, const struct from *from, struct from_facts *facts,
                       struct camp_error *error);

/* Reads --query. The values of a query with a range are counters; other values are levels. For
 * history, the range is left out of fleet->question. */
int fleet_query_read(struct fleet *fleet, const struct from *from, struct camp_error *error);
/* Determines from an answer which labels name the rows and the columns, and the unit of the
 * values. */
int fleet_query_columns(struct fleet *fleet, const struct from *from,
                        const struct prometheus_answer *answer, struct from_facts *facts,
                        struct camp_error *error);

/* Opens a client for each part of a snapshot. */
int fleet_open_parts(struct fleet *fleet, const char *place, struct camp_error *error);
void fleet_close_parts(struct fleet *fleet);
/* Asks all parts of a snapshot at the same time, and adds their answers to the samples. Returns
 * REMOTE_PENDING if until_ns has passed or *stop is set; the next call then continues. */
int fleet_snapshot(struct fleet *fleet, uint64_t until_ns, struct camp_error *error);
/* Returns whether the questions of a snapshot were sent, and not all of them are answered. */
bool fleet_is_asked(const struct fleet *fleet);

/* The place of the samples of a series. */
struct fleet_place {
    struct fleet_samples *samples;
    struct fleet_member *member;
    size_t column; /* SIZE_MAX if the series has no column */
    bool adds;     /* the column is the sum of several series */
};

/* The next functions return CAMP_OK or a code of fleet_samples.h, which fleet_fail_samples()
 * describes. fleet_find_place() adds the member if it is new. fleet_add_samples() adds the samples
 * of a series until until_ns. fleet_add_series() adds all samples of an answer. fleet_add_marks()
 * adds the server's clock and the hosts that are down. */
int fleet_find_place(struct fleet *fleet, const struct prometheus_series *series,
                     struct fleet_place *ret);
int fleet_add_samples(struct fleet *fleet, const struct prometheus_series *series,
                      const struct fleet_place *place, int64_t until_ns);
int fleet_add_series(struct fleet *fleet, const struct prometheus_answer *answer);
int fleet_add_marks(struct fleet *fleet, const struct prometheus_answer *answer);
/* Uses the labels of all members in this interval, so that they are not freed (labels.h). */
void fleet_use_labels(const struct fleet *fleet);
int fleet_fail_samples(int code, struct camp_error *error);
void fleet_update_clock(struct fleet *fleet, int64_t time_ns);

/* Adds a row to the frame for each member with elapsed time in the interval. For history the
 * interval ends at `until_ns`. For a live source the end depends on the member: see fleet_lag(). */
int fleet_fill(struct fleet *fleet, int64_t until_ns);
/* Removes members without samples in the 5 minutes before now_ns. */
void fleet_forget(struct fleet *fleet, int64_t now_ns);
void fleet_find_period(struct fleet *fleet);

/* Returns how long before now an interval must end, so that there is already a sample after its
 * end. For levels this is 0, because their values are evaluated now. */
static inline int64_t fleet_lag(const struct fleet *fleet, int64_t period_ns)
{
    return fleet->kind == FLEET_LEVELS ? 0
                                       : period_ns + MARGIN_NS + fleet->delay_ns + fleet->age_ns;
}

/* Returns the usual time between two samples of a series, or 0 if no series in the answer has two
 * samples. Only series of `metric` are used; NULL means all series. */
int64_t fleet_distance(const struct prometheus_answer *answer, const char *metric);

/* Returns the usual time between two samples of a member: the median of its newest distances. */
int64_t fleet_usual_period(const struct fleet_member *member);

/* Returns the median, or any percentile, of distances[count], or 0 if count is 0. Sorts the
 * array. */
int64_t fleet_median(int64_t *distances, size_t count);
int64_t fleet_quantile(int64_t *distances, size_t count, size_t percent);

/* Fails with a message that says why --host or --query selects no host. */
int fleet_fail_without_hosts(struct fleet *fleet, const struct from *from,
                             struct camp_error *error);

/* Writes to facts->note why a host has no groups. at_ns is the time of the evaluation; 0 means
 * now. */
void fleet_note_without_groups(struct fleet *fleet, int64_t at_ns, struct from_facts *facts);

/* Returns CAMP_E_INVALID if --host matches several instances in an answer. The message names the
 * first three. */
int fleet_refuse_several(const struct fleet *fleet, const struct prometheus_answer *answer,
                         struct camp_error *error);

/* Returns a time between begin_ns and end_ns at which there are samples, or 0 if there is none. */
int64_t fleet_find_moment(struct fleet *fleet);

/* Returns the number of missing hosts (fleet.h), and writes their names to ret[size]. */
size_t fleet_missing(const struct fleet *fleet, char *ret, size_t size);

void fleet_past_start(struct fleet *fleet, size_t series);
int fleet_past_next(struct source *base, uint64_t deadline_ns, const struct frame **ret_frame,
                    struct camp_error *error);
