#include "wait_lengths.h"

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
