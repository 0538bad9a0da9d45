#include "session.h"

#include "counters/error.h"

#include <errno.h>
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RULES_SIZE_MAXIMUM 1000000
#define KIND_SIZE 256 /* of all four texts together; longer kinds are not cached */

/* ---------------------------------------------------------------------------------- Rules -- */

/* The caller frees the text. NULL: errno says why, EFBIG if it is too long. */
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
    return r == CAMP_OK ? r : camp_fail(error, r, 0, "no memory for the rules %s", path);
}

/* -------------------------------------------------------------------------------- Columns -- */

static const struct {
    const char *title, *short_title, *help;
    enum column_class class;
} states[SESSION_STATE_COUNT] = {
    { "CPU", NULL, "on a CPU, by the operating system's scheduler", CLASS_CPU },
    { "run queue", "runq",
      "ready to run, and no CPU runs it: what the database books as something else", CLASS_READY },
    { "contention", "cont", "asleep for what another session holds", CLASS_CONTENTION },
    { "wait", NULL, "asleep for a device, another process, or the client within a statement",
      CLASS_OTHER_WAIT },
    { "idle", NULL, "asleep with nothing to do", CLASS_IDLE },
};

static bool add_column(struct session_frame *sessions, enum column_kind kind,
                       enum camp_provenance provenance, char *name, char *title, char *help)
{
    struct schema *schema = &sessions->schema;

    sessions->columns[schema->column_count++] =
        (struct column){ name, title, help, kind, provenance, CLASS_NONE, NULL };
    schema->state_count += kind == COLUMN_STATE;
    return name != NULL && title != NULL && help != NULL;
}

static char *joined(const char *first, const char *second, const char *third)
{
    char *text;

    return asprintf(&text, "%s%s%s", first, second, third) >= 0 ? text : NULL;
}

/* Sets the class of the last column. */
static void set_class(struct session_frame *sessions, enum session_state state)
{
    sessions->columns[sessions->schema.column_count - 1].class = states[state].class;
}

static bool add_states(struct session_frame *sessions, const struct session_plan *plan)
{
    const int count = plan->detail ? SESSION_RUN_QUEUE + 1 : SESSION_STATE_COUNT;
    bool good = true;

    for (int i = 0; i < count; i++) {
        good &= add_column(sessions, COLUMN_STATE,
                           i <= SESSION_RUN_QUEUE ? plan->cpu_provenance : plan->wait_provenance,
                           joined(session_state_names[i], "_ns", ""), strdup(states[i].title),
                           strdup(states[i].help));
        set_class(sessions, (enum session_state)i);
        sessions->columns[i].short_title = states[i].short_title;
    }
    return good;
}

/* "contention_row_lock_ns" */
static char *column_name(const struct session_column *column)
{
    char name[2 * SESSION_COLUMN_SIZE];

    snprintf(name, sizeof name, "_%s_ns", column->name);
    return joined(session_state_names[column->state], name, "");
}

static bool add_rule_columns(struct session_frame *sessions, const struct session_plan *plan)
{
    bool good = true;

    sessions->first_rule_column = sessions->schema.column_count;
    for (size_t i = 0; i < sessions->rules.column_count; i++) {
        const struct session_column *column = &sessions->rules.columns[i];
        char *title = strdup(column->name);

        for (char *at = title != NULL ? strchr(title, '_') : NULL; at != NULL; at = strchr(at, '_'))
            *at = ' ';
        good &= add_column(sessions, plan->detail ? COLUMN_STATE : COLUMN_COUNTER,
                           plan->wait_provenance, column_name(column), title,
                           joined(session_state_names[column->state], ": ", column->rules));
        if (plan->detail)
            set_class(sessions, column->state);
    }
    return good;
}

static bool add_reported(struct session_frame *sessions)
{
    bool good = true;

    sessions->first_reported_column = sessions->schema.column_count;
    for (int i = 0; i < SESSION_STATE_COUNT; i++)
        good &= add_column(
            sessions, COLUMN_COUNTER, CAMP_SAMPLED,
            joined("reported_", session_state_names[i], "_ns"),
            joined("reported: ", states[i].title, ""),
            joined(states[i].title, ", as the database itself says of the same interval", ""));
    return good;
}

static bool add_sampled(struct session_frame *sessions)
{
    sessions->sampled_column = sessions->schema.column_count;
    return add_column(
        sessions, COLUMN_COUNTER, CAMP_SAMPLED, strdup("sampled_asleep_ns"),
        strdup("asleep, sampled"),
        strdup("off the CPUs by the samples alone; the states are what is left beside "
               "CPU and run queue, in the proportion of these"));
}

