/*
 * Work that may not come back, done on a thread of its own.
 *
 * A call of ODBC returns when the driver does. The timeouts that ODBC knows are requests: the
 * driver of SQLite does not know them and waits 100 s for a lock, PostgreSQL's has the server keep
 * them, and a server that is stopped keeps nothing; SIGINT interrupts none of it. So each call is
 * made here, and who waits for it may go away: what is at work then is left behind, with all that
 * it has, until the driver returns or the program ends.
 */
#ifndef CAMP_SOURCES_SESSIONS_ODBC_ODBC_THREAD_H
#define CAMP_SOURCES_SESSIONS_ODBC_ODBC_THREAD_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

struct odbc_thread;

/* `context` is work()'s and release()'s; the thread's own while it is at work. NULL: no memory, or
 * no further thread. */
struct odbc_thread *odbc_thread_open(void (*work)(void *context), void (*release)(void *context),
                                     void *context);

/* Has work() called once more; not while it is at work. */
void odbc_thread_begin(struct odbc_thread *thread);

/* Waits for it until then (CLOCK_MONOTONIC) or until *stop is set (NULL: never). False: it is still
 * at work. */
bool odbc_thread_wait(struct odbc_thread *thread, uint64_t until_ns,
                      const volatile sig_atomic_t *stop);

/* release() is called, at once or, when it is at work, once that has returned. NULL: nothing. */
void odbc_thread_close(struct odbc_thread *thread);

#endif
