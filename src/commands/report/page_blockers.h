/* The trees of blockers of database sessions, as JSON in the stream of the page (docs/stream.md).
 */
#pragma once

#include "ledger/blockers/blocker_tree.h"
#include "views/byte_buffer.h"

/* Returns whether the frames of a source have blockers. */
bool page_blockers_are_known(const struct schema *schema);

/* Sets *ret to the tree of a frame, whose schema is known. `tree` is memory that later calls use
 * again; blocker_tree_release() frees it. If `shows_literals` is false, statements have a question
 * mark for each literal, as camp why writes them. Returns CAMP_OK or CAMP_E_NOMEM. */
int page_blockers_read(struct bytes *ret, struct blocker_tree *tree, const struct frame *frame,
                       bool shows_literals);
