#include "mariadb_counts.h"

#include "counters/clock.h"
#include "counters/units.h"
#include "ledger/words.h"
#include "sources/sessions/mariadb/mariadb_inside.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* longest wait for an answer at the end of an interval */
#define ANSWER_NS ((uint64_t)NS_PER_S)

void mariadb_counts_open(struct mariadb_source *source)
{
    struct mariadb_counts *counts = &source->counts;
    struct mariadb_answer *rows;
    struct camp_error error = { 0 };
    int r;

    if (!source->by_statement)
        return;
    r = mariadb_client_ask(source->client, &digest_facts_statement, UINT64_MAX, &rows, &error);
    if (r == CAMP_OK)
        digest_facts_read(&counts->facts, rows);
    counts->is_available = digest_facts_why_not(&counts->facts) == NULL;
    source->statements.has_digests = counts->is_available;
    if (r != CAMP_OK && r != CAMP_E_PERM)
        snprintf(counts->note, sizeof counts->note, "%s", error.message);
}

void mariadb_counts_describe(const struct mariadb_source *source, char *note, size_t size)
{
    const struct mariadb_counts *counts = &source->counts;
    const size_t length = strlen(note);

    if (source->by_statement && !counts->is_available)
        snprintf(note + length, size - length,
                 "%sStatements are known by their texts without literals, and have no counts of "
                 "the server: %s",
                 length > 0 ? ". " : "",
                 counts->note[0] != '\0' ? counts->note : digest_facts_why_not(&counts->facts));
}

void mariadb_counts_release(struct mariadb_counts *counts)
{
    statement_counts_release(&counts->counts);
}

static int read_counts(struct mariadb_source *source, struct camp_error *error)
{
    struct mariadb_counts *counts = &source->counts;
    struct mariadb_answer *rows;
    bool is_too_large = false;
    int r = mariadb_client_ask(source->client, &digest_counts_statement,
                               now_ns(CLOCK_MONOTONIC) + ANSWER_NS, &rows, error);

    if (r == CAMP_OK)
        r = digest_counts_read(&counts->counts, &source->statements, &is_too_large, rows, error);
    if (r == CAMP_OK && is_too_large) {
        snprintf(error->message, sizeof error->message,
                 "events_statements_summary_by_digest has more than %zu entries: lower "
                 "performance_schema_digests_size",
                 DIGEST_ENTRIES_MOST);
        return CAMP_E_NOTSUP;
    }
    return r == CAMP_OK ? statement_counts_finish(&counts->counts) : r;
}

/* Returns the growth of calls whose digests had no space, or NULL if there were none. */
static const struct statement_growth *without_space(const struct statement_counts *counts)
{
    return counts->growth_count > 0 && counts->growth[0].statement.high == 0 &&
                   counts->growth[0].statement.low == 0 && counts->growth[0].calls > 0
               ? &counts->growth[0]
               : NULL;
}

static void write_note(struct mariadb_counts *counts, bool is_first)
{
    const struct statement_growth *unknown = without_space(&counts->counts);
    const uint64_t lost = counts->counts.lost;

    counts->note[0] = '\0';
    if (is_first)
        snprintf(counts->note, sizeof counts->note,
                 "the server's counts of statements start at the end of this interval");
    else if (lost > 0)
        snprintf(counts->note, sizeof counts->note,
                 "%" PRIu64 " entr%s of events_statements_summary_by_digest %s reset or dropped: "
                 "what %s counted before that is missing",
                 lost, noun_of((size_t)lost, "y", "ies"), noun_of((size_t)lost, "was", "were"),
                 noun_of((size_t)lost, "it", "they"));
    else if (unknown != NULL)
        snprintf(counts->note, sizeof counts->note,
                 "%" PRIu64 " call%s %s counted without a digest, because "
                 "events_statements_summary_by_digest is full: raise "
                 "performance_schema_digests_size",
                 unknown->calls, noun_of((size_t)unknown->calls, "", "s"),
                 noun_of((size_t)unknown->calls, "was", "were"));
    else if (counts->counts.other_count > 0)
        snprintf(counts->note, sizeof counts->note,
                 "the %zu statements with the least execution time share a row, (other)",
                 counts->counts.other_count);
}

int mariadb_counts_read(struct mariadb_source *source)
{
    struct mariadb_counts *counts = &source->counts;
    const bool is_first = !counts->counts.has_before;
    struct camp_error error = { 0 };
    int r;

    if (!counts->is_available)
        return CAMP_OK;
    statement_counts_start(&counts->counts);
    r = read_counts(source, &error);
    if (r == CAMP_E_NOMEM)
        return r;
    if (r == CAMP_OK)
        write_note(counts, is_first);
    else if (source->stop == NULL || !*source->stop)
        snprintf(counts->note, sizeof counts->note,
                 "the server's counts of statements are missing, and are in those of the next "
                 "interval: %s",
                 error.message[0] != '\0' ? error.message : "it has not answered in time");
    if (r != CAMP_OK)
        statement_counts_start(&counts->counts);
    return CAMP_OK;
}

int mariadb_counts_add_rows(struct mariadb_source *source)
{
    const struct statement_counts *counts = &source->counts.counts;
    int r = CAMP_OK;

    for (size_t i = 0; i < counts->growth_count && source->has_parts && r == CAMP_OK; i++) {
        const struct statement_growth *growth = &counts->growth[i];
        const struct mariadb_digest *digest =
            mariadb_statements_find_digest(&source->statements, &growth->statement);
        struct session row = { .entity = { .flags = ENTITY_PART }, .growth = growth };

        if (digest != NULL && digest->is_own)
            continue;
        snprintf(row.entity.name, sizeof row.entity.name, "statement %016" PRIx64 "%016" PRIx64,
                 growth->statement.high, growth->statement.low);
        row.entity.labels = mariadb_parts_labels_of_digest(source, &growth->statement);
        r = session_frame_add(&source->sessions_frame, &row);
    }
    if (r == CAMP_OK && source->has_parts && counts->other_count > 0) {
        struct session others = { .entity = { .flags = ENTITY_PART, .name = "other statements" },
                                  .growth = &counts->others };

        others.entity.labels = mariadb_parts_labels_of_digest(source, &counts->others.statement);
        r = session_frame_add(&source->sessions_frame, &others);
    }
    return r;
}
