/*
 * A log of everything that SQLite asks of the file system, in order: created and removed files,
 * written bytes, changed lengths, and the moments when a file or its folder was synced to the disk.
 *
 * power_log_start() changes SQLite's default VFS (sqlite.org, The SQLite OS Interface). Each file
 * of the logged folder gets a copy of its table of methods, in which some methods write the log and
 * then call the original ones. SQLite syncs a folder inside another method: it opens the folder by
 * the system call "openDirectory", which is therefore replaced as well. The -shm file is not
 * logged: it is shared memory, and a program that opens a recording first makes it anew.
 */
#pragma once

#include "../tree.h"

#include <sqlite3.h>
#include <stdbool.h>

enum power_kind {
    POWER_CREATED,
    POWER_REMOVED,
    POWER_WRITTEN,
    POWER_RESIZED,
    POWER_SYNCED,
    POWER_FOLDER_SYNCED,
    POWER_COMMITTED /* recorder_write() returned: the interval is promised to be on the disk */
};

struct power_event {
    enum power_kind kind;
    size_t file;  /* index in power_log.names */
    size_t at;    /* where bytes were written, or the new length */
    size_t count; /* of the bytes */
    unsigned char *bytes;
};

#define POWER_FILES 400 /* files that were ever created; a name that is used again is a new one */
#define POWER_OPEN 16

static struct {
    bool is_on;
    const char *folder;
    struct power_event *events; /* [count] */
    size_t count, capacity;
    char *names[POWER_FILES]; /* [name_count] */
    bool is_removed[POWER_FILES];
    size_t name_count;
    struct {
        sqlite3_file *file;
        size_t name;
        const sqlite3_io_methods *original;
        sqlite3_io_methods logged;
    } open[POWER_OPEN];
    bool folder_was_opened;
    bool ignores_syncs; /* what a disk does that only claims to have synced its data */
    sqlite3_vfs original;
    int (*open_folder)(const char *path, int *ret);
} power_log;

static void power_add(enum power_kind kind, size_t file, size_t at, const void *bytes, size_t count)
{
    struct power_event *event;

    if (!power_log.is_on)
        return;
    if (power_log.count == power_log.capacity) {
        power_log.capacity = 2 * power_log.capacity + 1024;
        power_log.events = realloc(power_log.events, power_log.capacity * sizeof *power_log.events);
        assert_non_null(power_log.events);
    }
    event = &power_log.events[power_log.count++];
    *event = (struct power_event){ kind, file, at, count, NULL };
    if (count > 0) {
        event->bytes = malloc(count);
        assert_non_null(event->bytes);
        memcpy(event->bytes, bytes, count);
    }
}

static void power_add_synced_folder(void)
{
    if (power_log.folder_was_opened && !power_log.ignores_syncs)
        power_add(POWER_FOLDER_SYNCED, 0, 0, NULL, 0);
    power_log.folder_was_opened = false;
}

/* Returns the number of the file, or of a new file if there is none with this name. */
static size_t power_name(const char *path)
{
    const char *name = path + strlen(power_log.folder) + 1;

    for (size_t i = 0; i < power_log.name_count; i++) {
        if (!power_log.is_removed[i] && strcmp(power_log.names[i], name) == 0)
            return i;
    }
    assert_true(power_log.name_count < POWER_FILES);
    power_log.names[power_log.name_count] = strdup(name);
    power_add(POWER_CREATED, power_log.name_count, 0, NULL, 0);
    return power_log.name_count++;
}

static bool power_is_logged(const char *path)
{
    const size_t length = strlen(power_log.folder);

    return power_log.is_on && path != NULL && strncmp(path, power_log.folder, length) == 0 &&
           path[length] == '/';
}

static size_t power_open_at(const sqlite3_file *file)
{
    size_t i = 0;

    while (i < POWER_OPEN && power_log.open[i].file != file)
        i++;
    assert_true(i < POWER_OPEN);
    return i;
}

