/*
 * The metrics of database sessions: the sums of exported_reader.h as series. With several servers
 * each has series of its own (struct exported_sessions), which exported_servers.c joins.
 */
#include "exported_sessions.h"

#include "counters/error.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The table has neither the label nor the provenance, which depend on the source. */
static void describe(struct exported *exported, const char *label)
{
    struct exported_sessions *sessions = exported->sessions;
    const struct column *columns =
        sessions->reader->source->describe(sessions->reader->source)->columns;
    const size_t *states = sessions->server->sums.columns;

    sessions->cpu = camp_provenance_name((int)columns[states[SESSION_CPU]].provenance);
    sessions->waits = camp_provenance_name((int)columns[states[SESSION_WAIT]].provenance);
    for (size_t i = SESSION_TIME; i <= SESSION_RETIRED_STATE; i++) {
        struct metric *metric = &sessions->metrics[i];

        *metric = exported_table[i];
        metric->provenance = columns[states[SESSION_WAIT]].provenance;
        if (i == SESSION_TIME || i == SESSION_STATE)
            metric->labels[0] = label;
        exported->families[i].metric = metric;
    }
}

static int make_series(struct exported *exported)
{
    struct exported_sessions *sessions = exported->sessions;
    const size_t groups = exported->groups + 1;

    sessions->series[0] = calloc(groups, sizeof *sessions->series[0]);
    sessions->series[1] = calloc(groups * SESSION_SUM_STATES, sizeof *sessions->series[1]);
    sessions->names = calloc(groups, sizeof *sessions->names);
    if (sessions->series[0] == NULL || sessions->series[1] == NULL || sessions->names == NULL)
        return CAMP_E_NOMEM;
    exported->families[SESSION_TIME].series = sessions->series[0];
    exported->families[SESSION_STATE].series = sessions->series[1];
    return CAMP_OK;
}

int exported_sessions_open_server(struct exported_reader *reader, size_t at,
                                  const struct exported_sessions_options *options,
                                  struct exported **ret)
{
    struct exported *exported = calloc(1, sizeof *exported);
    struct exported_sessions *sessions = calloc(1, sizeof *sessions);
    int r = exported != NULL && sessions != NULL ? CAMP_OK : CAMP_E_NOMEM;

    if (r != CAMP_OK) {
        free(exported);
        free(sessions);
        return r;
    }
    exported->sessions = sessions;
    exported->groups = options->groups;
    sessions->reader = reader;
    sessions->server = &reader->servers[at];
    r = exported_make_series(exported);
    if (r == CAMP_OK)
        r = make_series(exported);
    if (r != CAMP_OK) {
        exported_close(exported);
        return r;
    }
    describe(exported, reader->source->describe(reader->source)->label_names[options->label]);
    *ret = exported;
    return CAMP_OK;
}

/* Called by exported_close(). */
void exported_sessions_close(struct exported *exported)
{
    struct exported_sessions *sessions = exported->sessions;

    if (sessions == NULL)
        return;
    exported_servers_close(sessions);
    free(sessions->series[0]);
    free(sessions->series[1]);
    free(sessions->names);
    free(sessions);
}

static void add_series(struct exported *exported, const char *name, const uint64_t *values)
{
    struct exported_sessions *sessions = exported->sessions;
    struct metric_family *times = &exported->families[SESSION_TIME];
    struct metric_family *states = &exported->families[SESSION_STATE];
    char *copy = sessions->names[times->count];

    snprintf(copy, sizeof *sessions->names, "%s", name);
    times->series[times->count++] =
        (struct series){ { copy }, values[SESSION_SUM_ELAPSED], true, NULL };
    for (size_t i = 0; i < SESSION_SUM_STATES; i++) {
        if ((sessions->server->sums.known >> i & 1) != 0)
            states->series[states->count++] =
                (struct series){ { copy, session_sum_names[i] }, values[i], true, NULL };
    }
}

