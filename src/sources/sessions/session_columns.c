#include "session_columns.h"

#include "session_lengths.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct column states[SESSION_STATE_COUNT] = {
    { "cpu_ns", "CPU", "on a CPU, by the operating system's scheduler", COLUMN_STATE, CAMP_MEASURED,
      CLASS_CPU, NULL },
    { "run_queue_ns", "run queue",
      "ready to run, and no CPU runs it: the database reports it as another state", COLUMN_STATE,
      CAMP_MEASURED, CLASS_READY, "runq" },
    { "contention_ns", "contention", "asleep for what another session holds", COLUMN_STATE,
      CAMP_MEASURED, CLASS_CONTENTION, "cont" },
    { "wait_ns", "wait", "asleep for a device, another process, or the client within a statement",
      COLUMN_STATE, CAMP_MEASURED, CLASS_OTHER_WAIT, NULL },
    { "idle_ns", "idle", "asleep with nothing to do", COLUMN_STATE, CAMP_MEASURED, CLASS_IDLE,
      NULL },
};

static const struct column throttled = {
    COLUMN_THROTTLED,
    "throttled",
    "ready to run, and the CPU time of its group, or its own, is used up: in run_queue_ns where it "
    "is not known",
    COLUMN_STATE,
    CAMP_MEASURED,
    CLASS_THROTTLED,
    "thrt"
};

#define SAMPLED(name, title, help)                                                                 \
    {                                                                                              \
        name, title, help, COLUMN_COUNTER, CAMP_SAMPLED, CLASS_NONE, NULL                          \
    }
#define REPORTED(name, title)                                                                      \
    SAMPLED("reported_" name "_ns", "reported: " title,                                            \
            title ", as the database itself says of the same interval")

static const struct column reported[SESSION_STATE_COUNT] = {
    REPORTED("cpu", "CPU"),
    REPORTED("run_queue", "run queue"),
    REPORTED("contention", "contention"),
    REPORTED("wait", "wait"),
    REPORTED("idle", "idle"),
};
static const struct column sampled_asleep =
    SAMPLED("sampled_asleep_ns", "asleep, sampled",
            "off the CPUs by the samples alone; the states divide the time outside of CPU and run "
            "queue in the proportion of these");
static const struct column sample_count =
    SAMPLED("samples", "samples",
            "samples of this session: of n, a share p has the standard error sqrt(p (1 - p) / n)");

static const struct column blocked = {
    "blocked_ns",
    "blocked",
    "the part of the time in locks that this session waited for the one in its label blocker: "
    "measured, or divided by samples of blockers",
    COLUMN_COUNTER,
    CAMP_SCALED,
    CLASS_NONE,
    NULL
};
static const struct column measured = {
    "blocked_measured_ns",
    "blocked, measured",
    "the part of blocked_ns that is measured: waits that have ended, of which the kernel knows "
    "the session that ended them",
    COLUMN_COUNTER,
    CAMP_MEASURED,
    CLASS_NONE,
    NULL
};
static const struct column blocking = {
    "blocking_ns",
    "blocks others",
    "how long other sessions waited for locks of this one, added up over these sessions",
    COLUMN_COUNTER,
    CAMP_SCALED,
    CLASS_NONE,
    NULL
};
static const struct column blocking_activity = {
    COLUMN_AGE,
    "blocking activity",
    "of a session that blocks others: how long it has had its activity (blocking_activity), by the "
    "database, at the end of the interval",
    COLUMN_GAUGE,
    CAMP_SAMPLED,
    CLASS_NONE,
    NULL
};

#define COUNTED(name, title, help)                                                                 \
    {                                                                                              \
        name, title, help, COLUMN_COUNTER, CAMP_MEASURED, CLASS_NONE, NULL                         \
    }

enum count {
    COUNT_CALLS,
    COUNT_EXECUTION,
    COUNT_ROWS,
    COUNT_LOST,
    COUNT_OF_ALL, /* databases have those above */
    COUNT_PLANNING = COUNT_OF_ALL,
    COUNT_LOCK,
    COUNT_COUNT
};

static const struct column counts[COUNT_COUNT] = {
    [COUNT_CALLS] = COUNTED("reported_calls", "reported: calls",
                            "executions of the statement that ended in the interval, in all "
                            "sessions: the server's own count"),
    [COUNT_EXECUTION] =
        COUNTED("reported_execution_ns", "reported: execution",
                "time from the start to the end of these executions: the server's own count"),
    [COUNT_ROWS] = COUNTED("reported_rows", "reported: rows",
                           "rows that they returned or changed: the server's own count"),
    [COUNT_LOST] =
        COUNTED("reported_lost", "reported: lost",
                "entries of the statement whose counts the server has reset or dropped: what they "
                "counted in the interval before that is missing"),
    [COUNT_PLANNING] = COUNTED("reported_planning_ns", "reported: planning",
                               "time of planning the statement: the server's own count"),
    [COUNT_LOCK] = COUNTED("reported_lock_ns", "reported: lock",
                           "part of the time of these executions in which they waited for locks "
                           "of tables: the server's own count"),
};

static size_t add_column(struct session_frame *sessions, const struct column *column,
                         enum camp_provenance provenance)
{
    struct schema *schema = &sessions->schema;
    const size_t at = schema->column_count++;

