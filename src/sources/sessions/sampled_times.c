#include "sampled_times.h"

#include "ledger/array.h"

#include <stdlib.h>
#include <string.h>

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
        session->elapsed_ns = session->looks = 0;
        session->time_count = 0;
        session->is_new = false;
        times->sessions[kept++] = session;
    }
    times->count = kept;
}

/* ------------------------------------------------------------------------------ Finding -- */

static bool is_before(const struct sampled_session *session, const struct sampled_sight *sight)
{
    return session->id != sight->id ? session->id < sight->id : session->start < sight->start;
}

/* Where it is, or would be. */
static size_t place_of(const struct sampled_times *times, const struct sampled_sight *sight)
{
    size_t low = 0, high = times->count;

    while (low < high) {
        const size_t middle = low + (high - low) / 2;

        if (is_before(times->sessions[middle], sight))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static struct sampled_session *insert(struct sampled_times *times, size_t place,
                                      const struct sampled_sight *sight)
{
    struct sampled_session *session = calloc(1, sizeof *session);

    if (session == NULL)
        return NULL;
    if (!ARRAY_RESERVE(times->sessions, times->capacity, times->count + 1)) {
        free(session);
        return NULL;
    }
    memmove(&times->sessions[place + 1], &times->sessions[place],
            (times->count - place) * sizeof *times->sessions);
    times->sessions[place] = session;
    times->count++;
    session->id = sight->id;
    session->start = sight->start;
    return session;
}

static struct sampled_time *time_of(struct sampled_session *session, const struct labels *kind)
{
    for (size_t i = 0; i < session->time_count; i++) {
        if (session->times[i].kind == kind)
            return &session->times[i];
    }
    if (!ARRAY_RESERVE(session->times, session->time_capacity, session->time_count + 1))
        return NULL;
    session->times[session->time_count] = (struct sampled_time){ .kind = kind };
    return &session->times[session->time_count++];
}

/* ------------------------------------------------------------------------------ Booking -- */

static int book(struct sampled_session *session, uint64_t ns)
{
    struct sampled_time *time;

    if (ns == 0)
        return CAMP_OK;
    time = time_of(session, session->kind);
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

/* The time from where it is booked through to `at_ns`, as far as it was seen. */
static uint64_t pass(struct sampled_times *times, struct sampled_session *session, uint64_t at_ns)
{
    const uint64_t gap_ns = at_ns > session->through_ns ? at_ns - session->through_ns : 0;

    session->elapsed_ns += gap_ns;
    session->through_ns += gap_ns;
    return at_most(gap_ns, times->longest_ns);
}

static void take_sight(struct sampled_times *times, struct sampled_session *session,
                       const struct sampled_sight *sight)
{
    session->kind = labels_intern(sight->kind.texts, SESSION_KEYS);
    session->was_asleep = sight->is_asleep;
    session->look = times->look;
    session->looks++;
}

/* Of who was there at the look before: half to what it did then, half to what it does now. */
static int see_again(struct sampled_times *times, struct sampled_session *session, uint64_t at_ns,
                     const struct sampled_sight *sight)
{
    const uint64_t gap_ns = pass(times, session, at_ns);
    const int r = book(session, gap_ns / 2);

    session->is_ended = false; /* a look in between missed it */
    take_sight(times, session, sight);
    return r == CAMP_OK ? book(session, gap_ns - gap_ns / 2) : r;
}

/* The first look at all finds sessions that are not new, and nothing is known of their past. */
static int see_first(struct sampled_times *times, uint64_t at_ns, const struct sampled_sight *sight,
                     size_t place)
{
    struct sampled_session *session = insert(times, place, sight);
    uint64_t from_ns = times->look_ns > times->begin_ns ? times->look_ns : times->begin_ns;

    if (session == NULL)
        return CAMP_E_NOMEM;
    if (sight->began_ns != 0) /* the looks before it may not have seen one that began just then */
        from_ns = sight->began_ns > times->begin_ns ? sight->began_ns : times->begin_ns;
    times->arrived++;
    session->is_new = times->look_ns != 0;
    session->through_ns = times->look_ns != 0 ? at_most(from_ns, at_ns) : at_ns;
    take_sight(times, session, sight);
    return book(session, pass(times, session, at_ns));
}

static int see(struct sampled_times *times, uint64_t at_ns, const struct sampled_sight *sight)
{
    const size_t place = place_of(times, sight);
    struct sampled_session *session = place < times->count ? times->sessions[place] : NULL;

    if (session == NULL || session->id != sight->id || session->start != sight->start)
        return see_first(times, at_ns, sight, place);
    return see_again(times, session, at_ns, sight);
}

static int end_session(struct sampled_times *times, struct sampled_session *session, uint64_t at_ns)
{
    const uint64_t gap_ns = at_ns > session->through_ns ? at_ns - session->through_ns : 0;

    session->is_ended = true;
    return book(session, pass(times, session, session->through_ns + gap_ns / 2));
}

int sampled_times_look(struct sampled_times *times, uint64_t at_ns,
                       const struct sampled_sight *sights, size_t count)
{
    int r = CAMP_OK;

    times->look++;
    times->arrived = 0;
    for (size_t i = 0; i < count && r == CAMP_OK; i++)
        r = see(times, at_ns, &sights[i]);
    for (size_t i = 0; i < times->count && r == CAMP_OK; i++) {
        if (times->sessions[i]->look != times->look && !times->sessions[i]->is_ended)
            r = end_session(times, times->sessions[i], at_ns);
    }
    times->look_ns = at_ns;
    return r;
}

void sampled_times_end(struct sampled_times *times, uint64_t end_ns)
{
    for (size_t i = 0; i < times->count; i++) {
        if (!times->sessions[i]->is_ended)
            pass(times, times->sessions[i], end_ns);
    }
}
