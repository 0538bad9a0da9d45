/*
 * Work that may never return, on a thread of its own.
 *
 * An ODBC call returns when the driver does. ODBC's timeouts are requests: SQLite's driver ignores
 * them and waits 100 s for a lock, PostgreSQL's leaves them to the server, and a stopped server
 * does nothing; SIGINT interrupts none of it. So each call is made on this thread, and the caller
 * may stop waiting: the pending work is then abandoned with all its memory, until the driver
 * returns or the program ends.
 */
#pragma once

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

struct odbc_thread;

/* `context` is for work() and release(); it belongs to the thread while that works. NULL: no
 * memory, or no further thread. */
struct odbc_thread *odbc_thread_open(void (*work)(void *context), void (*release)(void *context),
                                     void *context);

/* Calls work() once more, on the idle thread. */
void odbc_thread_begin(struct odbc_thread *thread);

/* Waits until then (CLOCK_MONOTONIC) or until *stop is set (NULL: never). False: the thread still
 * works. */
bool odbc_thread_wait(struct odbc_thread *thread, uint64_t until_ns,
                      const volatile sig_atomic_t *stop);

/* Calls release(), at once or, while the thread works, after work() has returned. NULL is
 * ignored. */
void odbc_thread_close(struct odbc_thread *thread);
