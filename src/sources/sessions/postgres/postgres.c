#include "postgres.h"

#include "conninfo.h"
#include "counters/error.h"
#include "ledger/words.h"
#include "postgres_inside.h"
#include "sources/sessions/postgres/blockers/postgres_blockers.h"

#include <stdio.h>
#include <stdlib.h>

static void set_division(struct source *base, const char *label)
{
    struct postgres_source *source = (struct postgres_source *)base;

    source->sessions.division = session_division_of(label);
    source->has_parts = source->by_statement && source->sessions.division == SESSION_BY_STATEMENT;
    if (!source->has_parts)
        statement_counts_forget(&source->counts.counts);
}

static const struct frame *beside(const struct source *base)
{
    return session_frame_beside(&((const struct postgres_source *)base)->sessions);
}

static const struct session_facts *session_facts(const struct source *base)
{
    return &((const struct postgres_source *)base)->facts;
}

static const struct schema *describe(const struct source *base)
{
    return &((const struct postgres_source *)base)->sessions.schema;
}

static void collect_losses(struct postgres_source *source)
{
    struct losses *losses = &source->sessions.frame.losses;
    struct backends_losses now = { 0 };

    if (source->backends != NULL)
        backends_losses(source->backends, &now);
    losses->unseen = source->sampler.hidden + counted_since(source->losses.unseen, now.unseen);
    losses->lost = counted_since(source->losses.unwatched, now.unwatched) +
                   counted_since(source->losses.unread, now.unread) +
                   counted_since(source->losses.misaccounted, now.misaccounted);
    source->losses = now;
}

/* Writes the note of the frame. If there was neither an answer nor a failure, the frame keeps the
 * note of the previous frame. */
static void write_note(struct postgres_source *source)
{
    const struct postgres_sampler *sampler = &source->sampler;

    if (sampler->failure[0] != '\0')
        snprintf(source->note, sizeof source->note, "%s", sampler->failure);
    else if (sampler->hidden > 0)
        snprintf(source->note, sizeof source->note,
                 "%zu session%s hidden from this role: grant pg_monitor to it", sampler->hidden,
                 noun_of(sampler->hidden, " is", "s are"));
    else if (sampler->untracked > 0)
        snprintf(source->note, sizeof source->note,
                 "track_activities is off for %zu session%s, so the server does not know what %s: "
                 "set track_activities = on",
                 sampler->untracked, noun_of(sampler->untracked, "", "s"),
                 noun_of(sampler->untracked, "it does", "they do"));
    else if (sampler->snapshot != NULL)
        snprintf(source->note, sizeof source->note, "%s", source->counts.note);
}

static int fill(struct postgres_source *source, struct camp_error *error)
{
    uint64_t end_ns = source->sampler.end_ns, uncounted = 0;
    int r = CAMP_OK;

    write_note(source);
    source->misses_texts = false;
    if (source->tier == POSTGRES_MEMORY && source->memory_samples.is_open)
        end_ns = postgres_memory_samples_end(source);
    else if (source->tier == POSTGRES_BPF)
        /* The accounts are read next, so the interval ends now. */
        end_ns = source_clock_ns(CLOCK_MONOTONIC);
    session_frame_begin(&source->sessions, source->end_ns, end_ns,
                        (int64_t)source_clock_ns(CLOCK_REALTIME));
    child_exits_read(&source->exits, source->postmaster);
    if (source->backends != NULL)
        r = backend_accounts_read(&source->accounts, source->backends, error);
    if (r == CAMP_OK)
        r = postgres_lengths_read(source, &uncounted);
    if (r == CAMP_OK)
        r = source->tier == POSTGRES_BPF ? postgres_rows_of_accounts(source)
                                         : postgres_rows_of_samples(source);
    if (r == CAMP_OK)
        r = postgres_lengths_add_other(source);
    if (r == CAMP_OK)
        r = postgres_counts_add_rows(source);
    postgres_blockers_end(source);
    collect_losses(source);
    source->sessions.frame.losses.lost += uncounted;
    frame_count_lost_labels(&source->sessions.frame);
    if (source->tier == POSTGRES_MEMORY)
        sampled_times_begin(&source->memory_samples.times, end_ns);
    postgres_tier_follow_restart(source);
    postgres_registry_forget(&source->registry, source->snapshots);
    source->snapshots = source->registry.snapshots;
    source->end_ns = end_ns;
    source->sessions.frame.note = source->note;
    return r;
}

