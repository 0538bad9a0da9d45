#include "exported_reader.h"

#include "counters/clock.h"
#include "exported_inside.h"
#include "sources/servers/servers.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#define PERIOD_NS ((uint64_t)NS_PER_S)
/* Sums that are at most so old are shown as they are. Each end of an interval asks the server for
 * the names of all sessions, so frequent requests must not end intervals as often. */
#define FRESH_NS (250 * (uint64_t)NS_PER_MS)
#define ANSWER_NS (500 * (uint64_t)NS_PER_MS) /* the longest wait for the end of an interval */
#define SILENT_NS                                                                                  \
    (3 * (uint64_t)NS_PER_S) /* without an interval for so long, the server counts as down */

static _Thread_local const struct exported_reader *of_this_thread;

static bool shall_end(void)
{
    return atomic_load(&of_this_thread->is_ending);
}

static bool shall_close(void)
{
    return atomic_load(&of_this_thread->is_closing);
}

/* Returns what a server reported in an interval. */
static struct server_report report_of(const struct exported_reader *reader, size_t at,
                                      const struct frame *frame)
{
    const struct source *source = reader->source;

    if (reader->has_several)
        return servers_source_report(source, at);
    return (struct server_report){ .kind = reader->servers[at].kind,
                                   .tier = reader->servers[at].tier,
                                   .facts = *source->session_facts(source),
                                   .losses = frame->losses,
                                   .note = frame->note };
}

/* Called with the lock. `number` is that of the server in the ids of rows. */
static int add_server(struct exported_server *server, size_t number,
                      const struct server_report *report, const struct frame *frame)
{
    const uint64_t hidden = report->facts.hidden;

    server->kind = report->kind;
    server->tier = report->tier;
    server->facts = report->facts;
    if (!report->facts.is_answered)
        server->unanswered_ns += frame->end_ns - frame->start_ns;
    /* Hidden sessions are not lost: they have a metric of their own. */
    server->losses.unseen += report->losses.unseen > hidden ? report->losses.unseen - hidden : 0;
    server->losses.lost += report->losses.lost;
    server->losses.partial += report->losses.partial;
    snprintf(server->note, sizeof server->note, "%s", report->note != NULL ? report->note : "");
    return session_sums_add(&server->sums, frame, number);
}

/* Called with the lock. */
static int add_interval(struct exported_reader *reader, const struct frame *frame)
{
    int r = CAMP_OK;

    reader->end_ns = frame->end_ns;
    for (size_t i = 0; i < reader->server_count && r == CAMP_OK; i++) {
        const struct server_report report = report_of(reader, i, frame);

        r = add_server(&reader->servers[i], reader->has_several ? i + 1 : 0, &report, frame);
    }
    return r;
}

static void fail(struct exported_reader *reader, const char *message)
{
    for (size_t i = 0; i < reader->server_count; i++) {
        struct exported_server *server = &reader->servers[i];

        server->facts.is_answered = false;
        snprintf(server->note, sizeof server->note, "%s",
                 message[0] != '\0' ? message : "no memory for the sessions");
    }
}

static void read_interval(struct exported_reader *reader)
{
    const uint64_t cpu_ns = now_ns(CLOCK_THREAD_CPUTIME_ID);
    struct camp_error error = { 0 };
    const struct frame *frame;
    int r =
        reader->source->next(reader->source, now_ns(CLOCK_MONOTONIC) + PERIOD_NS, &frame, &error);

    pthread_mutex_lock(&reader->lock);
    if (r == CAMP_OK)
        r = add_interval(reader, frame);
    if (r != CAMP_OK)
        fail(reader, error.message);
    reader->cpu_ns += now_ns(CLOCK_THREAD_CPUTIME_ID) - cpu_ns;
    reader->answered = reader->asked;
    atomic_store(&reader->is_ending, atomic_load(&reader->is_closing));
    pthread_cond_broadcast(&reader->ended);
    pthread_mutex_unlock(&reader->lock);
    if (r != CAMP_OK)
        source_wait(now_ns(CLOCK_MONOTONIC) + PERIOD_NS, PERIOD_NS, &exported_goes_on);
}

static void *read_intervals(void *context)
{
    struct exported_reader *reader = context;

    of_this_thread = reader;
    source_ends_early = shall_end;
    source_interrupted = shall_close;
    while (!atomic_load(&reader->is_closing))
        read_interval(reader);
    return NULL;
}

/* All signals stay with the thread that handles them. */
static int start_thread(struct exported_reader *reader)
{
    sigset_t all, before;

    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &before);
    reader->has_thread = pthread_create(&reader->thread, NULL, read_intervals, reader) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return reader->has_thread ? CAMP_OK : CAMP_E_NOMEM;
}

static void init_lock(struct exported_reader *reader)
{
    pthread_condattr_t attributes;

    pthread_mutex_init(&reader->lock, NULL);
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&reader->ended, &attributes);
    pthread_condattr_destroy(&attributes);
}

static int open_server(struct exported_reader *reader, size_t at,
                       const struct exported_sessions_options *options)
{
    struct exported_server *server = &reader->servers[at];

    if (reader->has_several) {
        server->name = servers_source_report(options->source, at).name;
    } else {
        server->facts = *options->source->session_facts(options->source);
        server->kind = options->server;
        server->tier = options->tier;
    }
    return session_sums_init(&server->sums, options->source->describe(options->source),
                             options->label, options->groups, options->new_groups);
}

int exported_reader_open(struct exported_reader *ret,
                         const struct exported_sessions_options *options)
{
    int r = CAMP_OK;

    init_lock(ret);
    ret->source = options->source;
    ret->has_several = options->has_several;
    ret->server_count = options->has_several ? servers_source_count(options->source) : 1;
    ret->servers = calloc(ret->server_count, sizeof *ret->servers);
    if (ret->servers == NULL)
        return CAMP_E_NOMEM;
    for (size_t i = 0; i < ret->server_count && r == CAMP_OK; i++)
        r = open_server(ret, i, options);
    return r == CAMP_OK ? start_thread(ret) : r;
}

void exported_reader_close(struct exported_reader *reader)
{
    atomic_store(&reader->is_closing, true);
    atomic_store(&reader->is_ending, true);
    if (reader->has_thread)
        pthread_join(reader->thread, NULL);
    source_close(reader->source);
    for (size_t i = 0; reader->servers != NULL && i < reader->server_count; i++)
        session_sums_release(&reader->servers[i].sums);
    free(reader->servers);
    pthread_cond_destroy(&reader->ended);
    pthread_mutex_destroy(&reader->lock);
}

void exported_reader_end_interval(struct exported_reader *reader)
{
    const uint64_t now = now_ns(CLOCK_MONOTONIC), until_ns = now + ANSWER_NS;
    const struct timespec until = { (time_t)(until_ns / NS_PER_S), (long)(until_ns % NS_PER_S) };
    uint64_t wanted;
    int r = 0;

    if (reader->end_ns + FRESH_NS > now)
        return;
    wanted = ++reader->asked;
    atomic_store(&reader->is_ending, true);
    while (reader->answered < wanted && r == 0)
        r = pthread_cond_timedwait(&reader->ended, &reader->lock, &until);
}

bool exported_reader_is_up(const struct exported_reader *reader,
                           const struct exported_server *server)
{
    return server->facts.is_answered && now_ns(CLOCK_MONOTONIC) < reader->end_ns + SILENT_NS;
}
