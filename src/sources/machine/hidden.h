/* Processes of other users that /proc does not show to this user (proc(5), hidepid). */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#define HIDDEN_CHANGE "CAP_SYS_PTRACE shows them (root has it)"
#define HIDDEN_NOTE_SIZE 160

/* Returns whether processes are hidden from this user. */
bool hidden_processes(void);

/* Returns whether /proc hides the processes of a user from other users, even if this user sees all.
 */
bool hidden_from_others(void);

/* Writes one sentence without a period: how many threads are hidden, if that is known, and what
 * shows them. Writes "" if no processes are hidden. */
void hidden_note(char ret[HIDDEN_NOTE_SIZE]);
