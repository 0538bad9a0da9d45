/* The server's own counts of statements, by pg_stat_statements: asked at the end of an interval, as
 * rows without time. */
#include "postgres_counts.h"

#include "counters/clock.h"
#include "counters/error.h"
#include "ledger/array.h"
#include "ledger/words.h"
#include "sources/sessions/postgres/postgres_inside.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* longest wait for an answer at the end of an interval */
#define ANSWER_NS ((uint64_t)NS_PER_S)
#define ID_SIZE 21 /* a number with its sign, and a comma */

static int ask(struct postgres_source *source, const struct postgres_query *query,
               struct postgres_answer **ret, uint64_t *ret_connection, struct camp_error *error)
{
    return postgres_client_query(source->sampler.client, query,
                                 source_clock_ns(CLOCK_MONOTONIC) + ANSWER_NS, ret, ret_connection,
                                 error);
}

static bool is_own(const struct postgres_counts *counts, int64_t id)
{
    for (size_t i = 0; i < ARRAY_COUNT(counts->own); i++) {
        if (counts->own[i] == id)
            return true;
    }
    return false;
}

void postgres_counts_add_own(struct postgres_counts *counts, int64_t id)
{
    if (id != 0 && !is_own(counts, id))
        counts->own[counts->own_count++ % ARRAY_COUNT(counts->own)] = id;
}

/* Looks for the extension again on each connection: it may have been dropped or updated. */
static int find_extension(struct postgres_source *source, struct camp_error *error)
{
    struct postgres_counts *counts = &source->counts;
    struct postgres_answer *answer;
    int r = ask(source, &extension_query, &answer, &counts->connection, error);

    if (r == CAMP_OK)
        r = extension_read(&counts->extension, answer, error);
    if (r == CAMP_OK)
        postgres_counts_add_own(counts, counts->extension.own_query_id);
    return r;
}

/* Writes the ids of statements without a normalised text as an array of SQL. After the first
 * reading these are all, later those that have grown. Returns NULL if there are none, or no memory.
 */
static char *list_unknown(const struct postgres_source *source, bool is_first)
{
    const struct statement_counts *counts = &source->counts.counts;
    const size_t count = is_first ? counts->before_count : counts->growth_count;
    char *list = count > 0 ? malloc(count * ID_SIZE + 3) : NULL;
    size_t length = 0;

    for (size_t i = 0; list != NULL && i < count; i++) {
        const struct statement_id *statement =
            is_first ? &counts->before[i].statement : &counts->growth[i].statement;
        const int64_t id = (int64_t)statement->low;

        if (!postgres_statements_has_normalised(&source->texts, id))
            length += (size_t)snprintf(list + length, ID_SIZE + 3, "%c%" PRId64,
                                       length == 0 ? '{' : ',', id);
    }
    if (length > 0)
        strcpy(list + length, "}");
    else
        free(list);
    return length > 0 ? list : NULL;
}

static int ask_texts(struct postgres_source *source, bool is_first, struct camp_error *error)
{
    char *ids = list_unknown(source, is_first), text[EXTENSION_QUERY_SIZE];
    struct postgres_query query;
    struct postgres_answer *answer;
    uint64_t connection;
    bool has_row = true;
    int r;

    if (ids == NULL)
        return CAMP_OK;
    query = extension_texts_query(&source->counts.extension, ids, text);
    r = ask(source, &query, &answer, &connection, error);
    while (r == CAMP_OK && has_row) {
        struct extension_text of = { 0 };

        r = extension_texts_next(answer, &of, &has_row, error);
        if (r != CAMP_OK || !has_row)
            break;
        postgres_counts_add_own(&source->counts, of.own_query_id);
        r = postgres_statements_add_normalised(&source->texts, of.id, of.sql);
    }
    free(ids);
    return r;
}

static int read_counts(struct postgres_source *source, struct camp_error *error)
{
    struct postgres_counts *counts = &source->counts;
    char text[EXTENSION_QUERY_SIZE];
    struct postgres_query query;
    struct postgres_answer *answer;
    uint64_t connection;
    int r = CAMP_OK;

    /* postgres.c then finds the id of the last snapshot's statement in the server's memory. */
    if (source->tier <= POSTGRES_MEMORY && source->sampler.connection != source->connection)
        return camp_fail(error, CAMP_E_GONE, 0, "the connection is new");
    if (source->sampler.connection != counts->connection)
        r = find_extension(source, error);
    if (r != CAMP_OK)
        return r;
    if (extension_why_not(&counts->extension) != NULL)
        return camp_fail(error, CAMP_E_NOTSUP, 0, "%s", extension_why_not(&counts->extension));
    query = extension_counts_query(&counts->extension, text);
    r = ask(source, &query, &answer, &connection, error);
    if (r == CAMP_OK)
        r = extension_counts_read(&counts->counts, &counts->reading, answer, error);
    if (r == CAMP_OK && counts->reading.is_too_large)
        return camp_fail(error, CAMP_E_NOTSUP, 0,
                         "pg_stat_statements has more than %zu entries: lower its max",
                         EXTENSION_ENTRIES_MOST - 1);
    if (r == CAMP_OK)
        r = statement_counts_finish(&counts->counts);
    if (r == CAMP_OK)
        postgres_counts_add_own(counts, counts->reading.own_query_id);
    return r;
}

