/* Parser: src/sources/sessions/postgres/postgres_answer.c */
/* Parser: src/sources/sessions/postgres/postgres_snapshot.c */
/* Parser: src/sources/sessions/postgres/postgres_registry.c */
/* Parser: src/sources/sessions/sampled_times.c */
/* Parser: src/sources/sessions/blocker_samples.c */
/* Reads any bytes as the rows of two answers of PostgreSQL, and accounts the sessions as the source
 * does: rows, snapshot, registry, times, who blocks whom. Each field is a byte with its length and
 * its bytes; NONE is a field without a value, and FITTING a field of the length that its column
 * should have. */
#include "sources/sessions/blocker_samples.h"
#include "sources/sessions/postgres/postgres_registry.h"
#include "sources/sessions/sampled_times.h"

#include "counters/units.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define NONE 0xff
#define FITTING 0xfe
#define SAMPLES_MOST 64
#define BEGIN_NS (1000 * (uint64_t)NS_PER_S)
#define STEP_NS (uint64_t) NS_PER_S

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct bytes {
    const uint8_t *at, *end;
};

static size_t fitting_length(size_t column)
{
    static const uint8_t lengths[POSTGRES_COLUMNS_MOST] = { 4, 1,  8, 6, 4, 8, 14, 4, 1, 8,
                                                            8, 28, 4, 4, 3, 5, 8,  6, 8, 8 };

    return lengths[column];
}

static struct postgres_field next_field(struct bytes *bytes, size_t column)
{
    struct postgres_field field = { NULL, 0 };

    if (bytes->at == bytes->end || *bytes->at++ == NONE)
        return field;
    field.length = bytes->at[-1] == FITTING ? fitting_length(column) : bytes->at[-1];
    if (field.length > (size_t)(bytes->end - bytes->at))
        field.length = (size_t)(bytes->end - bytes->at);
    field.bytes = (const char *)bytes->at;
    bytes->at += field.length;
    return field;
}

/* An honest row of camp's own session: without one, an answer is refused. */
static void add_own(struct postgres_answer *answer)
{
    struct postgres_field fields[POSTGRES_COLUMNS_MOST] = {
        { "\0\0\0\1", 4 },
        { "\1", 1 },
        { "\0\0\0\0\0\0\0\1", 8 },
        { NULL, 0 },
        { NULL, 0 },
        { NULL, 0 },
        { NULL, 0 },
        { NULL, 0 },
        { "\1", 1 },
        { "\0\0\0\0\0\1\0\0", 8 },
    };

    if (postgres_answer_add(answer, fields, NULL) != CAMP_OK)
        abort();
}

static void account(const struct postgres_snapshot *snapshot, struct postgres_registry *registry,
                    struct sampled_times *times)
{
    struct session_sample samples[SAMPLES_MOST];

    if (postgres_registry_update(registry, snapshot) != CAMP_OK)
        abort();
    for (size_t i = 0; i < snapshot->count; i++) {
        const struct postgres_session *session = &snapshot->sessions[i];

        if (postgres_registry_find(registry, session->pid, session->start_us) == NULL)
            abort();
        samples[i] = (struct session_sample){ session->pid, session->start_us,
                                              postgres_session_start_ns(snapshot, session),
                                              session->kind, false };
        if (samples[i].start_ns > postgres_snapshot_ns(snapshot))
            abort();
    }
    if (sampled_times_add(times, postgres_snapshot_ns(snapshot), samples, snapshot->count) !=
        CAMP_OK)
        abort();
}

/* As many rows wait for a lock as there are blockers in them. */
static void add_blockers(const struct postgres_snapshot *snapshot, struct blocker_samples *blockers)
{
    static int64_t ids[SAMPLES_MOST][BLOCKERS_MOST];
    struct blocked_sample samples[SAMPLES_MOST];

    for (size_t i = 0; i < snapshot->count; i++) {
        const struct postgres_session *session = &snapshot->sessions[i];

        samples[i] = (struct blocked_sample){ session->pid, session->start_us, ids[i],
                                              postgres_session_blockers(session, ids[i]) };
    }
    if (blocker_samples_add(blockers, postgres_snapshot_ns(snapshot), samples, snapshot->count) !=
        CAMP_OK)
        abort();
}

/* The time of each session is divided: its parts are at most the whole. */
static void check_blockers(const struct postgres_snapshot *snapshot,
                           struct blocker_samples *blockers)
{
    struct blocks blocks = { 0 };

    for (size_t i = 0; i < snapshot->count; i++) {
        const struct postgres_session *session = &snapshot->sessions[i];
        uint64_t sum_ns = 0;

        if (blocker_samples_divide(blockers, session->pid, session->start_us, STEP_NS, &blocks) !=
            CAMP_OK)
            abort();
        for (size_t j = 0; j < blocks.count; j++) {
            sum_ns += blocks.blocks[j].ns;
            if (blocks.blocks[j].blocker == session->pid || blocks.blocks[j].blocker < 0)
                abort();
        }
        if (sum_ns != blocks.known_ns || sum_ns > STEP_NS)
            abort();
    }
    free(blocks.blocks);
}

static void check_times(const struct sampled_times *times)
{
    for (size_t i = 0; i < times->count; i++) {
        const struct sampled_session *session = times->sessions[i];
        uint64_t reported_ns = 0;

        for (size_t j = 0; j < session->time_count; j++)
            reported_ns += session->times[j].reported_ns;
        if (reported_ns > session->elapsed_ns || session->elapsed_ns > 3 * STEP_NS)
            abort();
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct bytes bytes = { data, data + size };
    struct postgres_snapshot snapshot = { 0 };
    struct postgres_registry registry = { 0 };
    struct postgres_answer answer = { 0 };
    struct sampled_times times = { 0 };
    struct blocker_samples blockers = { .longest_ns = STEP_NS };
    const bool is_whole = size > 0 && data[0] % 2 != 0;

    sampled_times_init(&times, STEP_NS);
    sampled_times_begin(&times, BEGIN_NS);
    for (unsigned i = 1; i <= 2; i++) {
        postgres_answer_begin(&answer, postgres_snapshot_columns(is_whole));
        add_own(&answer);
        /* the next byte is the number of rows */
        for (size_t rows = bytes.at < bytes.end ? *bytes.at++ % SAMPLES_MOST : 0;
             rows > 0 && bytes.at < bytes.end; rows--) {
            struct postgres_field fields[POSTGRES_COLUMNS_MOST];

            for (size_t column = 0; column < answer.columns; column++)
                fields[column] = next_field(&bytes, column);
            if (postgres_answer_add(&answer, fields, NULL) != CAMP_OK)
                abort();
        }
        snapshot.asked_ns = snapshot.answered_ns = BEGIN_NS + i * STEP_NS;
        if (postgres_snapshot_read(&snapshot, is_whole, &answer, NULL) == CAMP_OK) {
            account(&snapshot, &registry, &times);
            add_blockers(&snapshot, &blockers);
            check_blockers(&snapshot, &blockers);
        }
    }
    sampled_times_end(&times, BEGIN_NS + 3 * STEP_NS);
    check_times(&times);
    sampled_times_release(&times);
    blocker_samples_release(&blockers);
    postgres_registry_release(&registry);
    postgres_snapshot_release(&snapshot);
    postgres_answer_release(&answer);
    return 0;
}
