#include "recording_file.h"

#include "counters/error.h"
#include "idle_rows.h"
#include "recording_table.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define BUSY_TIMEOUT_MS 2000

int recording_file_number(sqlite3 *database, const char *path, const char *sql, int64_t parameter,
                          int64_t *ret, struct camp_error *error)
{
    sqlite3_stmt *statement = NULL;
    int stepped, r = recording_prepare(database, path, &statement, error, "%s", sql);

    if (r != CAMP_OK)
        return r;
    sqlite3_bind_int64(statement, 1, parameter);
    stepped = sqlite3_step(statement);
    *ret = stepped == SQLITE_ROW ? sqlite3_column_int64(statement, 0) : 0;
    if (stepped != SQLITE_ROW && stepped != SQLITE_DONE)
        r = recording_failed(database, path, error);
    sqlite3_finalize(statement);
    return r;
}

int recording_file_fact(sqlite3 *database, const char *path, const char *key, char *ret,
                        size_t size, struct camp_error *error)
{
    sqlite3_stmt *statement = NULL;
    int r = recording_prepare(database, path, &statement, error,
                              "SELECT value FROM camp WHERE key = %Q", key);
    const char *text = NULL;

    ret[0] = '\0';
    if (r == CAMP_OK && sqlite3_step(statement) == SQLITE_ROW)
        text = (const char *)sqlite3_column_text(statement, 0);
    if (text != NULL)
        snprintf(ret, size, "%s", text);
    sqlite3_finalize(statement);
    return r;
}

/* By its bytes, so that other files are told without SQLite's words. */
static int check_kind(sqlite3 *database, const char *path, struct camp_error *error)
{
    int64_t application = 0, version = 0;
    int r = recording_file_number(database, path, "PRAGMA application_id", 0, &application, error);

    if (r == CAMP_OK)
        r = recording_file_number(database, path, "PRAGMA user_version", 0, &version, error);
    if (r != CAMP_OK)
        return r;
    if (application != RECORDING_APPLICATION_ID)
        return camp_fail(error, CAMP_E_FORMAT, 0,
                         "%s is not a recording of camp (to read another database, give --from "
                         "sqlite:FILE)",
                         path);
    if (version > RECORDING_VERSION)
        return camp_fail(error, CAMP_E_FORMAT, 0,
                         "%s was made by a newer camp: it has version %lld, this camp reads %d",
                         path, (long long)version, RECORDING_VERSION);
    return CAMP_OK;
}

/* SQLite creates an empty -wal when it opens a file without one. */
int recording_file_fail_empty(const char *path, struct camp_error *error)
{
    char *wal = sqlite3_mprintf("%s-wal", path);
    struct stat status;
    const bool has_wal = wal == NULL || (stat(wal, &status) == 0 && status.st_size > 0);

    sqlite3_free(wal);
    return camp_fail(error, CAMP_E_FORMAT, 0,
                     has_wal ? "%s is empty: no interval was recorded"
                             : "%s is empty: no interval was recorded, or it was copied without "
                               "its file %s-wal",
                     path, basename(path));
}

static int check_tables(sqlite3 *database, const char *path, struct camp_error *error)
{
    int64_t count = 0;
    const int r = recording_file_number(database, path,
                                        "SELECT count(*) FROM sqlite_master "
                                        "WHERE name IN ('camp', 'tick')",
                                        0, &count, error);

    return r == CAMP_OK && count == 0 ? recording_file_fail_empty(path, error) : r;
}

/* Of a file that is shorter than it should be, what is whole can be read when SQLite is told that
 * this is meant; nothing is written. Checkpoints are the recorder's business. */
int recording_file_open(sqlite3 **ret, const char *path, struct camp_error *error)
{
    int r;

    if (access(path, R_OK) != 0)
        return camp_fail_errno(error, errno, path);
    if (sqlite3_open_v2(path, ret, SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX, NULL) != SQLITE_OK)
        return recording_failed(*ret, path, error);
    sqlite3_busy_timeout(*ret, BUSY_TIMEOUT_MS);
    sqlite3_db_config(*ret, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
    sqlite3_db_config(*ret, SQLITE_DBCONFIG_WRITABLE_SCHEMA, 1, NULL);
    sqlite3_db_config(*ret, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
    r = check_kind(*ret, path, error);
    return r == CAMP_OK ? check_tables(*ret, path, error) : r;
}

/* The head: sqlite.org, Database File Format, 1.3: at 16 the size of a page, at 28 how many there
 * are. While a recorder is at work (there is a -wal) it may be ahead for a moment. */
bool recording_file_ends_early(const char *path)
{
    char *wal = sqlite3_mprintf("%s-wal", path);
    const bool at_work = wal == NULL || access(wal, F_OK) == 0;
    FILE *file = at_work ? NULL : fopen(path, "re");
    unsigned char head[32];
    struct stat status;
    uint64_t page_size, pages;
    bool early = false;

    sqlite3_free(wal);
    if (file == NULL)
        return false;
    if (fread(head, 1, sizeof head, file) == sizeof head && fstat(fileno(file), &status) == 0) {
        page_size = (uint64_t)head[16] << 8 | head[17];
        pages = (uint64_t)head[28] << 24 | (uint64_t)head[29] << 16 | (uint64_t)head[30] << 8 |
                head[31];
        early = (uint64_t)status.st_size < (page_size == 1 ? 65536 : page_size) * pages;
    }
    fclose(file);
    return early;
}
