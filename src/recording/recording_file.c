/* Opens, checks and describes the file of a recording. */
#include "recording_inside.h"

#include "counters/error.h"
#include "ledger/words.h"
#include "recording_causes.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A scan of a table needs fewer than 10 steps of SQLite for each byte of a recording. */
#define STEPS_EACH_BYTE 64
#define STEPS_LEAST 20000000
#define HEAD_BYTES 32
#define WAL_HEADER_BYTES 32 /* sqlite.org, WAL-mode File Format */

/* Tries to open four files, because SQLite needs the database, -wal, -shm and the folder, and may
 * already have closed some of them. */
int recording_file_limit(void)
{
    int files[4], count = 0, failed = 0;

    while (count < 4 && failed == 0) {
        files[count] = open("/dev/null", O_RDONLY | O_CLOEXEC);
        failed = files[count] < 0 ? errno : 0;
        count += failed == 0;
    }
    while (count > 0)
        close(files[--count]);
    return failed == EMFILE || failed == ENFILE ? failed : 0;
}

/* Returns the length of the -wal file, 0 if there is none, or INT64_MAX if there is no memory. */
static int64_t wal_length(const char *path)
{
    char *wal = sqlite3_mprintf("%s-wal", path);
    struct stat status;
    int64_t ret = INT64_MAX;

    if (wal != NULL)
        ret = stat(wal, &status) == 0 ? (int64_t)status.st_size : 0;
    sqlite3_free(wal);
    return ret;
}

/* Reads the first bytes of the file's header (sqlite.org, Database File Format, 1.3), and gets the
 * length of the file. */
static bool read_head(const char *path, unsigned char ret_head[HEAD_BYTES], uint64_t *ret_length)
{
    const int file = open(path, O_RDONLY | O_CLOEXEC);
    struct stat status;
    const bool is_read = file >= 0 && fstat(file, &status) == 0 &&
                         pread(file, ret_head, HEAD_BYTES, 0) == HEAD_BYTES;

    if (is_read)
        *ret_length = (uint64_t)status.st_size;
    if (file >= 0)
        close(file);
    return is_read;
}

/* Returns whether the file is shorter than its header says. Byte 16 has the page size, byte 28 the
 * number of pages. A file with a -wal file is being recorded, and its header may already count
 * pages that are not in the file. Readers may leave an empty -wal file. */
static bool is_cut(const char *path)
{
    unsigned char head[HEAD_BYTES];
    uint64_t length, page_size, pages;

    if (wal_length(path) > 0 || !read_head(path, head, &length))
        return false;
    page_size = (uint64_t)head[16] << 8 | head[17];
    pages =
        (uint64_t)head[28] << 24 | (uint64_t)head[29] << 16 | (uint64_t)head[30] << 8 | head[31];
    return length < (page_size == 1 ? 65536 : page_size) * pages;
}

int recording_failed(sqlite3 *database, const char *path, struct camp_error *error)
{
    const int code = sqlite3_errcode(database) & 0xff;
    const int limit = code == SQLITE_CANTOPEN ? recording_file_limit() : 0;

    if (code == SQLITE_NOMEM)
        return CAMP_E_NOMEM;
    if (limit != 0)
        return camp_fail_errno(error, limit, path);
    if (code == SQLITE_NOTADB)
        return camp_fail(error, CAMP_E_FORMAT, 0, "%s is not a recording", path);
    if (code == SQLITE_CANTOPEN) /* SQLite must create a -shm file in the same folder. */
        return camp_fail(error, CAMP_E_PERM, sqlite3_system_errno(database),
                         "%s was not closed (its -wal file still exists): reading it needs "
                         "permission to write in its folder; or copy both files to another folder",
                         path);
    if (code == SQLITE_CORRUPT)
        return camp_fail(error, CAMP_E_FORMAT, 0,
                         is_cut(path) ? "%s is damaged: it ends too early, or was overwritten, or "
                                        "copied without its file %s-wal"
                                      : "%s is damaged: it ends too early, or was overwritten",
                         path, name_in_path(path));
    if (code == SQLITE_INTERRUPT) /* recording_source_open() and next() handle signals. */
        return camp_fail(
            error, CAMP_E_FORMAT, 0,
            "%s is damaged: its tables have more rows than a file of its size can hold", path);
    if (code == SQLITE_TOOBIG)
        return camp_fail(error, CAMP_E_FORMAT, 0, "%s is damaged: it has a value of many megabytes",
                         path);
    if (code == SQLITE_ERROR)
        return camp_fail(error, CAMP_E_FORMAT, 0, "%s is not a complete recording: %s", path,
                         sqlite3_errmsg(database));
    return camp_fail(error, CAMP_E_IO, sqlite3_system_errno(database), "cannot read %s: %s", path,
                     sqlite3_errmsg(database));
}

