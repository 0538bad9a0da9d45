/* Groups that lose their numbers to others: a session has fewer numbers than a busy machine has
 * names. */
#pragma once

#include "causes.h"

/* Returns the set of the groups (1 << number) that did nothing in the interval and caused nothing,
 * if so many numbers are taken that the next names might get none; otherwise 0. */
uint64_t cause_quiet_groups(const struct causes *causes);

/* Returns the part of the set `released` whose numbers no other group has got. While a thread of a
 * released group waits for a CPU or has one, waits are charged to its number, which no other group
 * gets before a reading without such threads. */
uint64_t cause_still_released(const struct causes *causes, uint64_t released);

/* Makes what groups of the set `released` waited for or caused that of the group `other`, to which
 * their threads belong now. The list stays in the order of camp_states_causes(). */
void cause_move_released(struct cause_list *list, uint64_t released, uint32_t other);
