/*
 * The driver for remote.h that uses ODBC. It makes ODBC calls on a separate thread, because a call
 * may never return.
 *
 * An ODBC call returns only when the driver does. Timeouts of ODBC are only requests: the driver of
 * SQLite ignores them and waits 100 s for a lock. The driver of PostgreSQL leaves timeouts to the
 * server, which does nothing while it is stopped. SIGINT does not interrupt such calls.
 *
 * With a separate thread, camp can stop waiting for a call. The memory of this call is freed when
 * the driver returns, if ever.
 */
#pragma once

#include "sources/remote/remote.h"

struct odbc_thread;

/* work() runs on the separate thread: it connects if there is no connection, and then asks. If
 * work() fails, it must leave no connection behind. `context` is passed to work() and release().
 * While work() runs, no other thread may use `context`. Returns NULL if there is no memory or no
 * thread could be started. */
struct odbc_thread *odbc_thread_open(int (*work)(void *context, struct camp_error *error),
                                     void (*release)(void *context), void *context,
                                     const volatile sig_atomic_t *stop);

/* Calls work(), or waits for a call of work() that is still running. Returns the result of work().
 * REMOTE_PENDING means that work() was still running at `until_ns` (CLOCK_MONOTONIC), or that *stop
 * is set. */
int odbc_thread_run(struct odbc_thread *thread, uint64_t until_ns, struct camp_error *error);

/* Ends the thread; the thread then calls release(context). If work() is running, this happens only
 * after work() has returned. odbc_thread_close() does not wait. `thread` may be NULL. */
void odbc_thread_close(struct odbc_thread *thread);
