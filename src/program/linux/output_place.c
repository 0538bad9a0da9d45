#include "program/output_place.h"

#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define LINKS_MOST 40 /* as in the kernel */

/* Moves to the folder of the path, which starts at place->folder unless it is absolute, and sets
 * the name in that folder. */
static bool move(struct output_place *place, const char *path)
{
    const char *slash = strrchr(path, '/');
    char *name = strdup(slash != NULL ? slash + 1 : path);
    char *folder = slash == NULL ? strdup(".") : strndup(path, (size_t)(slash - path) + 1);
    int descriptor = -1;

    if (name != NULL && folder != NULL)
        descriptor = openat(place->folder, folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
    free(folder);
    if (descriptor < 0) {
        free(name);
        return false;
    }
    output_place_release(place);
    place->folder = descriptor;
    place->name = name;
    return true;
}

static bool may_follow(const struct output_place *place, const struct stat *link)
{
    struct stat folder;

    if (fstat(place->folder, &folder) != 0)
        return false;
    if ((folder.st_mode & (S_ISVTX | S_IWOTH)) != (S_ISVTX | S_IWOTH) ||
        link->st_uid == geteuid() || link->st_uid == folder.st_uid)
        return true;
    errno = OUTPUT_FOREIGN_LINK;
    return false;
}

bool output_place_find(struct output_place *ret, const char *path)
{
    struct output_place place = { AT_FDCWD, NULL };
    char target[PATH_MAX];
    struct stat status;
    ssize_t length;
    bool found = move(&place, path);

    for (int i = 0; found && fstatat(place.folder, place.name, &status, AT_SYMLINK_NOFOLLOW) == 0 &&
                    S_ISLNK(status.st_mode);
         i++) {
        length = readlinkat(place.folder, place.name, target, sizeof target - 1);
        if (length >= 0)
            target[length] = '\0';
        if (i == LINKS_MOST)
            errno = ELOOP;
        found =
            length >= 0 && i < LINKS_MOST && may_follow(&place, &status) && move(&place, target);
    }
    if (!found)
        output_place_release(&place);
    *ret = place;
    return found;
}

const char *output_problem(int system_error)
{
    return system_error == OUTPUT_FOREIGN_LINK
               ? "another user made this link, in a folder that everyone may write to"
               : strerror(system_error);
}

/* The last links to a pipe or a device may be in /proc, where they name no path. */
bool output_place_check(const char *path)
{
    struct output_place place;
    const bool found = output_place_find(&place, path);
    const int system_error = errno;

    output_place_release(&place);
    errno = system_error;
    return found || system_error != OUTPUT_FOREIGN_LINK;
}

void output_place_release(struct output_place *place)
{
    if (place->folder >= 0)
        close(place->folder);
    free(place->name);
    *place = (struct output_place){ .folder = -1 };
}
