#include "cause_objects.h"

#include "ends/file_locks.h"
#include "ends/lock_owner.h"
#include "ends/socket_peer.h"
#include "ledger/array.h"
#include "ledger/words.h"
#include "microstates/calls.h"
#include "open_sleeps.h"
#include "sources/source.h"

#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define OBJECTS_MOST 4096  /* then all are looked up again */
#define FIND_NS 100000000u /* of CPU time, so that a busy machine does not end the search */

static bool is_late(uint64_t until_ns)
{
    return source_clock_ns(CLOCK_THREAD_CPUTIME_ID) > until_ns;
}

/* Returns the number of a name such as "pipe:[4242]", or 0. */
static uint64_t inode_of(const char *name, const char *kind)
{
    const size_t length = strlen(kind);

    if (strncmp(name, kind, length) != 0 || strncmp(name + length, ":[", 2) != 0)
        return 0;
    return strtoull(name + length + 2, NULL, 10);
}

static struct cause_object *find(const struct cause_objects *objects, const char *name, int32_t pid)
{
    for (size_t i = 0; i < objects->count; i++) {
        struct cause_object *object = &objects->items[i];

        if (strcmp(object->name, name) == 0 && (!object->is_owned || object->pid == pid))
            return object;
    }
    return NULL;
}

/* Reads the name of a process. Returns false if there is no such process. */
static bool read_name(char ret[CAMP_STATES_NAME_SIZE], int32_t pid, const char *folder)
{
    char path[256];
    FILE *file;
    bool done;

    snprintf(path, sizeof path, "%s/%" PRId32 "/comm", folder, pid);
    file = fopen(path, "re");
    done = file != NULL && fgets(ret, CAMP_STATES_NAME_SIZE, file) != NULL;
    if (done)
        ret[strcspn(ret, "\n")] = '\0';
    if (file != NULL)
        fclose(file);
    return done;
}

/* Returns false if the holder has exited, or if its pid or process has another name now. */
static bool has_holder(const struct cause_object *object, const char *folder)
{
    char name[CAMP_STATES_NAME_SIZE];

    return object->holder == 0 ||
           (read_name(name, object->holder, folder) && strcmp(name, object->holder_name) == 0);
}

/* Removes an object that was found before. */
static void forget(struct cause_objects *objects, struct cause_object *object)
{
    *object = objects->items[--objects->found];
    objects->items[objects->found] = objects->items[--objects->count];
}

/* Returns the access that the other end of a pipe has, as in the mode of a link in /proc/PID/fd:
 * that of a writer for a reader. 0: the process itself may do both. */
static mode_t other_access(const struct stat *link)
{
    const mode_t access = link->st_mode & (S_IRUSR | S_IWUSR);

    return access == S_IRUSR ? S_IWUSR : access == S_IWUSR ? S_IRUSR : 0;
}

/* Sets what is known of the descriptor of an object: a pipe, a pipe with a name, a socket or a
 * locked file. Returns false if it is another one, which has no other end. */
static bool describe(struct cause_object *object, const struct camp_call_sleeps *sleeps,
                     const char *folder)
{
    char path[256];
    struct stat file, link;

    object->is_owned = lock_owner_may_be_known(sleeps->call);
    object->call = sleeps->call;
    object->argument = sleeps->argument;
    if (camp_call_argument(sleeps->call) != CALL_DESCRIPTOR)
        return object->is_owned;
    snprintf(path, sizeof path, "%s/%" PRId32 "/fd/%" PRIu64, folder, sleeps->pid,
             sleeps->argument);
    object->end = inode_of(object->name, "pipe");
    object->is_pipe = object->end != 0;
    object->is_lock = !object->is_pipe && sleeps->state == CAMP_STATE_LOCK;
    if (!object->is_pipe && object->name[0] == '/' && stat(path, &file) == 0 &&
        (object->is_lock || S_ISFIFO(file.st_mode))) {
        object->end = file.st_ino;
        object->is_pipe = object->is_named = !object->is_lock;
    }
    if (object->is_pipe && lstat(path, &link) == 0)
        object->access = other_access(&link);
    return object->end != 0 || inode_of(object->name, "socket") != 0;
}

/* Adds the object of the sleeps, if it is new or has another holder. No event reports that a lock
 * has another holder. */
