/* Joins the series of the servers whose sessions are exported. With several servers each series has
 * a further label, "server", and that of SERVER_INFO is called "kind". */
#include "exported_sessions.h"

#include "counters/clock.h"
#include "counters/error.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SERVER_LABEL "server"
#define KIND_LABEL "kind"

static size_t label_count(const struct metric *metric)
{
    size_t count = 0;

    while (count < METRIC_LABELS && metric->labels[count] != NULL)
        count++;
    return count;
}

static bool is_of_server(size_t family)
{
    return family >= SESSION_TIME && family <= SERVER_INFO;
}

/* Makes the metrics and the space of the joined series. */
static int prepare_families(struct exported *exported)
{
    struct exported_sessions *sessions = exported->sessions;

    for (size_t i = SESSION_TIME; i <= SERVER_INFO; i++) {
        const struct metric_family *of_first = &sessions->servers[0]->families[i];
        const size_t most = i == SESSION_TIME    ? exported->groups + 1
                            : i == SESSION_STATE ? (exported->groups + 1) * SESSION_SUM_STATES
                                                 : of_first->count;

        sessions->metrics[i] = *of_first->metric;
        if (sessions->server_count > 1 && i == SERVER_INFO)
            sessions->metrics[i].labels[0] = KIND_LABEL;
        if (sessions->server_count > 1)
            sessions->metrics[i].labels[label_count(of_first->metric)] = SERVER_LABEL;
        sessions->most[i] = most * sessions->server_count;
        sessions->joined[i] = calloc(sessions->most[i], sizeof *sessions->joined[i]);
        if (sessions->joined[i] == NULL)
            return CAMP_E_NOMEM;
        exported->families[i] =
            (struct metric_family){ &sessions->metrics[i], sessions->joined[i], 0 };
    }
    return CAMP_OK;
}

static int open_servers(struct exported *exported, const struct exported_sessions_options *options)
{
    struct exported_sessions *sessions = exported->sessions;
    const size_t count = sessions->reader->server_count;
    int r = CAMP_OK;

    sessions->servers = calloc(count, sizeof(struct exported *));
    if (sessions->servers == NULL)
        return CAMP_E_NOMEM;
    for (size_t i = 0; i < count && r == CAMP_OK; i++) {
        r = exported_sessions_open_server(sessions->reader, i, options, &sessions->servers[i]);
        sessions->server_count += r == CAMP_OK;
    }
    if (r == CAMP_OK)
        r = exported_make_series(exported);
    return r == CAMP_OK ? prepare_families(exported) : r;
}

int exported_sessions_open(const struct exported_sessions_options *options, struct exported **ret,
                           struct camp_error *error)
{
    struct exported *exported = calloc(1, sizeof *exported);
    struct exported_sessions *sessions = calloc(1, sizeof *sessions);
    struct exported_reader *reader = calloc(1, sizeof *reader);
    int r;

    if (exported == NULL || sessions == NULL || reader == NULL) {
        source_close(options->source);
        free(exported);
        free(sessions);
        free(reader);
        return camp_fail(error, CAMP_E_NOMEM, 0, "no memory");
    }
    exported->sessions = sessions;
    exported->groups = options->groups;
    exported->tier = options->tier;
    exported->start_wall_ns = now_ns(CLOCK_REALTIME);
    snprintf(exported->note, sizeof exported->note, "%s", options->note);
    sessions->reader = reader;
    r = exported_reader_open(reader, options);
    if (r == CAMP_OK)
        r = open_servers(exported, options);
    if (r == CAMP_OK)
        *ret = exported;
    else
        exported_close(exported);
    return r == CAMP_OK ? r : camp_fail(error, r, 0, "no memory for the sessions");
}

void exported_servers_close(struct exported_sessions *sessions)
{
    if (sessions->server != NULL)
        return;
    exported_reader_close(sessions->reader);
    free(sessions->reader);
    for (size_t i = 0; i < sessions->server_count; i++)
        exported_close(sessions->servers[i]);
    for (size_t i = 0; i < EXPORTED_FAMILY_COUNT; i++)
        free(sessions->joined[i]);
    free(sessions->servers);
}

static void join_family(struct exported *exported, size_t at)
{
    const struct exported_sessions *sessions = exported->sessions;
    struct metric_family *family = &exported->families[at];

    family->count = 0;
    for (size_t i = 0; i < sessions->server_count; i++) {
        const struct metric_family *of_server = &sessions->servers[i]->families[at];
        const size_t labels = label_count(of_server->metric);

        for (size_t k = 0; k < of_server->count && family->count < sessions->most[at]; k++) {
            struct series *series = &family->series[family->count++];

            *series = of_server->series[k];
            if (sessions->server_count > 1)
                series->labels[labels] = sessions->servers[i]->sessions->server->name;
        }
    }
}

/* Adds up what each server has of the exporter's own groups. */
static void join_own(struct exported *exported, enum exported_family family)
{
    const struct exported_sessions *sessions = exported->sessions;
    uint64_t sum = 0;

    for (size_t i = 0; i < sessions->server_count; i++)
        sum += sessions->servers[i]->families[family].series[0].value;
    exported_set(exported, family, 0, sum);
}

/* Writes the notes of the servers that have one. */
static void join_notes(struct exported_sessions *sessions)
{
    size_t length = 0;

    sessions->note[0] = '\0';
    for (size_t i = 0; i < sessions->server_count && length < sizeof sessions->note; i++) {
        const struct exported_server *server = sessions->servers[i]->sessions->server;

        if (server->note[0] != '\0')
            length += (size_t)snprintf(sessions->note + length, sizeof sessions->note - length,
                                       "%s%s%s%s", length > 0 ? "; " : "",
                                       server->name != NULL ? server->name : "",
                                       server->name != NULL ? ": " : "", server->note);
    }
}

void exported_sessions_read(struct exported *exported)
{
    struct exported_sessions *sessions = exported->sessions;

    pthread_mutex_lock(&sessions->reader->lock);
    exported_reader_end_interval(sessions->reader);
    for (size_t i = 0; i < sessions->server_count; i++)
        exported_sessions_fill(sessions->servers[i]);
    sessions->cpu_ns = sessions->reader->cpu_ns;
    join_notes(sessions);
    pthread_mutex_unlock(&sessions->reader->lock);
    for (size_t i = 0; i < EXPORTED_FAMILY_COUNT; i++) {
        if (is_of_server(i))
            join_family(exported, i);
    }
    join_own(exported, SELF_GROUPS);
    join_own(exported, SELF_DEMOTED);
    join_own(exported, SELF_DEFERRED);
}

const char *exported_sessions_note(const struct exported *exported)
{
    return exported->sessions->note;
}

uint64_t exported_sessions_cpu_ns(const struct exported *exported)
{
    return exported->sessions != NULL ? exported->sessions->cpu_ns : 0;
}
