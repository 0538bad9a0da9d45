/*
 * Backends: where the wall time of a server's processes goes, each wait under the server's own name
 * for it.
 *
 * Some servers keep the reason of a wait in memory (PostgreSQL: a wait event and an activity). The
 * kernel reads it in the moment in which a process of the server goes to sleep. So the time between
 * two switches is accounted once: on a CPU, runnable without one, or asleep for a reason. Nothing
 * is sampled or queried, and the server is unchanged.
 *
 * A handle is for one thread at a time. Reading makes no system call.
 */
#pragma once

#include "backends_layout.h"

#include <camp/camp.h>

#include <stddef.h>

struct backends;

/* Attaches to the kernel, and finds the existing children of the parent. CAMP_E_PERM: capabilities
 * are missing, CAMP_E_NOTSUP: this kernel, or this build, cannot; the message says what to do. */
int backends_open(struct backends **ret, const struct backends_place *place,
                  struct camp_error *error);

/* Watches another task that is not a child of the parent: a process, or a thread by its tid.
 * CAMP_E_GONE: no such task. */
int backends_watch(struct backends *backends, int32_t tid, struct camp_error *error);

/* Copies the accounts of all watched tasks to accounts[capacity], in no order, up to this moment,
 * with their open intervals. Tasks that exited since the last call are included in this call only,
 * with BACKEND_ENDED. CAMP_E_SPACE: *ret_count has the number needed, and no account is dropped. */
int backends_read(struct backends *backends, struct backend_account *accounts, size_t capacity,
                  size_t *ret_count, struct camp_error *error);

/* Copies the losses since the start of the session. */
void backends_losses(const struct backends *backends, struct backends_losses *ret);

/* NULL is allowed. */
void backends_close(struct backends *backends);
