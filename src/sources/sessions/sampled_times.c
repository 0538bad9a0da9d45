#include "sampled_times.h"

#include "ledger/array.h"

#include <stdlib.h>

void sampled_times_init(struct sampled_times *times, uint64_t longest_ns)
{
    *times = (struct sampled_times){ .longest_ns = longest_ns };
}

static void release_session(struct sampled_session *session)
{
    free(session->times);
    free(session);
}

void sampled_times_release(struct sampled_times *times)
{
    for (size_t i = 0; i < times->count; i++)
        release_session(times->sessions[i]);
    free(times->sessions);
    *times = (struct sampled_times){ .longest_ns = times->longest_ns };
}

void sampled_times_begin(struct sampled_times *times, uint64_t begin_ns)
{
    size_t kept = 0;

    times->begin_ns = begin_ns;
    for (size_t i = 0; i < times->count; i++) {
        struct sampled_session *session = times->sessions[i];

        if (session->is_ended) {
            release_session(session);
            continue;
        }
        session->elapsed_ns = session->sample_count = 0;
        session->time_count = 0;
        session->is_new = false;
        times->sessions[kept++] = session;
    }
    times->count = kept;
}

static int compare(const void *key, const void *element)
{
    const struct session_sample *sample = key;
    const struct sampled_session *session = *(struct sampled_session *const *)element;

    if (sample->id != session->id)
        return sample->id < session->id ? -1 : 1;
    return sample->start < session->start ? -1 : sample->start > session->start;
}

static size_t position_of(const struct sampled_times *times, const struct session_sample *sample)
{
    return ARRAY_POSITION(sample, times->sessions, times->count, compare);
}

struct sampled_session *sampled_times_find(const struct sampled_times *times, int64_t id,
                                           int64_t start)
{
    const struct session_sample wanted = { .id = id, .start = start };
    const size_t position = position_of(times, &wanted);

    return position < times->count && compare(&wanted, &times->sessions[position]) == 0
               ? times->sessions[position]
               : NULL;
}

static struct sampled_session *insert(struct sampled_times *times,
                                      const struct session_sample *sample)
{
    struct sampled_session *session = calloc(1, sizeof *session);
    const size_t position = position_of(times, sample);

    if (session == NULL)
        return NULL;
    if (!ARRAY_INSERT(times->sessions, times->count, times->capacity, position)) {
        free(session);
        return NULL;
    }
    times->sessions[position] = session;
    session->id = sample->id;
    session->start = sample->start;
    return session;
}

static struct sampled_time *time_of(struct sampled_session *session, labels_id kind,
                                    int64_t statement)
{
    for (size_t i = 0; i < session->time_count; i++) {
        if (session->times[i].kind == kind && session->times[i].statement == statement)
            return &session->times[i];
    }
    if (!ARRAY_RESERVE(session->times, session->time_capacity, session->time_count + 1))
        return NULL;
    session->times[session->time_count] =
        (struct sampled_time){ .kind = kind, .statement = statement };
    return &session->times[session->time_count++];
}

static int account_time(struct sampled_session *session, uint64_t ns)
{
    struct sampled_time *time;

    if (ns == 0)
        return CAMP_OK;
    time = time_of(session, session->kind, session->statement);
    if (time == NULL)
        return CAMP_E_NOMEM;
    time->reported_ns += ns;
    if (session->was_asleep)
        time->asleep_ns += ns;
    return CAMP_OK;
}

static uint64_t at_most(uint64_t ns, uint64_t most_ns)
{
    return ns < most_ns ? ns : most_ns;
}

/* Extends session->elapsed_ns up to the time `at_ns`. Returns the part of the added time that
 * samples may account for: at most longest_ns. */
static uint64_t advance(struct sampled_times *times, struct sampled_session *session,
                        uint64_t at_ns)
{
    const uint64_t gap_ns =
        at_ns > session->accounted_until_ns ? at_ns - session->accounted_until_ns : 0;

    session->elapsed_ns += gap_ns;
    session->accounted_until_ns += gap_ns;
    return at_most(gap_ns, times->longest_ns);
}

static void update_sample(struct sampled_times *times, struct sampled_session *session,
                          const struct session_sample *sample)
{
    session->kind = labels_intern(sample->kind.texts, SESSION_KEYS);
    session->statement = sample->statement;
    session->was_asleep = sample->is_asleep;
    session->last_snapshot = times->snapshot;
    session->sample_count++;
}

static int sample_again(struct sampled_times *times, struct sampled_session *session,
                        uint64_t at_ns, const struct session_sample *sample)
{
    const uint64_t gap_ns = advance(times, session, at_ns);
    const int r = account_time(session, gap_ns / 2);

    /* The new snapshot has the session, so the session has not ended, even if the previous snapshot
     * missed it. */
    session->is_ended = false;
    update_sample(times, session, sample);
    return r == CAMP_OK ? account_time(session, gap_ns - gap_ns / 2) : r;
}

/* Adds a session at its first sample. Sessions in the very first snapshot are not new, and their
 * time before that snapshot is not accounted. */
static int sample_first(struct sampled_times *times, uint64_t at_ns,
                        const struct session_sample *sample)
{
    struct sampled_session *session = insert(times, sample);
    uint64_t from_ns = times->snapshot_ns > times->begin_ns ? times->snapshot_ns : times->begin_ns;

    if (session == NULL)
        return CAMP_E_NOMEM;
    /* The previous snapshot may have missed a session that had just started, so the session is
     * accounted from its own start. */
    if (sample->start_ns != 0)
        from_ns = sample->start_ns > times->begin_ns ? sample->start_ns : times->begin_ns;
    times->arrived++;
    session->is_new = times->snapshot_ns != 0;
    session->accounted_until_ns = times->snapshot_ns != 0 ? at_most(from_ns, at_ns) : at_ns;
    update_sample(times, session, sample);
    return account_time(session, advance(times, session, at_ns));
}

static int add_sample(struct sampled_times *times, uint64_t at_ns,
                      const struct session_sample *sample)
{
    struct sampled_session *session = sampled_times_find(times, sample->id, sample->start);

    return session != NULL ? sample_again(times, session, at_ns, sample)
                           : sample_first(times, at_ns, sample);
}

static int end_session(struct sampled_times *times, struct sampled_session *session, uint64_t at_ns)
{
    const uint64_t gap_ns =
        at_ns > session->accounted_until_ns ? at_ns - session->accounted_until_ns : 0;

    session->is_ended = true;
    return account_time(session, advance(times, session, session->accounted_until_ns + gap_ns / 2));
}

int sampled_times_add(struct sampled_times *times, uint64_t at_ns,
                      const struct session_sample *samples, size_t count)
{
    int r = CAMP_OK;

    times->snapshot++;
    times->arrived = 0;
    for (size_t i = 0; i < count && r == CAMP_OK; i++)
        r = add_sample(times, at_ns, &samples[i]);
    for (size_t i = 0; i < times->count && r == CAMP_OK; i++) {
        if (times->sessions[i]->last_snapshot != times->snapshot && !times->sessions[i]->is_ended)
            r = end_session(times, times->sessions[i], at_ns);
    }
    times->snapshot_ns = at_ns;
    return r;
}

void sampled_times_end(struct sampled_times *times, uint64_t end_ns)
{
    for (size_t i = 0; i < times->count; i++) {
        if (!times->sessions[i]->is_ended)
            advance(times, times->sessions[i], end_ns);
    }
}