static int next(struct source *base, uint64_t deadline_ns, const struct frame **ret_frame,
                struct camp_error *error)
{
    struct postgres_source *source = (struct postgres_source *)base;
    int r = postgres_sampler_next(source, deadline_ns, error);

    if (r == CAMP_OK && source->has_parts)
        postgres_counts_read(source);
    if (r == CAMP_OK)
        r = fill(source, error);
    *ret_frame = &source->sessions.frame;
    return r;
}

static void close_postgres(struct source *base)
{
    struct postgres_source *source = (struct postgres_source *)base;

    postgres_tier_close(source);
    postgres_tier_close_backends(source);
    postgres_sampler_close(source);
    child_exits_close(&source->exits);
    postgres_registry_release(&source->registry);
    postgres_events_release(&source->events);
    session_frame_release(&source->sessions);
    postgres_parts_release(&source->parts);
    postgres_statements_release(&source->texts);
    postgres_counts_release(&source->counts);
    postgres_lengths_release(&source->lengths);
    free(source->times);
    free(source->statements);
    free(source->names);
    free(source->conninfo);
    free(source);
}

static int open_frame(struct postgres_source *source, const struct from *from,
                      struct camp_error *error)
{
    const struct session_plan plan = {
        .name = "postgres",
        .detail = from->detail,
        .has_throttled =
            source->tier == POSTGRES_BPF && backends_measure_throttled(source->backends),
        .has_reported = source->tier != POSTGRES_SQL,
        .has_sampled = postgres_tiers[source->tier].waits == CAMP_SCALED,
        .has_counts = source->counts.is_available,
        .has_lengths = source->lengths.is_open,
        .has_planning = source->counts.extension.counts_planning,
        .cpu_provenance = source->tier == POSTGRES_SQL ? CAMP_SAMPLED : CAMP_MEASURED,
        .wait_provenance = postgres_tiers[source->tier].waits,
        .rules_path = from->rules,
        .rules_text = session_rules_postgres,
        .label_names =
            source->by_statement ? postgres_label_names_by_statement : postgres_label_names,
        .label_count = POSTGRES_LABELS,
        .has_wakers = source->tier == POSTGRES_BPF,
        .is_lock = source->tier == POSTGRES_BPF ? postgres_is_any_lock : postgres_is_lock,
        .is_sampled_lock = postgres_is_lock,
    };
    int r;

    session_frame_release(&source->sessions); /* the first snapshot looked for states in it */
    r = session_frame_init(&source->sessions, &plan, error);
    source->sessions.blockers = &source->sampler.blockers;
    return r;
}

static void fill_facts(const struct postgres_source *source, const struct camp_error *why,
                       struct from_facts *facts)
{
    char place[FROM_NAME_SIZE];

    conninfo_shown(source->conninfo, facts->name, sizeof facts->name);
    conninfo_without_secrets(source->conninfo, place, sizeof place);
    if (place[0] != '\0' || source->conninfo[0] == '\0')
        snprintf(facts->from, sizeof facts->from, "postgres:%s", place);
    snprintf(facts->kind, sizeof facts->kind, "sessions");
    facts->tier = postgres_tiers[source->tier].name;
    facts->live = true;
    facts->server_cpus = session_server_cpus(source->registry.is_local);
    if (why->message[0] != '\0')
        snprintf(facts->note, sizeof facts->note, "Not measured: %s", why->message);
    else if (!source->exits.is_open &&
             (source->tier == POSTGRES_MEMORY || source->tier == POSTGRES_GATED))
        snprintf(facts->note, sizeof facts->note,
                 "Sessions that end lose the CPU time since their last sample: %s",
                 source->why_no_exits.message);
}

/* Called when the first interval starts, so that earlier CPU time is in no interval. */
static void read_clocks(struct postgres_source *source)
{
    for (size_t i = 0; i < source->registry.count; i++) {
        struct postgres_process *process = &source->registry.processes[i];

        if (process->has_task)
            proc_clock_read(&process->task, &process->clock, NULL);
        process->clock_cpu_ns = 0;
    }
}

/* Whether the server computes ids of statements, without which time cannot be divided by statement.
 */
static void check_statements(struct postgres_source *source, struct from_facts *facts)
{
    const struct postgres_snapshot *snapshot = source->sampler.snapshot;

    if (!source->by_statement || (snapshot != NULL && snapshot->own_query_id != 0))
        return;
    source->by_statement = false;
    facts->no_statements = snapshot != NULL && snapshot->version < POSTGRES_HAS_QUERY_ID
                               ? "PostgreSQL has ids of statements from version 14 on, so upgrade"
                               : "the server computes no ids of statements: set compute_query_id = "
                                 "on in postgresql.conf, and reload it";
}

