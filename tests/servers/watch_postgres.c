/*
 * watch_postgres CONNINFO INTERVALS MS [RATE] [background] [queries]: prints the times that
 * the samples by SQL give: a line for each interval, each session in it, and each wait of a
 * session. A failure is reported on stderr, with exit status 1.
 *
 *   interval 1002.1 ms  snapshots 11  local yes  connected yes  hidden 0  connections 1
 *       rate 10.00  share 0.100 %  (on the same line)
 *   session 123 app  R 1002.1  new no  ended no  client local  leader 0
 *     Lock/relation/active/client_backend  reported 1002.1  asleep 1000.0
 */
#include "sources/sessions/postgres/postgres.h"
#include "sources/sessions/postgres/postgres_inside.h"

#include "counters/units.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static volatile sig_atomic_t stop;

static void on_signal(int number)
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

/* Returns the session in the last snapshot, or NULL. */
static const struct postgres_session *find_session(const struct postgres_snapshot *snapshot,
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
    const struct postgres_session *seen = find_session(snapshot, session);

    printf("session %" PRId64 " %s  R %.1f  new %s  ended %s  client %s  leader %d\n", session->id,
           seen != NULL ? seen->application : "-", ms(session->elapsed_ns), yes(session->is_new),
           yes(session->is_ended), seen != NULL ? seen->client : "-",
           seen != NULL ? seen->leader_pid : 0);
    if (seen != NULL && seen->query[0] != '\0')
        printf("  query %s\n", seen->query);
    for (size_t i = 0; i < session->time_count; i++) {
        const struct sampled_time *time = &session->times[i];

        printf("  %s/%s/%s/%s  reported %.1f  asleep %.1f\n",
               labels_value(time->kind, SESSION_CLASS), labels_value(time->kind, SESSION_EVENT),
               labels_value(time->kind, SESSION_ACTIVITY), labels_value(time->kind, SESSION_TYPE),
               ms(time->reported_ns), ms(time->asleep_ns));
    }
}

static void print_interval(const struct postgres_source *source)
{
    const struct postgres_sampler *sampler = &source->sampler;
    const struct sampled_times *times = &sampler->times;
    static uint64_t snapshots;

    printf("interval %.1f ms  snapshots %" PRIu64
           "  local %s  connected %s  hidden %zu  connections %" PRIu64
           "  rate %.2f  share %.3f %%\n",
           ms(sampler->end_ns - times->begin_ns), times->snapshot - snapshots,
           yes(source->registry.is_local), yes(sampler->snapshot != NULL), sampler->hidden,
           sampler->connection, (double)NS_PER_S / (double)sampler->pace.period_ns,
           100 * (double)sampler->pace.cost_ns / (double)sampler->pace.period_ns);
    snapshots = times->snapshot;
    if (sampler->failure[0] != '\0')
        printf("failure %s\n", sampler->failure);
    for (size_t i = 0; i < times->count; i++) {
        const struct sampled_session *session = times->sessions[i];
        const struct postgres_process *process =
            postgres_registry_find(&source->registry, (int32_t)session->id, session->start);

        if (source->background || (process != NULL && postgres_process_is_client(process)))
            print_session(sampler->snapshot, session);
    }
    fflush(stdout);
}

static int watch(struct postgres_source *source, int intervals, uint64_t interval_ns)
{
    uint64_t due_ns = source_clock_ns(CLOCK_MONOTONIC);
    struct camp_error error;

    while (intervals-- > 0 && !stop) {
        due_ns += interval_ns;
        if (postgres_sampler_next(source, due_ns, &error) != CAMP_OK) {
            fprintf(stderr, "%s\n", error.message);
            return 1;
        }
        print_interval(source);
    }
    return 0;
}

int main(int count, char **words)
{
    struct from from = { .tier = "SQL", .stop = &stop };
    struct postgres_source *source;
    struct from_facts facts;
    struct camp_error error;
    struct source *base;
    double rate = 0;
    int r;

    if (count < 4)
        return 2;
    for (int i = 4; i < count; i++) {
        from.background |= strcmp(words[i], "background") == 0;
        from.queries |= strcmp(words[i], "queries") == 0;
        rate = strtod(words[i], NULL) > 0 ? strtod(words[i], NULL) : rate;
    }
    signal(SIGTERM, on_signal);
    if (postgres_source_open(&from, words[1], &base, &facts, &error) != CAMP_OK) {
        fprintf(stderr, "%s\n", error.message);
        return 1;
    }
    printf("of %s\n", facts.name);
    source = (struct postgres_source *)base;
    if (rate > 0)
        source->sampler.pace.wanted_ns = (uint64_t)(NS_PER_S / rate);
    r = watch(source, atoi(words[2]), (uint64_t)atoi(words[3]) * NS_PER_MS);
    source_close(base);
    return r;
}
