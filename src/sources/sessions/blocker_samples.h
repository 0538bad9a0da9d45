/*
 * Converts samples of blockers to times: how long each session waited for a lock of each
 * other session.
 *
 * A sample of a waiting session has the ids of the sessions that block it. If one of these itself
 * waits for another of these, it is only ahead in the queue, and the other one holds the lock. So
 * the wait is caused, in equal parts, by those that wait for no other of the same set, or by all if
 * each of them waits for another (a deadlock). A sample counts for half of the time since the
 * sample before it, and for half of the time to the next one.
 *
 * The root of a wait is found in the same sample: the blocker, or its own first blocker if it
 * waits, and so on. The root of a cycle is its smallest id. Where the blockers of a waiting session
 * are unknown, it is the root of those that wait for it.
 *
 * The sampled times are shares of the time that a session waited for locks. The functions do no I/O
 * and read no clock. All times are CLOCK_MONOTONIC.
 */
#pragma once

#include <camp/camp.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define BLOCKER_UNKNOWN ((int64_t)-1) /* no session was found that blocks */
#define BLOCKER_PREPARED ((int64_t)0) /* a prepared transaction, which has no session */
#define BLOCKERS_MOST 32              /* of one session in one sample; further ones are left out */

/* A session that waits for a lock. Its id is that of the entity; `start` distinguishes sessions
 * with the same id. */
struct blocked_sample {
    int64_t id, start;
    const int64_t *blockers; /* [count] of the sessions that block it, at least 0 */
    size_t count;            /* 0 if they are unknown */
};

/* A part of the time that a session waited for locks. */
struct block {
    int64_t blocker; /* the session that blocks it, or BLOCKER_PREPARED */
    int64_t root;    /* where the chain of blockers ends, which may be `blocker` */
    uint64_t ns;
};

/* All zero except for longest_ns means that there were no samples. */
struct blocker_samples {
    uint64_t longest_ns; /* a sample counts for at most this time in each direction, twice */
    uint64_t sample_ns;  /* time of the last sample; 0 before the first */
    struct blocked *now; /* [now_count] the waits of the last sample */
    size_t now_count, now_capacity;
    struct blocked *times; /* [time_count] those of the interval */
    size_t time_count, time_capacity;
    size_t sorted; /* the first ones are sorted, and each is there once */
};

/* What divides the time of a session. All zero is empty; free(blocks). */
struct blocks {
    struct block *blocks; /* [count] the longest first */
    size_t count, capacity;
    uint64_t known_ns; /* their sum */
};

void blocker_samples_release(struct blocker_samples *samples);

/* Starts an interval: forgets the times, but not the last sample. */
void blocker_samples_begin(struct blocker_samples *samples);

/* Adds a sample of all sessions that wait for a lock, samples[count] in any order. CAMP_OK or
 * CAMP_E_NOMEM. */
int blocker_samples_add(struct blocker_samples *samples, uint64_t at_ns,
                        const struct blocked_sample *waiting, size_t count);

/* Divides `ns`, the time that a session waited for locks in the interval, by its samples. The parts
 * in *ret add up to ret->known_ns; the rest of `ns` is of unknown blockers, as is all of it without
 * a sample. CAMP_OK or CAMP_E_NOMEM. */
int blocker_samples_divide(struct blocker_samples *samples, int64_t id, int64_t start, uint64_t ns,
                           struct blocks *ret);

/* Does the same by the last sample alone: for a wait that lasts. ret->count is 0 if the session did
 * not wait for a known session in that sample. */
int blocker_samples_divide_last(const struct blocker_samples *samples, int64_t id, int64_t start,
                                uint64_t ns, struct blocks *ret);
