#include "foreign_database.h"

#include "counters/error.h"
#include "ledger/array.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define STEPS_BETWEEN 10000

/* What no recording and no reasonable table reaches. SQLite's own limits are up to 1 GB. The schema
 * of a recording with 1,000 columns has views of some hundred kB. */
static const int limits[][2] = {
    { SQLITE_LIMIT_LENGTH, 64 << 20 },
    { SQLITE_LIMIT_SQL_LENGTH, 16 << 20 },
    { SQLITE_LIMIT_COLUMN, 2000 },
    { SQLITE_LIMIT_EXPR_DEPTH, 1000 },
    { SQLITE_LIMIT_COMPOUND_SELECT, 500 },
    { SQLITE_LIMIT_VDBE_OP, 5000000 },
    { SQLITE_LIMIT_FUNCTION_ARG, 100 },
    { SQLITE_LIMIT_ATTACHED, 0 },
    { SQLITE_LIMIT_LIKE_PATTERN_LENGTH, 1000 },
    { SQLITE_LIMIT_TRIGGER_DEPTH, 1 },
    { SQLITE_LIMIT_WORKER_THREADS, 0 },
};

int foreign_file_check(const char *path, struct camp_error *error)
{
    struct stat status;
    const char *other;

    if (stat(path, &status) != 0 || (S_ISREG(status.st_mode) && access(path, R_OK) != 0))
        return camp_fail_errno(error, errno, path);
    if (S_ISREG(status.st_mode))
        return CAMP_OK;
    other = S_ISDIR(status.st_mode)    ? "folder"
            : S_ISFIFO(status.st_mode) ? "pipe"
            : S_ISSOCK(status.st_mode) ? "socket"
                                       : "device";
    return camp_fail(error, CAMP_E_FORMAT, 0, "%s is a %s, not a file", path, other);
}

bool foreign_watch_is_stopped(const struct foreign_watch *watch)
{
    return (watch->stop != NULL && *watch->stop != 0) ||
           (source_interrupted != NULL && source_interrupted());
}

static int must_end(void *context)
{
    struct foreign_watch *watch = context;

    watch->steps += STEPS_BETWEEN;
    return (watch->most > 0 && watch->steps > watch->most) || foreign_watch_is_stopped(watch);
}

void foreign_watch_start(struct foreign_watch *watch)
{
    watch->steps = 0;
}

/* A truncated file is only readable with WRITABLE_SCHEMA, which DEFENSIVE would switch off. The
 * connection is read-only in both cases. */
static void configure(sqlite3 *database, bool reads_cut)
{
    const int switches[][2] = {
        { SQLITE_DBCONFIG_DEFENSIVE, !reads_cut },
        { SQLITE_DBCONFIG_WRITABLE_SCHEMA, reads_cut },
        { SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0 },
        { SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0 },
        { SQLITE_DBCONFIG_ENABLE_FTS3_TOKENIZER, 0 },
        { SQLITE_DBCONFIG_ENABLE_TRIGGER, 0 },
        /* Checkpoints are left to the writer of the file. */
        { SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1 },
    };

    for (size_t i = 0; i < ARRAY_COUNT(limits); i++)
        sqlite3_limit(database, limits[i][0], limits[i][1]);
    for (size_t i = 0; i < ARRAY_COUNT(switches); i++)
        sqlite3_db_config(database, switches[i][0], switches[i][1], NULL);
}

/* Returns the URI of a file that nobody writes to (sqlite.org, Uniform Resource Identifiers). Two
 * slashes before an absolute path mean this computer. */
static char *uri_of(const char *path)
{
    sqlite3_str *uri = sqlite3_str_new(NULL);

    sqlite3_str_appendall(uri, path[0] == '/' ? "file://" : "file:");
    for (; *path != '\0'; path++) {
        if (strchr("%?#", *path) != NULL)
            sqlite3_str_appendf(uri, "%%%02X", (unsigned)(unsigned char)*path);
        else
            sqlite3_str_appendchar(uri, 1, *path);
    }
    sqlite3_str_appendall(uri, "?immutable=1");
    return sqlite3_str_finish(uri);
}

int foreign_database_open(sqlite3 **ret, const char *path, int how, struct foreign_watch *watch)
{
    const bool is_fixed = (how & FOREIGN_FIXED) != 0;
    char *uri = is_fixed ? uri_of(path) : NULL;
    int r = is_fixed && uri == NULL ? SQLITE_NOMEM
                                    : sqlite3_open_v2(is_fixed ? uri : path, ret,
                                                      SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX |
                                                          (is_fixed ? SQLITE_OPEN_URI : 0),
                                                      NULL);

    sqlite3_free(uri);
    if (r != SQLITE_OK)
        return r;
    sqlite3_busy_timeout(*ret, FOREIGN_BUSY_MS);
    configure(*ret, (how & FOREIGN_CUT) != 0);
    sqlite3_progress_handler(*ret, STEPS_BETWEEN, must_end, watch);
    return sqlite3_exec(*ret,
                        "PRAGMA cell_size_check = 1; PRAGMA ignore_check_constraints = 1;"
                        "PRAGMA mmap_size = 0; PRAGMA temp_store = MEMORY",
                        NULL, NULL, NULL);
}
