#include "recorder.h"

#include "counters/error.h"
#include "ledger/array.h"
#include "recorder_causes.h"
#include "recorder_table.h"
#include "recording.h"
#include "recording_inside.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#define BUSY_TIMEOUT_MS 2000
#define JOURNAL_BYTES (16 * 1024 * 1024)
/* One table is for the frames of the source, the other for its second frames (source_beside()). */
#define TABLES 2

struct recorder {
    sqlite3 *database;
    char *path;
    int file; /* a descriptor of the file, which holds writer_lock */
    struct recorder_table tables[TABLES];
    size_t table_count; /* 0 before the first interval */
    struct recorder_causes causes;
    int64_t tick;
    bool is_key_due; /* the last interval should have been a key interval */
    uint32_t number; /* highest entity number in the file */
    struct recorder_counts counts;
    char note[FRAME_NOTE_SIZE];
};

/* A recorder holds this lock on the first byte of its file. SQLite never locks that byte, so the
 * lock does not disturb readers. */
static const struct flock writer_lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET, .l_len = 1 };

static const char *const tick_names[TABLES] = { "tick", "tick_beside" };

#define TICKS(name)                                                                                \
    "CREATE TABLE " name "(tick INTEGER PRIMARY KEY" RECORDING_TICK(SQL_INTEGER)                   \
        RECORDING_RANGE(SQL_INTEGER) ") STRICT;"

/* The tables that every file has. Each change of an entity's identity adds a row to `identity`. */
static const char *const file_tables[] = {
    "CREATE TABLE camp(key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;",
    TICKS("tick"),
    TICKS("tick_beside"),
    "CREATE TABLE column_info(table_name TEXT NOT NULL, position INTEGER NOT NULL" RECORDING_COLUMN(
        SQL_TEXT)
        RECORDING_PLACE(SQL_INTEGER) ", PRIMARY KEY(table_name, position)) STRICT, WITHOUT ROWID;",
    "CREATE TABLE identity(entity INTEGER NOT NULL, since_tick INTEGER NOT NULL" SQL_TEXT(
        table_name) RECORDING_IDENTITY(SQL_INTEGER)
        SQL_TEXT(name) ", PRIMARY KEY(entity, since_tick)) STRICT, WITHOUT ROWID;",
    "CREATE TABLE note(since_tick INTEGER PRIMARY KEY, text TEXT NOT NULL) STRICT;",
};

/* Returns whether a file of the recording has reached the limit on the size of a file, which SQLite
 * does not report. */
static bool has_reached_limit(const char *path)
{
    static const char *const ends[] = { "", "-wal" };
    struct rlimit limit;
    struct stat status;
    char name[PATH_MAX];
    bool ret = false;

    if (getrlimit(RLIMIT_FSIZE, &limit) != 0)
        return false;
    for (size_t i = 0; i < ARRAY_COUNT(ends); i++)
        ret = ret || (snprintf(name, sizeof name, "%s%s", path, ends[i]) < (int)sizeof name &&
                      stat(name, &status) == 0 && (rlim_t)status.st_size >= limit.rlim_cur);
    return ret;
}

static int fail(const struct recorder *recorder, struct camp_error *error)
{
    const int code = sqlite3_errcode(recorder->database) & 0xff;
    const int system_error = sqlite3_system_errno(recorder->database);
    const int limit = code == SQLITE_CANTOPEN ? recording_file_limit() : 0;

    if (code == SQLITE_NOMEM)
        return CAMP_E_NOMEM;
    if (limit != 0)
        return camp_fail_errno(error, limit, recorder->path);
    if (code == SQLITE_FULL || system_error == ENOSPC || system_error == EDQUOT)
        return camp_fail(error, CAMP_E_SPACE, ENOSPC, "%s: the disk is full", recorder->path);
    if (code == SQLITE_BUSY)
        return camp_fail(error, CAMP_E_IO, EBUSY, "%s: another program holds a lock on the file",
                         recorder->path);
    if (code == SQLITE_IOERR && has_reached_limit(recorder->path))
        return camp_fail(error, CAMP_E_IO, EFBIG, "cannot write %s: %s", recorder->path,
                         strerror(EFBIG));
    if (code == SQLITE_CANTOPEN && system_error != 0)
        return camp_fail(error, CAMP_E_IO, system_error, "cannot write %s: %s (%s)", recorder->path,
                         sqlite3_errmsg(recorder->database), strerror(system_error));
    return camp_fail(error, CAMP_E_IO, system_error, "cannot write %s: %s", recorder->path,
                     sqlite3_errmsg(recorder->database));
}