    sessions->columns[at] = *column;
    sessions->columns[at].provenance = provenance;
    schema->state_count += column->kind == COLUMN_STATE;
    return at;
}

/* Adds a column that the rules name. Its name, title and help are allocated; those of other columns
 * are constants. Returns false if there is no memory. */
static bool add_rule_column(struct session_frame *sessions, const struct session_plan *plan,
                            const struct session_column *rule)
{
    const char *state = session_state_names[rule->state];
    char *name, *title = strdup(rule->name), *help;

    if (asprintf(&name, "%s_%s_ns", state, rule->name) < 0)
        name = NULL;
    if (asprintf(&help, "%s: %s", state, rule->rules) < 0)
        help = NULL;
    for (char *at = title != NULL ? strchr(title, '_') : NULL; at != NULL; at = strchr(at, '_'))
        *at = ' ';
    add_column(sessions,
               &(struct column){ .name = name,
                                 .title = title,
                                 .help = help,
                                 .kind = plan->detail ? COLUMN_STATE : COLUMN_COUNTER,
                                 .class = plan->detail ? states[rule->state].class : CLASS_NONE },
               plan->wait_provenance);
    return name != NULL && title != NULL && help != NULL;
}

static bool add_columns(struct session_frame *sessions, const struct session_plan *plan)
{
    const int count = plan->detail ? SESSION_RUN_QUEUE + 1 : SESSION_STATE_COUNT;
    bool good = true;

    for (int i = 0; i < count; i++) {
        add_column(sessions, &states[i],
                   i <= SESSION_RUN_QUEUE ? plan->cpu_provenance : plan->wait_provenance);
        if (i == SESSION_RUN_QUEUE && plan->has_throttled)
            sessions->throttled_column = add_column(sessions, &throttled, plan->cpu_provenance);
    }
    sessions->first_rule_column = sessions->schema.column_count;
    for (size_t i = 0; i < sessions->rules.column_count; i++)
        good &= add_rule_column(sessions, plan, &sessions->rules.columns[i]);
    if (plan->has_reported)
        sessions->first_reported_column = sessions->schema.column_count;
    for (int i = 0; plan->has_reported && i < SESSION_STATE_COUNT; i++)
        add_column(sessions, &reported[i], CAMP_SAMPLED);
    if (plan->has_sampled)
        sessions->sampled_column = add_column(sessions, &sampled_asleep, CAMP_SAMPLED);
    if (plan->wait_provenance != CAMP_MEASURED)
        sessions->samples_column = add_column(sessions, &sample_count, CAMP_SAMPLED);
    if (plan->has_counts)
        sessions->first_count_column = sessions->schema.column_count;
    for (int i = 0; plan->has_counts && i < COUNT_OF_ALL; i++)
        add_column(sessions, &counts[i], CAMP_MEASURED);
    if (plan->has_counts && plan->has_planning)
        sessions->planning_column = add_column(sessions, &counts[COUNT_PLANNING], CAMP_MEASURED);
    if (plan->has_counts && plan->has_lock_time)
        sessions->lock_column = add_column(sessions, &counts[COUNT_LOCK], CAMP_MEASURED);
    if (plan->has_lengths)
        sessions->first_length_column = sessions->schema.column_count;
    for (int i = 0; plan->has_lengths && i < LENGTHS_COLUMNS; i++)
        add_column(sessions, &session_lengths_columns[i], CAMP_MEASURED);
    if (sessions->is_lock != NULL) {
        const enum camp_provenance provenance =
            plan->wait_provenance == CAMP_SAMPLED ? CAMP_SAMPLED : CAMP_SCALED;

        sessions->blocked_column = add_column(sessions, &blocked, provenance);
        sessions->blocking_column = add_column(sessions, &blocking, provenance);
        sessions->blocking_activity_column = add_column(sessions, &blocking_activity, CAMP_SAMPLED);
        if (plan->has_wakers)
            sessions->measured_column = add_column(sessions, &measured, CAMP_MEASURED);
    }
    schema_find_maxima(&sessions->schema);
    return good;
}

bool session_columns_init(struct session_frame *sessions, const struct session_plan *plan)
{
    sessions->columns = calloc(2 * SESSION_STATE_COUNT + 7 + COUNT_COUNT + LENGTHS_COLUMNS +
                                   sessions->rules.column_count,
                               sizeof *sessions->columns);
    sessions->schema.columns = sessions->columns;
    return sessions->columns != NULL && add_columns(sessions, plan);
}

size_t session_columns_state(const struct session_frame *sessions, enum session_state state)
{
    return (size_t)state + (state > SESSION_RUN_QUEUE && sessions->throttled_column != 0);
}

void session_columns_count(const struct session_frame *sessions,
                           const struct statement_growth *growth, uint64_t *values)
{
    const size_t first = sessions->first_count_column;

    values[first + COUNT_CALLS] = growth->calls;
    values[first + COUNT_EXECUTION] = growth->execution_ns;
    values[first + COUNT_ROWS] = growth->rows;
    values[first + COUNT_LOST] = growth->lost;
    if (sessions->planning_column != 0)
        values[sessions->planning_column] = growth->planning_ns;
    if (sessions->lock_column != 0)
        values[sessions->lock_column] = growth->lock_ns;
}