static int power_write(sqlite3_file *file, const void *bytes, int count, sqlite3_int64 at)
{
    const size_t i = power_open_at(file);
    const int r = power_log.open[i].original->xWrite(file, bytes, count, at);

    if (r == SQLITE_OK)
        power_add(POWER_WRITTEN, power_log.open[i].name, (size_t)at, bytes, (size_t)count);
    return r;
}

static int power_truncate(sqlite3_file *file, sqlite3_int64 length)
{
    const size_t i = power_open_at(file);
    const int r = power_log.open[i].original->xTruncate(file, length);

    if (r == SQLITE_OK)
        power_add(POWER_RESIZED, power_log.open[i].name, (size_t)length, NULL, 0);
    return r;
}

static int power_sync(sqlite3_file *file, int flags)
{
    const size_t i = power_open_at(file);
    const int r = power_log.open[i].original->xSync(file, flags);

    if (r == SQLITE_OK && !power_log.ignores_syncs)
        power_add(POWER_SYNCED, power_log.open[i].name, 0, NULL, 0);
    power_add_synced_folder();
    return r;
}

static int power_close(sqlite3_file *file)
{
    const size_t i = power_open_at(file);

    power_log.open[i].file = NULL;
    return power_log.open[i].original->xClose(file);
}

static int power_open(sqlite3_vfs *vfs, const char *path, sqlite3_file *file, int flags,
                      int *ret_flags)
{
    const int r = power_log.original.xOpen(vfs, path, file, flags, ret_flags);
    size_t i;

    if (r != SQLITE_OK || !power_is_logged(path))
        return r;
    i = power_open_at(NULL);
    power_log.open[i].file = file;
    power_log.open[i].name = power_name(path);
    power_log.open[i].original = file->pMethods;
    power_log.open[i].logged = *file->pMethods;
    power_log.open[i].logged.xWrite = power_write;
    power_log.open[i].logged.xTruncate = power_truncate;
    power_log.open[i].logged.xSync = power_sync;
    power_log.open[i].logged.xClose = power_close;
    file->pMethods = &power_log.open[i].logged;
    return r;
}

static int power_delete(sqlite3_vfs *vfs, const char *path, int sync_folder)
{
    const int r = power_log.original.xDelete(vfs, path, sync_folder);

    if (r == SQLITE_OK && power_is_logged(path)) {
        const size_t name = power_name(path);

        power_add(POWER_REMOVED, name, 0, NULL, 0);
        power_log.is_removed[name] = true;
    }
    power_add_synced_folder();
    return r;
}

static int power_open_folder(const char *path, int *ret)
{
    power_log.folder_was_opened = true;
    return power_log.open_folder(path, ret);
}

/* All paths in the folder must have this prefix. */
static void power_log_start(const char *logged_folder)
{
    sqlite3_vfs *vfs = sqlite3_vfs_find(NULL);

    assert_true(sizeof power_log.original <= sizeof *vfs);
    power_log.original = *vfs;
    power_log.open_folder = (int (*)(const char *, int *))vfs->xGetSystemCall(vfs, "openDirectory");
    assert_non_null(power_log.open_folder);
    vfs->xSetSystemCall(vfs, "openDirectory", (sqlite3_syscall_ptr)power_open_folder);
    vfs->xOpen = power_open;
    vfs->xDelete = power_delete;
    power_log.folder = logged_folder;
    power_log.is_on = true;
}

/* Keeps the log. */
static void power_log_stop(void)
{
    sqlite3_vfs *vfs = sqlite3_vfs_find(NULL);

    vfs->xSetSystemCall(vfs, "openDirectory", NULL);
    vfs->xOpen = power_log.original.xOpen;
    vfs->xDelete = power_log.original.xDelete;
    power_log.is_on = false;
}

static void power_log_release(void)
{
    for (size_t i = 0; i < power_log.count; i++)
        free(power_log.events[i].bytes);
    for (size_t i = 0; i < power_log.name_count; i++)
        free(power_log.names[i]);
    free(power_log.events);
    memset(&power_log, 0, sizeof power_log);
}
