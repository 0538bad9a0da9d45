/* The threads of this machine, with the causes of their waits from the same session of microstates:
 * the causes of a group's states add up to what its threads have in these states, in the same
 * intervals. */
#pragma once

#include "causes.h"

/* Opens the source of threads (threads_source_open()), which then has causes (source_causes()).
 * `options` is of enum camp_states_option; CAMP_STATES_CULPRITS is added. The process `pid`, or all
 * processes with a name, are always a group of their own; 0 and NULL: none. The sleeps of a process
 * are divided by system call. Returns the errors of threads_source_open() and
 * camp_states_watch_process(). */
int threads_causes_open(uint32_t options, int32_t pid, const char *name,
                        const volatile sig_atomic_t *stop, struct source **ret,
                        struct camp_error *error);
