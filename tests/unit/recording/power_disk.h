/*
 * A disk that lost its power, made of a log (power_log.h). What was synced is on it. What was only
 * written may be on it or not: a disk writes in any order, and in sectors of 512 bytes, so a part
 * of a page may be there. Names are kept in the order in which they were created and removed, as
 * the journal of a file system keeps them.
 */
#pragma once

#include "power_log.h"

#include <dirent.h>
#include <fcntl.h>

#define POWER_SECTOR 512

enum power_kept { POWER_NOTHING, POWER_ALL, POWER_SOME, POWER_KEPT_COUNT };

struct power_content {
    unsigned char *bytes;
    size_t length, capacity;
};

struct power_list {
    size_t *events; /* [count] */
    size_t count, capacity;
};

static struct {
    size_t done; /* events of the log */
    struct power_content synced[POWER_FILES];
    struct power_list unsynced[POWER_FILES];
    bool is_there[POWER_FILES]; /* in the synced folder */
    struct power_list unsynced_names;
} power_disk;

static void power_list_add(struct power_list *list, size_t event)
{
    if (list->count == list->capacity) {
        list->capacity = 2 * list->capacity + 64;
        list->events = realloc(list->events, list->capacity * sizeof *list->events);
        assert_non_null(list->events);
    }
    list->events[list->count++] = event;
}

static void power_resize(struct power_content *content, size_t length)
{
    if (length > content->capacity) {
        content->capacity = 2 * length + 4096;
        content->bytes = realloc(content->bytes, content->capacity);
        assert_non_null(content->bytes);
    }
    if (length > content->length)
        memset(content->bytes + content->length, 0, length - content->length);
    content->length = length;
}

static void power_put(struct power_content *content, const struct power_event *event, size_t first,
                      size_t count)
{
    if (event->at + first + count > content->length)
        power_resize(content, event->at + first + count);
    memcpy(content->bytes + event->at + first, event->bytes + first, count);
}

static bool power_is_kept(enum power_kept kept)
{
    return kept == POWER_ALL || (kept == POWER_SOME && rand() % 2 == 0);
}

/* Does what an event says, or a part of it. */
static void power_apply(struct power_content *content, const struct power_event *event,
                        enum power_kept kept)
{
    if (event->kind == POWER_RESIZED && power_is_kept(kept))
        power_resize(content, event->at);
    for (size_t first = 0, count; first < event->count; first += count) {
        count = POWER_SECTOR - (event->at + first) % POWER_SECTOR;
        if (count > event->count - first)
            count = event->count - first;
        if (power_is_kept(kept))
            power_put(content, event, first, count);
    }
}

/* Does the next event of the log. */
static void power_disk_step(void)
{
    const size_t at = power_disk.done++;
    const struct power_event *event = &power_log.events[at];
    struct power_list *unsynced = &power_disk.unsynced[event->file];

    switch (event->kind) {
    case POWER_CREATED:
    case POWER_REMOVED:
        power_list_add(&power_disk.unsynced_names, at);
        break;
    case POWER_WRITTEN:
    case POWER_RESIZED:
        power_list_add(unsynced, at);
        break;
    case POWER_SYNCED:
        for (size_t i = 0; i < unsynced->count; i++)
            power_apply(&power_disk.synced[event->file], &power_log.events[unsynced->events[i]],
                        POWER_ALL);
        unsynced->count = 0;
        break;
    case POWER_FOLDER_SYNCED:
        for (size_t i = 0; i < power_disk.unsynced_names.count; i++) {
            const struct power_event *name = &power_log.events[power_disk.unsynced_names.events[i]];

            power_disk.is_there[name->file] = name->kind == POWER_CREATED;
        }
        power_disk.unsynced_names.count = 0;
        break;
    case POWER_COMMITTED:
        break;
    }
}

static void power_write_file(const char *folder, const char *name, const unsigned char *bytes,
                             size_t length)
{
    char path[512];
    int file;

    snprintf(path, sizeof path, "%s/%s", folder, name);
    file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    assert_true(file >= 0);
    assert_int_equal(write(file, bytes, length), length);
    close(file);
}

static void power_empty_folder(const char *folder)
{
    DIR *entries = opendir(folder);
    struct dirent *entry;
    char path[512];

    assert_non_null(entries);
    while ((entry = readdir(entries)) != NULL) {
        snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        unlink(path);
    }
    closedir(entries);
}

/* Writes one file as the disk may have it. A -wal file may have a -shm file with any content.
 * Returns false if it has none. */
static bool power_disk_write_file(const char *folder, size_t file, enum power_kept kept)
{
    const struct power_content *synced = &power_disk.synced[file];
    const struct power_list *unsynced = &power_disk.unsynced[file];
    const char *name = power_log.names[file], *wal = strstr(name, "-wal");
    const bool has_shm = wal != NULL && kept != POWER_NOTHING && rand() % 2 == 0;
    struct power_content content = { 0 };

    power_resize(&content, synced->length);
    if (synced->length > 0)
        memcpy(content.bytes, synced->bytes, synced->length);
    for (size_t i = 0; i < unsynced->count; i++)
        power_apply(&content, &power_log.events[unsynced->events[i]], kept);
    power_write_file(folder, name, content.bytes, content.length);
    if (has_shm) {
        char shm[300];

        snprintf(shm, sizeof shm, "%.*s-shm", (int)(wal - name), name);
        power_resize(&content, 32768);
        for (size_t i = 0; i < content.length; i++)
            content.bytes[i] = (unsigned char)rand();
        power_write_file(folder, shm, content.bytes, content.length);
    }
    free(content.bytes);
    return wal == NULL || has_shm;
}

/* Empties the folder, and writes into it what a disk may have after a power failure at this event.
 * Returns whether each -wal file has a -shm file. */
static bool power_disk_write(const char *folder, enum power_kept kept)
{
    const struct power_list *names = &power_disk.unsynced_names;
    size_t kept_names = kept == POWER_ALL ? names->count : 0;
    bool is_there[POWER_FILES], have_shm = true;

    if (kept == POWER_SOME)
        kept_names = (size_t)rand() % (names->count + 1);
    memcpy(is_there, power_disk.is_there, sizeof is_there);
    for (size_t i = 0; i < kept_names; i++) {
        const struct power_event *name = &power_log.events[names->events[i]];

        is_there[name->file] = name->kind == POWER_CREATED;
    }
    power_empty_folder(folder);
    for (size_t i = 0; i < POWER_FILES; i++) {
        if (is_there[i])
            have_shm = power_disk_write_file(folder, i, kept) && have_shm;
    }
    return have_shm;
}

static void power_disk_release(void)
{
    for (size_t i = 0; i < POWER_FILES; i++) {
        free(power_disk.synced[i].bytes);
        free(power_disk.unsynced[i].events);
    }
    free(power_disk.unsynced_names.events);
    memset(&power_disk, 0, sizeof power_disk);
}
