#include "session_blocks.h"
#include "session_columns.h"
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
    frame_init(&ret->events, &ret->schema);
    r = parse_rules(&ret->rules, plan, error);
    if (r != CAMP_OK)
        return r;
    if (!session_columns_init(ret, plan))
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
    frame_release(&sessions->events);
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
    frame_start_at(&sessions->events, &sessions->frame);
}

static void exchange_frames(struct session_frame *sessions)
{
    const struct frame frame = sessions->frame;

    sessions->frame = sessions->events;
    sessions->events = frame;
}

/* Adds the rows of a session by wait event to sessions->events. */
static int add_events(struct session_frame *sessions, const struct session *session)
{
    struct blocker_samples *blockers = sessions->blockers;
    int r;

    sessions->blockers = NULL;
    sessions->division = SESSION_BY_EVENT;
    exchange_frames(sessions);
    r = session_events_add_rows(sessions, session);
    exchange_frames(sessions);
    sessions->division = SESSION_EVENTS_BESIDE;
    sessions->blockers = blockers;
    return r;
}

int session_frame_add(struct session_frame *sessions, const struct session *session)
{
    const bool has_events =
        sessions->event_label < sessions->schema.label_count && session->growth == NULL;
    int r;

    if (has_events && session_division_has_events(sessions->division))
        return session_events_add_rows(sessions, session);
    r = session_frame_add_blocked(sessions, session);
    return r == CAMP_OK && has_events && sessions->division == SESSION_EVENTS_BESIDE
               ? add_events(sessions, session)
               : r;
}

const struct frame *session_frame_beside(const struct session_frame *sessions)
{
    return sessions->division == SESSION_EVENTS_BESIDE ? &sessions->events : NULL;
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
    if (sessions->throttled_column != 0)
        values[sessions->throttled_column] = session->throttled_ns;
    for (size_t i = 0; i < session->time_count; i++) {
        const size_t column = column_of(sessions, &session->times[i].kind);

        if (column == SIZE_MAX)
            continue;
        values[sessions->first_rule_column + column] += session->times[i].ns;
        if (!sessions->detail)
            values[session_columns_state(sessions, sessions->rules.columns[column].state)] +=
                session->times[i].ns;
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
        session_columns_count(sessions, session->growth, values);
    return CAMP_OK;
}

size_t session_server_cpus(bool is_local)
{
    const long cpus = is_local ? sysconf(_SC_NPROCESSORS_ONLN) : 0;

    return cpus > 0 ? (size_t)cpus : 0;
}
