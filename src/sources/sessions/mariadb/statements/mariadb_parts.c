#include "mariadb_parts.h"

#include "ledger/array.h"
#include "sources/sessions/mariadb/mariadb_inside.h"
#include "sources/sessions/session_shares.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

void mariadb_parts_start(struct mariadb_parts *parts)
{
    parts->count = 0;
}

void mariadb_parts_release(struct mariadb_parts *parts)
{
    free(parts->parts);
    free(parts->times);
    *parts = (struct mariadb_parts){ 0 };
}

struct mariadb_part *mariadb_parts_get(struct mariadb_parts *parts,
                                       const struct mariadb_statements *statements, int64_t text)
{
    const int64_t statement = mariadb_statements_merged(statements, text);

    for (size_t i = 0; i < parts->count; i++) {
        if (parts->parts[i].statement == statement)
            return &parts->parts[i];
    }
    if (!ARRAY_RESERVE(parts->parts, parts->capacity, parts->count + 1))
        return NULL;
    parts->parts[parts->count] = (struct mariadb_part){ .statement = statement, .text = text };
    return &parts->parts[parts->count++];
}

static struct mariadb_part *get(struct mariadb_source *source, int64_t text)
{
    return mariadb_parts_get(&source->parts, &source->statements, text);
}

/* Reads the samples of the session: when each statement was found active, and when it ran. */
static int add_samples(struct mariadb_source *source, const struct mariadb_session *session)
{
    uint64_t seen_ns = 0;

    for (size_t i = 0; i < session->sample_count; i++)
        seen_ns += session->samples[i].ns;
    for (size_t i = 0; i < session->sample_count; i++) {
        const struct mariadb_sample *sample = &session->samples[i];
        struct mariadb_part *part = get(source, sample->statement);

        if (part == NULL)
            return CAMP_E_NOMEM;
        part->sample_count += share_of(session->times_seen, sample->ns, seen_ns);
        if (sample->statement == MARIADB_STATEMENT_NONE)
            continue;
        part->active_ns += sample->ns;
        if (strcmp(labels_value(sample->kind, KIND_CLASS), "running") == 0)
            part->running_ns += sample->ns;
    }
    return CAMP_OK;
}

static int add_times(struct mariadb_source *source)
{
    for (size_t i = 0; i < source->account.count; i++) {
        struct mariadb_part *part = get(source, source->account.statements[i]);

        if (part == NULL)
            return CAMP_E_NOMEM;
        part->asleep_ns += source->account.times[i].ns;
    }
    return CAMP_OK;
}

/* Members of a part, by their offsets. */
static uint64_t *member(struct mariadb_part *part, size_t offset)
{
    return (uint64_t *)(void *)((char *)part + offset);
}

static uint64_t sum_of(const struct mariadb_parts *parts, size_t offset)
{
    uint64_t sum = 0;

    for (size_t i = 0; i < parts->count; i++)
        sum += *member(&parts->parts[i], offset);
    return sum;
}

/* Adds `ns` to the member `to` of all parts in proportion to their member `by`. What rounding
 * leaves goes to the largest; without any, all goes to the statement `otherwise`. */
static int divide(struct mariadb_source *source, uint64_t ns, size_t to, size_t by,
                  int64_t otherwise)
{
    struct mariadb_parts *parts = &source->parts;
    const uint64_t whole = sum_of(parts, by);
    struct mariadb_part *largest = whole > 0 ? &parts->parts[0] : get(source, otherwise);
    uint64_t left_ns = ns;

    if (largest == NULL)
        return CAMP_E_NOMEM;
    for (size_t i = 0; i < parts->count && whole > 0; i++) {
        struct mariadb_part *part = &parts->parts[i];
        const uint64_t part_ns = share_of(ns, *member(part, by), whole);
        const uint64_t most_ns = part_ns < left_ns ? part_ns : left_ns;

        *member(part, to) += most_ns;
        left_ns -= most_ns;
        if (*member(part, by) > *member(largest, by))
            largest = part;
    }
    *member(largest, to) += left_ns;
    return CAMP_OK;
}

#define PART(name) offsetof(struct mariadb_part, name)

