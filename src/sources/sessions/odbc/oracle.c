#include "oracle.h"

#include "counters/clock.h"
#include "counters/error.h"
#include "odbc_connection.h"
#include "oracle_inside.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define OPEN_NS ((ODBC_LOGIN_S + ODBC_ANSWER_S) * (uint64_t)NS_PER_S)
#define ANSWER_NS (ODBC_ANSWER_S * (uint64_t)NS_PER_S)
#define POLL_NS (50 * (uint64_t)NS_PER_MS)

static const char tier_clock[] = "schedstat+SQL", tier_sql[] = "SQL";

static void disconnect(struct reading *reading)
{
    oracle_statements_close(&reading->statements);
    odbc_connection_close(reading->connection);
    reading->connection = NULL;
}

static int open_connection(struct reading *reading, struct camp_error *error)
{
    const int r = odbc_connection_open(reading->connect, &reading->connection, error);

    reading->is_connected = r == CAMP_OK;
    return r == CAMP_OK ? oracle_statements_open(&reading->statements, reading->connection,
                                                 reading->background, error)
                        : r;
}

/* After a failure the connection is closed, because a new connection may work. */
static int read_snapshot(void *context, struct camp_error *error)
{
    struct reading *reading = context;
    int r = reading->connection == NULL ? open_connection(reading, error) : CAMP_OK;

    if (r == CAMP_OK)
        r = oracle_snapshot_read(&reading->snapshot, &reading->statements, reading->use_clock,
                                 error);
    if (r != CAMP_OK)
        disconnect(reading);
    return r;
}

static void release(void *context)
{
    struct reading *reading = context;

    disconnect(reading);
    oracle_snapshot_release(&reading->snapshot);
    explicit_bzero(reading->connect, sizeof reading->connect);
    free(reading);
}

/* Moves the new snapshot to source->before. The thread reuses the memory of the old source->before
 * for its next snapshot. */
static void keep_snapshot(struct oracle_source *source)
{
    const struct oracle_snapshot snapshot = source->before;

    source->before = source->reading->snapshot;
    source->reading->snapshot = snapshot;
    source->has_before = true;
}

/* Sets the note of the following frames. Drops source->before, so that no interval starts before
 * the failure. */
static void start_failure(struct oracle_source *source, const char *text)
{
    snprintf(source->note, sizeof source->note, "%s: %s", source->shown, text);
    source->has_failed = true;
    if (source->has_before)
        source->lost = source->before.count;
    source->has_before = false;
}

static void end_failure(struct oracle_source *source)
{
    source->note[0] = '\0';
    if (source->has_failed)
        snprintf(source->note, sizeof source->note, "%s: answers again", source->shown);
    source->has_failed = false;
}

static const struct schema *describe(const struct source *base)
{
    return &((const struct oracle_source *)base)->sessions.schema;
}

static void fill_empty(struct oracle_source *source, uint64_t end_ns, int64_t wall_clock_ns)
{
    session_frame_begin(&source->sessions, source->end_ns, end_ns, wall_clock_ns);
    source->sessions.frame.losses.partial = source->lost;
    source->lost = 0;
}

static void fill_empty_now(struct oracle_source *source)
{
    fill_empty(source, now_ns(CLOCK_MONOTONIC), (int64_t)now_ns(CLOCK_REALTIME));
}

/* Fills the frame of the first snapshot after a failure. This frame is empty, and the next interval
 * starts at the snapshot. */
static void start_again(struct oracle_source *source, struct oracle_snapshot *after)
{
    for (size_t i = 0; i < after->count; i++)
        after->sessions[i].is_new =
            oracle_times_before(&source->before, &after->sessions[i]) == NULL;
    fill_empty(source, after->at_ns, after->wall_clock_ns);
}

static int fill_frame(struct oracle_source *source, struct camp_error *error)
{
    struct oracle_snapshot *after = &source->reading->snapshot;
    int r = CAMP_OK;

    if (!source->has_before && after->at_ns < source->end_ns) {
        /* The snapshot is older than the end of the last frame, so the next interval may not start
         * at the snapshot. */
        fill_empty_now(source);
        return CAMP_OK;
    }
    if (source->has_before) {
        session_frame_begin(&source->sessions, source->before.at_ns, after->at_ns,
                            after->wall_clock_ns);
        r = oracle_rows_fill(source, after);
    } else {
        start_again(source, after);
    }
    keep_snapshot(source);
    return r == CAMP_OK ? r
                        : camp_fail(error, r, 0, "%s: no memory for its sessions", source->shown);
}

/* If the database refuses the user (CAMP_E_PERM), the source fails, because more attempts may lock
 * the account. After any other failure, frames are empty and have a note until the database
 * answers. */
static int next(struct source *base, uint64_t deadline_ns, const struct frame **ret_frame,
                struct camp_error *error)
{
    struct oracle_source *source = (struct oracle_source *)base;
    const uint64_t patience_ns = source->has_failed ? POLL_NS : ANSWER_NS;
    struct camp_error failure = { .message = "the database does not answer" };
    int r;

    while (source_wait(deadline_ns, UINT64_MAX, source->from.stop))
        ;
    r = remote_thread_run(source->thread, now_ns(CLOCK_MONOTONIC) + patience_ns, &failure);
    if (r == REMOTE_PENDING && *source->from.stop)
        return SOURCE_END;
    if (r == CAMP_E_PERM)
        return camp_fail(error, r, 0, "%s: %s", source->shown, failure.message);
    if (r == CAMP_OK) {
        end_failure(source);
        r = fill_frame(source, error);
        frame_count_lost_labels(&source->sessions.frame);
    } else {
        if (r != REMOTE_PENDING || !source->has_failed)
            start_failure(source, failure.message);
        fill_empty_now(source);
        r = CAMP_OK;
    }
    source->end_ns = source->sessions.frame.end_ns;
    source->sessions.frame.note = source->note;
    *ret_frame = &source->sessions.frame;
    return r;
}

