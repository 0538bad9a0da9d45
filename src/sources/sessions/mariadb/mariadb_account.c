#include "mariadb_account.h"

#include "ledger/array.h"
#include "sources/sessions/session_shares.h"

#include <stdlib.h>
#include <string.h>

void mariadb_account_release(struct mariadb_account *account)
{
    free(account->times);
    free(account->statements);
    *account = (struct mariadb_account){ 0 };
}

static void begin(struct mariadb_account *account, const struct mariadb_session *session)
{
    account->count = 0;
    account->failed = false;
    account->type = session->is_background ? "background" : "client";
}

static void add(struct mariadb_account *account, const char *class, const char *event,
                const char *activity, int64_t statement, uint64_t ns)
{
    if (ns == 0)
        return;
    if (!ARRAYS_RESERVE(account->capacity, account->count + 1, ARRAY(account->times),
                        ARRAY(account->statements))) {
        account->failed = true;
        return;
    }
    account->statements[account->count] = statement;
    account->times[account->count++] = (struct session_time){
        .kind = { { [SESSION_CLASS] = class,
                    [SESSION_EVENT] = event,
                    [SESSION_ACTIVITY] = activity,
                    [SESSION_TYPE] = account->type } },
        .ns = ns,
    };
}

static const char *text_of(labels_id kind, int which)
{
    return labels_count(kind) > 0 ? labels_value(kind, (size_t)which) : "none";
}

static uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static bool is_idle(const struct mariadb_sample *sample)
{
    return strncmp(text_of(sample->kind, KIND_ACTIVITY), "idle", 4) == 0;
}

/* Returns true if the sample found the session asleep within a statement, in a sleep of `class`. A
 * `class` of NULL means any class. */
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

