#include "session_events.h"

#include "ledger/array.h"

#include <stdio.h>
#include <string.h>

/* The event of one of session->times or, after these, of session->lengths, and whether its row was
 * added. */
struct event_part {
    char name[LABELS_VALUE_SIZE];
    bool is_added;
};

static bool is_none(const char *text)
{
    return text[0] == '\0' || strcmp(text, "none") == 0;
}

/* Writes "" for time on a CPU, and for a sleep that the database has no name for. */
static void name_event(struct session_frame *sessions, const struct session_kind *kind,
                       char ret[LABELS_VALUE_SIZE])
{
    const char *class = kind->texts[SESSION_CLASS], *event = kind->texts[SESSION_EVENT];
    const bool has_class = !is_none(class), has_event = !is_none(event);

    ret[0] = '\0';
    if (session_frame_state(sessions, kind) != SESSION_CPU)
        snprintf(ret, LABELS_VALUE_SIZE, "%s%s%s", has_class ? class : "",
                 has_class && has_event ? "/" : "", has_event ? event : "");
}

/* Returns whether a part is of an event, whose row is added now. */
static bool take(struct event_part *part, const char *name)
{
    const bool is_of = strcmp(part->name, name) == 0;

    part->is_added |= is_of;
    return is_of;
}

/* Copies the measured parts of session->times[time], which is the time `as` of the row. */
static void collect_measured(struct session_frame *sessions, const struct session *session,
                             size_t time, size_t as, struct session *row)
{
    for (size_t i = 0; i < session->measured_count; i++) {
        if (session->measured[i].time == time)
            sessions->event_measured[row->measured_count++] =
                (struct measured_block){ as, session->measured[i].block };
    }
}

/* Copies the times and lengths of an event. Sets *ret_ns to the sum of the times. */
static void collect(struct session_frame *sessions, const struct session *session, const char *name,
                    struct session *row, uint64_t *ret_ns)
{
    struct event_part *parts = sessions->event_parts;

    row->times = sessions->event_times;
    row->lengths = sessions->event_lengths;
    row->measured = sessions->event_measured;
    row->time_count = row->lengths_count = row->measured_count = 0;
    *ret_ns = 0;
    for (size_t i = 0; i < session->time_count; i++) {
        if (!take(&parts[i], name))
            continue;
        collect_measured(sessions, session, i, row->time_count, row);
        sessions->event_times[row->time_count++] = session->times[i];
        *ret_ns += session->times[i].ns;
    }
    for (size_t i = 0; i < session->lengths_count; i++) {
        if (take(&parts[session->time_count + i], name))
            sessions->event_lengths[row->lengths_count++] = session->lengths[i];
    }
}

/* Adds a row of one event. The first row of a session has ENTITY_PART only if the session does, and
 * has what is not divided: samples and reported times. */
static int add_event(struct session_frame *sessions, const struct session *session,
                     const char *name, bool is_first)
{
    struct session row = { .entity = session->entity,
                           .start = session->start,
                           .waits_for_lock = session->waits_for_lock };

    if (is_first) {
        row = *session;
        row.cpu_ns = row.run_queue_ns = row.throttled_ns = 0;
    }
    collect(sessions, session, name, &row, &row.elapsed_ns);
    row.entity.flags |= is_first ? 0 : ENTITY_PART;
    row.entity.labels = labels_replace(row.entity.labels, sessions->schema.label_count,
                                       sessions->event_label, &name, 1);
    return session_frame_add_blocked(sessions, &row);
}

/* Adds the row of all time without an event, `event_ns` less than all. */
static int add_rest(struct session_frame *sessions, const struct session *session,
                    uint64_t event_ns)
{
    struct session row = *session;
    uint64_t asleep_ns;

    collect(sessions, session, "", &row, &asleep_ns);
    row.elapsed_ns -= event_ns < row.elapsed_ns ? event_ns : row.elapsed_ns;
    return session_frame_add_blocked(sessions, &row);
}

int session_events_add_rows(struct session_frame *sessions, const struct session *session)
{
    const size_t count = session->time_count + session->lengths_count;
    uint64_t event_ns = 0;
    uint64_t other_ns = session->cpu_ns + session->run_queue_ns + session->throttled_ns;
    bool is_first;
    int r = CAMP_OK;

    if (!ARRAYS_RESERVE(sessions->event_capacity, count, ARRAY(sessions->event_parts),
                        ARRAY(sessions->event_times), ARRAY(sessions->event_lengths)) ||
        !ARRAY_RESERVE(sessions->event_measured, sessions->event_measured_capacity,
                       session->measured_count))
        return CAMP_E_NOMEM;
    for (size_t i = 0; i < count; i++) {
        const size_t length = i - session->time_count;
        struct event_part *part = &sessions->event_parts[i];

        part->is_added = false;
        name_event(sessions,
                   i < session->time_count ? &session->times[i].kind
                                           : &session->lengths[length].kind,
                   part->name);
        if (i < session->time_count)
            *(part->name[0] != '\0' ? &event_ns : &other_ns) += session->times[i].ns;
    }
    is_first = event_ns > 0 && event_ns >= session->elapsed_ns && other_ns == 0;
    if (!is_first)
        r = add_rest(sessions, session, event_ns);
    for (size_t i = 0; i < count && r == CAMP_OK; i++) {
        const struct event_part *part = &sessions->event_parts[i];

        if (part->is_added || part->name[0] == '\0' ||
            (i < session->time_count && session->times[i].ns == 0))
            continue;
        r = add_event(sessions, session, part->name, is_first);
        is_first = false;
    }
    return r;
}

enum session_division session_division_of(const char *label)
{
    static const struct {
        const char *label;
        enum session_division division;
    } divisions[] = {
        { SOURCE_LABEL_STATEMENT, SESSION_BY_STATEMENT },
        { SOURCE_LABEL_BLOCKER, SESSION_BY_BLOCKER },
        { SOURCE_LABEL_ROOT_BLOCKER, SESSION_BY_BLOCKER }, /* Rows by blocker have one root each. */
        { SOURCE_LABEL_WAIT_EVENT, SESSION_BY_EVENT },
        { SOURCE_DIVISION_WAITS, SESSION_BY_EVENT_AND_BLOCKER },
        { SOURCE_DIVISION_BESIDE, SESSION_EVENTS_BESIDE },
    };

    for (size_t i = 0; label != NULL && i < ARRAY_COUNT(divisions); i++) {
        if (strcmp(divisions[i].label, label) == 0)
            return divisions[i].division;
    }
    return SESSION_UNDIVIDED;
}
