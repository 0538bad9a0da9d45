#include "wait_lengths.h"

#include <stdlib.h>
#include <string.h>

/* Returns the length that `rank` of the waits do not exceed, but at most the longest. */
static uint64_t length_at(const struct wait_lengths *lengths, double rank)
{
    double below = 0;

    for (int i = 0; i < CAMP_WAIT_BUCKETS; i++) {
        const double count = (double)lengths->counts[i];
        const double least = i == 0 ? 0 : (double)(UINT64_C(1) << i);
        const double next = (double)(UINT64_C(1) << i) * 2;

        if (count > 0 && below + count >= rank) {
            const double length = least + (next - least) * (rank - below) / count;

            return length < (double)lengths->longest_ns ? (uint64_t)length : lengths->longest_ns;
        }
        below += count;
    }
    return lengths->longest_ns;
}

void wait_lengths_fill(struct wait_lengths *lengths)
{
    lengths->count = 0;
    for (int i = 0; i < CAMP_WAIT_BUCKETS; i++)
        lengths->count += lengths->counts[i];
    if (lengths->count == 0) {
        *lengths = (struct wait_lengths){ 0 };
        return;
    }
    lengths->p50_ns = length_at(lengths, (double)lengths->count * 0.5);
    lengths->p99_ns = length_at(lengths, (double)lengths->count * 0.99);
}

struct wait_lengths wait_lengths_since(const struct camp_wait_lengths *before,
                                       const struct camp_wait_lengths *after, int64_t wall_clock_ns)
{
    struct wait_lengths ret = { .longest_ns = after->longest_ns,
                                .longest_tid = after->longest_tid,
                                .longest_wall_clock_ns =
                                    wall_clock_ns + (int64_t)after->longest_end_ns };

    for (int i = 0; i < CAMP_WAIT_BUCKETS; i++) {
        const uint64_t then = before != NULL ? before->counts[i] : 0;

        ret.counts[i] = after->counts[i] > then ? after->counts[i] - then : 0;
    }
    wait_lengths_fill(&ret);
    return ret;
}

struct wait_lengths wait_lengths_of_row(const struct frame *frame, size_t row)
{
    static const char stem[] = "waits_log2_"; /* The names end with the exponent of 2. */
    const struct schema *schema = frame->schema;
    const uint64_t *values = frame_values(frame, row);
    struct wait_lengths ret = { 0 };

    if (schema->longest > 0) {
        ret.longest_ns = values[schema->longest];
        ret.longest_wall_clock_ns = (int64_t)values[schema->longest + 2];
    }
    for (size_t i = schema->state_count; i < schema->column_count; i++) {
        const char *name = schema->columns[i].name;
        unsigned long exponent;

        if (strncmp(name, stem, sizeof stem - 1) != 0)
            continue;
        exponent = strtoul(name + sizeof stem - 1, NULL, 10);
        if (exponent < CAMP_WAIT_BUCKETS)
            ret.counts[exponent] += values[i];
    }
    wait_lengths_fill(&ret);
    return ret;
}

void wait_lengths_add(struct wait_lengths *sum, const struct wait_lengths *more)
{
    if (more->longest_ns > sum->longest_ns || sum->count == 0) {
        sum->longest_ns = more->longest_ns;
        sum->longest_tid = more->longest_tid;
        sum->longest_wall_clock_ns = more->longest_wall_clock_ns;
    }
    for (int i = 0; i < CAMP_WAIT_BUCKETS; i++)
        sum->counts[i] += more->counts[i];
    wait_lengths_fill(sum);
}
