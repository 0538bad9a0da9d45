/*
 * The driver of ODBC for remote.h: calls that may never return, on a thread of their own.
 *
 * An ODBC call returns when the driver does. ODBC's timeouts are only requests: SQLite's driver
 * ignores them and waits 100 s for a lock, PostgreSQL's leaves them to the server, which does
 * nothing when it is stopped; SIGINT interrupts no such wait. So each call is made on a separate
 * thread, and the caller may stop waiting: the pending call then keeps its memory until the driver
 * returns or the program ends.
 */
#pragma once

#include "sources/remote/remote.h"

struct odbc_thread;

/* work() connects if there is no connection, asks, and leaves no connection behind when it fails.
 * `context` is passed to work() and release(); while work() runs, it belongs to the thread. NULL:
 * no memory, or no thread could be started. */
struct odbc_thread *odbc_thread_open(int (*work)(void *context, struct camp_error *error),
                                     void (*release)(void *context), void *context,
                                     const volatile sig_atomic_t *stop);

/* Calls work() once more, or waits for the pending call; returns the result of work().
 * REMOTE_PENDING: as remote_run(). */
int odbc_thread_run(struct odbc_thread *thread, uint64_t until_ns, struct camp_error *error);

/* Calls release(): at once, or if work() is running, after it has returned. NULL is ignored. */
void odbc_thread_close(struct odbc_thread *thread);
