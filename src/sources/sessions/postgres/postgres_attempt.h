/* An attempt to connect to PostgreSQL. It runs on a thread of its own, because libpq waits for the
 * lookup of a name, and computes as long as a server asks it to. */
#pragma once

#include "postgres_guard.h"

#include <signal.h>

struct postgres_attempt;

/* Starts to connect, for at most `limit_ns`. Returns NULL if there is no memory or no thread. */
struct postgres_attempt *postgres_attempt_start(const char *conninfo, uint64_t limit_ns,
                                                const volatile sig_atomic_t *stop);

/* Waits until the attempt has ended, and then returns true. Returns false at `until_ns`
 * (CLOCK_MONOTONIC), or if *stop is set. */
bool postgres_attempt_wait(struct postgres_attempt *attempt, uint64_t until_ns);

/* Called when an attempt takes so long that nobody waits for it any more. It gets the lowest
 * priority, because it may compute. */
void postgres_attempt_is_late(struct postgres_attempt *attempt);

/* Returns true if the attempt, which has ended, has connected: then *ret owns the connection, whose
 * calls do not block. Otherwise *failure says why not. */
bool postgres_attempt_result(struct postgres_attempt *attempt, struct postgres_guard *ret,
                             struct postgres_failure *failure);

/* Waits for at most 0.5 s for the end of an attempt that is not late. Frees the attempt, or leaves
 * it behind if libpq does not return. `attempt` may be NULL. */
void postgres_attempt_close(struct postgres_attempt *attempt);
