#include "session_blocks.h"
#include "session_events.h"
#include "session_lengths.h"

#include "counters/error.h"
#include "ledger/array.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define RULES_SIZE_MAXIMUM 1000000
#define KIND_SIZE 256    /* bytes for the four texts of a kind; longer kinds are not cached */
#define KINDS_MOST 10000 /* a hostile server or file may name ever new events */

/* Reads a file of rules; the caller frees the text. Returns NULL after a failure, with the reason
 * in errno. EFBIG means that the file is too long. */
static char *read_rules(const char *path, size_t *ret_length)
{
    FILE *file = fopen(path, "re");
    char *text = malloc(RULES_SIZE_MAXIMUM + 1);

    if (file != NULL && text != NULL) {
        *ret_length = fread(text, 1, RULES_SIZE_MAXIMUM + 1, file);
        if (*ret_length > RULES_SIZE_MAXIMUM)
            errno = EFBIG;
        else if (ferror(file) == 0) {
            fclose(file);
            return text;
        }
    }
    if (file != NULL)
        fclose(file);
    free(text);
    return NULL;
}

static int parse_rules(struct session_rules *ret, const struct session_plan *plan,
                       struct camp_error *error)
{
    const char *path = plan->rules_path != NULL ? plan->rules_path : "built-in rules";
    char *own = NULL;
    const char *text = plan->rules_text;
    struct rule_fault fault;
    size_t length = 0;
    int r;

    if (plan->rules_path != NULL) {
        text = own = read_rules(plan->rules_path, &length);
        if (own == NULL)
            return camp_fail(error, CAMP_E_IO, errno, "cannot read the rules %s: %s", path,
                             strerror(errno));
    } else {
        length = strlen(text);
    }
    r = session_rules_parse(ret, text, length, &fault);
    free(own);
    if (r == CAMP_E_FORMAT && fault.line == 0)
        return camp_fail(error, CAMP_E_FORMAT, 0, "%s: %s", path, fault.message);
    if (r == CAMP_E_FORMAT)
        return camp_fail(error, CAMP_E_FORMAT, 0, "%s:%zu: %s", path, fault.line, fault.message);
    return r == CAMP_OK ? r : camp_fail(error, r, 0, "no memory for %s", path);
}

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
    "blocking_activity_ns",
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

    for (int i = 0; i < count; i++)
        add_column(sessions, &states[i],
                   i <= SESSION_RUN_QUEUE ? plan->cpu_provenance : plan->wait_provenance);
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
    sessions->schema.longest = schema_find_longest(&sessions->schema);
    if (sessions->is_lock != NULL) {
        const enum camp_provenance provenance =
            plan->wait_provenance == CAMP_SAMPLED ? CAMP_SAMPLED : CAMP_SCALED;

        sessions->blocked_column = add_column(sessions, &blocked, provenance);
        sessions->blocking_column = add_column(sessions, &blocking, provenance);
        sessions->blocking_activity_column = add_column(sessions, &blocking_activity, CAMP_SAMPLED);
        if (plan->has_wakers)
            sessions->measured_column = add_column(sessions, &measured, CAMP_MEASURED);
    }
    return good;
}

static size_t find_label(const struct session_plan *plan, const char *name)
{
    size_t ret = 0;

    while (ret < plan->label_count && strcmp(plan->label_names[ret], name) != 0)
        ret++;
    return ret;
}

int session_frame_init(struct session_frame *ret, const struct session_plan *plan,
                       struct camp_error *error)
{
    int r;

    *ret = (struct session_frame){ .detail = plan->detail };
    ret->schema.name = plan->name;
    ret->schema.label_names = plan->label_names;
    ret->schema.label_count = plan->label_count;
    ret->first_blocker_label = find_label(plan, SOURCE_LABEL_BLOCKER);
    ret->event_label = find_label(plan, SOURCE_LABEL_WAIT_EVENT);
    ret->is_lock = ret->first_blocker_label < plan->label_count ? plan->is_lock : NULL;
    ret->is_sampled_lock = plan->is_sampled_lock != NULL ? plan->is_sampled_lock : plan->is_lock;
    frame_init(&ret->frame, &ret->schema);
    r = parse_rules(&ret->rules, plan, error);
    if (r != CAMP_OK)
        return r;
    ret->columns = calloc(2 * SESSION_STATE_COUNT + 6 + COUNT_COUNT + LENGTHS_COLUMNS +
                              ret->rules.column_count,
                          sizeof *ret->columns);
    ret->schema.columns = ret->columns;
    if (ret->columns == NULL || !add_columns(ret, plan))
        return camp_fail(error, CAMP_E_NOMEM, 0, "no memory for the columns of sessions");
    return CAMP_OK;
}

void session_frame_release(struct session_frame *sessions)
{
    for (size_t i = 0; sessions->columns != NULL && i < sessions->rules.column_count; i++) {
        const struct column *column = &sessions->columns[sessions->first_rule_column + i];

        free((char *)column->name);
        free((char *)column->title);
        free((char *)column->help);
    }
    free(sessions->columns);
    session_rules_release(&sessions->rules);
    frame_release(&sessions->frame);
    free(sessions->kinds);
    free(sessions->sampled.blocks);
    free(sessions->blocks);
    free(sessions->times);
    free(sessions->event_parts);
    free(sessions->event_times);
    free(sessions->event_lengths);
    free(sessions->event_measured);
    free(sessions->rest);
    free(sessions->blockings);
    index_release(&sessions->kind_index);
    *sessions = (struct session_frame){ 0 };
}

