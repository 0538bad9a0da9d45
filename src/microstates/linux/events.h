/* The kernel's features that microstates need. Whether the kernel has them is looked up in its BTF
 * or tried, not derived from its version. */
#pragma once

#include "kernel_types.h"

#include <camp/states.h>

#include <stdbool.h>

/* The function that handles page faults: its start and end are those of a trap. */
#define EVENTS_FUNCTION_OF_TRAPS "handle_mm_fault"

/* Returns whether the kernel lets this process load programs for the start and end of a function.
 * Some kernels nevertheless refuse to attach them. */
bool camp_events_may_trace(const struct kernel_types *kernel, const char *function);

/* Returns whether a program that the session calls may find a thread by its tid. */
bool camp_events_may_find_threads(const struct kernel_types *kernel);

/* Returns true if the kernel has the tracepoint, whatever its parameters are. */
bool camp_events_have_tracepoint(const struct kernel_types *kernel, const char *name);

/* Returns true if the kernel has a clock of the throttled time of a run queue (Linux 6.6). */
bool camp_events_have_throttled_clock(const struct kernel_types *kernel);

/* Returns CAMP_E_NOTSUP if a required event is missing. The error names the first missing event and
 * the Linux version that has it. */
int camp_events_require(const struct kernel_types *kernel, struct camp_error *error);

/* Does the same for the events without which waits have no causes. */
int camp_events_require_causes(const struct kernel_types *kernel, struct camp_error *error);

/* Does the work of camp_states_events(), with the kernel's types: lists all features, required or
 * not, and whether the kernel has them. */
int camp_events_list(const struct kernel_types *kernel, struct camp_states_event *ret, size_t size,
                     size_t capacity, size_t *ret_count, struct camp_error *error);