int recording_prepare(sqlite3 *database, const char *path, sqlite3_stmt **ret,
                      struct camp_error *error, const char *format, ...)
{
    va_list arguments;
    char *sql;
    int r;

    va_start(arguments, format);
    sql = sqlite3_vmprintf(format, arguments);
    va_end(arguments);
    if (sql == NULL)
        return CAMP_E_NOMEM;
    r = sqlite3_prepare_v3(database, sql, -1, SQLITE_PREPARE_PERSISTENT, ret, NULL);
    sqlite3_free(sql);
    return r == SQLITE_OK ? CAMP_OK : recording_failed(database, path, error);
}

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

static bool is_corrupt(sqlite3 *database)
{
    return (sqlite3_errcode(database) & 0xff) == SQLITE_CORRUPT;
}

/* Without these facts, the tables of the intervals are unknown. */
static bool is_needed(enum recording_fact fact)
{
    return fact == RECORDING_TABLE || fact == RECORDING_BESIDE || fact == RECORDING_KIND;
}

/* Another fact that cannot be read is "": the intervals may be intact. A file that ends too early
 * may lack any fact. */
static int read_fact(struct recording_info *info, sqlite3 *database, const char *path,
                     enum recording_fact fact, struct camp_error *error)
{
    sqlite3_stmt *statement = NULL;
    int r = recording_prepare(database, path, &statement, error,
                              "SELECT value FROM camp WHERE key = %Q", recording_fact_names[fact]);
    const char *text = NULL;
    int stepped = SQLITE_DONE;

    if (r == CAMP_OK)
        stepped = sqlite3_step(statement);
    if (stepped == SQLITE_ROW)
        text = (const char *)sqlite3_column_text(statement, 0);
    else if (stepped != SQLITE_DONE && is_corrupt(database) && (info->is_cut || !is_needed(fact)))
        info->is_damaged = true;
    else if (stepped != SQLITE_DONE)
        r = recording_failed(database, path, error);
    snprintf(info->facts[fact], sizeof info->facts[fact], "%s", text != NULL ? text : "");
    sqlite3_finalize(statement);
    return r;
}

/* Checks the application id and the version, so that another kind of file gets a plain message
 * instead of an SQLite error. */
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
                         "%s is not a recording of camp (camp top --from sqlite:FILE reads another "
                         "database)",
                         path);
    if (version > RECORDING_VERSION)
        return camp_fail(error, CAMP_E_FORMAT, 0,
                         "%s was made by a newer camp: it has version %lld, this camp reads %d",
                         path, (long long)version, RECORDING_VERSION);
    return CAMP_OK;
}

