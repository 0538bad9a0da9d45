/*
 * The driver of ODBC for remote.h: calls that may never return, on a thread of their own.
 *
 * An ODBC call returns when the driver does. ODBC's timeouts are requests: SQLite's driver ignores
 * them and waits 100 s for a lock, PostgreSQL's leaves them to the server, and a stopped server
 * does nothing; SIGINT interrupts none of it. So each call is made on this thread, and the caller
 * may stop waiting: the pending work is then abandoned with all its memory, until the driver
 * returns or the program ends.
 */
#pragma once

#include "sources/remote/remote.h"

struct odbc_thread;

/* work() connects if there is no connection, asks, and leaves no connection behind when it fails.
 * `context` is for work() and release(); it belongs to the thread while that works. NULL: no
 * memory, or no further thread. */
struct odbc_thread *odbc_thread_open(int (*work)(void *context, struct camp_error *error),
                                     void (*release)(void *context), void *context,
                                     const volatile sig_atomic_t *stop);

/* Calls work() once more, or waits for the pending call: its result. REMOTE_PENDING: as
 * remote_run(). */
int odbc_thread_run(struct odbc_thread *thread, uint64_t until_ns, struct camp_error *error);

/* Calls release(), at once or, while the thread works, after work() has returned. NULL is
 * ignored. */
void odbc_thread_close(struct odbc_thread *thread);
