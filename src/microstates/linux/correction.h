/* Subtracts throttled time from the charges of the ledger of causes. */
#pragma once

#include "culprits_layout.h"

#include <stdint.h>

/* The charges of one group: what was read last, and what the session reports. */
struct corrected {
    int64_t read_ns[CULPRITS_MAX];     /* as the programs charged, at the last reading */
    int64_t owed_ns;                   /* what is still to be subtracted from later charges */
    int64_t reported_ns[CULPRITS_MAX]; /* never falls */
};

/* Adds to the reported charges what the charges have grown by since the last reading, less the
 * growth of the throttled time: each culprit in proportion to its own growth. */
void camp_correct_charges(struct corrected *corrected, const int64_t *ns);
