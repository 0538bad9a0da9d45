#include "container_folders.h"

#include "container_file.h"
#include "ledger/array.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CONFIGURED_MOST 13 /* one of Docker, and six each of Podman and CRI-O */
#define CONFIGURATION_SIZE 65536

static const struct container_folder usual[] = {
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

/* Folders that the administrator has configured, below data-root and graphroot. */
static struct container_folder configured[CONFIGURED_MOST];
static char configured_paths[CONFIGURED_MOST][CONTAINER_NAME_SIZE + 32];
static size_t configured_count;
static bool is_configured;

const char *container_root(void)
{
    const char *root = secure_getenv("CAMP_ROOT");

    return root != NULL ? root : "";
}

static void add_configured(enum container_runtime runtime, const char *folder, const char *part)
{
    char *path;

    if (folder[0] != '/' || configured_count >= CONFIGURED_MOST)
        return;
    path = configured_paths[configured_count];
    snprintf(path, sizeof configured_paths[0], "%s/%s", folder, part);
    for (size_t i = 0; i < ARRAY_COUNT(usual); i++) {
        if (usual[i].runtime == runtime && strcmp(usual[i].path, path) == 0)
            return;
    }
    configured[configured_count++] = (struct container_folder){ path, runtime, false };
}

/* Reads a file of the administrator. Returns the number of bytes, or 0. */
static size_t read_configuration(const char *name, char ret[CONFIGURATION_SIZE])
{
    char path[PATH_MAX];
    FILE *file;
    size_t length;

    snprintf(path, sizeof path, "%.2000s%s", container_root(), name);
    file = fopen(path, "re");
    if (file == NULL)
        return 0;
    length = fread(ret, 1, CONFIGURATION_SIZE - 1, file);
    fclose(file);
    ret[length] = '\0';
    return length;
}

static void configure_docker(char text[CONFIGURATION_SIZE])
{
    const size_t length = read_configuration("/etc/docker/daemon.json", text);
    struct container_names names;

    if (length > 0 &&
        container_file_parse(CONTAINER_FILE_DAEMON, text, length, "", &names) == CAMP_OK)
        add_configured(RUNTIME_DOCKER, names.name, "containers");
}

/* Reads the text of a key in the section [storage] of storage.conf (containers-storage.conf(5)). */
static void storage_value(const char *text, const char *key, char ret[CONTAINER_NAME_SIZE])
{
    bool is_storage = false;

    ret[0] = '\0';
    for (size_t length; *text != '\0'; text += length + (text[length] == '\n')) {
        char name[32] = "", value[CONTAINER_NAME_SIZE] = "";
        const char *line = text + strspn(text, " \t");

        length = strcspn(text, "\n");
        if (*line == '[')
            is_storage = strncmp(line, "[storage]", 9) == 0;
        else if (is_storage && sscanf(line, "%31[a-z_] = %*1[\"']%255[^\"'\n]", name, value) == 2 &&
                 strcmp(name, key) == 0)
            snprintf(ret, CONTAINER_NAME_SIZE, "%s", value);
    }
}

static void configure_storage(char text[CONFIGURATION_SIZE])
{
    static const char *const keys[] = { "graphroot", "runroot" };
    static const char *const parts[] = { "overlay-containers", "vfs-containers",
                                         "btrfs-containers" };
    char folder[CONTAINER_NAME_SIZE];

    if (read_configuration("/etc/containers/storage.conf", text) == 0 &&
        read_configuration("/usr/share/containers/storage.conf", text) == 0)
        return;
    for (size_t i = 0; i < ARRAY_COUNT(keys); i++) {
        storage_value(text, keys[i], folder);
        for (size_t j = 0; j < ARRAY_COUNT(parts); j++) {
            add_configured(RUNTIME_PODMAN, folder, parts[j]);
            add_configured(RUNTIME_CRIO, folder, parts[j]);
        }
    }
}

void container_folders_configure(void)
{
    static char text[CONFIGURATION_SIZE];

    is_configured = true;
    configured_count = 0;
    configure_docker(text);
    configure_storage(text);
}

const struct container_folder *container_folder_at(size_t at)
{
    if (!is_configured)
        container_folders_configure();
    if (at < ARRAY_COUNT(usual))
        return &usual[at];
    at -= ARRAY_COUNT(usual);
    return at < configured_count ? &configured[at] : NULL;
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
    const struct container_folder *folder;

    for (size_t i = 0; (folder = container_folder_at(i)) != NULL; i++) {
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

    container_folders_configure();
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
