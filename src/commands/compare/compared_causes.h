/* The causes of waits of both recordings, matched by the name of the process that waited, its
 * state, and the culprit: numbers of groups and pids differ between two runs. */
#pragma once

#include "sources/causes/causes.h"

#include "ledger/index.h"

/* Further causes of both recordings are left out; their time has no cause (comparison.undivided).
 */
#define COMPARED_CAUSES_MOST 50000

struct compared_cause {
    size_t entity;                    /* that waited; index in the compared entities */
    size_t state;                     /* index in the states of the comparison */
    uint32_t kind;                    /* of the cause: cause_kind_key() */
    char who[CAUSE_NAME_SIZE];        /* any bytes; "" if the kind says all */
    char label[CAUSE_NAME_SIZE + 16]; /* for a table: "behind batch", "woken by a timer" */
};

/* An all-zero struct is empty. compared_causes_release() frees the members. */
struct compared_causes {
    struct compared_cause *items; /* [count], in the order in which they were found */
    size_t count, capacity;
    struct index index;
};

/* Sets *ret to the index of the cause of `row`, which is added if it is new. `entity` and `state`
 * are as in struct compared_cause; `causes` has the names. *ret is SIZE_MAX if there is no space.
 * Returns CAMP_OK or CAMP_E_NOMEM. */
int compared_causes_enter(struct compared_causes *list, const struct causes *causes,
                          const struct cause *row, size_t entity, size_t state, size_t *ret);
void compared_causes_release(struct compared_causes *list);