static void fill_times(struct exported *exported)
{
    const struct session_sums *sums = &exported->sessions->server->sums;
    const struct top_k *top = &sums->top;

    exported->families[SESSION_TIME].count = 0;
    exported->families[SESSION_STATE].count = 0;
    for (size_t i = 0; i < top->count; i++) {
        if (top->groups[i].shown != NULL)
            add_series(exported, top->groups[i].name, top->groups[i].shown);
    }
    add_series(exported, "other", top->other);
    exported_set(exported, SESSION_RETIRED_TIME, 0, top->retired[SESSION_SUM_ELAPSED]);
    for (size_t i = 0; i < SESSION_SUM_STATES; i++) {
        if ((sums->known >> i & 1) != 0)
            exported_set(exported, SESSION_RETIRED_STATE, i, top->retired[i]);
    }
    exported_set(exported, SESSION_UNACCOUNTED, 0, sums->unaccounted_ns);
    exported_set(exported, SESSION_OVERLAPPING, 0, sums->overlapping_ns);
}

/* A gauge of which nothing is known is absent. */
static void set_gauge(struct exported *exported, enum exported_family family, size_t at,
                      bool is_known, uint64_t value)
{
    exported->families[family].series[at].known = false;
    if (is_known)
        exported_set(exported, family, at, value);
}

static void set_age(struct exported *exported, enum exported_family family, bool is_up,
                    const struct session_age *age)
{
    set_gauge(exported, family, 0, is_up && age->is_known, age->ns);
}

static void fill_facts(struct exported *exported)
{
    const struct exported_sessions *sessions = exported->sessions;
    const struct session_facts *facts = &sessions->server->facts;
    const bool is_up = exported_reader_is_up(sessions->reader, sessions->server);
    const uint64_t counts[] = {
        facts->counts[SESSION_CPU],  facts->counts[SESSION_CONTENTION],
        facts->counts[SESSION_WAIT], facts->counts[SESSION_IDLE],
        facts->in_transaction,       facts->untracked,
    };

    exported_set(exported, SERVER_UP, 0, is_up);
    for (size_t i = 0; i < ARRAY_COUNT(counts); i++)
        set_gauge(exported, SESSION_COUNT, i, is_up, counts[i]);
    set_gauge(exported, SESSION_HIDDEN, 0, is_up && !facts->hides_some, facts->hidden);
    set_age(exported, SESSION_TRANSACTION, is_up, &facts->transaction);
    set_age(exported, SESSION_IDLE_IN_TRANSACTION, is_up, &facts->idle_in_transaction);
    set_age(exported, SESSION_BLOCKER, is_up, &facts->blocker);
}

static void fill_server(struct exported *exported)
{
    struct exported_sessions *sessions = exported->sessions;
    const struct exported_server *server = sessions->server;
    struct series *info = exported->families[SERVER_INFO].series;

    if (sessions->reader->end_ns != 0)
        exported_set(exported, SESSION_CLOCK, 0, sessions->reader->end_ns);
    exported_set(exported, SESSION_LOST, 0, server->losses.unseen);
    exported_set(exported, SESSION_LOST, 1, server->losses.lost);
    exported_set(exported, SESSION_LOST, 2, server->losses.partial);
    exported_set(exported, SERVER_UNANSWERED, 0, server->unanswered_ns);
    info->labels[0] = server->kind != NULL ? server->kind : "";
    info->labels[1] = server->tier != NULL ? server->tier : "";
    info->labels[2] = sessions->cpu;
    info->labels[3] = sessions->waits;
    if (server->kind != NULL)
        exported_set(exported, SERVER_INFO, 0, 1);
    exported_set(exported, SELF_GROUPS, 0, server->sums.top.count);
    exported_set(exported, SELF_DEMOTED, 0, server->sums.top.demoted);
    exported_set(exported, SELF_DEFERRED, 0, server->sums.top.deferred);
}

void exported_sessions_fill(struct exported *exported)
{
    fill_times(exported);
    fill_facts(exported);
    fill_server(exported);
}