void postgres_counts_read(struct postgres_source *source)
{
    struct postgres_counts *counts = &source->counts;
    const bool is_first = !counts->counts.has_before;
    struct camp_error error = { 0 };
    int r;

    if (!counts->is_available)
        return;
    counts->note[0] = '\0';
    statement_counts_start(&counts->counts);
    r = read_counts(source, &error);
    if (r == CAMP_OK && source->queries)
        r = ask_texts(source, is_first, &error);
    if (r == REMOTE_PENDING)
        snprintf(error.message, sizeof error.message, "pg_stat_statements has not answered");
    if (r != CAMP_OK)
        snprintf(counts->note, sizeof counts->note,
                 "the server's counts of statements are missing, and are in those of the next "
                 "interval: %s",
                 error.message);
    else if (is_first)
        snprintf(counts->note, sizeof counts->note,
                 "the server's counts of statements start at the end of this interval");
    else if (counts->counts.lost > 0)
        snprintf(counts->note, sizeof counts->note,
                 "pg_stat_statements has reset or dropped %" PRIu64 " entr%s: what %s counted "
                 "before that is missing; see reset, and pg_stat_statements.max",
                 counts->counts.lost, noun_of((size_t)counts->counts.lost, "y", "ies"),
                 noun_of((size_t)counts->counts.lost, "it", "they"));
    else if (counts->reading.hidden > 0)
        snprintf(counts->note, sizeof counts->note,
                 "%zu entr%s of pg_stat_statements %s hidden from this role: grant pg_monitor to "
                 "it",
                 counts->reading.hidden, noun_of(counts->reading.hidden, "y", "ies"),
                 noun_of(counts->reading.hidden, "is", "are"));
    else if (counts->counts.other_count > 0)
        snprintf(counts->note, sizeof counts->note,
                 "the %zu statements with the least execution time share a row, (other)",
                 counts->counts.other_count);
    /* The cost of a question at the end of an interval is no cost of a sample. */
    if (source->registry.is_local && source->sampler.snapshot != NULL)
        camp_pid_cpu_ns(source->sampler.snapshot->own_pid, &source->sampler.backend_ns);
}

void postgres_counts_open(struct postgres_source *source)
{
    struct postgres_counts *counts = &source->counts;
    struct camp_error error = { 0 };
    const char *why = error.message;

    if (!source->by_statement)
        return;
    if (find_extension(source, &error) == CAMP_OK)
        why = extension_why_not(&counts->extension);
    counts->is_available = why == NULL;
    if (why != NULL)
        snprintf(counts->note, sizeof counts->note, "%s", why);
}

void postgres_counts_describe(struct postgres_source *source, char *note, size_t size)
{
    const size_t length = strlen(note);

    if (source->by_statement && !source->counts.is_available)
        snprintf(note + length, size - length, "%sNo counts of statements by the server: %s",
                 length > 0 ? ". " : "", source->counts.note);
    source->counts.note[0] = '\0';
}

int postgres_counts_add_rows(struct postgres_source *source)
{
    const struct statement_counts *counts = &source->counts.counts;
    int r = CAMP_OK;

    for (size_t i = 0; i < counts->growth_count && source->has_parts && r == CAMP_OK; i++) {
        const struct statement_growth *growth = &counts->growth[i];
        const int64_t id = (int64_t)growth->statement.low;
        struct session row = { .entity = { .flags = ENTITY_PART }, .growth = growth };

        if (is_own(&source->counts, id))
            continue;
        snprintf(row.entity.name, sizeof row.entity.name, "statement %" PRId64, id);
        row.entity.labels = postgres_parts_labels(source, LABELS_NONE, id);
        r = session_frame_add(&source->sessions, &row);
    }
    if (r == CAMP_OK && source->has_parts && counts->other_count > 0) {
        struct session others = { .entity = { .flags = ENTITY_PART, .name = "other statements" },
                                  .growth = &counts->others };

        others.entity.labels = postgres_parts_labels(source, LABELS_NONE, POSTGRES_OTHER);
        r = session_frame_add(&source->sessions, &others);
    }
    return r;
}

void postgres_counts_release(struct postgres_counts *counts)
{
    statement_counts_release(&counts->counts);
}
