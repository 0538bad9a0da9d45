#include "mariadb.h"

#include "counters/clock.h"
#include "counters/error.h"
#include "libraries/libmariadb.h"
#include "mariadb_inside.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SLICE_NS (10 * (uint64_t)NS_PER_MS)
/* How long next() waits for an answer at the end of an interval. */
#define ANSWER_NS (300 * (uint64_t)NS_PER_MS)
/* Between two samples with transactions, they account for at most this time. */
#define LONGEST_NS ((uint64_t)NS_PER_S)

static const char *const tier_names[TIER_COUNT] = { "bpf", "schedstat+SQL", "performance_schema",
                                                    "SQL" };

static const struct session_facts *session_facts(const struct source *source)
{
    return &((const struct mariadb_source *)source)->facts;
}

static const struct schema *describe(const struct source *source)
{
    return &((const struct mariadb_source *)source)->sessions_frame.schema;
}

static void set_division(struct source *base, const char *label)
{
    struct mariadb_source *source = (struct mariadb_source *)base;

    source->sessions_frame.division = session_division_of(label);
    source->has_parts =
        source->by_statement && source->sessions_frame.division == SESSION_BY_STATEMENT;
    if (!source->has_parts)
        statement_counts_forget(&source->counts.counts);
}

static struct session_activity activity_of(const void *context, const struct entity *row)
{
    const struct mariadb_source *source = context;
    const struct mariadb_session *session = mariadb_sessions_find(&source->sessions, row->id);

    return session != NULL && labels_count(session->last.kind) > KIND_ACTIVITY
               ? (struct session_activity){ labels_value(session->last.kind, KIND_ACTIVITY),
                                            session->lasting_ns }
               : (struct session_activity){ 0 };
}

/* Adds the rows of an interval. */
static int fill_frame(struct mariadb_source *source)
{
    int r = mariadb_fill_frame(source);

    if (r == CAMP_OK)
        r = mariadb_counts_add_rows(source);
    session_frame_end(&source->sessions_frame, activity_of, source);
    blocker_samples_begin(&source->blockers);
    return r;
}

static int take_snapshot(struct mariadb_source *source, struct camp_error *error)
{
    const uint64_t until_ns = now_ns(CLOCK_MONOTONIC) + ANSWER_NS;
    const bool is_opening = source->sessions_frame.frame.end_ns == 0;
    int r = mariadb_sample(source, until_ns);

    if (r == CAMP_OK)
        r = mariadb_learn_digests(source, until_ns);
    if (r == CAMP_OK)
        mariadb_facts_update(source, until_ns);
    if (r == CAMP_OK)
        r = mariadb_ask_instruments(source, until_ns);
    if (r == CAMP_OK && (source->has_parts || is_opening))
        r = mariadb_counts_read(source);
    if (r == CAMP_OK && source->threads != NULL)
        r = mariadb_threads_snapshot(source->threads, error);
    return r;
}

/* Returns NULL if the frame needs no note. */
static const char *note_of(struct mariadb_source *source)
{
    const struct frame *frame = &source->sessions_frame.frame;

    if (source->failure.message[0] != '\0')
        return source->failure.message;
    if (source->not_instrumented > 0) {
        snprintf(source->note, sizeof source->note,
                 "%zu sessions are not in performance_schema: raise its "
                 "max_thread_instances, or see setup_actors",
                 source->not_instrumented);
        return source->note;
    }
    if (source->tier == TIER_INSTRUMENTS &&
        source->asked_waits.period_ns > frame->end_ns - frame->start_ns)
        return "reading the server's instruments costs more than 1 % of this interval: use a "
               "longer --interval";
    return source->counts.note[0] != '\0' ? source->counts.note : NULL;
}

static int next(struct source *base, uint64_t deadline_ns, const struct frame **ret_frame,
                struct camp_error *error)
{
    struct mariadb_source *source = (struct mariadb_source *)base;
    struct session_frame *sessions = &source->sessions_frame;
    const uint64_t start_ns = sessions->frame.end_ns;
    int r = CAMP_OK;

    if (source->is_answered)
        source->failure = (struct camp_error){ 0 };
    while (r == CAMP_OK && !source_is_over() && source_wait(deadline_ns, SLICE_NS, source->stop)) {
        const uint64_t now = now_ns(CLOCK_MONOTONIC);

        if (mariadb_sample_is_due(source, now) && now + SLICE_NS < deadline_ns) {
            r = mariadb_sample(source, deadline_ns);
            if (r == CAMP_OK)
                r = mariadb_learn_digests(source, deadline_ns);
        }
    }
    if (r == CAMP_OK)
        r = take_snapshot(source, error);
    session_frame_begin(sessions, start_ns, now_ns(CLOCK_MONOTONIC),
                        (int64_t)now_ns(CLOCK_REALTIME));
    sessions->frame.losses = (struct losses){ 0 };
    if (r == CAMP_OK)
        r = fill_frame(source);
    frame_count_lost_labels(&sessions->frame);
    mariadb_sessions_start_interval(&source->sessions);
    sessions->frame.note = note_of(source);
    *ret_frame = &sessions->frame;
    return r;
}

