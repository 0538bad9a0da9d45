/* Rows of a session and a statement: the parts of a session's interval, which add up to it. */
#include "ledger/array.h"
#include "sources/sessions/postgres/postgres_inside.h"
#include "sources/sessions/session_shares.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

void postgres_parts_start(struct postgres_parts *parts)
{
    parts->count = 0;
}

void postgres_parts_release(struct postgres_parts *parts)
{
    free(parts->parts);
    free(parts->times);
    *parts = (struct postgres_parts){ 0 };
}

struct postgres_part *postgres_parts_get(struct postgres_parts *parts, int64_t statement)
{
    for (size_t i = 0; i < parts->count; i++) {
        if (parts->parts[i].statement == statement)
            return &parts->parts[i];
    }
    if (!ARRAY_RESERVE(parts->parts, parts->capacity, parts->count + 1))
        return NULL;
    parts->parts[parts->count] = (struct postgres_part){ .statement = statement };
    return &parts->parts[parts->count++];
}

uint64_t *postgres_part_awake(struct postgres_part *part, const struct backend_part *of)
{
    return of->event == BACKEND_EVENT_CPU         ? &part->cpu_ns
           : of->event == BACKEND_EVENT_RUN_QUEUE ? &part->run_queue_ns
                                                  : &part->throttled_ns;
}

int postgres_parts_divide(struct postgres_parts *parts, const struct session *session)
{
    struct postgres_part *largest = postgres_parts_get(parts, 0);
    uint64_t whole_ns = 0, cpu_ns = session->cpu_ns, run_queue_ns = session->run_queue_ns;

    if (largest == NULL)
        return CAMP_E_NOMEM;
    for (size_t i = 0; i < parts->count; i++)
        whole_ns += parts->parts[i].awake_ns;
    for (size_t i = 0; i < parts->count && whole_ns > 0; i++) {
        struct postgres_part *part = &parts->parts[i];

        part->cpu_ns = share_of(session->cpu_ns, part->awake_ns, whole_ns);
        part->run_queue_ns = share_of(session->run_queue_ns, part->awake_ns, whole_ns);
        cpu_ns -= part->cpu_ns < cpu_ns ? part->cpu_ns : cpu_ns;
        run_queue_ns -= part->run_queue_ns < run_queue_ns ? part->run_queue_ns : run_queue_ns;
        if (part->awake_ns > largest->awake_ns)
            largest = part;
    }
    largest->cpu_ns += cpu_ns; /* what rounding left, or all without such samples */
    largest->run_queue_ns += run_queue_ns;
    return CAMP_OK;
}

static uint64_t time_of(const struct postgres_part *part)
{
    return part->cpu_ns + part->run_queue_ns + part->throttled_ns + part->asleep_ns;
}

/* Sets asleep_ns of each part. Returns the time of all parts, or UINT64_MAX without memory. */
static uint64_t add_times(struct postgres_source *source, const struct session *session)
{
    struct postgres_parts *parts = &source->parts;
    uint64_t sum_ns = 0;

    for (size_t i = 0; i < session->time_count; i++) {
        struct postgres_part *part = postgres_parts_get(parts, source->statements[i]);

        if (part == NULL)
            return UINT64_MAX;
        part->asleep_ns += session->times[i].ns;
    }
    for (size_t i = 0; i < session->lengths_count; i++) {
        struct postgres_part *part = postgres_parts_get(parts, source->lengths.statements[i]);

        if (part == NULL)
            return UINT64_MAX;
        part->has_lengths = true;
    }
    for (size_t i = 0; i < parts->count; i++)
        sum_ns += time_of(&parts->parts[i]);
    return sum_ns;
}

labels_id postgres_parts_labels(struct postgres_source *source, labels_id of_session,
                                int64_t statement)
{
    const char *text = source->queries ? postgres_statements_text(&source->texts, statement) : NULL;
    char number[24] = "";

    if (statement == POSTGRES_OTHER)
        snprintf(number, sizeof number, "(other)");
    else if (statement != 0)
        snprintf(number, sizeof number, "%" PRId64, statement);
    source->misses_texts |= source->queries && text == NULL && statement != 0 &&
                            statement != POSTGRES_OTHER &&
                            source->texts.count < POSTGRES_STATEMENTS_MOST;
    text = text != NULL ? text : number;
    return labels_replace(of_session, POSTGRES_LABELS, POSTGRES_LABEL_STATEMENT, &text, 1);
}

static int add_row(struct postgres_source *source, const struct session *session,
                   const struct postgres_part *part, bool is_first, uint64_t unaccounted_ns)
{
    struct session row = { .entity = session->entity,
                           .elapsed_ns = time_of(part) + unaccounted_ns,
                           .cpu_ns = part->cpu_ns,
                           .run_queue_ns = part->run_queue_ns,
                           .throttled_ns = part->throttled_ns,
                           .times = source->parts.times,
                           .sampled_ns = part->sampled_ns,
                           .sample_count = part->sample_count,
                           .start = session->start };

    for (size_t i = 0; i < session->time_count; i++) {
        if (source->statements[i] == part->statement)
            source->parts.times[row.time_count++] = session->times[i];
    }
    for (int i = 0; i < SESSION_STATE_COUNT; i++)
        row.reported_ns[i] = part->reported_ns[i];
    postgres_lengths_of_statement(source, session, part->statement, &row);
    row.entity.flags |= is_first ? 0 : ENTITY_PART;
    row.entity.labels = postgres_parts_labels(source, session->entity.labels, part->statement);
    return session_frame_add(&source->sessions, &row);
}

int postgres_parts_add_rows(struct postgres_source *source, const struct session *session)
{
    struct postgres_parts *parts = &source->parts;
    const struct postgres_part *none = postgres_parts_get(parts, 0);
    const uint64_t sum_ns = none != NULL ? add_times(source, session) : UINT64_MAX;
    const uint64_t left_ns = session->elapsed_ns > sum_ns ? session->elapsed_ns - sum_ns : 0;
    bool is_first = true;
    int r = CAMP_OK;

    if (sum_ns == UINT64_MAX ||
        !ARRAY_RESERVE(parts->times, parts->time_capacity, session->time_count))
        return CAMP_E_NOMEM;
    for (size_t i = 0; i < parts->count && r == CAMP_OK; i++) {
        const struct postgres_part *part = &parts->parts[i];
        const uint64_t unaccounted_ns = part->statement == 0 ? left_ns : 0;

        if (!part->has_lengths && time_of(part) + unaccounted_ns == 0)
            continue;
        r = add_row(source, session, part, is_first, unaccounted_ns);
        is_first = false;
    }
    return r;
}
