/* Using the CPU by a clock. Shared by the loads. */
#ifndef CAMP_LOAD_LOAD_BURN_H
#define CAMP_LOAD_LOAD_BURN_H

#include <stdint.h>
#include <time.h>

/* Uses the CPU until the CPU clock reaches own_target, and at least until `least`, but not past
 * `limit` (both CLOCK_MONOTONIC) nor a requested stop. In user mode, except when reading the CPU
 * clock. */
void load_burn(clockid_t clock, uint64_t own_target, uint64_t least, uint64_t limit);

#endif
