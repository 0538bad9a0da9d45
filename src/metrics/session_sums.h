/*
 * Sums over the sessions of a database. The times of each session in an interval are added to its
 * group, which is the value of one label, such as the application. The groups with the most time
 * outside of idle states are shown; top_k.h has the rules.
 *
 * At any time, exactly:
 *
 *     elapsed = sum of the states + unaccounted - overlapping
 *
 * for all groups, whether shown, other or retired. Unaccounted time is summed over the rows whose
 * states have less than their elapsed time, and overlapping time over those that have more, so that
 * neither sum ever falls.
 */
#pragma once

#include "ledger/frame.h"
#include "ledger/session_rules.h"
#include "ledger/top_k.h"

/* The columns of a group: the states in the order of enum session_state, and these. */
enum session_sum {
    SESSION_SUM_IN_TRANSACTION = SESSION_STATE_COUNT, /* taken out of SESSION_IDLE */
    SESSION_SUM_THROTTLED,                            /* COLUMN_THROTTLED */
    SESSION_SUM_STATES,                               /* how many states there are */
    SESSION_SUM_ELAPSED = SESSION_SUM_STATES,
    SESSION_SUM_COUNT
};

extern const char *const session_sum_names[SESSION_SUM_STATES];

struct session_sums {
    struct top_k top;
    size_t label;                        /* index in the schema */
    uint32_t known;                      /* bits 1 << state: the source knows the state */
    size_t columns[SESSION_STATE_COUNT]; /* the column of each enum session_state */
    size_t throttled_column;             /* 0 if it is not known */
    size_t in_transaction_column; /* SIZE_MAX: the source does not distinguish it from idle */
    uint64_t unaccounted_ns, overlapping_ns;
};

/* `schema` is that of a source of sessions without from.detail. `label` is an index of its labels.
 * `groups` and `new_an_hour` are those of top_k_init(). Returns CAMP_OK or CAMP_E_NOMEM. The caller
 * calls session_sums_release() in both cases. */
int session_sums_init(struct session_sums *ret, const struct schema *schema, size_t label,
                      size_t groups, size_t new_an_hour);
void session_sums_release(struct session_sums *sums);

/* Adds the rows of an interval, or, if `server` is not 0, those of this server of several
 * (ENTITY_SERVER_SHIFT). Returns CAMP_OK or CAMP_E_NOMEM. */
int session_sums_add(struct session_sums *sums, const struct frame *frame, size_t server);
