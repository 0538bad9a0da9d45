// SPDX-License-Identifier: (MIT OR GPL-2.0)
/*
 * Divides the times of a backend by statement (backends_layout.h). The server keeps the number of
 * the statement beside the activity. It is read whenever the backend leaves a CPU: a session that
 * was woken by its client has the number of its new statement only then.
 */
#pragma once

/* Without it the verifier removes this code. */
const volatile uint32_t by_statement;

/* The number of the next reading, from 1. The session counts it up. */
uint32_t reading;

/* One element for each slot. The session reduces the map to one element if it is not used. */
struct {
    __uint(type, BPF_MAP_TYPE_ARRAY);
    __uint(map_flags, BPF_F_MMAPABLE);
    __uint(max_entries, BACKENDS_MAX);
    __type(key, uint32_t);
    __type(value, struct backend_statements);
} statements SEC(".maps");

static __always_inline struct backend_statements *statements_of(const struct backend_slot *slot)
{
    uint32_t number = slot->number;

    return by_statement ? bpf_map_lookup_elem(&statements, &number) : NULL;
}

/* Returns the index of the share, or BACKEND_SHARES if no place is free. A share whose growth was
 * read at least once, and that has not grown since, is replaced. */
__noinline uint32_t share_of(struct backend_statements *own, uint64_t statement, uint32_t event,
                             uint32_t activity)
{
    uint64_t hash = statement ^ ((uint64_t)event << 32 | activity);
    uint32_t free = BACKEND_SHARES, now = reading, i;

    if (own == NULL)
        return BACKEND_SHARES;
    hash *= UINT64_C(0x9e3779b97f4a7c15);
    for (i = 0; i < BACKEND_SHARES_NEAR; i++) {
        uint32_t at = ((hash >> 40) + i) % BACKEND_SHARES;
        struct backend_share *share = &own->shares[at];

        if (share->statement == statement && share->event == event && share->activity == activity &&
            share->used != 0)
            return at;
        if (free == BACKEND_SHARES && (share->used == 0 || now - share->used >= 2))
            free = at;
        if (share->used == 0)
            break;
    }
    if (free < BACKEND_SHARES) {
        struct backend_share *share = &own->shares[free];

        share->statement = statement;
        share->event = event;
        share->activity = activity;
        share->ns = 0;
        share->added = share->used = now;
    }
    return free;
}

static __always_inline void charge_share(struct backend_statements *own, uint32_t at, uint64_t ns)
{
    if (at >= BACKEND_SHARES)
        return;
    own->shares[at].ns += ns;
    own->shares[at].used = reading;
}

/* Charges the time on a CPU, in the run queue and throttled to the statement that the backend now
 * has. */
static __always_inline void charge_statement(struct backend_statements *own)
{
    if (own->cpu_ns != 0)
        charge_share(own, share_of(own, own->statement, BACKEND_EVENT_CPU, BACKEND_ACTIVITY_NONE),
                     own->cpu_ns);
    if (own->run_queue_ns != 0)
        charge_share(own,
                     share_of(own, own->statement, BACKEND_EVENT_RUN_QUEUE, BACKEND_ACTIVITY_NONE),
                     own->run_queue_ns);
    if (own->throttled_ns != 0)
        charge_share(own,
                     share_of(own, own->statement, BACKEND_EVENT_THROTTLED, BACKEND_ACTIVITY_NONE),
                     own->throttled_ns);
    own->cpu_ns = own->run_queue_ns = own->throttled_ns = 0;
}

/* Reads the statement of the current process. Leaves *statement unchanged if a read failed, as it
 * does when the process exits. */
static __always_inline void read_statement(const volatile struct backends_place *place,
                                           uint64_t *statement)
{
    uint64_t at, number = 0;

    if (place->statement_offset == 0 ||
        bpf_probe_read_user(&at, sizeof at, (void *)place->activity_pointer) != 0)
        return;
    if (at == 0 ||
        bpf_probe_read_user(&number, sizeof number, (void *)(at + place->statement_offset)) == 0)
        *statement = number;
}

/* Returns the statement of a sleeping task whose structure is at this address, or 0. */
static __always_inline uint64_t statement_of_sleeper(const volatile struct backends_place *place,
                                                     struct task_struct *task, uint64_t at)
{
    uint64_t number = 0;

    if (!by_statement || place->statement_offset == 0 ||
        bpf_copy_from_user_task(&number, sizeof number, (void *)(at + place->statement_offset),
                                task, 0) != 0)
        return 0;
    return number;
}