static int run(const struct recorder *recorder, const char *sql, struct camp_error *error)
{
    return sqlite3_exec(recorder->database, sql, NULL, NULL, NULL) == SQLITE_OK
               ? CAMP_OK
               : fail(recorder, error);
}

static int write_fact(struct recorder *recorder, enum recording_fact fact, const char *value,
                      struct camp_error *error)
{
    char *sql = sqlite3_mprintf("INSERT INTO camp VALUES(%Q, %Q)", recording_fact_names[fact],
                                value != NULL ? value : "");
    int r = sql != NULL ? run(recorder, sql, error) : CAMP_E_NOMEM;

    sqlite3_free(sql);
    return r;
}

static int write_facts(struct recorder *recorder, const struct recorder_about *about,
                       struct camp_error *error)
{
    struct utsname system = { .sysname = "" };
    char host[256] = "", kernel[160] = "", interval[32], cpus[32];
    const char *const facts[RECORDING_FACT_COUNT] = {
        [RECORDING_SOURCE] = about->source,    [RECORDING_KIND] = about->kind,
        [RECORDING_TIER] = about->tier,        [RECORDING_HOST] = host,
        [RECORDING_KERNEL] = kernel,           [RECORDING_CAMP] = camp_version(),
        [RECORDING_FORMAT] = RECORDING_SCHEMA, [RECORDING_NOTE] = about->note,
        [RECORDING_INTERVAL] = interval,       [RECORDING_SERVER_CPUS] = cpus,
    };
    int r = CAMP_OK;

    gethostname(host, sizeof host - 1);
    if (uname(&system) == 0)
        sqlite3_snprintf(sizeof kernel, kernel, "%s %s", system.sysname, system.release);
    sqlite3_snprintf(sizeof interval, interval, "%llu", (unsigned long long)about->interval_ns);
    sqlite3_snprintf(sizeof cpus, cpus, "%llu", (unsigned long long)about->server_cpus);
    for (int i = 0; i < RECORDING_FACT_COUNT && r == CAMP_OK; i++) {
        /* create_tables() writes these two facts. */
        if (i != RECORDING_TABLE && i != RECORDING_BESIDE &&
            (i != RECORDING_SERVER_CPUS || about->server_cpus > 0))
            r = write_fact(recorder, (enum recording_fact)i, facts[i], error);
    }
    return r;
}

bool recorder_is_writing(const char *path)
{
    const int file = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_NOFOLLOW | O_CLOEXEC);
    struct flock lock = writer_lock;
    const bool locked = file >= 0 && fcntl(file, F_OFD_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;

    if (file >= 0)
        close(file);
    return locked;
}

/* Returns whether the file was deleted, or another file is at its path. A file that was only
 * renamed is not lost. */
static bool is_lost(const struct recorder *recorder)
{
    struct stat own, there;

    return fstat(recorder->file, &own) == 0 &&
           (own.st_nlink == 0 || (stat(recorder->path, &there) == 0 &&
                                  (there.st_dev != own.st_dev || there.st_ino != own.st_ino)));
}

/* O_EXCL prevents two recorders from sharing a file, protects existing files, and follows no link.
 * A recording may have texts of queries and processes of other users, so only its owner may read
 * it. */
static int create_file(const char *path, uint32_t mode, int *ret, struct camp_error *error)
{
    struct stat there;
    const int file = open(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
                          mode != 0 ? (mode_t)mode : 0600);

    if (file >= 0) {
        /* Not every file system has locks. */
        fcntl(file, F_OFD_SETLK, &writer_lock);
        /* Files of a deleted recording may be left here. SQLite would take them for those of this
         * one. */
        recording_remove_beside(path);
        *ret = file;
        return CAMP_OK;
    }
    if (errno == EEXIST)
        return camp_fail(error, CAMP_E_IO, EEXIST, "%s %s", path,
                         lstat(path, &there) == 0 && S_ISLNK(there.st_mode)
                             ? "is a link, which is not followed"
                             : "already exists");
    if (errno == ENOSPC || errno == EDQUOT)
        return camp_fail(error, CAMP_E_SPACE, errno, "%s: the disk is full", path);
    return camp_fail_errno(error, errno, path);
}