static void close_mariadb(struct source *base)
{
    struct mariadb_source *source = (struct mariadb_source *)base;

    mariadb_client_close(source->client);
    mariadb_thread_release(&source->own);
    mariadb_sessions_release(&source->sessions);
    mariadb_waits_release(&source->waits);
    blocker_samples_release(&source->blockers);
    mariadb_threads_close(source->threads);
    camp_states_close(source->session);
    mariadb_account_release(&source->account);
    mariadb_counts_release(&source->counts);
    mariadb_parts_release(&source->parts);
    mariadb_statements_release(&source->statements);
    session_frame_release(&source->sessions_frame);
    free(source);
}

static int wanted_tier(const char *name, enum tier *ret, struct camp_error *error)
{
    *ret = TIER_COUNT;
    if (name == NULL)
        return CAMP_OK;
    for (int i = 0; i < TIER_COUNT; i++) {
        if (strcasecmp(name, tier_names[i]) == 0) {
            *ret = (enum tier)i;
            return CAMP_OK;
        }
    }
    return camp_fail(error, CAMP_E_INVALID, 0,
                     "mariadb: there is no tier '%s'; the tiers are bpf, schedstat+SQL, "
                     "performance_schema and SQL",
                     name);
}

static int open_tier(struct mariadb_source *source, enum tier tier, struct camp_error *error)
{
    source->tier = tier;
    if (tier <= TIER_SCHEDSTAT && source->server.pid == 0)
        return camp_fail(error, CAMP_E_NOTSUP, 0, "%s", source->server.without_pid);
    if (tier == TIER_INSTRUMENTS && (source->server.instruments & INSTRUMENTS_IDLE) == 0)
        return camp_fail(error, CAMP_E_NOTSUP, 0,
                         "performance_schema is off, its instrument 'idle' is, or it may not be "
                         "read (docs/sessions.md)");
    if (source->server.pid == 0 || tier == TIER_SQL)
        return CAMP_OK;
    if (tier == TIER_BPF && source->session == NULL) {
        *error = source->refusal;
        return error->code;
    }
    return mariadb_threads_open(source->server.pid, tier == TIER_BPF ? source->session : NULL,
                                &source->threads, error);
}

/* Opens the tier `wanted`, whose name is `name`, or the best available tier if `wanted` is
 * TIER_COUNT. Even on CAMP_OK, *error may
 * say why a better tier is unavailable. */
static int choose_tier(struct mariadb_source *source, const char *name, enum tier wanted,
                       struct camp_error *error)
{
    int r = CAMP_OK;

    if (wanted != TIER_COUNT) {
        struct camp_error why = { 0 };

        r = open_tier(source, wanted, &why);
        return r == CAMP_OK ? r
                            : camp_fail(error, r, why.system_error,
                                        "mariadb: tier %s is unavailable: %s", name, why.message);
    }
    for (int i = 0; i < TIER_COUNT; i++) {
        struct camp_error why = { 0 };

        r = open_tier(source, (enum tier)i, &why);
        if (r == CAMP_OK)
            return r;
        if (error->message[0] == '\0')
            *error = why;
    }
    return r;
}

static int open_frame(struct mariadb_source *source, const struct from *from,
                      struct camp_error *error)
{
    const struct session_plan plan = {
        .name = "mariadb",
        .detail = from->detail,
        .has_throttled =
            source->tier == TIER_BPF && mariadb_threads_measure_throttled(source->threads),
        .has_reported = source->tier <= TIER_SCHEDSTAT,
        .cpu_provenance = source->tier == TIER_SQL  ? CAMP_SAMPLED
                          : source->threads != NULL ? CAMP_MEASURED
                                                    : CAMP_UNKNOWN,
        .wait_provenance = source->tier == TIER_SQL           ? CAMP_SAMPLED
                           : source->tier == TIER_INSTRUMENTS ? CAMP_MEASURED
                                                              : CAMP_SCALED,
        .rules_path = from->rules,
        .rules_text = session_rules_mariadb,
        .label_names = from->by_statement ? mariadb_label_names_by_statement
                       : from->queries    ? mariadb_label_names_with_queries
                                          : mariadb_label_names,
        .label_count = MARIADB_LABELS + (size_t)(from->by_statement || from->queries),
        .is_lock = mariadb_is_lock,
        .has_counts = source->counts.is_available,
        .has_lock_time = true,
    };
    const int r = session_frame_init(&source->sessions_frame, &plan, error);

    source->sessions_frame.blockers = &source->blockers;
    source->blockers.longest_ns = LONGEST_NS;
    return r;
}

