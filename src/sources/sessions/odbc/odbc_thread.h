/*
 * The driver of ODBC for remote.h. It makes ODBC calls on a separate thread, because a call may
 * never return.
 *
 * An ODBC call returns only when the driver does. Timeouts of ODBC are only requests: the driver of
 * SQLite ignores them and waits 100 s for a lock. The driver of PostgreSQL leaves timeouts to the
 * server, which does nothing while it is stopped. SIGINT does not interrupt such waits.
 *
 * With a separate thread, the caller can stop waiting. The pending call then keeps its memory until
 * the driver returns or the program ends.
 */
#pragma once

#include "sources/remote/remote.h"

struct odbc_thread;

/* work() connects if there is no connection, and then asks. If it fails, it must leave no
 * connection behind. `context` is passed to work() and release(); while work() runs, `context`
 * belongs to the thread. Returns NULL if there is no memory or no thread could be started. */
struct odbc_thread *odbc_thread_open(int (*work)(void *context, struct camp_error *error),
                                     void (*release)(void *context), void *context,
                                     const volatile sig_atomic_t *stop);

/* Calls work(), or waits for the pending call of work(), and returns its result. Returns
 * REMOTE_PENDING like remote_run(). */
int odbc_thread_run(struct odbc_thread *thread, uint64_t until_ns, struct camp_error *error);

/* Calls release(context): at once, or after work() has returned if it is running. `thread` may be
 * NULL. */
void odbc_thread_close(struct odbc_thread *thread);