static void add(struct cause_objects *objects, const struct camp_call_sleeps *sleeps,
                const char *folder)
{
    struct cause_object object = { .pid = sleeps->pid }, *known;

    cause_object_name(object.name, sleeps, folder);
    if (!describe(&object, sleeps, folder))
        return;
    known = find(objects, object.name, object.pid);
    /* It was added for another sleep, or is known, and has not changed. */
    if (known != NULL && (known >= objects->items + objects->found ||
                          (!object.is_lock && !object.is_owned && has_holder(known, folder))))
        return;
    if (known != NULL)
        forget(objects, known);
    if (!ARRAY_RESERVE(objects->items, objects->capacity, objects->count + 1))
        return;
    objects->items[objects->count++] = object;
}

/* A descriptor of a process, in the open folder /proc/PID/fd. */
struct descriptor {
    int32_t pid;
    int folder;
    const char *name, *target;
};

/* Returns whether a descriptor is the other end of an object. */
static bool is_end(const struct cause_object *object, const struct descriptor *descriptor)
{
    struct stat link;

    if (object->end == 0 || (object->is_lock && !object->is_named) ||
        ((object->is_pipe || object->is_lock) && object->pid == descriptor->pid) ||
        (object->is_named
             ? strcmp(object->name, descriptor->target) != 0
             : object->end != inode_of(descriptor->target, object->is_pipe ? "pipe" : "socket")))
        return false;
    return object->access == 0 ||
           fstatat(descriptor->folder, descriptor->name, &link, AT_SYMLINK_NOFOLLOW) != 0 ||
           (link.st_mode & object->access) != 0;
}

/* Notes that a process has an object of the list open. */
static void note_holder(struct cause_object *items, size_t count,
                        const struct descriptor *descriptor)
{
    const int32_t pid = descriptor->pid;

    for (size_t i = 0; i < count; i++) {
        struct cause_object *object = &items[i];

        if (object->last_pid == pid || !is_end(object, descriptor))
            continue;
        object->last_pid = pid;
        if (object->holders++ == 0)
            object->holder = pid;
    }
}

static void read_descriptors(struct cause_object *items, size_t count, const char *folder,
                             int32_t pid, uint64_t until_ns)
{
    char path[256], target[CAUSE_NAME_SIZE];
    const struct dirent *entry;
    DIR *directory;

    snprintf(path, sizeof path, "%s/%" PRId32 "/fd", folder, pid);
    directory = opendir(path);
    for (uint32_t i = 1; directory != NULL && (entry = readdir(directory)) != NULL; i++) {
        const ssize_t length =
            readlinkat(dirfd(directory), entry->d_name, target, sizeof target - 1);

        if (i % 256 == 0 && is_late(until_ns))
            break;
        if (length <= 0)
            continue;
        target[length] = '\0';
        note_holder(items, count,
                    &(struct descriptor){ pid, dirfd(directory), entry->d_name, target });
    }
    if (directory != NULL)
        closedir(directory);
}

/* Finds the processes that have the ends of items[count] open. */
static void find_holders(struct cause_object *items, size_t count, const char *folder,
                         uint64_t until_ns)
{
    DIR *directory = opendir(folder);
    const struct dirent *entry;

    while (directory != NULL && (entry = readdir(directory)) != NULL && !is_late(until_ns)) {
        const int32_t pid = (int32_t)strtol(entry->d_name, NULL, 10);

        if (pid > 0)
            read_descriptors(items, count, folder, pid, until_ns);
    }
    if (directory != NULL)
        closedir(directory);
}

/* Finds the process that holds the lock for which the object's process waits. */
static void find_lock_holder(struct cause_object *object, const char *folder)
{
    char path[256];
    FILE *file;

    snprintf(path, sizeof path, "%s/locks", folder);
    file = fopen(path, "re");
    if (file != NULL) {
        object->holder = file_lock_holder(file, object->pid, object->end);
        fclose(file);
    }
    object->holders = 1;
    /* A lock of flock(2) outlives the process that took it, if others have its descriptor. */
    if (object->holder == 0 || !read_name(object->holder_name, object->holder, folder)) {
        object->holder = 0;
        object->holders = 0;
        object->is_named = true;
    }
}