/* A kind (what the database reports about a session) and its column. The same few kinds recur, so a
 * cache of them avoids matching slow regular expressions again. */
struct known_kind {
    size_t column;
    char key[KIND_SIZE];
};

static bool is_kind(const void *context, uint32_t position, const void *key)
{
    return strcmp(((const struct known_kind *)context)[position].key, key) == 0;
}

/* Returns the index of the column of a kind in rules.columns, or SIZE_MAX if no rule matches. */
static size_t column_of(struct session_frame *sessions, const struct session_kind *kind)
{
    struct known_kind wanted;
    const struct index_slot *slot;
    const int length = snprintf(wanted.key, sizeof wanted.key, "%s\n%s\n%s\n%s",
                                kind->texts[SESSION_CLASS], kind->texts[SESSION_EVENT],
                                kind->texts[SESSION_ACTIVITY], kind->texts[SESSION_TYPE]);
    uint32_t hash;

    if (length < 0 || (size_t)length >= sizeof wanted.key)
        return session_rules_match(&sessions->rules, kind);
    hash = index_hash_bytes(wanted.key, (size_t)length);
    slot = index_find(&sessions->kind_index, hash, is_kind, sessions->kinds, wanted.key);
    if (slot != NULL)
        return sessions->kinds[slot->position].column;
    wanted.column = session_rules_match(&sessions->rules, kind);
    if (sessions->kind_count < KINDS_MOST &&
        ARRAY_RESERVE(sessions->kinds, sessions->kind_capacity, sessions->kind_count + 1) &&
        index_reserve(&sessions->kind_index, sessions->kind_count + 1)) {
        index_add(&sessions->kind_index, hash, (uint32_t)sessions->kind_count);
        sessions->kinds[sessions->kind_count++] = wanted;
    }
    return wanted.column;
}

enum session_state session_frame_state(struct session_frame *sessions,
                                       const struct session_kind *kind)
{
    const size_t column = column_of(sessions, kind);

    return column != SIZE_MAX ? sessions->rules.columns[column].state : SESSION_STATE_COUNT;
}

void session_frame_begin(struct session_frame *sessions, uint64_t start_ns, uint64_t end_ns,
                         int64_t wall_clock_ns)
{
    labels_start_interval();
    sessions->blocking_count = 0;
    frame_clear(&sessions->frame);
    sessions->frame.start_ns = start_ns;
    sessions->frame.end_ns = end_ns;
    sessions->frame.wall_clock_ns = wall_clock_ns;
}

static void set_counts(const struct session_frame *sessions, const struct statement_growth *growth,
                       uint64_t *values)
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

int session_frame_add(struct session_frame *sessions, const struct session *session)
{
    return session_division_has_events(sessions->division) &&
                   sessions->event_label < sessions->schema.label_count && session->growth == NULL
               ? session_events_add_rows(sessions, session)
               : session_frame_add_blocked(sessions, session);
}

int session_frame_add_blocked(struct session_frame *sessions, const struct session *session)
{
    return sessions->blockers != NULL && sessions->is_lock != NULL
               ? session_blocks_add_rows(sessions, session)
               : session_frame_add_row(sessions, session);
}

int session_frame_add_row(struct session_frame *sessions, const struct session *session)
{
    struct entity *row = frame_add(&sessions->frame);
    const size_t at = sessions->frame.entity_count - 1;
    uint64_t *values;

    if (row == NULL)
        return CAMP_E_NOMEM;
    *row = session->entity;
    sessions->frame.elapsed_ns[at] = session->elapsed_ns;
    values = frame_values(&sessions->frame, at);
    values[SESSION_CPU] = session->cpu_ns;
    values[SESSION_RUN_QUEUE] = session->run_queue_ns;
    for (size_t i = 0; i < session->time_count; i++) {
        const size_t column = column_of(sessions, &session->times[i].kind);

        if (column == SIZE_MAX)
            continue;
        values[sessions->first_rule_column + column] += session->times[i].ns;
        if (!sessions->detail)
            values[sessions->rules.columns[column].state] += session->times[i].ns;
    }
    for (int i = 0; sessions->first_reported_column != 0 && i < SESSION_STATE_COUNT; i++)
        values[sessions->first_reported_column + (size_t)i] = session->reported_ns[i];
    if (sessions->sampled_column != 0)
        values[sessions->sampled_column] = session->sampled_ns;
    if (sessions->samples_column != 0)
        values[sessions->samples_column] = session->sample_count;
    if (sessions->first_length_column != 0)
        session_lengths_fill(sessions, session, values + sessions->first_length_column);
    if (sessions->first_count_column != 0 && session->growth != NULL)
        set_counts(sessions, session->growth, values);
    return CAMP_OK;
}

size_t session_server_cpus(bool is_local)
{
    const long cpus = is_local ? sysconf(_SC_NPROCESSORS_ONLN) : 0;

    return cpus > 0 ? (size_t)cpus : 0;
}
