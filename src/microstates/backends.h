/*
 * Backends: the wall time of a server's processes, with the server's own name for each wait.
 *
 * Some servers keep the reason of a wait in their memory. PostgreSQL keeps a wait event and an
 * activity. When a process of the server goes to sleep, a program in the kernel reads the reason.
 * So the time between two switches is charged once: on a CPU, runnable without a CPU, or asleep for
 * a reason. Nothing is sampled or queried, and the server is not changed.
 *
 * Only one thread at a time may use a struct backends. Reading the accounts makes no system call,
 * except for a backend that waits in the run queue meanwhile: a program in the kernel reads how
 * much of its wait is throttled.
 */
#pragma once

#include "backend_lengths.h"
#include "backends_layout.h"

#include <camp/camp.h>

#include <stdbool.h>
#include <stddef.h>

struct backends;

/* Loads the programs, and watches existing and future children of place->parent, if it is not 0.
 * Returns
 * CAMP_E_PERM if capabilities are missing, or CAMP_E_NOTSUP if this kernel or this build cannot
 * watch backends; the message says what to do. */
int backends_open(struct backends **ret, const struct backends_place *place,
                  struct camp_error *error);

/* Watches the children of another place->parent instead, such as those of a server that started
 * again. Needs no capability on Linux 5.19 or later. Accounts of earlier children remain until
 * backends_read() has returned them as exited. */
int backends_move(struct backends *backends, const struct backends_place *place,
                  struct camp_error *error);

/* Watches a task that is not a child of the parent: a process, or a thread by its tid. Returns
 * CAMP_E_GONE if there is no such task. */
int backends_watch(struct backends *backends, int32_t tid, struct camp_error *error);

/* Copies the accounts of all watched tasks, up to now and in no order, to accounts[capacity], their
 * times by statement to statements[capacity], and their waits for locks by blocker to
 * blocks[capacity]. The last two may be NULL, and stay as they are if place->by_statement or
 * place->by_blocker was 0. An exited task is returned once, with BACKEND_ENDED. If `capacity` is
 * too small, returns CAMP_E_SPACE, sets *ret_count to the number needed, and loses no account. */
int backends_read(struct backends *backends, struct backend_account *accounts,
                  struct backend_statements *statements, struct backend_blocks *blocks,
                  size_t capacity, size_t *ret_count, struct camp_error *error);

/* Returns how long the sleeps lasted that ended before the last backends_read() and not before the
 * one before it, in no order. *ret_uncounted is the number of sleeps for which there was no place,
 * not even among others, since the session was opened. Both are 0 unless place->lengths was set.
 * The array belongs to the session, and is valid until the next backends_read(). */
const struct backend_lengths_growth *backends_lengths(const struct backends *backends,
                                                      size_t *ret_count, uint64_t *ret_uncounted);

/* Returns whether accounts have throttled_ns: the kernel has a clock of the throttled time of a run
 * queue (Linux 6.6). */
bool backends_measure_throttled(const struct backends *backends);

void backends_losses(const struct backends *backends, struct backends_losses *ret);

void backends_close(struct backends *backends);