/* Finds the owner of the lock for which a thread of the object's process sleeps. */
static bool find_owner_of_thread(struct lock_owner *ret, const struct cause_object *object,
                                 int32_t tid, const char *folder)
{
    struct lock_wait wait = { .pid = object->pid };

    return open_call_read_all(object->pid, tid, folder, &wait.call, wait.arguments) &&
           wait.call == object->call && wait.arguments[0] == object->argument &&
           lock_owner_find(ret, &wait, folder);
}

static void find_owner(struct cause_object *object, const char *folder, uint64_t until_ns)
{
    const bool is_semaphore = camp_call_argument(object->call) == CALL_SEMAPHORES;
    struct lock_owner owner;
    const struct dirent *entry;
    bool found = false;
    char path[256];
    DIR *directory;

    snprintf(path, sizeof path, "%s/%" PRId32 "/task", folder, object->pid);
    directory = opendir(path);
    for (int i = 0; directory != NULL && !found && i < OPEN_SLEEPS_READ && !is_late(until_ns) &&
                    (entry = readdir(directory)) != NULL;
         i++)
        found =
            find_owner_of_thread(&owner, object, (int32_t)strtol(entry->d_name, NULL, 10), folder);
    if (directory != NULL)
        closedir(directory);
    if (!found)
        return;
    object->holder = owner.pid != object->pid ? owner.pid : 0;
    object->holders = object->holder != 0;
    memcpy(object->holder_name, owner.name, sizeof owner.name);
    snprintf(object->peer, sizeof object->peer, "%s %s (%" PRId32 ")",
             is_semaphore          ? "last changed by"
             : object->holder != 0 ? "held by"
                                   : "held by its thread",
             owner.name, object->holder != 0 ? owner.pid : owner.tid);
}

static void name_holder(struct cause_object *object, const char *folder)
{
    char others[40] = "";

    if (object->holder == 0 || object->is_owned)
        return;
    if (!read_name(object->holder_name, object->holder, folder))
        snprintf(object->holder_name, sizeof object->holder_name, "process");
    if (object->holders > 1)
        snprintf(others, sizeof others, " and %" PRIu32 " %s", object->holders - 1,
                 noun_of(object->holders - 1, "other", "others"));
    snprintf(object->peer, sizeof object->peer, "%s %s (%" PRId32 ")%s",
             !object->is_lock   ? "with"
             : object->is_named ? "open in"
                                : "held by",
             object->holder_name, object->holder, others);
}

void cause_objects_find(struct cause_objects *objects, const struct camp_call_sleeps *calls,
                        size_t count, const char *folder)
{
    const uint64_t until_ns = source_clock_ns(CLOCK_THREAD_CPUTIME_ID) + FIND_NS;
    bool has_ends = false;
    size_t first;

    if (objects->found > OBJECTS_MOST)
        objects->found = 0;
    objects->count = objects->found;
    for (size_t i = 0; i < count; i++)
        add(objects, &calls[i], folder);
    first = objects->found;
    for (size_t i = first; i < objects->count; i++) {
        struct cause_object *object = &objects->items[i];
        const uint64_t inode = inode_of(object->name, "socket");

        if (object->is_owned) {
            find_owner(object, folder, until_ns);
        } else if (object->is_lock) {
            find_lock_holder(object, folder);
        } else if (!object->is_pipe) {
            object->end = socket_unix_peer(inode);
            if (object->end == 0)
                socket_address(object->peer, sizeof object->peer, object->pid, inode, folder,
                               until_ns);
        }
        has_ends |= object->end != 0 && (!object->is_lock || object->is_named);
    }
    if (has_ends)
        find_holders(objects->items + first, objects->count - first, folder, until_ns);
    for (size_t i = first; i < objects->count; i++)
        name_holder(&objects->items[i], folder);
    if (!is_late(until_ns))
        objects->found = objects->count;
}

const char *cause_objects_peer(const struct cause_objects *objects, const char *name, int32_t pid)
{
    const struct cause_object *object = find(objects, name, pid);

    return object != NULL ? object->peer : "";
}

int32_t cause_objects_holder(const struct cause_objects *objects, const char *name, int32_t pid)
{
    const struct cause_object *object = find(objects, name, pid);

    return object != NULL && object->holders == 1 ? object->holder : 0;
}

void cause_objects_release(struct cause_objects *objects)
{
    free(objects->items);
    *objects = (struct cause_objects){ 0 };
}