static int divide_row(struct mariadb_source *source, const struct session *row)
{
    const size_t reported_cpu = PART(reported_ns) + SESSION_CPU * sizeof(uint64_t);
    const uint64_t reported_ns = sum_of(&source->parts, reported_cpu);
    const size_t awake =
        sum_of(&source->parts, PART(running_ns)) > 0 ? PART(running_ns) : PART(active_ns);
    uint64_t sum_ns;
    int r = divide(source, row->cpu_ns, PART(cpu_ns), awake, MARIADB_STATEMENT_OTHER);

    if (r == CAMP_OK)
        r = divide(source, row->run_queue_ns, PART(run_queue_ns), awake, MARIADB_STATEMENT_OTHER);
    if (r == CAMP_OK)
        r = divide(source, row->throttled_ns, PART(throttled_ns), awake, MARIADB_STATEMENT_OTHER);
    if (r == CAMP_OK && row->reported_ns[SESSION_CPU] > reported_ns)
        r = divide(source, row->reported_ns[SESSION_CPU] - reported_ns, reported_cpu,
                   PART(active_ns), MARIADB_STATEMENT_NONE);
    sum_ns = row->cpu_ns + row->run_queue_ns + row->throttled_ns +
             sum_of(&source->parts, PART(asleep_ns));
    if (r == CAMP_OK && row->elapsed_ns > sum_ns)
        r = divide(source, row->elapsed_ns - sum_ns, PART(unaccounted_ns), PART(active_ns),
                   MARIADB_STATEMENT_NONE);
    return r;
}

static labels_id with_statement(labels_id labels, const char *statement)
{
    const char *values[MARIADB_LABELS + 1];

    for (size_t i = 0; i < MARIADB_LABELS + 1; i++)
        values[i] = i == MARIADB_LABEL_STATEMENT ? statement : labels_value(labels, i);
    return labels_intern(values, MARIADB_LABELS + 1);
}

labels_id mariadb_parts_labels(const struct mariadb_source *source, labels_id of_session,
                               int64_t text)
{
    char shown[LABELS_VALUE_SIZE];

    mariadb_statements_show(&source->statements, text, source->queries, shown);
    return with_statement(of_session, shown);
}

labels_id mariadb_parts_labels_of_digest(const struct mariadb_source *source,
                                         const struct statement_id *digest)
{
    char shown[LABELS_VALUE_SIZE];

    if (digest->high == 0 && digest->low == 0) /* DIGEST_WITHOUT_SPACE */
        mariadb_statements_show(&source->statements, MARIADB_STATEMENT_OTHER, false, shown);
    else
        mariadb_statements_show_digest(&source->statements, digest, source->queries, shown);
    return with_statement(LABELS_NONE, shown);
}

static uint64_t time_of(const struct mariadb_part *part)
{
    return part->cpu_ns + part->run_queue_ns + part->throttled_ns + part->asleep_ns +
           part->unaccounted_ns;
}

static int add_row(struct mariadb_source *source, const struct session *session,
                   const struct mariadb_part *part, bool is_first)
{
    struct session row = { .entity = session->entity,
                           .elapsed_ns = time_of(part),
                           .cpu_ns = part->cpu_ns,
                           .run_queue_ns = part->run_queue_ns,
                           .throttled_ns = part->throttled_ns,
                           .times = source->parts.times,
                           .sample_count = part->sample_count,
                           .start = session->start };

    for (size_t i = 0; i < source->account.count; i++) {
        const int64_t text = source->account.statements[i];

        if (mariadb_statements_merged(&source->statements, text) == part->statement)
            source->parts.times[row.time_count++] = source->account.times[i];
    }
    memcpy(row.reported_ns, part->reported_ns, sizeof row.reported_ns);
    row.entity.flags |= is_first ? 0 : ENTITY_PART;
    row.entity.labels = mariadb_parts_labels(source, session->entity.labels, part->text);
    return session_frame_add(&source->sessions_frame, &row);
}

int mariadb_parts_add_rows(struct mariadb_source *source, const struct mariadb_session *session,
                           const struct session *row)
{
    struct mariadb_parts *parts = &source->parts;
    bool is_first = true;
    int r = add_samples(source, session);

    if (r == CAMP_OK)
        r = add_times(source);
    if (r == CAMP_OK)
        r = divide_row(source, row);
    if (r == CAMP_OK && !ARRAY_RESERVE(parts->times, parts->time_capacity, source->account.count))
        r = CAMP_E_NOMEM;
    for (size_t i = 0; i < parts->count && r == CAMP_OK; i++) {
        const struct mariadb_part *part = &parts->parts[i];

        if (time_of(part) == 0)
            continue;
        r = add_row(source, row, part, is_first);
        is_first = false;
    }
    return r;
}
