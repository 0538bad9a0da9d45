#include "wait_lengths.h"

static uint64_t ended_since(const struct camp_wait_lengths *before,
                            const struct camp_wait_lengths *after, int bucket)
{
    const uint64_t then = before != NULL ? before->counts[bucket] : 0;

    return after->counts[bucket] > then ? after->counts[bucket] - then : 0;
}

/* Returns the length that `rank` of the waits do not exceed, but at most `longest_ns`. */
static uint64_t length_at(const struct camp_wait_lengths *before,
                          const struct camp_wait_lengths *after, double rank, uint64_t longest_ns)
{
    double below = 0;

    for (int i = 0; i < CAMP_WAIT_BUCKETS; i++) {
        const double count = (double)ended_since(before, after, i);
        const double least = i == 0 ? 0 : (double)(UINT64_C(1) << i);
        const double next = (double)(UINT64_C(1) << i) * 2;

        if (count > 0 && below + count >= rank) {
            const double length = least + (next - least) * (rank - below) / count;

            return length < (double)longest_ns ? (uint64_t)length : longest_ns;
        }
        below += count;
    }
    return longest_ns;
}

struct wait_lengths wait_lengths_since(const struct camp_wait_lengths *before,
                                       const struct camp_wait_lengths *after)
{
    struct wait_lengths ret = { .longest_ns = after->longest_ns,
                                .longest_tid = after->longest_tid };

    for (int i = 0; i < CAMP_WAIT_BUCKETS; i++)
        ret.count += ended_since(before, after, i);
    if (ret.count == 0)
        return (struct wait_lengths){ 0 };
    ret.p50_ns = length_at(before, after, (double)ret.count * 0.5, ret.longest_ns);
    ret.p99_ns = length_at(before, after, (double)ret.count * 0.99, ret.longest_ns);
    return ret;
}
