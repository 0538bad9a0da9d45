/*
 * Prints what one measurement tier reports about the sessions of a PostgreSQL server.
 *
 *   tiers CONNINFO TIER BEGIN_NS INTERVALS MS
 *
 * BEGIN_NS is a time of CLOCK_MONOTONIC, so that several processes can measure the same intervals.
 * MS is the length of an interval. Prints a JSON object for each session and interval, with times
 * in ns. The last object has the CPU time of this process.
 */
#include "counters/clock.h"
#include "ledger/session_rules.h"
#include "sources/from.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

static volatile sig_atomic_t never;

static void print_rows(const struct frame *frame, int interval)
{
    for (size_t i = 0; i < frame->entity_count; i++) {
        const uint64_t *values = frame_values(frame, i);

        printf("{\"interval\": %d, \"pid\": %" PRId32 ", \"elapsed\": %" PRIu64, interval,
               frame->entities[i].pid, frame->elapsed_ns[i]);
        for (int state = 0; state < SESSION_STATE_COUNT; state++)
            printf(", \"%s\": %" PRIu64, session_state_names[state], values[state]);
        printf(", \"unaccounted\": %" PRId64 "}\n", frame_unaccounted_ns(frame, i));
    }
}

/* The first frame covers the time before `begin_ns` and is not printed. */
static int watch(struct source *source, uint64_t begin_ns, int intervals, uint64_t interval_ns)
{
    uint64_t cpu_ns = 0;

    for (int i = -1; i < intervals; i++) {
        const struct frame *frame;
        struct camp_error error;

        if (source->next(source, begin_ns + (uint64_t)(i + 1) * interval_ns, &frame, &error) !=
            CAMP_OK) {
            fprintf(stderr, "%s\n", error.message);
            return 1;
        }
        if (i < 0)
            cpu_ns = now_ns(CLOCK_PROCESS_CPUTIME_ID);
        else
            print_rows(frame, i);
    }
    printf("{\"cpu\": %" PRIu64 "}\n", now_ns(CLOCK_PROCESS_CPUTIME_ID) - cpu_ns);
    return 0;
}

int main(int count, char **words)
{
    struct from from = { .stop = &never };
    struct from_facts facts = { 0 };
    struct camp_error error = { 0 };
    struct source *source;
    int r;

    if (count != 6)
        return 2;
    from.text = words[1];
    from.tier = words[2];
    if (from_open(&from, &source, &facts, &error) != CAMP_OK) {
        fprintf(stderr, "%s\n", error.message);
        return 1;
    }
    r = watch(source, strtoull(words[3], NULL, 10), atoi(words[4]),
              strtoull(words[5], NULL, 10) * NS_PER_MS);
    source_close(source);
    return r;
}