static int open_all(struct postgres_source *source, const struct from *from,
                    struct from_facts *facts, struct camp_error *error)
{
    struct backends_place nowhere = { .by_statement = from->by_statement,
                                      .lengths = from->lengths,
                                      .by_blocker = 1 };
    const struct postgres_contents contents = { .queries = from->queries,
                                                .facts = from->session_facts };
    struct camp_error why = { 0 };
    enum postgres_tier first, last;
    int r = postgres_tier_parse(from->tier, &first, &last, error);

    if (r == CAMP_OK && first == POSTGRES_BPF &&
        backends_open(&source->backends, &nowhere, &source->refusal) != CAMP_OK &&
        from->lengths_if_known) {
        nowhere.lengths = false;
        backends_open(&source->backends, &nowhere, &source->refusal);
    }
    if (r == CAMP_OK && first <= POSTGRES_GATED && last >= POSTGRES_MEMORY)
        child_exits_open(&source->exits, &source->why_no_exits);
    if (from->before_server != NULL)
        from->before_server();
    if (r == CAMP_OK)
        r = library_load(&libpq_library, error);
    if (r == CAMP_OK)
        r = postgres_sampler_open(source, &contents, error);
    if (r != CAMP_OK)
        return r;
    write_note(source);
    source->connection = source->sampler.connection;
    check_statements(source, facts);
    source->accounts.by_statement = source->by_statement;
    source->accounts.by_blocker = source->backends != NULL;
    r = postgres_tier_open(source, first, last, &why);
    if (r != CAMP_OK)
        return camp_fail(error, r, why.system_error, "%s", why.message);
    if (from->lengths && !from->lengths_if_known && source->tier != POSTGRES_BPF)
        return camp_fail(error, why.code != CAMP_OK ? why.code : CAMP_E_NOTSUP, why.system_error,
                         "--why: how long a wait lasts is seen only on tier bpf%s%s",
                         why.message[0] != '\0' ? ": " : "", why.message);
    source->lengths.is_open = nowhere.lengths && source->tier == POSTGRES_BPF;
    if (source->tier != POSTGRES_BPF)
        postgres_tier_close_backends(source);
    if (source->tier != POSTGRES_MEMORY && source->tier != POSTGRES_GATED)
        child_exits_close(&source->exits);
    postgres_counts_open(source);
    r = open_frame(source, from, error);
    fill_facts(source, &why, facts);
    postgres_counts_describe(source, facts->note, sizeof facts->note);
    if (r == CAMP_OK) /* The set-up takes some 0.3 s, so the first interval starts after it. */
        r = postgres_sampler_next(source, source_clock_ns(CLOCK_MONOTONIC), error);
    if (r == CAMP_OK)
        postgres_counts_read(source);
    write_note(source);
    source->end_ns = source->sampler.end_ns;
    read_clocks(source);
    if (r == CAMP_OK && source->backends != NULL)
        r = backend_accounts_read(&source->accounts, source->backends, error);
    if (source->tier == POSTGRES_MEMORY)
        sampled_times_begin(&source->memory_samples.times, source->end_ns);
    return r;
}

int postgres_source_open(const struct from *from, const char *conninfo, struct source **ret,
                         struct from_facts *facts, struct camp_error *error)
{
    struct postgres_source *source = calloc(1, sizeof *source);
    int r = CAMP_E_NOMEM;

    if (source == NULL)
        return camp_fail(error, r, 0, "no memory for a source");
    source->source = (struct source){ .describe = describe,
                                      .next = next,
                                      .close = close_postgres,
                                      .beside = beside,
                                      .set_division = set_division,
                                      .session_facts = session_facts };
    source->stop = from->stop;
    source->background = from->background;
    source->by_statement = from->by_statement;
    source->queries = from->queries;
    source->conninfo = conninfo_of_address(conninfo);
    source->tier = POSTGRES_SQL;
    if (source->conninfo != NULL)
        r = open_all(source, from, facts, error);
    if (r == CAMP_OK)
        *ret = &source->source;
    else
        close_postgres(&source->source);
    return r;
}

int postgres_source_name(const char *conninfo, char *ret, size_t size, struct camp_error *error)
{
    int r = library_load(&libpq_library, error);
    char *address;

    if (r != CAMP_OK)
        return r;
    address = conninfo_of_address(conninfo);
    if (address == NULL)
        return camp_fail(error, CAMP_E_NOMEM, 0, "no memory for a source");
    conninfo_shown(address, ret, size);
    free(address);
    return CAMP_OK;
}
