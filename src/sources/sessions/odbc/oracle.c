#include "oracle.h"

#include "counters/error.h"
#include "counters/units.h"
#include "odbc_connection.h"
#include "oracle_inside.h"
#include "sources/remote/retry.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define OPEN_NS ((ODBC_LOGIN_S + ODBC_ANSWER_S) * (uint64_t)NS_PER_S)
#define ANSWER_NS (ODBC_ANSWER_S * (uint64_t)NS_PER_S)
#define POLL_NS (50 * (uint64_t)NS_PER_MS)

static const char tier_clock[] = "schedstat+SQL", tier_sql[] = "SQL";

/* ---------------------------------------------------------------------------- On the thread -- */

static void disconnect(struct reading *reading)
{
    oracle_texts_close(&reading->texts);
    odbc_connection_close(reading->connection);
    reading->connection = NULL;
}

static int connect_anew(struct reading *reading)
{
    const int r = odbc_connection_open(reading->connect, &reading->connection, &reading->error);

    reading->is_there = r == CAMP_OK;
    return r == CAMP_OK ? oracle_texts_open(&reading->texts, reading->connection,
                                            reading->background, &reading->error)
                        : r;
}

/* After a failure the connection is given up: whatever was wrong with it, a new one has not. */
static void look(void *context)
{
    struct reading *reading = context;
    int r = reading->connection == NULL ? connect_anew(reading) : CAMP_OK;

    if (r == CAMP_OK)
        r = oracle_look_read(&reading->look, &reading->texts, reading->use_clock, &reading->error);
    if (r != CAMP_OK)
        disconnect(reading);
    reading->result = r;
}

static void release(void *context)
{
    struct reading *reading = context;

    disconnect(reading);
    oracle_look_release(&reading->look);
    explicit_bzero(reading->connect, sizeof reading->connect);
    free(reading);
}

/* The look becomes the one before; its memory goes back to the thread. */
static void keep(struct oracle_source *source)
{
    const struct oracle_look look = source->before;

    source->before = source->reading->look;
    source->reading->look = look;
    source->has_before = true;
}

/* ---------------------------------------------------------------------------------- Trouble -- */

/* While it lasts each frame says so. What was before is no beginning for what comes after. */
static void begin_trouble(struct oracle_source *source, const char *text)
{
    snprintf(source->note, sizeof source->note, "%s: %s", source->shown, text);
    source->is_in_trouble = true;
    if (source->has_before)
        source->lost = source->before.count;
    source->has_before = false;
}

static void end_trouble(struct oracle_source *source)
{
    source->note[0] = '\0';
    if (source->is_in_trouble)
        snprintf(source->note, sizeof source->note, "%s: answers again", source->shown);
    source->is_in_trouble = false;
    source->failed_in_a_row = 0;
    source->retry_ns = 0;
}

static void put_off(struct oracle_source *source)
{
    source->retry_ns = now_ns(CLOCK_MONOTONIC) + retry_pause_ns(++source->failed_in_a_row, true);
}

/* ----------------------------------------------------------------------------------- Source -- */

static const struct schema *describe(const struct source *base)
{
    return &((const struct oracle_source *)base)->sessions.schema;
}

/* No rows, as nothing is known; those of the last look are partial. */
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

/* After a failure: nobody has an interval yet. */
static void begin_anew(struct oracle_source *source, struct oracle_look *after)
{
    for (size_t i = 0; i < after->count; i++)
        after->sessions[i].is_new =
            oracle_times_before(&source->before, &after->sessions[i]) == NULL;
    fill_empty(source, after->at_ns, after->wall_clock_ns);
}

static int fill_frame(struct oracle_source *source, struct camp_error *error)
{
    struct oracle_look *after = &source->reading->look;
    int r = CAMP_OK;

    if (!source->has_before && after->at_ns < source->end_ns) {
        fill_empty_now(source); /* it is of before what was told already: no beginning */
        return CAMP_OK;
    }
    if (source->has_before) {
        session_frame_begin(&source->sessions, source->before.at_ns, after->at_ns,
                            after->wall_clock_ns);
        r = oracle_rows_fill(source, after);
    } else {
        begin_anew(source, after);
    }
    keep(source);
    return r == CAMP_OK ? r
                        : camp_fail(error, r, 0, "%s: no memory for its sessions", source->shown);
}

/* A connection that is refused for who we are is not tried again: accounts get locked by that. */
static int fail(struct oracle_source *source, struct camp_error *error)
{
    const struct reading *reading = source->reading;

    if (reading->result == CAMP_E_PERM)
        return camp_fail(error, CAMP_E_PERM, 0, "%s: %s", source->shown, reading->error.message);
    begin_trouble(source, reading->error.message);
    put_off(source);
    fill_empty_now(source);
    return CAMP_OK;
}

