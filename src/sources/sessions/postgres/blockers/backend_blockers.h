/*
 * The backends that ended the waits of a backend for locks in an interval, and how long these waits
 * were in it: the growth of what the kernel notes (struct backend_blocks in
 * microstates/backends_layout.h). A wait that has not ended is in no part. Its time in an interval
 * was reported at the end of this interval, and is not reported again when it ends.
 */
#pragma once

#include "microstates/backends.h"

struct backend_blocking {
    uint32_t event;
    int32_t blocker, root; /* pids */
    uint64_t ns;
};

/* Fills ret[BACKEND_BLOCKS], and returns how many parts there are, in no order. `before` is NULL
 * for a new backend. */
size_t backend_blockings_since(const struct backend_blocks *now,
                               const struct backend_blocks *before,
                               struct backend_blocking ret[BACKEND_BLOCKS]);
