// SPDX-License-Identifier: (MIT OR GPL-2.0)
/* Reads the wait event and the activity of the current process, from its own memory. */
#pragma once

#include "names.bpf.h"

#include <stdbool.h>

static __always_inline bool read_event(uint32_t *event)
{
    uint64_t at;

    return bpf_probe_read_user(&at, sizeof at, (void *)place.event_pointer) == 0 &&
           bpf_probe_read_user(event, sizeof *event, (void *)at) == 0;
}

/* Reads the activity of the current process. Returns false if a read failed. Leaves *activity
 * unchanged if the process is new and has no entry in the server's table yet. */
static __always_inline bool read_activity(uint32_t *activity)
{
    uint64_t at;

    if (bpf_probe_read_user(&at, sizeof at, (void *)place.activity_pointer) != 0)
        return false;
    return at == 0 || bpf_probe_read_user(activity, sizeof *activity,
                                          (void *)(at + place.activity_offset)) == 0;
}