static void close_source(struct source *base)
{
    struct oracle_source *source = (struct oracle_source *)base;

    remote_thread_close(source->thread);
    session_frame_release(&source->sessions);
    oracle_snapshot_release(&source->before);
    oracle_times_release(&source->times);
    free(source->kinds);
    free(source);
}

static int start_thread(struct oracle_source *source, const char *connect, struct camp_error *error)
{
    struct reading *reading = calloc(1, sizeof *reading);

    if (reading == NULL)
        return camp_fail(error, CAMP_E_NOMEM, 0, "%s: no memory", source->shown);
    snprintf(reading->connect, sizeof reading->connect, "%s", connect);
    reading->background = source->from.background;
    reading->use_clock = source->from.tier == NULL || strcasecmp(source->from.tier, tier_sql) != 0;
    source->thread = remote_thread_open(read_snapshot, release, reading, source->from.stop);
    if (source->thread == NULL) {
        release(reading);
        return camp_fail(error, CAMP_E_NOMEM, 0, "%s: no memory for a thread", source->shown);
    }
    source->reading = reading;
    return CAMP_OK;
}

static int read_first_snapshot(struct oracle_source *source, struct camp_error *error)
{
    struct camp_error failure = { 0 };
    const int r = remote_thread_run(source->thread, now_ns(CLOCK_MONOTONIC) + OPEN_NS, &failure);

    if (r == CAMP_OK)
        return r;
    if (r == REMOTE_PENDING)
        return camp_fail(error, CAMP_E_GONE, 0, "%s: the database does not answer within %d s",
                         source->shown, (int)(OPEN_NS / NS_PER_S));
    if (source->reading->is_connected)
        return camp_fail(error, r, 0,
                         "%s: v$session: %s; for a database other than Oracle, give --query "
                         "\"select time, entity, ...\"",
                         source->shown, failure.message);
    return camp_fail(error, r, 0, "%s: %s", source->shown, failure.message);
}

static int choose_tier(struct oracle_source *source, struct from_facts *facts,
                       struct camp_error *error)
{
    const struct reading *reading = source->reading;
    const char *tier = source->from.tier;
    const bool is_local = reading->statements.is_local;

    if (tier != NULL && strcasecmp(tier, tier_clock) != 0 && strcasecmp(tier, tier_sql) != 0)
        return camp_fail(error, CAMP_E_INVALID, 0, "--tier %s: the tiers of odbc: are %s and %s",
                         tier, tier_clock, tier_sql);
    if (tier != NULL && strcasecmp(tier, tier_clock) == 0 && !is_local)
        return camp_fail(error, CAMP_E_NOTSUP, 0,
                         "%s: --tier %s takes a server on this machine, by the host_name of "
                         "v$instance",
                         source->shown, tier_clock);
    facts->live = true;
    facts->tier = reading->use_clock && is_local ? tier_clock : tier_sql;
    if (facts->tier == tier_sql)
        snprintf(facts->note, sizeof facts->note,
                 "CPU time is DB CPU, which Oracle writes about every 5 s: in shorter "
                 "intervals it is wrong, and so is the unaccounted time%s",
                 is_local ? ""
                          : ". The server is not on this machine, or v$instance does not say so");
    return CAMP_OK;
}

static void set_division(struct source *base, const char *label)
{
    ((struct oracle_source *)base)->sessions.division = session_division_of(label);
}

static int open_oracle(struct oracle_source *source, const char *connect, struct from_facts *facts,
                       struct camp_error *error)
{
    struct session_plan plan = { .name = "oracle",
                                 .detail = source->from.detail,
                                 .has_reported = true,
                                 .wait_provenance = CAMP_MEASURED,
                                 .rules_path = source->from.rules,
                                 .rules_text = session_rules_oracle,
                                 .label_names = oracle_label_names,
                                 .label_count = ORACLE_LABELS };
    int r = start_thread(source, connect, error);

    if (r == CAMP_OK)
        r = read_first_snapshot(source, error);
    if (r == CAMP_OK)
        r = choose_tier(source, facts, error);
    if (r != CAMP_OK)
        return r;
    plan.cpu_provenance = facts->tier == tier_clock ? CAMP_MEASURED : CAMP_SAMPLED;
    r = session_frame_init(&source->sessions, &plan, error);
    if (r != CAMP_OK)
        return r;
    keep_snapshot(source);
    source->end_ns = source->before.at_ns;
    snprintf(facts->kind, sizeof facts->kind, "sessions");
    return CAMP_OK;
}

int oracle_source_open(const struct from *from, const char *connect, struct source **ret,
                       struct from_facts *facts, struct camp_error *error)
{
    struct oracle_source *source = calloc(1, sizeof *source);
    int r;

    if (source == NULL)
        return camp_fail(error, CAMP_E_NOMEM, 0, "no memory for the sessions");
    source->source = (struct source){
        .describe = describe, .next = next, .close = close_source, .set_division = set_division
    };
    source->from = *from;
    snprintf(source->shown, sizeof source->shown, "odbc:%s", facts->name);
    r = open_oracle(source, connect, facts, error);
    if (r != CAMP_OK) {
        close_source(&source->source);
        return r;
    }
    *ret = &source->source;
    return CAMP_OK;
}
