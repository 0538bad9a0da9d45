#include "container_folders.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const struct container_folder container_folders[] = {
    { "/var/lib/docker/containers", RUNTIME_DOCKER, false },
    { "/var/snap/docker/common/var-lib-docker/containers", RUNTIME_DOCKER, false },
    { ".local/share/docker/containers", RUNTIME_DOCKER, true },
    { "/run/containerd/io.containerd.runtime.v2.task", RUNTIME_CONTAINERD, false },
    { "/run/k3s/containerd/io.containerd.runtime.v2.task", RUNTIME_CONTAINERD, false },
    { "/var/snap/microk8s/common/run/containerd/io.containerd.runtime.v2.task", RUNTIME_CONTAINERD,
      false },
    { "/var/lib/containers/storage/overlay-containers", RUNTIME_PODMAN, false },
    { "/var/lib/containers/storage/vfs-containers", RUNTIME_PODMAN, false },
    { "/var/lib/containers/storage/btrfs-containers", RUNTIME_PODMAN, false },
    { "/run/containers/storage/overlay-containers", RUNTIME_PODMAN, false },
    { ".local/share/containers/storage/overlay-containers", RUNTIME_PODMAN, true },
    { ".local/share/containers/storage/vfs-containers", RUNTIME_PODMAN, true },
    { "/var/lib/containers/storage/overlay-containers", RUNTIME_CRIO, false },
    { "/run/containers/storage/overlay-containers", RUNTIME_CRIO, false },
};
const size_t container_folder_count = sizeof container_folders / sizeof container_folders[0];

const char *container_root(void)
{
    const char *root = secure_getenv("CAMP_ROOT");

    return root != NULL ? root : "";
}

/* Finds the home of a user. With CAMP_ROOT, "/home/UID" below it, because the users of this machine
 * are not those of the test. */
static bool home_of(uint32_t user, char ret[PATH_MAX])
{
    char text[4096];
    struct passwd entry, *found = NULL;

    if (container_root()[0] != '\0')
        return snprintf(ret, PATH_MAX, "%s/home/%u", container_root(), user) < PATH_MAX;
    return getpwuid_r(user, &entry, text, sizeof text, &found) == 0 && found != NULL &&
           found->pw_dir != NULL && found->pw_dir[0] == '/' &&
           snprintf(ret, PATH_MAX, "%s", found->pw_dir) < PATH_MAX;
}

/* Writes the path of the folder, or of the user's home if the folder is of a user. Returns false if
 * the user has no home, or the path is too long. */
static bool parent_of(const struct container_folder *folder, uint32_t user, char ret[PATH_MAX])
{
    if (folder->of_user)
        return user != CONTAINER_NO_USER && home_of(user, ret);
    return snprintf(ret, PATH_MAX, "%s%s", container_root(), folder->path) < PATH_MAX;
}

int container_open_below(int base, const char *name, int flags)
{
    char part[NAME_MAX + 1];
    int folder = base, next, number;
    const char *slash;

    while ((slash = strchr(name, '/')) != NULL) {
        const size_t length = (size_t)(slash - name);

        memcpy(part, name, length);
        part[length] = '\0';
        next = openat(folder, part, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        number = errno;
        if (folder != base)
            close(folder);
        errno = number;
        if (next < 0)
            return -1;
        folder = next;
        name = slash + 1;
    }
    next = openat(folder, name, flags | O_NOFOLLOW | O_CLOEXEC);
    number = errno;
    if (folder != base)
        close(folder);
    errno = number;
    return next;
}

int container_folder_open(const struct container_folder *folder, uint32_t user)
{
    char path[PATH_MAX];
    int home, ret, number;

    if (!parent_of(folder, user, path)) {
        errno = ENOENT;
        return -1;
    }
    home = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (home < 0 || !folder->of_user)
        return home;
    ret = container_open_below(home, folder->path, O_PATH | O_DIRECTORY);
    number = errno;
    close(home);
    errno = number;
    return ret;
}

static void visit_of(uint32_t user, void (*visit)(void *context, int folder), void *context)
{
    for (size_t i = 0; i < container_folder_count; i++) {
        const struct container_folder *folder = &container_folders[i];
        const int descriptor = folder->of_user == (user != CONTAINER_NO_USER)
                                   ? container_folder_open(folder, user)
                                   : -1;

        if (descriptor >= 0) {
            visit(context, descriptor);
            close(descriptor);
        }
    }
}

void container_folders_visit(void (*visit)(void *context, int folder), void *context)
{
    char users[PATH_MAX];
    const struct dirent *entry;
    DIR *folder;

    visit_of(CONTAINER_NO_USER, visit, context);
    snprintf(users, sizeof users, "%.2000s/run/user", container_root());
    folder = opendir(users);
    while (folder != NULL && (entry = readdir(folder)) != NULL) {
        char *end;
        const unsigned long user = strtoul(entry->d_name, &end, 10);

        if (end != entry->d_name && *end == '\0' && user < CONTAINER_NO_USER)
            visit_of((uint32_t)user, visit, context);
    }
    if (folder != NULL)
        closedir(folder);
}
