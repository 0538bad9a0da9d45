/*
 * Backends: where the wall time of a server's processes goes, each wait by the name that the server
 * itself has for it.
 *
 * A server that keeps what it waits for in memory (PostgreSQL: a wait event and an activity) is
 * asked by the kernel in the moment in which a process of it goes to sleep. So the time between two
 * switches is booked once: on a CPU, runnable without one, or asleep for a reason. No sample is
 * taken, no query is made, and the server is not changed.
 *
 * One handle is for one thread at a time. Reading makes no system call.
 */
#ifndef CAMP_MICROSTATES_BACKENDS_H
#define CAMP_MICROSTATES_BACKENDS_H

#include "backends_layout.h"

#include <camp/camp.h>

#include <stddef.h>

struct backends;

/* Attaches to the kernel, and meets those that the parent has already. CAMP_E_PERM: capabilities
 * are missing, CAMP_E_NOTSUP: this kernel, or this build, cannot; the message says what to do. */
int backends_open(struct backends **ret, const struct backends_place *place,
                  struct camp_error *error);

/* Watches one task more that is not a child of the parent: a process, or a thread by its tid.
 * CAMP_E_GONE: there is none. */
int backends_watch(struct backends *backends, int32_t tid, struct camp_error *error);

/* accounts[capacity], in no order: all that are watched, each up to this moment, its open interval
 * in it. Those that have ended since the last call are among them for this once, with
 * BACKEND_ENDED, and then forgotten. CAMP_E_SPACE: *ret_count says how many there are, and none is
 * forgotten. */
int backends_read(struct backends *backends, struct backend_account *accounts, size_t capacity,
                  size_t *ret_count, struct camp_error *error);

/* Since the session began. */
void backends_losses(const struct backends *backends, struct backends_losses *ret);

/* NULL is nothing to close. */
void backends_close(struct backends *backends);

#endif
