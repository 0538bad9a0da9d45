/* Processes under their parents. Pure arithmetic. */
#pragma once

#include "frame.h"

/* `order` [count] has rows of `frame`, whose ids are processes. Reorders it: each row after its
 * parent, children of one parent in their given order; rows without a parent among them are at the
 * top. depths [count]: the number of ancestors. CAMP_OK or CAMP_E_NOMEM. */
int tree_order(const struct frame *frame, size_t *order, size_t count, uint32_t *depths);
