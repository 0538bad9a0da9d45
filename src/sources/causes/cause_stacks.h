/* The stacks of long sleeps in an interval, which with the row "no stack" of each state add up to
 * it. */
#pragma once

#include "causes.h"

/* Fills *ret with the stacks of the sleeps that have ended since the previous call. Errors: those
 * of camp_states_visit_stacks(), CAMP_E_NOMEM. */
int cause_stacks_read(struct stack_list *ret, struct camp_states *session,
                      struct camp_error *error);

/* Makes the stacks of each group and state add up to at most its time: if they are more, because a
 * sleep ended between the two readings, each is reduced in proportion. Adds a row without stack, of
 * the rest of the time and of the other sleeps that have ended. Returns false if there is no
 * memory. */
bool cause_stacks_fit(struct stack_list *list, const struct causes *causes);

void cause_stacks_release(struct stack_list *list);
