/*
 * How long the sleeps of backends last: their distribution by powers of two for each backend, wait
 * event, activity and statement. A program in the kernel counts a sleep when it ends.
 *
 * A sleep is the time from the switch by which the backend left its CPU to its wakeup. A server may
 * wake and sleep again in one wait of its own: PostgreSQL does so after deadlock_timeout.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* Element n of `counts` is the number of sleeps of at least 2^(n+10) ns, but below 2^(n+11) ns. The
 * first one also has those that were shorter, the last one those that were longer. */
#define BACKEND_LENGTHS_FIRST 10
#define BACKEND_LENGTHS 31

/* Stands for all backends and statements for which the kernel had no place. */
#define BACKEND_LENGTHS_OTHER UINT32_MAX

/* The sleeps of a backend under one event, activity and statement that ended between two readings.
 */
struct backend_lengths_growth {
    uint32_t row; /* of the account in the last backends_read(), or BACKEND_LENGTHS_OTHER */
    uint32_t event, activity;
    uint32_t reserved;
    uint64_t statement; /* 0 for none, and unless times are divided by statement */
    uint64_t ns;        /* sum of their lengths */
    uint64_t longest_ns;
    uint64_t longest_end_ns; /* CLOCK_MONOTONIC at the end of the longest */
    uint64_t counts[BACKEND_LENGTHS];
};

/* What the kernel and the session share. */

struct backend_lengths_key {
    uint32_t slot; /* of the backend, or BACKEND_LENGTHS_OTHER */
    uint32_t event, activity;
    uint32_t reserved;
    uint64_t statement;
};

/* Only longest_ns starts anew, after a reading. */
struct backend_lengths_half {
    uint64_t ns;
    uint64_t longest_ns, longest_end_ns;
    uint32_t counts[BACKEND_LENGTHS];
    uint32_t reserved;
};

/* The kernel writes the half by the lowest bit of the number of the next reading, while the session
 * reads the other one: so counts and longest are of the same sleeps. */
struct backend_lengths {
    struct backend_lengths_key key;
    struct backend_lengths_half halves[2];
};

/* A power of two. The last BACKEND_LENGTHS_KEPT places are for BACKEND_LENGTHS_OTHER alone. */
#define BACKEND_LENGTHS_MAX 16384u
#define BACKEND_LENGTHS_KEPT 256u

enum backend_lengths_use { BACKEND_LENGTHS_FREE, BACKEND_LENGTHS_USED, BACKEND_LENGTHS_SPOILT };

/* A ring of free places, like struct backend_slots. */
struct backend_lengths_places {
    uint64_t given, taken;
    uint32_t free[BACKEND_LENGTHS_MAX];
    uint8_t use[BACKEND_LENGTHS_MAX]; /* enum backend_lengths_use */
};

_Static_assert(sizeof(struct backend_lengths_key) == 24, "no padding");
_Static_assert(sizeof(struct backend_lengths_half) == 24 + 128, "no padding");
_Static_assert(sizeof(struct backend_lengths) == 24 + 2 * 152, "no padding");
_Static_assert(sizeof(struct backend_lengths_places) == 16 + 5 * BACKEND_LENGTHS_MAX, "no padding");
