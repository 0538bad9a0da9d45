/* The stacks of long sleeps in the life of a session. */
#pragma once

#include <camp/camp.h>

#include <stdbool.h>

struct camp_states;

/* Decides whether the programs of stacks are loaded, before they are, and after it is decided
 * whether the programs of system calls are. */
void camp_stacks_prepare(struct camp_states *session, bool wanted);

/* Makes the memory of a session with stacks, after the programs were loaded. Errors: CAMP_E_NOMEM.
 */
int camp_stacks_begin(struct camp_states *session, struct camp_error *error);

/* Attaches the program that must follow the others, after those were attached. Returns 0, or a
 * negative errno. */
int camp_stacks_attach(struct camp_states *session);

void camp_stacks_end(struct camp_states *session);