static bool add_sample_count(struct session_frame *sessions)
{
    sessions->samples_column = sessions->schema.column_count;
    return add_column(sessions, COLUMN_COUNTER, CAMP_SAMPLED, strdup("looks"), strdup("looks"),
                      strdup("samples of this session: of n, a share p has the standard error "
                             "sqrt(p (1 - p) / n)"));
}

int session_frame_init(struct session_frame *ret, const struct session_plan *plan,
                       struct camp_error *error)
{
    const bool has_sample_count = plan->wait_provenance != CAMP_MEASURED;
    int r;

    *ret = (struct session_frame){ .detail = plan->detail };
    ret->schema.name = plan->name;
    ret->schema.label_names = plan->label_names;
    ret->schema.label_count = plan->label_count;
    frame_init(&ret->frame, &ret->schema);
    r = parse_rules(&ret->rules, plan, error);
    if (r != CAMP_OK)
        return r;
    ret->columns =
        calloc(2 * SESSION_STATE_COUNT + 2 + ret->rules.column_count, sizeof *ret->columns);
    ret->schema.columns = ret->columns;
    if (ret->columns == NULL || !add_states(ret, plan) || !add_rule_columns(ret, plan) ||
        (plan->has_reported && !add_reported(ret)) || (plan->has_sampled && !add_sampled(ret)) ||
        (has_sample_count && !add_sample_count(ret)))
        return camp_fail(error, CAMP_E_NOMEM, 0, "no memory for the columns of sessions");
    return CAMP_OK;
}

void session_frame_release(struct session_frame *sessions)
{
    for (size_t i = 0; i < sessions->schema.column_count; i++) {
        free((char *)sessions->columns[i].name);
        free((char *)sessions->columns[i].title);
        free((char *)sessions->columns[i].help);
    }
    free(sessions->columns);
    session_rules_release(&sessions->rules);
    frame_release(&sessions->frame);
    tdestroy(sessions->kinds, free);
    *sessions = (struct session_frame){ 0 };
}

/* ---------------------------------------------------------------------------------- Kinds -- */

/* A cached kind and its column: matching expressions is slow, and the same few kinds come again. */
struct known_kind {
    size_t column;
    char key[KIND_SIZE];
};

static int compare_kinds(const void *a, const void *b)
{
    return strcmp(((const struct known_kind *)a)->key, ((const struct known_kind *)b)->key);
}

/* The column of a kind by the rules; SIZE_MAX: unmatched. Without memory there is no caching. */
static size_t column_of(struct session_frame *sessions, const struct session_kind *kind)
{
    struct known_kind wanted, *kept;
    struct known_kind *const *found;
    const int length = snprintf(wanted.key, sizeof wanted.key, "%s\n%s\n%s\n%s",
                                kind->texts[SESSION_CLASS], kind->texts[SESSION_EVENT],
                                kind->texts[SESSION_ACTIVITY], kind->texts[SESSION_TYPE]);

    if (length < 0 || (size_t)length >= sizeof wanted.key)
        return session_rules_match(&sessions->rules, kind);
    found = tfind(&wanted, &sessions->kinds, compare_kinds);
    if (found != NULL)
        return (*found)->column;
    wanted.column = session_rules_match(&sessions->rules, kind);
    kept = malloc(sizeof *kept);
    if (kept != NULL) {
        *kept = wanted;
        if (tsearch(kept, &sessions->kinds, compare_kinds) == NULL)
            free(kept);
    }
    return wanted.column;
}

enum session_state session_frame_state(struct session_frame *sessions,
                                       const struct session_kind *kind)
{
    const size_t column = column_of(sessions, kind);

    return column != SIZE_MAX ? sessions->rules.columns[column].state : SESSION_STATE_COUNT;
}

/* ----------------------------------------------------------------------------------- Rows -- */

void session_frame_begin(struct session_frame *sessions, uint64_t start_ns, uint64_t end_ns,
                         int64_t wall_clock_ns)
{
    frame_clear(&sessions->frame);
    sessions->frame.start_ns = start_ns;
    sessions->frame.end_ns = end_ns;
    sessions->frame.wall_clock_ns = wall_clock_ns;
}

int session_frame_add(struct session_frame *sessions, const struct session *session)
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
    return CAMP_OK;
}
