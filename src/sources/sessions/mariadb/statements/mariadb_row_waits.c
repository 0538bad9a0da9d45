#include "mariadb_row_waits.h"

#include "counters/units.h"
#include "ledger/array.h"

#include <string.h>

/* How much counted time of a statement is needed to estimate the part that waits for rows. */
#define COUNTED_NS (10 * (uint64_t)NS_PER_S)

static bool is(const char *text, const char *wanted)
{
    return text != NULL && strcmp(text, wanted) == 0;
}

bool mariadb_row_wait_is_possible(const char *class, const char *state)
{
    return (is(class, "futex") || is(class, "asleep") || is(class, "none")) &&
           !is(state, "User sleep") && !is(state, "User lock") &&
           (state == NULL || strncasecmp(state, "waiting", 7) != 0);
}

/* Between two samples with transactions, a statement that has lasted since the first of them keeps
 * what that sample found. */
void mariadb_row_wait_find(struct mariadb_session *session, uint64_t now_ns, bool is_idle,
                           bool transactions, bool is_of_statement)
{
    if (is_idle || (transactions && session->transaction == MARIADB_NO_TRANSACTION))
        session->row_wait = MARIADB_ROW_FREE;
    else if (transactions && !is_of_statement)
        session->row_wait = MARIADB_ROW_UNKNOWN;
    else if (transactions)
        session->row_wait =
            session->transaction == MARIADB_WAITS_FOR_ROW ? MARIADB_ROW_LOCKED : MARIADB_ROW_FREE;
    else if (session->lasting_ns < now_ns - session->row_known_ns)
        session->row_wait = MARIADB_ROW_UNKNOWN;
    if (transactions)
        session->row_known_ns = now_ns;
}

/* Earlier time counts less, so that the share follows the load. */
void mariadb_row_wait_count(struct mariadb_statements *statements, int64_t statement, uint64_t ns,
                            bool is_locked)
{
    struct mariadb_text *text = mariadb_statements_find(statements, statement);

    if (text == NULL)
        return;
    if (text->known_ns > COUNTED_NS) {
        text->known_ns /= 2;
        text->locked_ns /= 2;
    }
    text->known_ns += ns;
    text->locked_ns += is_locked ? ns : 0;
}

static bool is_row_lock(const struct mariadb_sample *sample)
{
    return is(labels_value(sample->kind, KIND_EVENT), "row_lock");
}

/* Returns how much of the open sample `at` is a wait for the lock of a row. */
static uint64_t locked_part(const struct mariadb_session *session, size_t at,
                            const struct mariadb_statements *statements)
{
    const struct mariadb_sample *open = &session->samples[at];
    const struct mariadb_text *text = mariadb_statements_find(statements, open->statement);
    const char *class = labels_value(open->kind, KIND_CLASS);
    uint64_t known_ns = 0, locked_ns = 0;

    for (size_t i = 0; i < session->sample_count; i++) {
        const struct mariadb_sample *sample = &session->samples[i];

        if (sample->is_open || sample->statement != open->statement ||
            !is(labels_value(sample->kind, KIND_CLASS), class))
            continue;
        known_ns += sample->ns;
        locked_ns += is_row_lock(sample) ? sample->ns : 0;
    }
    if (known_ns == 0 && text != NULL) {
        known_ns = text->known_ns;
        locked_ns = text->locked_ns;
    }
    return known_ns > 0 ? (uint64_t)((double)open->ns * (double)locked_ns / (double)known_ns) : 0;
}

int mariadb_row_wait_resolve(struct mariadb_session *session,
                             const struct mariadb_statements *statements)
{
    const size_t count = session->sample_count;
    int r = CAMP_OK;

    if (count == 0)
        return CAMP_OK;
    if (!ARRAY_RESERVE(session->samples, session->sample_capacity, 2 * count))
        return CAMP_E_NOMEM;
    for (size_t i = 0; i < count && r == CAMP_OK; i++) {
        struct mariadb_sample *open = &session->samples[i];
        const uint64_t ns = open->is_open ? locked_part(session, i, statements) : 0;

        if (ns == 0 || ns > open->ns)
            continue;
        open->ns -= ns;
        session->samples[session->sample_count++] = (struct mariadb_sample){
            .kind = mariadb_kind(labels_value(open->kind, KIND_CLASS), "row_lock", "active"),
            .ns = ns,
            .statement = open->statement,
            .is_open = true, /* It divides no further one. */
        };
    }
    return r;
}
