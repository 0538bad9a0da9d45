/* Processes under their parents. Pure arithmetic. */
#ifndef CAMP_LEDGER_TREE_H
#define CAMP_LEDGER_TREE_H

#include "frame.h"

/* `order` [count] has rows of `frame`, whose ids are processes. It is put in another order: each
 * row after its parent, the children of one parent in the order they came in; rows whose parent is
 * not among them are at the top. depths [count]: how many ancestors are above. CAMP_OK or
 * CAMP_E_NOMEM. */
int tree_order(const struct frame *frame, size_t *order, size_t count, uint32_t *depths);

#endif
