/* Parser: src/sources/sessions/mariadb/mariadb_answer.c */
/* Parser: src/sources/sessions/mariadb/mariadb_sessions.c */
/* Parser: src/sources/sessions/mariadb/mariadb_waits.c */
/* Parser: src/sources/sessions/mariadb/mariadb_blockers.c */
/* Parser: src/sources/sessions/mariadb/statements/mariadb_statements.c */
/* Parser: src/sources/sessions/mariadb/statements/mariadb_row_waits.c */
/* Parser: src/sources/sessions/mariadb/statements/digest_counts.c */
/* Reads any bytes as the rows of two answers of MariaDB with its sessions, of two with their waits,
 * of two with blockers, of two with digests of statements, and of two with their counts, and
 * accounts them as the source does. Each field is a text that
 * ends with a NUL; NONE is a field without a value. */
#include "sources/sessions/mariadb/mariadb_blockers.h"
#include "sources/sessions/mariadb/mariadb_waits.h"
#include "sources/sessions/mariadb/statements/digest_counts.h"
#include "sources/sessions/mariadb/statements/mariadb_row_waits.h"

#include "counters/units.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define NONE '\xff'
#define ROWS_MOST 64
#define BEGIN_NS (1000 * (uint64_t)NS_PER_S)
#define STEP_NS (uint64_t) NS_PER_S

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char *next_field(const char **at, const char *end)
{
    const char *field = *at;

    if (field >= end)
        return NULL;
    *at += strlen(field) + 1;
    return field[0] == NONE ? NULL : field;
}

static void fill_answer(struct mariadb_answer *answer, const struct mariadb_statement *statement,
                        const char **at, const char *end)
{
    const char *fields[MARIADB_COLUMNS_MOST];
    size_t rows = *at < end ? (unsigned char)*(*at)++ % ROWS_MOST : 0;

    mariadb_answer_begin(answer, statement);
    for (; rows > 0 && *at < end; rows--) {
        for (size_t i = 0; i < statement->columns; i++)
            fields[i] = next_field(at, end);
        if (mariadb_answer_add(answer, statement, fields, NULL) != CAMP_OK)
            abort();
    }
}

static void check_sessions(const struct mariadb_sessions *sessions)
{
    for (size_t i = 0; i < sessions->count; i++) {
        const struct mariadb_session *session = &sessions->sessions[i];

        if (session->sample_count > 2 * MARIADB_SAMPLES_BY_STATEMENT ||
            memchr(session->name, '\0', sizeof session->name) == NULL ||
            (i > 0 && sessions->sessions[i - 1].id >= session->id))
            abort();
    }
}

static void check_waits(const struct mariadb_waits *waits)
{
    for (size_t i = 0; i < waits->count; i++) {
        size_t count;
        const struct mariadb_wait *first = mariadb_waits_of(waits, waits->now[i].id, &count);

        if (count == 0 || first < waits->now || first + count > waits->now + waits->count)
            abort();
        mariadb_wait_since(waits, &waits->now[i]);
    }
}

static void check_blockers(struct blocker_samples *blockers,
                           const struct mariadb_sessions *sessions)
{
    struct blocks blocks = { 0 };

    for (size_t i = 0; i < sessions->count; i++) {
        const int64_t id = sessions->sessions[i].id;

        if (blocker_samples_divide(blockers, id, 0, STEP_NS, &blocks) != CAMP_OK ||
            blocks.known_ns > STEP_NS)
            abort();
        for (size_t j = 0; j < blocks.count; j++) {
            if (blocks.blocks[j].blocker < 0 || blocks.blocks[j].blocker == id)
                abort();
        }
    }
    free(blocks.blocks);
}

static uint64_t sum_of(const struct mariadb_session *session)
{
    uint64_t sum = 0;

    for (size_t i = 0; i < session->sample_count; i++)
        sum += session->samples[i].ns;
    return sum;
}

static void check_statements(struct mariadb_statements *statements,
                             const struct mariadb_sessions *sessions)
{
    for (size_t i = 0; i < sessions->count; i++) {
        struct mariadb_session *session = &sessions->sessions[i];
        const uint64_t sum = sum_of(session);
        char shown[LABELS_VALUE_SIZE];

        if (mariadb_row_wait_resolve(session, statements) != CAMP_OK || sum_of(session) != sum)
            abort();
        mariadb_statements_show(statements, session->last.statement, true, shown);
        mariadb_statements_merged(statements, session->last.statement);
    }
}

static void count(struct statement_counts *counts, struct mariadb_statements *statements,
                  struct mariadb_answer *answer)
{
    bool is_too_large;

    statement_counts_start(counts);
    if (digest_counts_read(counts, statements, &is_too_large, answer, NULL) == CAMP_OK &&
        statement_counts_finish(counts) != CAMP_OK)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct mariadb_statements statements = { .has_digests = true };
    struct statement_counts counts = { 0 };
    struct blocker_samples blockers = { .longest_ns = STEP_NS };
    const struct mariadb_statement *statement =
        mariadb_sessions_statement(true, MARIADB_TEXTS_TO_DIVIDE);
    char *bytes = malloc(size + 1);
    struct mariadb_sessions sessions = { 0 };
    struct mariadb_answer answer = { 0 };
    struct mariadb_waits waits = { 0 };
    const char *at = bytes;

    if (bytes == NULL)
        abort();
    if (size > 0)
        memcpy(bytes, data, size);
    bytes[size] = '\0';
    for (unsigned i = 1; i <= 2; i++) {
        fill_answer(&answer, statement, &at, bytes + size);
        if (mariadb_sessions_sample(&sessions, &answer, BEGIN_NS + i * STEP_NS, true, NULL,
                                    &statements) != CAMP_OK)
            abort();
        check_sessions(&sessions);
        fill_answer(&answer, &mariadb_waits_statement, &at, bytes + size);
        if (mariadb_waits_read(&waits, &answer, i, STEP_NS, &sessions) != CAMP_OK)
            abort();
        mariadb_waits_resolve(&waits, STEP_NS);
        check_waits(&waits);
        fill_answer(&answer, &mariadb_lock_waits_statement, &at, bytes + size);
        if (mariadb_blockers_add(&blockers, BEGIN_NS + i * STEP_NS, &sessions, &answer) != CAMP_OK)
            abort();
        check_blockers(&blockers, &sessions);
        fill_answer(&answer, &mariadb_digests_statement, &at, bytes + size);
        if (mariadb_statements_learn(&statements, &answer) != CAMP_OK)
            abort();
        check_statements(&statements, &sessions);
        fill_answer(&answer, &digest_counts_statement, &at, bytes + size);
        count(&counts, &statements, &answer);
    }
    mariadb_sessions_start_interval(&sessions);
    check_sessions(&sessions);
    blocker_samples_release(&blockers);
    mariadb_waits_release(&waits);
    mariadb_statements_release(&statements);
    statement_counts_release(&counts);
    mariadb_sessions_release(&sessions);
    mariadb_answer_release(&answer);
    free(bytes);
    return 0;
}