static void fill_facts(const struct mariadb_source *source, const struct mariadb_options *options,
                       const struct camp_error *why, struct from_facts *facts)
{
    char place[FROM_NAME_SIZE - 16];

    mariadb_options_show(options, place, sizeof place);
    snprintf(facts->name, sizeof facts->name, "%s %s", options->is_mysql ? "mysql" : "mariadb",
             place);
    mariadb_options_from(options, facts->from, sizeof facts->from);
    snprintf(facts->kind, sizeof facts->kind, "sessions");
    facts->tier = tier_names[source->tier];
    facts->live = true;
    facts->server_cpus = session_server_cpus(source->server.pid > 0);
    if (!source->server.has_process)
        snprintf(facts->note, sizeof facts->note,
                 "Sessions of other users are hidden: the right PROCESS is missing");
    else if (source->server.instruments != 0 && source->server.lost > 0)
        snprintf(facts->note, sizeof facts->note,
                 "performance_schema had no space for %" PRIu64
                 " objects, whose waits it does not report: show status like '%%instances_lost'",
                 source->server.lost);
    else if (why->message[0] != '\0')
        snprintf(facts->note, sizeof facts->note, "Tier %s: %s", facts->tier, why->message);
    mariadb_counts_describe(source, facts->note, sizeof facts->note);
}

static int open_server(struct mariadb_source *source, const struct mariadb_options *options,
                       struct camp_error *error)
{
    int r = mariadb_client_open(options, source->stop, &source->client, error);

    if (r != CAMP_OK)
        return r;
    r = mariadb_read_server(source, UINT64_MAX);
    if (r == REMOTE_PENDING)
        return camp_fail(error, CAMP_E_GONE, 0, "MariaDB: interrupted while connecting");
    if (r != CAMP_OK)
        *error = source->failure;
    return r;
}

int mariadb_source_open(const struct from *from, const char *conninfo, struct source **ret,
                        struct from_facts *facts, struct camp_error *error)
{
    struct mariadb_source *source;
    struct mariadb_options options = { 0 };
    struct camp_error why = { 0 };
    enum tier wanted;
    int r = wanted_tier(from->tier, &wanted, error);

    if (r != CAMP_OK)
        return r;
    source = calloc(1, sizeof *source);
    if (source == NULL)
        return camp_fail(error, CAMP_E_NOMEM, 0, "no memory for a source");
    source->source = (struct source){
        .describe = describe,
        .next = next,
        .close = close_mariadb,
        .set_division = set_division,
        .session_facts = session_facts,
    };
    source->wants_facts = from->session_facts;
    source->stop = from->stop;
    source->background = from->background;
    source->queries = from->queries;
    source->by_statement = from->by_statement;
    if (wanted == TIER_BPF || wanted == TIER_COUNT)
        camp_states_open(&source->session, CAMP_STATES_NO_SYSCALLS, &source->refusal);
    if (from->before_server != NULL)
        from->before_server();
    r = library_load(&libmariadb_library, error);
    if (r == CAMP_OK)
        r = mariadb_options_parse(conninfo, &options, error);
    options.is_mysql = from->text != NULL && strncmp(from->text, "mysql:", 6) == 0;
    if (r == CAMP_OK)
        r = open_server(source, &options, error);
    if (r == CAMP_OK) {
        r = choose_tier(source, from->tier, wanted, &why);
        if (r != CAMP_OK)
            *error = why;
    }
    if (r == CAMP_OK && source->tier != TIER_BPF) {
        camp_states_close(source->session);
        source->session = NULL;
    }
    if (r == CAMP_OK) {
        mariadb_counts_open(source);
        r = open_frame(source, from, error);
    }
    if (r == CAMP_OK) {
        mariadb_find_own_thread(source);
        r = take_snapshot(source, error);
    }
    if (r == CAMP_OK) {
        source->sessions_frame.frame.end_ns = now_ns(CLOCK_MONOTONIC);
        r = fill_frame(source);
        mariadb_sessions_start_interval(&source->sessions);
    }
    if (r != CAMP_OK) {
        close_mariadb(&source->source);
        return r;
    }
    fill_facts(source, &options, &why, facts);
    *ret = &source->source;
    return CAMP_OK;
}

/* The first mysql_init() of a process sets up libmariadb, and is not thread-safe. */
static int prepare_library(struct camp_error *error)
{
    MYSQL *mysql;
    const int r = library_load(&libmariadb_library, error);

    if (r != CAMP_OK)
        return r;
    mysql = libmariadb.mysql_init(NULL);
    if (mysql == NULL)
        return camp_fail(error, CAMP_E_NOMEM, 0, "no memory for a connection");
    libmariadb.mysql_close(mysql);
    return CAMP_OK;
}

int mariadb_source_name(const char *conninfo, char *ret, size_t size, struct camp_error *error)
{
    struct mariadb_options options;
    char place[FROM_NAME_SIZE - 16];
    int r = prepare_library(error);

    if (r == CAMP_OK)
        r = mariadb_options_parse(conninfo, &options, error);
    if (r != CAMP_OK)
        return r;
    mariadb_options_show(&options, place, sizeof place);
    snprintf(ret, size, "mariadb %s", place);
    return CAMP_OK;
}
