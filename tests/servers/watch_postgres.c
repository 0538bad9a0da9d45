/*
 * watch_postgres CONNINFO INTERVALS MS [RATE] [background] [queries]: prints what the sampler
 * samples, a line for each interval and for each session in it. A failure is a message on stderr,
 * with exit status 1.
 *
 *      interval 1002.1 ms  looks 11  local yes  connected yes  hidden 0  connections 1  rate 10.0
 *      session 123 app  R 1002.1  new no  ended no
 *        Lock/relation/active/client_backend  told 1002.1  asleep 1000.0
 */
#include "libraries/libpq.h"
#include "sources/sessions/postgres/conninfo.h"
#include "sources/sessions/postgres/postgres_sampler.h"
#include "sources/source.h"

#include "counters/units.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static volatile sig_atomic_t stop;

static void take_signal(int number)
{
    (void)number;
    stop = 1;
}

static double ms(uint64_t ns)
{
    return (double)ns / NS_PER_MS;
}

static const char *yes(bool is)
{
    return is ? "yes" : "no";
}

/* By the last snapshot. */
static const struct postgres_session *look_at(const struct postgres_snapshot *snapshot,
                                              const struct sampled_session *session)
{
    for (size_t i = 0; snapshot != NULL && i < snapshot->count; i++) {
        if (snapshot->sessions[i].pid == session->id &&
            snapshot->sessions[i].start_us == session->start)
            return &snapshot->sessions[i];
    }
    return NULL;
}

static void print_session(const struct postgres_snapshot *snapshot,
                          const struct sampled_session *session)
{
    const struct postgres_session *seen = look_at(snapshot, session);

    printf("session %" PRId64 " %s  R %.1f  new %s  ended %s  client %s  leader %d\n", session->id,
           seen != NULL ? seen->application : "-", ms(session->elapsed_ns), yes(session->is_new),
           yes(session->is_ended), seen != NULL ? seen->client : "-",
           seen != NULL ? seen->leader_pid : 0);
    if (seen != NULL && seen->query[0] != '\0')
        printf("  query %s\n", seen->query);
    for (size_t i = 0; i < session->time_count; i++) {
        const struct sampled_time *time = &session->times[i];

        printf("  %s/%s/%s/%s  told %.1f  asleep %.1f\n", labels_value(time->kind, SESSION_CLASS),
               labels_value(time->kind, SESSION_EVENT), labels_value(time->kind, SESSION_ACTIVITY),
               labels_value(time->kind, SESSION_TYPE), ms(time->reported_ns), ms(time->asleep_ns));
    }
}

static void print_interval(const struct postgres_sampler *sampler, uint64_t end_ns)
{
    const struct sampled_times *times = postgres_sampler_times(sampler);
    struct postgres_sampler_facts facts;
    static uint64_t answers;

    postgres_sampler_facts(sampler, &facts);
    printf("interval %.1f ms  looks %" PRIu64
           "  local %s  connected %s  hidden %zu  connections %" PRIu64
           "  rate %.2f  share %.3f %%\n",
           ms(end_ns - times->begin_ns), facts.client.answers - answers, yes(facts.is_local),
           yes(facts.is_connected), facts.hidden, facts.client.connections, facts.rate,
           100 * facts.share);
    answers = facts.client.answers;
    if (facts.failure[0] != '\0')
        printf("failure %s\n", facts.failure);
    for (size_t i = 0; i < times->count; i++)
        print_session(postgres_sampler_snapshot(sampler), times->sessions[i]);
    fflush(stdout);
}

static int watch(struct postgres_sampler *sampler, int intervals, uint64_t interval_ns)
{
    uint64_t due_ns = source_clock_ns(CLOCK_MONOTONIC), end_ns;
    struct camp_error error;

    while (intervals-- > 0 && !stop) {
        due_ns += interval_ns;
        if (postgres_sampler_next(sampler, due_ns, &end_ns, &error) != CAMP_OK) {
            fprintf(stderr, "%s\n", error.message);
            return 1;
        }
        print_interval(sampler, end_ns);
    }
    return 0;
}

int main(int count, char **words)
{
    struct postgres_sampler_options options = { .stop = &stop };
    struct postgres_sampler *sampler;
    struct camp_error error;
    char shown[256];
    int r;

    if (count < 4)
        return 2;
    for (int i = 4; i < count; i++) {
        options.sessions.background |= strcmp(words[i], "background") == 0;
        options.sessions.queries |= strcmp(words[i], "queries") == 0;
        options.rate = strtod(words[i], NULL) > 0 ? strtod(words[i], NULL) : options.rate;
    }
    signal(SIGTERM, take_signal);
    if (libpq_load(&error) == CAMP_OK) {
        conninfo_shown(words[1], shown, sizeof shown);
        printf("of %s\n", shown);
    }
    if (libpq_load(&error) != CAMP_OK ||
        postgres_sampler_open(words[1], &options, &sampler, &error) != CAMP_OK) {
        fprintf(stderr, "%s\n", error.message);
        return 1;
    }
    r = watch(sampler, atoi(words[2]), (uint64_t)atoi(words[3]) * NS_PER_MS);
    postgres_sampler_close(sampler);
    return r;
}
