#include "ledger/array.h"
#include "ledger/vertex.h"
#include "samples_inside.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

/* Times above this one could overflow when they are added up. */
#define LARGEST_NS ((uint64_t)INT64_MAX / VERTICES_STATES_MAXIMUM)

/* What a moment says of the time since the moment before it. */
struct moment {
    uint64_t length_ns; /* all of it */
    uint64_t sample_ns; /* what a sample of the moment counts for */
    bool is_observed;   /* in the rest, no session was active; otherwise nothing is known of it */
};

uint64_t sample_frame_length(const struct samples_source *source, uint32_t before, size_t end)
{
    const struct sample_row *rows = source->rows.rows;
    const uint32_t last = source->times.order[end - 1];

    if (before == UINT32_MAX) /* the last sample of the first moment may be later than its first */
        return source->times.period_ns +
               (uint64_t)(rows[last].time - rows[source->times.order[0]].time);
    return (uint64_t)(rows[last].time - rows[before].time);
}

static struct moment moment_of(const struct samples_source *source, size_t end)
{
    const struct sample_times *times = &source->times;
    const uint64_t period_ns = times->period_ns;
    struct moment ret = { sample_frame_length(source, source->before, end), 0, false };
    const struct sample_row *after = &source->rows.rows[times->order[end - 1]];

    ret.sample_ns = ret.length_ns / 3 < period_ns / 2 ? ret.length_ns : period_ns;
    if (source->before != UINT32_MAX && times->period_numbers > 0 &&
        source->rows.columns.at[SAMPLE_INSTANCE] == SAMPLE_ABSENT) {
        const uint64_t before = source->rows.rows[source->before].sample;
        const double periods = after->sample > before ? (double)(after->sample - before) /
                                                            (double)times->period_numbers
                                                      : 0;

        ret.is_observed =
            periods * (double)period_ns > (double)ret.length_ns - 0.5 * (double)period_ns;
    }
    return ret;
}

/* Makes the texts of a kind those that the live sources of sessions report. */
static void normalise(const struct sample_columns *columns,
                      char texts[SESSION_KEYS][LABELS_VALUE_SIZE])
{
    static const char aborted[] = "idle in transaction (";
    char *colon;

    /* pg_ash writes the class before the event, and has "CPU*" for CPU time that may be another
     * wait, which no event names. */
    colon = columns->at[SAMPLE_CLASS] == SAMPLE_ABSENT ? strchr(texts[SESSION_EVENT], ':') : NULL;
    if (colon != NULL) {
        *colon = '\0';
        snprintf(texts[SESSION_CLASS], LABELS_VALUE_SIZE, "%s", texts[SESSION_EVENT]);
        memmove(texts[SESSION_EVENT], colon + 1, strlen(colon + 1) + 1);
    }
    if (!columns->is_oracle && strcmp(texts[SESSION_EVENT], "IdleTx") == 0) {
        snprintf(texts[SESSION_ACTIVITY], LABELS_VALUE_SIZE, "idle_in_transaction");
        texts[SESSION_EVENT][0] = '\0';
    }
    if (strncmp(texts[SESSION_ACTIVITY], aborted, strlen(aborted)) == 0)
        snprintf(texts[SESSION_ACTIVITY], LABELS_VALUE_SIZE, "aborted");
    for (char *at = texts[SESSION_TYPE]; columns->is_oracle && *at != '\0'; at++)
        *at = *at >= 'A' && *at <= 'Z' ? (char)(*at | 0x20) : *at;
    for (size_t i = 0; i < SESSION_KEYS; i++) {
        for (char *at = strchr(texts[i], ' '); at != NULL; at = strchr(at, ' '))
            *at = '_';
    }
}

static bool is_cpu_word(const char *text)
{
    return strcmp(text, "CPU") == 0 || strcmp(text, "CPU*") == 0;
}

/* Returns whether the sample found its session on a CPU, or waiting for one. */
static bool is_on_cpu(const struct sample_columns *columns,
                      char texts[SESSION_KEYS][LABELS_VALUE_SIZE])
{
    const bool has_wait = texts[SESSION_CLASS][0] != '\0' || texts[SESSION_EVENT][0] != '\0';

    if (columns->is_oracle && texts[SESSION_ACTIVITY][0] != '\0')
        return strcasecmp(texts[SESSION_ACTIVITY], "ON_CPU") == 0;
    if (is_cpu_word(texts[SESSION_CLASS]) || is_cpu_word(texts[SESSION_EVENT]))
        return true;
    return !has_wait &&
           (texts[SESSION_ACTIVITY][0] == '\0' || strcmp(texts[SESSION_ACTIVITY], "active") == 0);
}

static bool reserve_kinds(struct samples_source *source, size_t count)
{
    return ARRAYS_RESERVE(source->kind_capacity, count, ARRAY(source->kinds), ARRAY(source->texts));
}

