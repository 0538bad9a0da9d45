/* The files that a recording consists of. */
#include "recording.h"

#include "ledger/array.h"
#include "ledger/words.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Also used when there is no memory, so nothing is allocated. */
void recording_remove_beside(const char *path)
{
    static const char *const ends[] = { "-wal", "-shm", "-journal" };
    char name[PATH_MAX];

    for (size_t i = 0; i < ARRAY_COUNT(ends); i++) {
        if (snprintf(name, sizeof name, "%s%s", path, ends[i]) < (int)sizeof name)
            unlink(name);
    }
}

void recording_remove(const char *path)
{
    unlink(path);
    recording_remove_beside(path);
}

uint64_t recording_file_size(const char *path)
{
    struct stat status;
    char *wal;
    uint64_t size = stat(path, &status) == 0 ? (uint64_t)status.st_size : 0;

    if (asprintf(&wal, "%s-wal", path) < 0)
        return size;
    size += stat(wal, &status) == 0 ? (uint64_t)status.st_size : 0;
    free(wal);
    return size;
}

size_t recording_stem_length(const char *path)
{
    return strlen(path) - (ends_with(path, ".camp") ? strlen(".camp") : 0);
}