/* Creates the tables of the file. With synchronous=FULL, a committed transaction is on the disk.
 * Until the file has its -wal file, there is no rollback journal (journal_mode=OFF): it would have
 * nothing to protect, and after a power failure a reader, which may not write, refuses a file with
 * such a journal. */
static int set_up(struct recorder *recorder, const struct recorder_about *about,
                  struct camp_error *error)
{
    char sql[300];
    int r;

    sqlite3_busy_timeout(recorder->database, BUSY_TIMEOUT_MS);
    sqlite3_snprintf(sizeof sql, sql,
                     "PRAGMA journal_mode = OFF; PRAGMA synchronous = FULL;"
                     "PRAGMA application_id = %d; PRAGMA user_version = %d;"
                     "PRAGMA journal_mode = WAL;"
                     "PRAGMA journal_size_limit = %d; BEGIN",
                     RECORDING_APPLICATION_ID, RECORDING_VERSION, JOURNAL_BYTES);
    r = run(recorder, sql, error);
    for (size_t i = 0; i < ARRAY_COUNT(file_tables) && r == CAMP_OK; i++)
        r = run(recorder, file_tables[i], error);
    if (r == CAMP_OK)
        r = write_facts(recorder, about, error);
    return r == CAMP_OK ? run(recorder, "COMMIT", error) : r;
}

static int open_recorder(struct recorder **ret, const char *path,
                         const struct recorder_about *about, struct camp_error *error)
{
    struct recorder *recorder = calloc(1, sizeof *recorder);
    int r =
        recorder != NULL ? create_file(path, about->mode, &recorder->file, error) : CAMP_E_NOMEM;

    if (r != CAMP_OK) {
        free(recorder);
        return r;
    }
    recorder->path = strdup(path);
    r = recorder->path != NULL ? CAMP_OK : CAMP_E_NOMEM;
    if (r == CAMP_OK &&
        sqlite3_open_v2(path, &recorder->database, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX,
                        NULL) != SQLITE_OK)
        r = fail(recorder, error);
    if (r == CAMP_OK)
        r = set_up(recorder, about, error);
    if (r != CAMP_OK) {
        recorder_close(recorder);
        recording_remove(path);
        return r;
    }
    *ret = recorder;
    return CAMP_OK;
}

/* SQLite gives its -wal and -shm files the permissions of the recording, but a umask would take
 * some away, and a confined command may not call fchmod(2). */
int recorder_open(struct recorder **ret, const char *path, const struct recorder_about *about,
                  struct camp_error *error)
{
    const mode_t mask = umask(0);
    const int r = open_recorder(ret, path, about, error);

    umask(mask);
    return r;
}

void recorder_close(struct recorder *recorder)
{
    if (recorder == NULL)
        return;
    for (size_t i = 0; i < TABLES; i++)
        recorder_table_release(&recorder->tables[i]);
    recorder_causes_release(&recorder->causes);
    /* Removes the -wal file. With it, readers would need permission to write in the folder. Then
     * only the first sector of the file changes, which a disk writes as a whole. So it needs no
     * rollback journal, which journal_mode=DELETE would make (set_up()). The -wal file at the path
     * of a lost file may belong to another recording, and is not removed. */
    sqlite3_exec(recorder->database,
                 is_lost(recorder) ? "PRAGMA wal_checkpoint" : "PRAGMA journal_mode = OFF", NULL,
                 NULL, NULL);
    sqlite3_close(recorder->database);
    /* Only now, because closing any descriptor of a file releases the locks of SQLite. */
    close(recorder->file);
    free(recorder->path);
    free(recorder);
}

static int create_tables(struct recorder *recorder, const struct frame *const frames[TABLES],
                         struct camp_error *error)
{
    int r = CAMP_OK;

    for (size_t i = 0; i < TABLES && frames[i] != NULL && r == CAMP_OK; i++) {
        r = recorder_table_create(&recorder->tables[i], recorder->database, tick_names[i],
                                  frames[i]);
        if (r == CAMP_OK)
            r = write_fact(recorder, i == 0 ? RECORDING_TABLE : RECORDING_BESIDE,
                           recorder->tables[i].name, error);
        if (r != CAMP_OK)
            return r == CAMP_E_IO ? fail(recorder, error) : r;
        recorder->table_count = i + 1;
    }
    if (r == CAMP_OK)
        r = recorder_entity_view(recorder->tables, recorder->table_count, recorder->database);
    return r == CAMP_E_IO ? fail(recorder, error) : r;
}