/* Adds a sample to the row of its session. */
static void add_sample(struct samples_source *source, uint32_t number, uint64_t ns,
                       struct session *row)
{
    static const enum sample_role roles[] = { SAMPLE_CLASS, SAMPLE_EVENT, SAMPLE_ACTIVITY,
                                              SAMPLE_TYPE };
    const size_t at = row->time_count;
    struct session_time *time = &source->kinds[at];

    for (size_t i = 0; i < SESSION_KEYS; i++)
        sample_text(&source->rows, number, roles[i], source->texts[at][i], LABELS_VALUE_SIZE);
    normalise(&source->rows.columns, source->texts[at]);
    if (is_on_cpu(&source->rows.columns, source->texts[at])) {
        row->cpu_ns += ns;
        return;
    }
    for (size_t i = 0; i < SESSION_KEYS; i++)
        time->kind.texts[i] = source->texts[at][i][0] != '\0' ? source->texts[at][i] : "none";
    if (source->rows.columns.is_oracle && source->texts[at][SESSION_ACTIVITY][0] != '\0')
        time->kind.texts[SESSION_ACTIVITY] = "active"; /* the session waits within a call */
    time->ns = ns;
    row->time_count++;
}

/* Adds the time in which a session was not active. */
static void add_idle(struct samples_source *source, uint64_t ns, struct session *row)
{
    static const struct session_kind oracle = { { "Idle", "none", "inactive", "user" } };
    static const struct session_kind postgres = { { "Client", "ClientRead", "idle",
                                                    "client_backend" } };

    if (ns > 0)
        source->kinds[row->time_count++] =
            (struct session_time){ source->rows.columns.is_oracle ? oracle : postgres, ns };
}

/* Names a session by its user, or its application, and its id. Returns false if the name may not
 * identify the session, because a text does not fit. */
static bool name_session(const struct samples_source *source, uint32_t number, char *name)
{
    char user[25], instance[9], id[21], serial[9];
    const struct sample_rows *rows = &source->rows;

    sample_text(rows, number, SAMPLE_USER, user, sizeof user);
    if (user[strspn(user, "0123456789")] == '\0') /* no name of a user */
        sample_text(rows, number, SAMPLE_APPLICATION, user, sizeof user);
    sample_text(rows, number, SAMPLE_INSTANCE, instance, sizeof instance);
    sample_text(rows, number, SAMPLE_SESSION, id, sizeof id);
    sample_text(rows, number, SAMPLE_SERIAL, serial, sizeof serial);
    if (!rows->columns.is_oracle) /* the start of a process */
        serial[0] = '\0';
    snprintf(name, CAMP_NAME_SIZE, "%s%s%s%s%s%s%s", user, user[0] != '\0' ? " " : "", instance,
             instance[0] != '\0' ? ":" : "", id, serial[0] != '\0' ? "," : "", serial);
    return strlen(instance) + 1 < sizeof instance && strlen(id) + 1 < sizeof id &&
           strlen(serial) + 1 < sizeof serial;
}

/* Names a row that stands for sessions by its texts. Returns false if these do not fit. */
static bool name_texts(const struct samples_source *source, uint32_t number, char *name)
{
    size_t length = 0;

    name[0] = '\0';
    for (size_t i = 0; i < source->label_count; i++) {
        char text[LABELS_VALUE_SIZE];

        sample_text(&source->rows, number, source->label_roles[i], text, sizeof text);
        if (text[0] != '\0' && length < CAMP_NAME_SIZE)
            length += (size_t)snprintf(name + length, CAMP_NAME_SIZE - length, "%s%s",
                                       length > 0 ? " " : "", text);
    }
    if (length == 0)
        memcpy(name, source->only, CAMP_NAME_SIZE);
    return length < CAMP_NAME_SIZE;
}

/* An idle session has no statement, event or blocker. */
static labels_id labels_of(const struct samples_source *source, uint32_t number, bool is_idle)
{
    char texts[SAMPLE_LABEL_END - SAMPLE_FIRST_LABEL][LABELS_VALUE_SIZE];
    const char *values[SAMPLE_LABEL_END - SAMPLE_FIRST_LABEL];

    for (size_t i = 0; i < source->label_count; i++) {
        values[i] = is_idle && source->label_roles[i] >= SAMPLE_STATEMENT ? "" : texts[i];
        sample_text(&source->rows, number, source->label_roles[i], texts[i], sizeof texts[i]);
    }
    return labels_intern(values, source->label_count);
}

static struct entity entity_of(const struct samples_source *source, uint32_t number, bool is_idle,
                               double load)
{
    const bool has_ids = source->rows.columns.at[SAMPLE_SESSION] != SAMPLE_ABSENT;
    struct entity ret = { .count = load > 1 ? (uint32_t)llround(load) : 1,
                          .labels = labels_of(source, number, is_idle) };

    if (!(has_ids ? name_session : name_texts)(source, number, ret.name))
        ret.id = (int64_t)source->rows.rows[number].session + 1;
    return ret;
}

