#include "recording_set.h"

#include "counters/error.h"
#include "ledger/array.h"
#include "ledger/words.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define SUFFIX ".camp"
#define TIME_LENGTH 16 /* 20261122T020000Z */

size_t recording_stem_length(const char *path)
{
    return strlen(path) - (ends_with(path, SUFFIX) ? strlen(SUFFIX) : 0);
}

/* strptime(3) alone would also accept blanks instead of digits. */
static bool is_time(const char *text)
{
    return strspn(text, "0123456789") == 8 && text[8] == 'T' && strspn(text + 9, "0123456789") == 6;
}

/* "STEM-20261122T020000Z.camp"; an empty stem is any. */
static bool is_of_set(const char *name, const char *stem, size_t stem_length, int64_t *ret_time_s)
{
    const size_t tail = TIME_LENGTH + strlen(SUFFIX), length = strlen(name);
    struct tm day = { 0 };
    const char *time;

    if (length < tail + 2)
        return false;
    time = name + length - tail;
    if (!is_time(time) || time[-1] != '-' ||
        (stem_length > 0 &&
         (length - tail - 1 != stem_length || strncmp(name, stem, stem_length) != 0)))
        return false;
    time = strptime(time, "%Y%m%dT%H%M%SZ", &day);
    *ret_time_s = (int64_t)timegm(&day);
    return time != NULL && strcmp(time, SUFFIX) == 0;
}

static int add(struct recording_set *set, const char *folder, const char *name, int64_t time_s)
{
    if (!ARRAYS_RESERVE(set->capacity, set->count + 1, ARRAY(set->paths), ARRAY(set->times_s)))
        return CAMP_E_NOMEM;
    set->times_s[set->count] = time_s;
    return asprintf(&set->paths[set->count], "%s/%s", folder, name) < 0 ? CAMP_E_NOMEM
                                                                        : (set->count++, CAMP_OK);
}

/* What a path's files are named after, and where they are. */
static char *split(const char *path, const char **ret_stem, size_t *ret_stem_length)
{
    const char *slash = strrchr(path, '/');

    *ret_stem = slash != NULL ? slash + 1 : path;
    *ret_stem_length = recording_stem_length(*ret_stem);
    if (slash == NULL)
        return strdup(".");
    return strndup(path, slash > path ? (size_t)(slash - path) : 1);
}

static int find_in(const char *folder, const char *stem, size_t stem_length,
                   struct recording_set *ret)
{
    struct dirent **entries = NULL;
    int count, r = CAMP_OK;

    count = scandir(folder, &entries, NULL, alphasort);
    for (int i = 0; i < count; i++) {
        int64_t time_s;

        if (r == CAMP_OK && is_of_set(entries[i]->d_name, stem, stem_length, &time_s))
            r = add(ret, folder, entries[i]->d_name, time_s);
        free(entries[i]);
    }
    free(entries);
    if (r != CAMP_OK)
        recording_set_release(ret);
    return r;
}

int recording_set_find_made(struct recording_set *ret, const char *output)
{
    const char *stem;
    size_t stem_length;
    char *folder = split(output, &stem, &stem_length);
    int r = CAMP_OK;

    *ret = (struct recording_set){ 0 };
    if (folder == NULL)
        return CAMP_E_NOMEM;
    if (stem_length > 0)
        r = find_in(folder, stem, stem_length, ret);
    free(folder);
    return r;
}

int recording_set_find(struct recording_set *ret, const char *path)
{
    struct stat status;

    *ret = (struct recording_set){ 0 };
    if (stat(path, &status) == 0 && S_ISDIR(status.st_mode))
        return find_in(path, "", 0, ret);
    return recording_set_find_made(ret, path);
}

int recording_set_check(const char *path, struct camp_error *error)
{
    struct stat status;
    const bool is_there = stat(path, &status) == 0;

    if (!is_there && errno != ENOENT && errno != ENOTDIR)
        return camp_fail_errno(error, errno, path);
    if (is_there && S_ISDIR(status.st_mode) && access(path, R_OK | X_OK) != 0)
        return camp_fail_errno(error, errno, path);
    return CAMP_OK;
}

bool recording_set_is_one(const struct recording_set *set)
{
    const size_t tail = TIME_LENGTH + strlen(SUFFIX);

    for (size_t i = 1; i < set->count; i++) {
        const size_t length = strlen(set->paths[i]);

        if (length != strlen(set->paths[0]) ||
            strncmp(set->paths[i], set->paths[0], length - tail) != 0)
            return false;
    }
    return true;
}

void recording_set_release(struct recording_set *set)
{
    for (size_t i = 0; i < set->count; i++)
        free(set->paths[i]);
    free(set->paths);
    free(set->times_s);
    *set = (struct recording_set){ 0 };
}