/* Writes the note of the source if it has changed since the last interval. */
static int write_note(const struct recorder *recorder, const char *note, struct camp_error *error)
{
    char *sql;
    int r;

    if (strcmp(note, recorder->note) == 0)
        return CAMP_OK;
    sql = sqlite3_mprintf("INSERT INTO note VALUES(%lld, %Q)", (long long)recorder->tick + 1, note);
    r = sql != NULL ? run(recorder, sql, error) : CAMP_E_NOMEM;
    sqlite3_free(sql);
    return r;
}

bool recorder_wants_key(const struct recorder *recorder)
{
    return recorder->is_key_due || recorder->tick % RECORDING_KEY_EVERY == 0;
}

/* An interval is a key interval of all its tables, or of none. */
static bool is_key(const struct recorder *recorder, const struct frame *const frames[TABLES])
{
    bool is_whole = true;

    for (size_t i = 0; i < TABLES; i++)
        is_whole = is_whole && (frames[i] == NULL || frames[i]->omitted == 0);
    return is_whole && recorder_wants_key(recorder);
}

static int write_causes(struct recorder *recorder, const struct causes *causes,
                        struct camp_error *error)
{
    const int r = causes != NULL ? recorder_causes_write(&recorder->causes, recorder->database,
                                                         recorder->tick + 1, causes)
                                 : CAMP_OK;

    return r == CAMP_E_IO ? fail(recorder, error) : r;
}

static int write_frames(struct recorder *recorder, const struct frame *const frames[TABLES],
                        uint64_t *ret_written, struct camp_error *error)
{
    const int64_t tick = recorder->tick + 1;
    const bool key = is_key(recorder, frames);
    int r = CAMP_OK;

    if (recorder->table_count == 0)
        r = create_tables(recorder, frames, error);
    for (size_t i = 0; i < recorder->table_count && r == CAMP_OK; i++) {
        struct recorder_table *table = &recorder->tables[i];
        uint64_t written = 0;

        if (frames[i] == NULL)
            table->wants_key = table->wants_key || key;
        else
            r = recorder_table_write(table, tick, key, frames[i], &recorder->number, &written);
        if (i == 0)
            *ret_written = written;
        if (r == CAMP_E_IO)
            r = fail(recorder, error);
    }
    return r;
}

/* Discards the current interval. */
static void roll_back(struct recorder *recorder)
{
    sqlite3_exec(recorder->database, "ROLLBACK", NULL, NULL, NULL);
    for (size_t i = 0; i < TABLES; i++) {
        if (recorder->tick == 0)
            recorder_table_release(&recorder->tables[i]);
        else
            recorder_table_roll_back(&recorder->tables[i], recorder->tick + 1);
    }
    recorder_causes_roll_back(&recorder->causes, recorder->tick + 1);
    if (recorder->tick == 0)
        recorder->table_count = 0;
}

int recorder_write(struct recorder *recorder, const struct frame *frame, const struct frame *beside,
                   const struct causes *causes, struct camp_error *error)
{
    const struct frame *const frames[TABLES] = { frame, beside };
    char note[FRAME_NOTE_SIZE];
    uint64_t written = 0;
    int r;

    if (is_lost(recorder))
        return camp_fail(error, CAMP_E_GONE, 0, "%s was deleted or replaced while it was recorded",
                         recorder->path);
    r = run(recorder, "BEGIN IMMEDIATE", error);
    snprintf(note, sizeof note, "%s", frame->note != NULL ? frame->note : "");
    if (r == CAMP_OK)
        r = write_note(recorder, note, error);
    if (r == CAMP_OK)
        r = write_frames(recorder, frames, &written, error);
    if (r == CAMP_OK)
        r = write_causes(recorder, causes, error);
    if (r == CAMP_OK)
        r = run(recorder, "COMMIT", error);
    if (r != CAMP_OK) {
        roll_back(recorder);
        return r;
    }
    memcpy(recorder->note, note, sizeof note);
    recorder->is_key_due = recorder_wants_key(recorder) && !is_key(recorder, frames);
    recorder->tick++;
    recorder->counts.ticks++;
    recorder->counts.rows += frame_size(frame);
    recorder->counts.written += written;
    return CAMP_OK;
}

struct recorder_counts recorder_counts(const struct recorder *recorder)
{
    struct recorder_counts counts = recorder->counts;

    counts.bytes = recording_file_size(recorder->path);
    return counts;
}
