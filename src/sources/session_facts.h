/*
 * What a database server reports of its sessions at the end of an interval, beside the times of the
 * frame: how many sessions there are, and how old their transactions and locks are. All of it is
 * what the server reports, so a session that waits for a CPU is counted by its last wait event.
 *
 * With hidden sessions the ages are unknown, because an older one may be among them.
 */
#pragma once

#include "ledger/session_rules.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct session_age {
    bool is_known; /* if false, the server does not report it; `ns` is then 0 */
    uint64_t ns;   /* of the oldest; 0 if there is none */
};

struct session_facts {
    /* The server answered the last question that ended. If it did not, all other members are old.
     */
    bool is_answered;
    /* [SESSION_STATE_COUNT] numbers of sessions by state. SESSION_CPU has those that run a
     * statement without a wait event, and SESSION_IDLE has no session in a transaction. */
    uint64_t counts[SESSION_STATE_COUNT];
    uint64_t in_transaction; /* idle in a transaction */
    uint64_t untracked;      /* the server does not report what they do (track_activities is off) */
    uint64_t hidden;         /* this role may not see what they do */
    bool hides_some;         /* sessions of others may exist, whose number is unknown */
    struct session_age transaction;         /* since the start of the transaction */
    struct session_age idle_in_transaction; /* since the last statement of the transaction */
    /* How long the blocker that blocks longest has blocked: since the other session began to wait,
     * or since the blocker's transaction began, if that is later. */
    struct session_age blocker;
};
