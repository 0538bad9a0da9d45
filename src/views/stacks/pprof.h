/*
 * A profile for pprof (https://github.com/google/pprof, proto/profile.proto): sleeps by stack.
 *
 * Each sample has two values: the number of sleeps (sleeps/count), and the time asleep
 * (asleep/nanoseconds), which pprof shows by default. A frame is a function, and one location: camp
 * knows no lines. The first frames of a stack are labels, too.
 */
#pragma once

#include "stack_sums.h"
#include "views/byte_buffer.h"

struct pprof_times {
    int64_t start_ns;     /* wall clock, in ns since 1970 */
    uint64_t duration_ns; /* of all intervals */
};

/* Appends the profile, which is not compressed. The frames number 0 and 1 of each stack are the
 * labels "process" and "state". A failed allocation sets ret->failed. */
void pprof_write(struct bytes *ret, const struct stack_sums *sums, const struct pprof_times *times);
