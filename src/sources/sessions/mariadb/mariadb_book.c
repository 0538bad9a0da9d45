#include "mariadb_book.h"

#include "ledger/array.h"

#include <stdlib.h>
#include <string.h>

void mariadb_book_release(struct mariadb_book *book)
{
    free(book->times);
    *book = (struct mariadb_book){ 0 };
}

static void begin(struct mariadb_book *book, const struct mariadb_session *session)
{
    book->count = 0;
    book->failed = false;
    book->type = session->is_background ? "background" : "client";
}

static void add(struct mariadb_book *book, const char *class, const char *event,
                const char *activity, uint64_t ns)
{
    if (ns == 0)
        return;
    if (!ARRAY_RESERVE(book->times, book->capacity, book->count + 1)) {
        book->failed = true;
        return;
    }
    book->times[book->count++] = (struct session_time){
        .kind = { { [SESSION_CLASS] = class,
                    [SESSION_EVENT] = event,
                    [SESSION_ACTIVITY] = activity,
                    [SESSION_TYPE] = book->type } },
        .ns = ns,
    };
}

static const char *text_of(const struct labels *kind, int which)
{
    return kind != NULL ? labels_value(kind, (size_t)which) : "none";
}

static uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static uint64_t share(uint64_t ns, uint64_t part, uint64_t whole)
{
    return whole > 0 ? (uint64_t)((double)ns * (double)part / (double)whole) : 0;
}

/* ----------------------------------------------------------------------------- Samples -- */

static bool is_idle(const struct mariadb_sample *sample)
{
    return strncmp(text_of(sample->kind, KIND_ACTIVITY), "idle", 4) == 0;
}

/* "NULL": of any class that may be asleep. */
static bool is_asleep_in(const struct mariadb_sample *sample, const char *class)
{
    const char *seen = text_of(sample->kind, KIND_CLASS);

    return !is_idle(sample) && strcmp(seen, "running") != 0 &&
           (class == NULL || strcmp(seen, class) == 0);
}

static bool is_asleep_in_any(const struct mariadb_sample *sample, const char *class)
{
    (void)class;
    return is_asleep_in(sample, NULL);
}

static bool is_idle_in(const struct mariadb_sample *sample, const char *class)
{
    (void)class;
    return is_idle(sample);
}

typedef bool sample_filter(const struct mariadb_sample *sample, const char *class);

static uint64_t sampled_ns(const struct mariadb_session *session, sample_filter *chosen,
                           const char *class)
{
    uint64_t sum = 0;

    for (size_t i = 0; i < session->sample_count; i++)
        sum += chosen(&session->samples[i], class) ? session->samples[i].ns : 0;
    return sum;
}

/* Divides ns in the proportion of the chosen samples. `class` NULL: as they were seen. False: there
 * is none of these. */
static bool divide(struct mariadb_book *book, const struct mariadb_session *session, uint64_t ns,
                   sample_filter *chosen, const char *class)
{
    uint64_t left_ns = sampled_ns(session, chosen, class);

    if (left_ns == 0)
        return false;
    for (size_t i = 0; i < session->sample_count && left_ns > 0; i++) {
        const struct mariadb_sample *sample = &session->samples[i];
        uint64_t part;

        if (!chosen(sample, class))
            continue;
        part = share(ns, sample->ns, left_ns);
        left_ns -= sample->ns;
        if (left_ns == 0)
            part = ns;
        ns -= part < ns ? part : ns;
        add(book, class != NULL ? class : text_of(sample->kind, KIND_CLASS),
            text_of(sample->kind, KIND_EVENT), text_of(sample->kind, KIND_ACTIVITY), part);
    }
    return true;
}

void mariadb_book_samples(struct mariadb_book *book, const struct mariadb_session *session,
                          uint64_t elapsed_ns)
{
    uint64_t sampled = 0;

    begin(book, session);
    for (size_t i = 0; i < session->sample_count; i++)
        sampled += session->samples[i].ns;
    for (size_t i = 0; i < session->sample_count; i++)
        add(book, "none", text_of(session->samples[i].kind, KIND_EVENT),
            text_of(session->samples[i].kind, KIND_ACTIVITY),
            share(elapsed_ns, session->samples[i].ns, sampled));
}

/* ------------------------------------------------------------------------- Instruments -- */

/* Of an interval of elapsed_ns: they may be asked less often. */
static uint64_t reported_ns(const struct mariadb_reported *reported,
                            const struct mariadb_wait *wait, uint64_t elapsed_ns)
{
    const uint64_t ns = mariadb_wait_since(reported->waits, wait);

    return least(share(ns, elapsed_ns, reported->elapsed_ns), elapsed_ns);
}

void mariadb_book_waits(struct mariadb_book *book, const struct mariadb_session *session,
                        uint64_t elapsed_ns, const struct mariadb_reported *reported)
{
    size_t count;
    const struct mariadb_wait *waits = mariadb_waits_of(reported->waits, session->id, &count);

    begin(book, session);
    for (size_t i = 0; i < count; i++)
        add(book, text_of(waits[i].kind, KIND_CLASS), text_of(waits[i].kind, KIND_EVENT),
            text_of(waits[i].kind, KIND_ACTIVITY), reported_ns(reported, &waits[i], elapsed_ns));
}