int recording_file_fail_empty(const char *path, struct camp_error *error)
{
    return camp_fail(error, CAMP_E_GONE, 0,
                     wal_length(path) > 0
                         ? "%s is empty: no interval was recorded"
                         : "%s is empty: no interval was recorded, or it was copied without "
                           "its file %s-wal",
                     path, name_in_path(path));
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

/* Returns whether the file is in journal mode WAL (byte 18), but has no -wal file with a
 * transaction. A recorder that stopped while it created or closed the file leaves it so. Without
 * FOREIGN_FIXED, SQLite would create a -shm file, which a reader may not be permitted, or would try
 * for 10 s to read a -wal file that only has its header. A recorder that still runs has no interval
 * in the file yet, or is closing it. */
static bool is_fixed(const char *path)
{
    unsigned char head[HEAD_BYTES];
    uint64_t length;

    return wal_length(path) <= WAL_HEADER_BYTES && read_head(path, head, &length) && head[18] == 2;
}

static uint64_t steps_most(const char *path)
{
    return STEPS_LEAST + STEPS_EACH_BYTE * recording_file_size(path);
}

int recording_file_open(sqlite3 **ret, const char *path, struct foreign_watch *watch,
                        struct camp_error *error)
{
    int r = foreign_file_check(path, error), how;

    if (r != CAMP_OK)
        return r;
    watch->most = steps_most(path);
    how = (is_cut(path) ? FOREIGN_CUT : 0) | (is_fixed(path) ? FOREIGN_FIXED : 0);
    if (foreign_database_open(ret, path, how, watch) != SQLITE_OK)
        return recording_failed(*ret, path, error);
    /* If this option were on, SQLite would read an unknown column "NAME" as a text. */
    sqlite3_db_config(*ret, SQLITE_DBCONFIG_DQS_DML, 0, NULL);
    r = check_kind(*ret, path, error);
    if (r == CAMP_OK)
        r = check_tables(*ret, path, error);
    return r == CAMP_OK ? recording_check_schema(*ret, path, error) : r;
}

/* Gets the number that `sql` selects. Leaves *ret unchanged if the number cannot be read, because
 * the file is damaged. Returns an error if there is no memory, or if reading failed. */
static int ask(struct recording_info *info, sqlite3 *database, const char *path, const char *sql,
               int64_t parameter, int64_t *ret, struct camp_error *error)
{
    int64_t number;
    const int r = sql != NULL
                      ? recording_file_number(database, path, sql, parameter, &number, error)
                      : CAMP_E_NOMEM;

    if (r == CAMP_OK)
        *ret = number;
    else if (is_corrupt(database))
        info->is_damaged = true;
    return r == CAMP_E_NOMEM || r == CAMP_E_IO ? r : CAMP_OK;
}

static const struct recording_info unknown = {
    .begin_ns = -1,
    .end_ns = -1,
    .intervals = -1,
    .usual_ns = -1,
    .entities = -1,
    .rows = -1,
    .gaps = -1,
    .readable = -1,
};

int recording_file_info(sqlite3 *database, const char *path, struct recording_info *ret,
                        struct camp_error *error)
{
    int r = CAMP_OK;

    *ret = unknown;
    ret->is_cut = is_cut(path);
    ret->has_causes = recording_has_causes(database);
    if (!ret->has_causes && sqlite3_errcode(database) == SQLITE_NOMEM)
        r = CAMP_E_NOMEM;
    for (size_t i = 0; i < RECORDING_FACT_COUNT && r == CAMP_OK; i++)
        r = read_fact(ret, database, path, (enum recording_fact)i, error);
    if (r == CAMP_OK && ret->facts[RECORDING_TABLE][0] == '\0')
        r = recording_file_fail_empty(path, error);
    if (r == CAMP_OK)
        r = recording_check_rows(database, path, ret->facts[RECORDING_TABLE], error);
    if (r == CAMP_OK)
        r = recording_check_rows(database, path, ret->facts[RECORDING_BESIDE], error);
    if (r == CAMP_OK)
        r = recording_read_labels(database, path, ret);
    if (ret->facts[RECORDING_KIND][0] == '\0')
        strcpy(ret->facts[RECORDING_KIND], ret->facts[RECORDING_TABLE]);
    /* Without a condition, SQLite would count in one step, which no signal ends. */
    if (r == CAMP_OK)
        r = ask(ret, database, path, "SELECT count(*) FROM tick WHERE tick > 0", 0, &ret->intervals,
                error);
    if (r == CAMP_OK && ret->intervals > 0)
        r = ask(ret, database, path,
                "SELECT wall_clock_ns - (end_ns - start_ns) FROM tick ORDER BY tick LIMIT 1", 0,
                &ret->begin_ns, error);
    if (r == CAMP_OK && ret->intervals > 0)
        r = ask(ret, database, path, "SELECT wall_clock_ns FROM tick ORDER BY tick DESC LIMIT 1", 0,
                &ret->end_ns, error);
    return r;
}

static int read_lengths(struct recording_info *info, sqlite3 *database, const char *path,
                        struct camp_error *error)
{
    int r;

    if (info->intervals <= 0)
        return CAMP_OK;
    r = ask(info, database, path,
            "SELECT end_ns - start_ns AS length FROM tick ORDER BY length "
            "LIMIT 1 OFFSET (SELECT (count(*) - 1) / 2 FROM tick WHERE tick > 0)",
            0, &info->usual_ns, error);
    if (r != CAMP_OK)
        return r;
    return ask(info, database, path,
               "SELECT count(*) FROM (SELECT start_ns - lag(end_ns) OVER (ORDER BY tick) AS gap, "
               "end_ns - start_ns AS length FROM tick) WHERE gap < 0 OR gap > ?1 / 2 OR "
               "length > 2 * ?1",
               info->usual_ns, &info->gaps, error);
}

static int read_rows(struct recording_info *info, sqlite3 *database, const char *path,
                     struct camp_error *error)
{
    char *rows = sqlite3_mprintf("SELECT count(*) FROM \"%w_rows\" WHERE flags & %d = 0",
                                 info->facts[RECORDING_TABLE], RECORDING_GONE);
    char *entities =
        sqlite3_mprintf("SELECT count(DISTINCT entity) FROM identity WHERE table_name = %Q",
                        info->facts[RECORDING_TABLE]);
    int r = ask(info, database, path, rows, 0, &info->rows, error);

    if (r == CAMP_OK)
        r = ask(info, database, path, entities, 0, &info->entities, error);
    sqlite3_free(rows);
    sqlite3_free(entities);
    return r;
}

/* Checks the pages of the whole file, but not whether each index has all rows. */
static int check_pages_once(sqlite3 *database, const char *path, bool *ret_damaged)
{
    sqlite3_stmt *statement = NULL;
    int r = recording_prepare(database, path, &statement, NULL, "PRAGMA quick_check(1)");

    *ret_damaged = true;
    if (r == CAMP_OK) {
        const unsigned char *text =
            sqlite3_step(statement) == SQLITE_ROW ? sqlite3_column_text(statement, 0) : NULL;

        *ret_damaged = text == NULL || strcmp((const char *)text, "ok") != 0;
        if (sqlite3_errcode(database) == SQLITE_NOMEM)
            r = CAMP_E_NOMEM;
    }
    sqlite3_finalize(statement);
    return r == CAMP_E_NOMEM ? r : CAMP_OK;
}

/* SQLite may report the lack of memory as damage, so damage must be found twice. */
static int check_pages(sqlite3 *database, const char *path, bool *ret_damaged)
{
    const int r = check_pages_once(database, path, ret_damaged);

    return r == CAMP_OK && *ret_damaged ? check_pages_once(database, path, ret_damaged) : r;
}

/* Counts the intervals before the first interval that cannot be read. */
static int count_readable(const char *path, int64_t *ret)
{
    const struct from from = { .text = path };
    struct from_facts facts = { 0 };
    struct source *source = NULL;
    const struct frame *frame;
    int r = recording_source_open(&from, path, &source, &facts, NULL);

    *ret = 0;
    if (r != CAMP_OK)
        return r == CAMP_E_NOMEM ? r : CAMP_OK;
    while ((r = source->next(source, 0, &frame, NULL)) == CAMP_OK)
        ++*ret;
    source_close(source);
    return r == CAMP_E_NOMEM ? r : CAMP_OK;
}

int recording_info_read(struct recording_info *ret, const char *path, struct camp_error *error)
{
    struct foreign_watch watch = { 0 };
    sqlite3 *database = NULL;
    int r = recording_file_open(&database, path, &watch, error);

    *ret = unknown;
    if (r == CAMP_OK)
        r = recording_file_info(database, path, ret, error);
    foreign_watch_start(&watch);
    if (r == CAMP_OK)
        r = read_lengths(ret, database, path, error);
    foreign_watch_start(&watch);
    if (r == CAMP_OK)
        r = read_rows(ret, database, path, error);
    foreign_watch_start(&watch);
    ret->is_damaged = ret->is_damaged || ret->is_cut;
    if (r == CAMP_OK && !ret->is_damaged)
        r = check_pages(database, path, &ret->is_damaged);
    ret->readable = ret->intervals;
    if (r == CAMP_OK && ret->is_damaged)
        r = count_readable(path, &ret->readable);
    sqlite3_close(database);
    return r;
}
