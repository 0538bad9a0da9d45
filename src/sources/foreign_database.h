/*
 * SQLite files that others may have made (recordings, --from sqlite:FILE). Everything in such a
 * file may be hostile: its schema, the shape of its trees, its sizes. A connection that is opened
 * here writes nothing, loads nothing, attaches nothing, trusts no schema, and can be stopped by
 * signals.
 */
#pragma once

#include "source.h"

#include <sqlite3.h>

#define FOREIGN_BUSY_MS 2000 /* how long a reader waits until a writer unlocks the file */

/* Watches the statements of a connection. It must outlive the connection. */
struct foreign_watch {
    const volatile sig_atomic_t *stop; /* may be NULL */
    /* A statement is interrupted after so many steps of SQLite's machine since
     * foreign_watch_start(); 0 means no limit. */
    uint64_t most, steps;
};

/* Returns CAMP_OK if the path is a regular file that may be read. Opening a pipe would wait for its
 * writer. The message says what else the path is. */
int foreign_file_check(const char *path, struct camp_error *error);

/* How a database is read; a sum of these. */
enum {
    /* SQLite accepts a schema whose tables are not all in the file, as in a truncated file. */
    FOREIGN_CUT = 1 << 0,
    /* Nobody writes to the file. SQLite locks nothing and reads no other file than this one. */
    FOREIGN_FIXED = 1 << 1
};

/* Opens the file for reading. The caller must close *ret, even after a failure. Returns SQLITE_OK
 * or an error of SQLite. */
int foreign_database_open(sqlite3 **ret, const char *path, int how, struct foreign_watch *watch);

void foreign_watch_start(struct foreign_watch *watch);

/* Returns whether the user or a signal stopped the statement that SQLite reports as interrupted. If
 * not, it took more steps than watch->most. */
bool foreign_watch_is_stopped(const struct foreign_watch *watch);
