/* The list of changes as the programs write it. changes.bpf.h says what is in it. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <linux/bpf.h>

#include <bpf/bpf_helpers.h>

#include "../layout.h"

/* Whether a snapshot reads only the threads in the list. */
const volatile bool lists_changes;
struct changes changes;

static __always_inline void list_change(int32_t id, enum change_kind kind)
{
    const uint64_t number = __sync_fetch_and_add(&changes.count, 1);

    *(volatile uint64_t *)&changes.entries[number % CHANGES_MAX] = CHANGE(id, kind, number);
}