static uint64_t reported_idle_ns(const struct mariadb_session *session, uint64_t elapsed_ns,
                                 const struct mariadb_reported *reported)
{
    size_t count;
    const struct mariadb_wait *waits = mariadb_waits_of(reported->waits, session->id, &count);
    uint64_t ns = 0;

    for (size_t i = 0; i < count; i++)
        ns += strcmp(text_of(waits[i].kind, KIND_CLASS), "idle") == 0
                  ? reported_ns(reported, &waits[i], elapsed_ns)
                  : 0;
    return ns;
}

/* ---------------------------------------------------------------------------- Threads -- */

/* How long it was between statements, of an interval of elapsed_ns. */
static uint64_t idle_ns(const struct mariadb_session *session, uint64_t elapsed_ns,
                        const struct mariadb_reported *reported)
{
    const uint64_t idle = sampled_ns(session, is_idle_in, NULL);
    uint64_t sampled = 0;

    if (reported->waits != NULL && reported->elapsed_ns > 0)
        return reported_idle_ns(session, elapsed_ns, reported);
    for (size_t i = 0; i < session->sample_count; i++)
        sampled += session->samples[i].ns;
    if (sampled == 0)
        return session->is_idle ? elapsed_ns : 0;
    return idle < sampled ? share(elapsed_ns, idle, sampled) : elapsed_ns;
}

/* What was slept in `class` within statements; NULL: in whatever. */
static void book_active(struct mariadb_book *book, const struct mariadb_session *session,
                        const char *class, uint64_t ns)
{
    const char *seen = class != NULL ? class : "asleep";

    if (class != NULL && (strcmp(class, "poll") == 0 || strcmp(class, "socket") == 0)) {
        if (!divide(book, session, ns, is_asleep_in, class))
            add(book, seen, "none", "active", ns);
    } else if (!divide(book, session, ns, is_asleep_in, class) &&
               !divide(book, session, ns, is_asleep_in_any, class)) {
        add(book, seen, "none", "active", ns);
    }
}

static bool is_row_lock(const struct mariadb_sample *sample, const char *class)
{
    (void)class;
    return strcmp(text_of(sample->kind, KIND_EVENT), "row_lock") == 0;
}

/* The sleep in futex(2). What instruments know of it is off the samples too: what is left is for
 * what they do not see. */
static void book_futex(struct mariadb_book *book, const struct mariadb_session *session,
                       uint64_t ns, uint64_t elapsed_ns, const struct mariadb_reported *reported)
{
    size_t count = 0;
    const struct mariadb_wait *waits =
        reported->waits != NULL ? mariadb_waits_of(reported->waits, session->id, &count) : NULL;

    if (reported->waits == NULL || !reported->knows_synch) {
        book_active(book, session, "futex", ns);
        return;
    }
    for (size_t i = 0; i < count; i++) {
        uint64_t known;

        if (strcmp(text_of(waits[i].kind, KIND_CLASS), "synch") != 0)
            continue;
        known = least(reported_ns(reported, &waits[i], elapsed_ns), ns);
        add(book, "futex", text_of(waits[i].kind, KIND_EVENT), "active", known);
        ns -= known;
    }
    if (!divide(book, session, ns, is_row_lock, "futex"))
        add(book, "futex", "none", "active", ns);
}

static void book_idle(struct mariadb_book *book, const struct mariadb_session *session,
                      const char *class, uint64_t ns)
{
    if (!divide(book, session, ns, is_idle_in, class))
        add(book, class != NULL ? class : "none", "none", "idle", ns);
}

/* Its sleeps by what they were in. Idle is what was slept in a poll or a socket between statements;
 * a server with its own way to wait for clients has other calls, so what is left of idle time may
 * be of those. */
static void book_measured(struct mariadb_book *book, const struct mariadb_session *session,
                          const struct mariadb_thread_times *times,
                          const struct mariadb_reported *reported)
{
    static const int between[] = { CAMP_STATE_POLL, CAMP_STATE_SOCKET, CAMP_STATE_PIPE };
    uint64_t asleep[CAMP_STATE_COUNT], idle = idle_ns(session, times->elapsed_ns, reported);

    memcpy(asleep, times->asleep_ns, sizeof asleep);
    for (size_t i = 0; i < sizeof between / sizeof between[0]; i++) {
        const uint64_t ns = least(idle, asleep[between[i]]);

        book_idle(book, session, mariadb_class_name(between[i]), ns);
        asleep[between[i]] -= ns;
        idle -= ns;
    }
    for (int i = 0; i < CAMP_STATE_COUNT; i++) {
        if (i == CAMP_STATE_LOCK)
            book_futex(book, session, asleep[i], times->elapsed_ns, reported);
        else
            book_active(book, session, mariadb_class_name(i), asleep[i]);
    }
}

/* Its sleep as a whole. Where no sample saw it sleep within a statement, it was all idle. */
static void book_whole(struct mariadb_book *book, const struct mariadb_session *session,
                       const struct mariadb_thread_times *times,
                       const struct mariadb_reported *reported)
{
    const uint64_t asleep = times->asleep_ns[CAMP_STATE_OTHER_SLEEP];
    uint64_t idle = least(idle_ns(session, times->elapsed_ns, reported), asleep);

    if (idle > 0 && sampled_ns(session, is_asleep_in_any, NULL) == 0)
        idle = asleep;
    book_idle(book, session, NULL, idle);
    book_active(book, session, NULL, asleep - idle);
}

void mariadb_book_threads(struct mariadb_book *book, const struct mariadb_session *session,
                          const struct mariadb_thread_times *times, bool measured,
                          const struct mariadb_reported *reported)
{
    begin(book, session);
    if (measured)
        book_measured(book, session, times, reported);
    else
        book_whole(book, session, times, reported);
}
