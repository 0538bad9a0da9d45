#include "container_lookup.h"

#include "container_folders.h"
#include "ledger/array.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define NAMESPACES_MOST 64 /* of containerd; Kubernetes uses one */

struct lookup {
    const struct container_path *path;
    struct container_names *names;
    int base;   /* the open folder of a runtime */
    int result; /* the result that says most so far */
};

/* Of several results, the higher one says more about why a container has no name. */
static int weight_of(int result)
{
    static const int ascending[] = { CAMP_E_GONE, CAMP_E_NOTSUP, CAMP_E_IO, CAMP_E_FORMAT,
                                     CAMP_E_PERM, CAMP_E_NOMEM,  CAMP_OK };
    int at = 0;

    while (at < (int)ARRAY_COUNT(ascending) - 1 && ascending[at] != result)
        at++;
    return at;
}

static void note(struct lookup *lookup, int result)
{
    if (weight_of(result) > weight_of(lookup->result))
        lookup->result = result;
}

static void note_errno(struct lookup *lookup, int number)
{
    note(lookup, number == EACCES || number == EPERM                        ? CAMP_E_PERM
                 : number == ENOENT || number == ENOTDIR                    ? CAMP_E_GONE
                 : number == ENOMEM || number == EMFILE || number == ENFILE ? CAMP_E_NOMEM
                 : number == ELOOP                                          ? CAMP_E_FORMAT
                                                                            : CAMP_E_IO);
}

static bool is_of_trusted(const struct lookup *lookup, uid_t owner)
{
    struct stat root;

    return owner == 0 || owner == geteuid() || owner == lookup->path->user ||
           (container_root()[0] != '\0' && stat(container_root(), &root) == 0 &&
            owner == root.st_uid);
}

static bool is_trusted(const struct lookup *lookup, const struct stat *status)
{
    return S_ISREG(status->st_mode) && status->st_size <= (off_t)CONTAINER_FILE_MOST &&
           is_of_trusted(lookup, status->st_uid);
}

/* Reads a whole file, which may grow meanwhile. Returns NULL with errno set. */
static char *read_file(int file, size_t size, size_t *ret_length)
{
    char *text = malloc(size + 1);
    ssize_t got = 1;

    *ret_length = 0;
    while (text != NULL && *ret_length < size && got > 0) {
        got = read(file, text + *ret_length, size - *ret_length);
        *ret_length += got > 0 ? (size_t)got : 0;
    }
    if (got >= 0)
        return text;
    free(text);
    return NULL;
}

static void look_into(struct lookup *lookup, enum container_file kind, const char *name)
{
    struct container_names names;
    struct stat status;
    const int file = container_open_below(lookup->base, name, O_RDONLY | O_NONBLOCK | O_NOCTTY);
    char *text = NULL;
    size_t length;
    int r;

    if (file < 0 || fstat(file, &status) != 0) {
        note_errno(lookup, errno);
        goto out;
    }
    if (!is_trusted(lookup, &status)) {
        note(lookup, CAMP_E_FORMAT);
        goto out;
    }
    text = read_file(file, (size_t)status.st_size, &length);
    if (text == NULL) {
        note_errno(lookup, errno);
        goto out;
    }
    r = container_file_parse(kind, text, length, lookup->path->id, &names);
    note(lookup, r);
    if (r == CAMP_OK)
        *lookup->names = names;
out:
    free(text);
    if (file >= 0)
        close(file);
}

static void look_into_docker(struct lookup *lookup)
{
    char name[CONTAINER_TEXT_SIZE + 32];

    snprintf(name, sizeof name, "%s/config.v2.json", lookup->path->id);
    look_into(lookup, CONTAINER_FILE_DOCKER, name);
}

/* The folder of containerd has a folder for each of its namespaces, such as "k8s.io". */
static void look_into_containerd(struct lookup *lookup)
{
    const int copy = openat(lookup->base, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *spaces = copy >= 0 ? fdopendir(copy) : NULL;
    const struct dirent *entry;
    char name[NAME_MAX + CONTAINER_TEXT_SIZE + 32];

    if (spaces == NULL) {
        note_errno(lookup, errno);
        if (copy >= 0)
            close(copy);
        return;
    }
    for (int i = 0; i < NAMESPACES_MOST && lookup->result != CAMP_OK; i++) {
        entry = readdir(spaces);
        if (entry == NULL)
            break;
        if (entry->d_name[0] == '.')
            continue;
        snprintf(name, sizeof name, "%s/%s/config.json", entry->d_name, lookup->path->id);
        look_into(lookup, CONTAINER_FILE_OCI, name);
    }
    closedir(spaces);
}

static void look_into_podman(struct lookup *lookup)
{
    look_into(lookup, CONTAINER_FILE_STORAGE, "containers.json");
    if (lookup->result != CAMP_OK) /* containers that are removed when they end */
        look_into(lookup, CONTAINER_FILE_STORAGE, "volatile-containers.json");
}

static void look_into_crio(struct lookup *lookup)
{
    char name[CONTAINER_TEXT_SIZE + 32];

    snprintf(name, sizeof name, "%s/userdata/config.json", lookup->path->id);
    look_into(lookup, CONTAINER_FILE_OCI, name);
}

/* Docker runs its containers by containerd, but the names are in Docker's own files. */
static bool may_be_of(const struct container_path *path, const struct container_folder *folder)
{
    return folder->of_user == (path->user != CONTAINER_NO_USER) &&
           (path->runtime == folder->runtime || path->runtime == RUNTIME_UNKNOWN);
}

int container_lookup(const struct container_path *path, struct container_names *ret)
{
    static void (*const looks[RUNTIME_COUNT])(struct lookup *) = {
        [RUNTIME_DOCKER] = look_into_docker,
        [RUNTIME_CONTAINERD] = look_into_containerd,
        [RUNTIME_PODMAN] = look_into_podman,
        [RUNTIME_CRIO] = look_into_crio,
    };
    struct lookup lookup = { .path = path, .names = ret, .result = CAMP_E_GONE };
    const struct container_folder *folder;

    *ret = (struct container_names){ 0 };
    for (size_t i = 0; (folder = container_folder_at(i)) != NULL && lookup.result != CAMP_OK; i++) {
        void (*const look)(struct lookup *) = looks[folder->runtime];

        if (look == NULL || !may_be_of(path, folder))
            continue;
        lookup.base = container_folder_open(folder, path->user);
        if (lookup.base < 0) {
            note_errno(&lookup, errno);
            continue;
        }
        look(&lookup);
        close(lookup.base);
    }
    return lookup.result;
}
