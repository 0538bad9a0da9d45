/*
 * The causes of waits for the page (--why). A thread reads the ledger of causes, but only as long
 * as a page asks: a reading costs time, and a page whose view "Why" is closed does not ask. The
 * ledger in the kernel is attached all the time, because camp view has no right to attach it later.
 */
#pragma once

#include "views/byte_buffer.h"

#include <camp/camp.h>

struct view_causes;

/* Opens the ledger, which needs CAP_BPF and CAP_PERFMON. Returns the errors of causes_open(). */
int view_causes_open(uint64_t interval_ns, struct view_causes **ret, struct camp_error *error);

/* Starts the thread, with all signals blocked and with the rights that the caller has now. Returns
 * CAMP_OK or CAMP_E_IO. */
int view_causes_start(struct view_causes *causes, struct camp_error *error);

/* Appends the answer about a group (why_answers_put()) of the last interval, and lets the thread
 * read further intervals for a while. After an error of the ledger the answer is {"error": "..."}.
 * Any thread may call it. Returns false if there is no such group. */
bool view_causes_answer(struct view_causes *causes, uint32_t group, struct bytes *out);

/* Ends the thread within a tenth of a second. `causes` may be NULL. */
void view_causes_close(struct view_causes *causes);