/* Asks, or goes on waiting for what was asked; not long, once it is in trouble. */
static bool ask(struct oracle_source *source)
{
    const uint64_t patience_ns = source->is_in_trouble ? POLL_NS : ANSWER_NS;

    if (!source->is_asked)
        odbc_thread_begin(source->thread);
    source->is_asked =
        !odbc_thread_wait(source->thread, now_ns(CLOCK_MONOTONIC) + patience_ns, source->from.stop);
    return !source->is_asked;
}

static int next(struct source *base, uint64_t deadline_ns, const struct frame **ret_frame,
                struct camp_error *error)
{
    struct oracle_source *source = (struct oracle_source *)base;
    const volatile sig_atomic_t *stop = source->from.stop;
    int r = CAMP_OK;

    while (source_wait(deadline_ns, UINT64_MAX, stop))
        ;
    if (*stop)
        return SOURCE_END;
    if (!source->is_asked && now_ns(CLOCK_MONOTONIC) < source->retry_ns) {
        fill_empty_now(source);
    } else if (!ask(source)) {
        if (*stop)
            return SOURCE_END;
        if (!source->is_in_trouble)
            begin_trouble(source, "the database does not answer");
        fill_empty_now(source);
    } else if (source->reading->result != CAMP_OK) {
        r = fail(source, error);
    } else {
        end_trouble(source);
        r = fill_frame(source, error);
    }
    source->end_ns = source->sessions.frame.end_ns;
    source->sessions.frame.note = source->note;
    *ret_frame = &source->sessions.frame;
    return r;
}

static void close_source(struct source *base)
{
    struct oracle_source *source = (struct oracle_source *)base;

    odbc_thread_close(source->thread);
    session_frame_release(&source->sessions);
    oracle_look_release(&source->before);
    oracle_times_release(&source->times);
    free(source->kinds);
    free(source);
}

/* ---------------------------------------------------------------------------------- Opening -- */

static int start_thread(struct oracle_source *source, const char *connect, struct camp_error *error)
{
    struct reading *reading = calloc(1, sizeof *reading);

    if (reading == NULL)
        return camp_fail(error, CAMP_E_NOMEM, 0, "%s: no memory", source->shown);
    snprintf(reading->connect, sizeof reading->connect, "%s", connect);
    reading->background = source->from.background;
    reading->use_clock = source->from.tier == NULL || strcasecmp(source->from.tier, tier_sql) != 0;
    source->thread = odbc_thread_open(look, release, reading);
    if (source->thread == NULL) {
        release(reading);
        return camp_fail(error, CAMP_E_NOMEM, 0, "%s: no memory for a thread", source->shown);
    }
    source->reading = reading;
    return CAMP_OK;
}

/* The first look: what fails now, fails. */
static int look_first(struct oracle_source *source, struct camp_error *error)
{
    const struct reading *reading = source->reading;

    odbc_thread_begin(source->thread);
    source->is_asked = true;
    if (!odbc_thread_wait(source->thread, now_ns(CLOCK_MONOTONIC) + OPEN_NS, source->from.stop))
        return camp_fail(error, CAMP_E_GONE, 0, "%s: the database does not answer within %d s",
                         source->shown, (int)(OPEN_NS / NS_PER_S));
    source->is_asked = false;
    if (reading->result != CAMP_OK && reading->is_there)
        return camp_fail(error, reading->result, 0,
                         "%s: v$session: %s; for a database other than Oracle, give --query "
                         "\"select time, entity, ...\"",
                         source->shown, reading->error.message);
    return reading->result == CAMP_OK ? CAMP_OK
                                      : camp_fail(error, reading->result, 0, "%s: %s",
                                                  source->shown, reading->error.message);
}

static int settle_tier(struct oracle_source *source, struct from_facts *facts,
                       struct camp_error *error)
{
    const struct reading *reading = source->reading;
    const char *tier = source->from.tier;
    const bool is_local = reading->texts.is_local;

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
                 "CPU time is DB CPU, which Oracle writes down every 5 s or so: of shorter "
                 "intervals it is wrong, and so is what is unaccounted%s",
                 is_local ? ""
                          : ". The server is not on this machine, or v$instance does not say so");
    return CAMP_OK;
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
        r = look_first(source, error);
    if (r == CAMP_OK)
        r = settle_tier(source, facts, error);
    if (r != CAMP_OK)
        return r;
    plan.cpu_provenance = facts->tier == tier_clock ? CAMP_MEASURED : CAMP_SAMPLED;
    r = session_frame_init(&source->sessions, &plan, error);
    if (r != CAMP_OK)
        return r;
    keep(source);
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
    source->source = (struct source){ describe, next, close_source, NULL };
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