/* Adds the row of a session that lives, and may have a sample at this moment. */
static int add_session(struct samples_source *source, const struct sample_session *session,
                       const struct moment *moment, bool is_new)
{
    const bool has_sample = session->frame == source->moment;
    const uint64_t length_ns = is_new ? moment->sample_ns : moment->length_ns;
    const uint64_t elapsed_ns = length_ns < LARGEST_NS ? length_ns : LARGEST_NS;
    const uint64_t counted_ns = moment->sample_ns < elapsed_ns ? moment->sample_ns : elapsed_ns;
    struct session row = { .entity = entity_of(source, session->newest_row, !has_sample, 1),
                           .elapsed_ns = elapsed_ns,
                           .sample_count = has_sample };

    if (!reserve_kinds(source, 2))
        return CAMP_E_NOMEM;
    row.times = source->kinds;
    if (has_sample)
        add_sample(source, session->newest_row, counted_ns, &row);
    add_idle(source,
             (has_sample ? 0 : counted_ns) + (moment->is_observed ? elapsed_ns - counted_ns : 0),
             &row);
    if (is_new)
        row.entity.flags |= ENTITY_NEW;
    return session_frame_add(&source->sessions, &row);
}

/* Adds a row that stands for one or several sessions, of which nothing but the texts is known. */
static int add_texts(struct samples_source *source, const struct sample_session *session,
                     const struct moment *moment)
{
    struct session row = { .entity.id = 0 };
    const struct sample_row *rows = source->rows.rows;
    size_t count = 0;
    double load = 0;

    for (uint32_t i = session->newest_row; i != UINT32_MAX; i = rows[i].next)
        count++;
    if (!reserve_kinds(source, count))
        return CAMP_E_NOMEM;
    row.times = source->kinds;
    for (uint32_t i = session->newest_row; i != UINT32_MAX; i = rows[i].next) {
        const uint64_t left_ns = LARGEST_NS - row.elapsed_ns;
        const double ns = rows[i].load * (double)moment->sample_ns;

        if (ns > (double)left_ns) {
            source->sessions.frame.losses.partial++;
            continue;
        }
        add_sample(source, i, (uint64_t)ns, &row);
        row.elapsed_ns += (uint64_t)ns;
        load += rows[i].load;
    }
    row.sample_count = count;
    row.entity = entity_of(source, session->newest_row, false, load);
    return row.elapsed_ns > 0 ? session_frame_add(&source->sessions, &row) : CAMP_OK;
}

/* Notes the sessions of the rows from source->at to `end`. Returns how many of the living ones are
 * new, or SIZE_MAX if there is no memory. */
static size_t note_sessions(struct samples_source *source, size_t end)
{
    const bool has_ids = source->rows.columns.at[SAMPLE_SESSION] != SAMPLE_ABSENT;
    size_t added = 0;

    if (!has_ids)
        source->living_count = 0;
    for (size_t i = source->at; i < end; i++) {
        const uint32_t number = source->times.order[i];
        struct sample_row *row = &source->rows.rows[number];
        struct sample_session *session;

        if (row->session == UINT32_MAX) {
            source->sessions.frame.losses.partial++;
            continue;
        }
        session = &source->rows.sessions[row->session];
        row->next = session->frame == source->moment ? session->newest_row : UINT32_MAX;
        if (session->frame == UINT32_MAX || (!has_ids && session->frame != source->moment)) {
            if (!ARRAY_RESERVE(source->living, source->living_capacity, source->living_count + 1))
                return SIZE_MAX;
            source->living[source->living_count++] = row->session;
            added++;
        }
        session->newest_row = number;
        session->frame = source->moment;
    }
    return added;
}

/* Removes the sessions that had their last sample. */
static void remove_ended(struct samples_source *source)
{
    size_t kept = 0;

    for (size_t i = 0; i < source->living_count; i++) {
        const struct sample_session *session = &source->rows.sessions[source->living[i]];

        if (session->newest_row != session->last_row)
            source->living[kept++] = source->living[i];
    }
    source->living_count = kept;
}

int sample_frame_fill(struct samples_source *source, bool is_skipped)
{
    const bool has_ids = source->rows.columns.at[SAMPLE_SESSION] != SAMPLE_ABSENT;
    const size_t end = sample_moment_end(&source->times, &source->rows, source->at);
    const struct moment moment = moment_of(source, end);
    const size_t added = note_sessions(source, end);
    int r = added == SIZE_MAX ? CAMP_E_NOMEM : CAMP_OK;

    for (size_t i = 0; r == CAMP_OK && !is_skipped && i < source->living_count; i++) {
        const struct sample_session *session = &source->rows.sessions[source->living[i]];

        r = has_ids ? add_session(source, session, &moment, i + added >= source->living_count)
                    : add_texts(source, session, &moment);
    }
    if (has_ids)
        remove_ended(source);
    source->before = source->times.order[end - 1];
    source->moment++;
    source->at = end;
    return r;
}