static bool is_active(const struct mariadb_sample *sample, const char *class)
{
    (void)class;
    return !is_idle(sample);
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

/* Divides `ns` among the samples that chosen() accepts, in proportion to their times. Accounts each
 * part to `class`, or to the class of the sample if `class` is NULL, and to `wait`, or to the event
 * and activity of the sample if `wait` is NULL. Returns false if chosen() accepts no sample. */
static bool divide_as(struct mariadb_account *account, const struct mariadb_session *session,
                      uint64_t ns, sample_filter *chosen, const char *class,
                      const struct mariadb_wait *wait)
{
    uint64_t left_ns = sampled_ns(session, chosen, class);

    if (left_ns == 0)
        return false;
    for (size_t i = 0; i < session->sample_count && left_ns > 0; i++) {
        const struct mariadb_sample *sample = &session->samples[i];
        uint64_t part;

        if (!chosen(sample, class))
            continue;
        part = share_of(ns, sample->ns, left_ns);
        left_ns -= sample->ns;
        if (left_ns == 0)
            part = ns;
        ns -= part < ns ? part : ns;
        add(account, class != NULL ? class : text_of(sample->kind, KIND_CLASS),
            text_of(wait != NULL ? wait->kind : sample->kind, KIND_EVENT),
            text_of(wait != NULL ? wait->kind : sample->kind, KIND_ACTIVITY), sample->statement,
            part);
    }
    return true;
}

static bool divide(struct mariadb_account *account, const struct mariadb_session *session,
                   uint64_t ns, sample_filter *chosen, const char *class)
{
    return divide_as(account, session, ns, chosen, class, NULL);
}

void mariadb_account_samples(struct mariadb_account *account, const struct mariadb_session *session,
                             uint64_t elapsed_ns)
{
    uint64_t sampled = 0;

    begin(account, session);
    for (size_t i = 0; i < session->sample_count; i++)
        sampled += session->samples[i].ns;
    for (size_t i = 0; i < session->sample_count; i++)
        add(account, "none", text_of(session->samples[i].kind, KIND_EVENT),
            text_of(session->samples[i].kind, KIND_ACTIVITY), session->samples[i].statement,
            share_of(elapsed_ns, session->samples[i].ns, sampled));
}

/* Returns how much a wait grew in an interval of elapsed_ns. Two readings of the instruments may be
 * further apart than the interval, so the growth between the readings is scaled. */
static uint64_t reported_ns(const struct mariadb_reported *reported,
                            const struct mariadb_wait *wait, uint64_t elapsed_ns)
{
    const uint64_t ns = mariadb_wait_since(reported->waits, wait);

    return least(share_of(ns, elapsed_ns, reported->elapsed_ns), elapsed_ns);
}

/* Accounts `ns` of a wait that the instruments report to `class`. The samples that found the
 * session asleep in a statement, or else in any statement, divide it by statement. */
static void account_wait(struct mariadb_account *account, const struct mariadb_session *session,
                         const char *class, const struct mariadb_wait *wait, uint64_t ns)
{
    const bool is_of_none = strcmp(text_of(wait->kind, KIND_CLASS), "idle") == 0;

    if (is_of_none || (!divide_as(account, session, ns, is_asleep_in_any, class, wait) &&
                       !divide_as(account, session, ns, is_active, class, wait)))
        add(account, class, text_of(wait->kind, KIND_EVENT), text_of(wait->kind, KIND_ACTIVITY),
            is_of_none ? MARIADB_STATEMENT_NONE : MARIADB_STATEMENT_OTHER, ns);
}

void mariadb_account_waits(struct mariadb_account *account, const struct mariadb_session *session,
                           uint64_t elapsed_ns, const struct mariadb_reported *reported)
{
    size_t count;
    const struct mariadb_wait *waits = mariadb_waits_of(reported->waits, session->id, &count);

    begin(account, session);
    for (size_t i = 0; i < count; i++)
        account_wait(account, session, text_of(waits[i].kind, KIND_CLASS), &waits[i],
                     reported_ns(reported, &waits[i], elapsed_ns));
}

void mariadb_account_fit(struct mariadb_account *account, uint64_t elapsed_ns, uint64_t awake_ns)
{
    const uint64_t asleep_ns = elapsed_ns > awake_ns ? elapsed_ns - awake_ns : 0;
    struct shares shares = { 0 };
    uint64_t sum_ns = 0;

    for (size_t i = 0; i < account->count; i++)
        sum_ns += account->times[i].ns;
    for (size_t i = 0; i < account->count && sum_ns > asleep_ns; i++)
        account->times[i].ns = share_next(&shares, asleep_ns, account->times[i].ns, sum_ns);
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

/* Returns how much of elapsed_ns the session spent between statements. */
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
    return idle < sampled ? share_of(elapsed_ns, idle, sampled) : elapsed_ns;
}

/* Accounts `ns` of sleep in `class` within statements. `class` is NULL if the class is unknown. */
static void account_active(struct mariadb_account *account, const struct mariadb_session *session,
                           const char *class, uint64_t ns)
{
    const char *seen = class != NULL ? class : "asleep";

    if (class != NULL && (strcmp(class, "poll") == 0 || strcmp(class, "socket") == 0)) {
        if (!divide(account, session, ns, is_asleep_in, class))
            add(account, seen, "none", "active", MARIADB_STATEMENT_OTHER, ns);
    } else if (!divide(account, session, ns, is_asleep_in, class) &&
               !divide(account, session, ns, is_asleep_in_any, class)) {
        add(account, seen, "none", "active", MARIADB_STATEMENT_OTHER, ns);
    }
}

static bool is_row_lock(const struct mariadb_sample *sample, const char *class)
{
    (void)class;
    return strcmp(text_of(sample->kind, KIND_EVENT), "row_lock") == 0;
}

/* Accounts `ns` of sleep in futex(2) to the events that the instruments report. If a sample saw a
 * wait for the lock of a row, the rest of `ns` is accounted to that wait. */
static void account_futex(struct mariadb_account *account, const struct mariadb_session *session,
                          uint64_t ns, uint64_t elapsed_ns, const struct mariadb_reported *reported)
{
    size_t count = 0;
    const struct mariadb_wait *waits =
        reported->waits != NULL ? mariadb_waits_of(reported->waits, session->id, &count) : NULL;

    if (reported->waits == NULL || !reported->has_synch) {
        account_active(account, session, "futex", ns);
        return;
    }
    for (size_t i = 0; i < count; i++) {
        uint64_t known;

        if (strcmp(text_of(waits[i].kind, KIND_CLASS), "synch") != 0)
            continue;
        known = least(reported_ns(reported, &waits[i], elapsed_ns), ns);
        account_wait(account, session, "futex", &waits[i], known);
        ns -= known;
    }
    if (!divide(account, session, ns, is_row_lock, "futex"))
        account_wait(account, session, "futex",
                     &(struct mariadb_wait){ .kind = mariadb_kind("futex", "none", "active") }, ns);
}

static void account_idle(struct mariadb_account *account, const struct mariadb_session *session,
                         const char *class, uint64_t ns)
{
    if (!divide(account, session, ns, is_idle_in, class))
        add(account, class != NULL ? class : "none", "none", "idle", MARIADB_STATEMENT_NONE, ns);
}

static void account_measured(struct mariadb_account *account, const struct mariadb_session *session,
                             const struct mariadb_thread_times *times,
                             const struct mariadb_reported *reported)
{
    static const int between[] = { CAMP_STATE_POLL, CAMP_STATE_SOCKET, CAMP_STATE_PIPE };
    uint64_t asleep[CAMP_STATE_COUNT], idle = idle_ns(session, times->elapsed_ns, reported);

    memcpy(asleep, times->asleep_ns, sizeof asleep);
    for (size_t i = 0; i < sizeof between / sizeof between[0]; i++) {
        const uint64_t ns = least(idle, asleep[between[i]]);

        account_idle(account, session, mariadb_class_name(between[i]), ns);
        asleep[between[i]] -= ns;
        idle -= ns;
    }
    for (int i = 0; i < CAMP_STATE_COUNT; i++) {
        if (i == CAMP_STATE_LOCK)
            account_futex(account, session, asleep[i], times->elapsed_ns, reported);
        else
            account_active(account, session, mariadb_class_name(i), asleep[i]);
    }
}

/* Accounts sleep whose classes are unknown. If the session was idle at all, and no sample found it
 * asleep within a statement, all of its sleep is idle. */
static void account_whole(struct mariadb_account *account, const struct mariadb_session *session,
                          const struct mariadb_thread_times *times,
                          const struct mariadb_reported *reported)
{
    const uint64_t asleep = times->asleep_ns[CAMP_STATE_OTHER_SLEEP];
    uint64_t idle = least(idle_ns(session, times->elapsed_ns, reported), asleep);

    if (idle > 0 && sampled_ns(session, is_asleep_in_any, NULL) == 0)
        idle = asleep;
    account_idle(account, session, NULL, idle);
    account_active(account, session, NULL, asleep - idle);
}

void mariadb_account_threads(struct mariadb_account *account, const struct mariadb_session *session,
                             const struct mariadb_thread_times *times, bool measured,
                             const struct mariadb_reported *reported)
{
    begin(account, session);
    if (measured)
        account_measured(account, session, times, reported);
    else
        account_whole(account, session, times, reported);
}
