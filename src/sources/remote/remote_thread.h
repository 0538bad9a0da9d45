/*
 * The driver for remote.h of calls that may never return. It makes them on a separate thread, so
 * that camp can stop waiting for a call. The memory of this call is freed when it returns, if ever.
 *
 * A call of ODBC returns only when its driver does. Timeouts of ODBC are only requests: the driver
 * of SQLite ignores them and waits 100 s for a lock. The driver of PostgreSQL leaves timeouts to
 * the server, which does nothing while it is stopped. SIGINT does not interrupt such calls. libpq
 * blocks while it looks up a host name, and computes as many rounds of SCRAM as the server asks for
 * (up to 2^31).
 */
#pragma once

#include "sources/remote/remote.h"

struct remote_thread;

/* work() runs on the separate thread: it connects if there is no connection, and then asks. If
 * work() fails, it must leave no connection behind. `context` is passed to work() and release().
 * While work() runs, no other thread may use `context`. Returns NULL if there is no memory or no
 * thread could be started. */
struct remote_thread *remote_thread_open(int (*work)(void *context, struct camp_error *error),
                                         void (*release)(void *context), void *context,
                                         const volatile sig_atomic_t *stop);

/* Calls work(), or waits for a call of work() that is still running. Returns the result of work().
 * REMOTE_PENDING means that work() was still running at `until_ns` (CLOCK_MONOTONIC), or that *stop
 * is set. */
int remote_thread_run(struct remote_thread *thread, uint64_t until_ns, struct camp_error *error);

/* Gives the thread the lowest priority: called when nobody waits for its work any more. */
void remote_thread_lower_priority(struct remote_thread *thread);

/* Ends the thread; the thread then calls release(context). If work() is running, this happens only
 * after work() has returned: the thread is left behind, with the lowest priority, and the program
 * will end without the clean-up of libraries that the thread may still use. remote_thread_close()
 * does not wait. `thread` may be NULL. */
void remote_thread_close(struct remote_thread *thread);
