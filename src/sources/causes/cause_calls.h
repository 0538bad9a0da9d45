/* The sleeps of watched processes by system call, in an interval. */
#pragma once

#include "causes.h"

/* Fills *ret with the growth of each element from before[before_count] to now[now_count], the
 * longest first. No two elements of a reading have the same process, call, state and argument.
 * Returns false if there is no memory. */
bool cause_calls_since(struct call_list *ret, const struct camp_call_sleeps *before,
                       size_t before_count, const struct camp_call_sleeps *now, size_t now_count);

/* Reduces the sleeps of a process in a state to what the sleeps of its group that have ended are in
 * causes->state_ns, if they are more: the calls are read before the threads, so a sleep may have
 * started between these two readings at the start of the interval. Each call is reduced in
 * proportion, and the largest one gets what rounding leaves. */
void cause_calls_fit(struct call_list *calls, const struct causes *causes);

/* Makes one element of the sleeps of a process, in a call and a state, for children that have ended
 * since. Processes are in `folder` (/proc). */
void cause_calls_merge_children(struct call_list *calls, const char *folder);
