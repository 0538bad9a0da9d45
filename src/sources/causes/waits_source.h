/*
 * The groups of the ledger of causes as rows of frames: how long their waits lasted, and the
 * largest cause of each row.
 *
 * The states are those of threads, and parked_column. After them each wait has the columns of enum
 * waits_column, such as "run_queue_p99_ns", of the waits that ended in the interval. If none did,
 * all of them but the number of waits are unknown: their values are 0, and waits_are_known()
 * returns false. Such columns must not be added up.
 *
 * The labels are those of the row's largest cause: "wait" (the name of the state), "cause"
 * (cause_kind_key()) and "who" (the group or the device, or "" if the cause says all). If it has a
 * hundredth of the interval, it is the largest in states that are not idle (CPU, disk, page, lock);
 * otherwise the largest that ended a sleep, and at last a sleep that nothing has ended. A row that
 * did not wait has no labels.
 */
#pragma once

#include "causes.h"

enum waits_column { WAITS_COUNT, WAITS_P50, WAITS_P99, WAITS_MAX, WAITS_MAX_TID, WAITS_COLUMNS };

enum waits_label { WAITS_LABEL_WAIT, WAITS_LABEL_CAUSE, WAITS_LABEL_WHO, WAITS_LABELS };

/* Opens a session with the ledger of causes. `options` is of enum camp_states_option;
 * CAMP_STATES_CULPRITS is added. With CAMP_STATES_BY_PROCESS a row is a process, otherwise all
 * processes with one name. beside() has the CPUs. Returns also the errors of camp_states_open(). */
int waits_source_open(uint32_t options, const volatile sig_atomic_t *stop, struct source **ret,
                      struct camp_error *error);

/* Returns the index of the first of the columns of a wait, or column_count if the state (the index
 * of its column) is none, or the schema has no such columns. */
size_t waits_first_column(const struct schema *schema, size_t state);

/* Returns whether the value of a column in a row is known. */
bool waits_are_known(const struct frame *frame, size_t row, size_t column);
