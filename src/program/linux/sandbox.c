#include "program/sandbox.h"

#include "counters/error.h"
#include "landlock.h"
#include "program/output_place.h"
#include "program/privilege.h"
#include "sources/containers/container_folders.h"
#include "system_call_filter.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#define PATH_SIZE 4096

/* Defined only in programs that are built with a sanitizer, or with coverage by gcc or clang. */
extern void __asan_init(void) __attribute__((weak));
extern void __tsan_init(void) __attribute__((weak));
extern void __gcov_init(void *) __attribute__((weak));
extern int __llvm_profile_runtime __attribute__((weak));

bool sandbox_is_used(void)
{
    return __asan_init == NULL && __tsan_init == NULL && __gcov_init == NULL &&
           &__llvm_profile_runtime == NULL;
}

int sandbox_landlock_version(void)
{
    return landlock_version();
}

/* Folders of libraries and programs. */
static const char *const library_folders[] = {
    "/usr", "/lib", "/lib64", "/opt", "/nix/store", "/gnu/store",
};

/* What libc and client libraries read while a program runs: other libraries, time zones, terminals,
 * names of users, the number of CPUs, fonts. */
static const char *const system_files[] = {
    "/etc/fonts",       "/etc/group",
    "/etc/ld.so.cache", "/etc/locale.alias",
    "/etc/localtime",   "/etc/nsswitch.conf",
    "/etc/passwd",      "/etc/terminfo",
    "/etc/timezone",    "/sys/devices/system/cpu",
    "/proc/self",       "/dev/urandom",
};

/* Environment variables with folders that libraries or terminals are read from. */
static const char *const folders[] = { "LD_LIBRARY_PATH", "TERMINFO", "TERMINFO_DIRS", "TZDIR" };

static void allow_folders(struct landlock *landlock, const char *variable, uint64_t rights)
{
    const char *text = getenv(variable);
    char *copy = text != NULL ? strdup(text) : NULL, *rest = copy;
    const char *folder;

    if (text != NULL && copy == NULL)
        landlock_note_failure(landlock);
    while ((folder = strsep(&rest, ":")) != NULL) {
        /* A folder that cannot be read is none that libraries are found in. */
        if (folder[0] != '\0' && access(folder, R_OK | X_OK) == 0)
            landlock_allow(landlock, folder, rights);
    }
    free(copy);
}

static void allow_system(struct landlock *landlock)
{
    const char *home = getenv("HOME"), *zone = getenv("TZ");
    char path[PATH_SIZE];

    for (size_t i = 0; i < sizeof library_folders / sizeof library_folders[0]; i++)
        landlock_allow(landlock, library_folders[i], LANDLOCK_READ);
    for (size_t i = 0; i < sizeof system_files / sizeof system_files[0]; i++)
        landlock_allow(landlock, system_files[i], LANDLOCK_READ);
    for (size_t i = 0; i < sizeof folders / sizeof folders[0]; i++)
        allow_folders(landlock, folders[i], LANDLOCK_READ);
    if (zone != NULL && zone[zone[0] == ':'] == '/')
        landlock_allow(landlock, zone + (zone[0] == ':'), LANDLOCK_READ);
    snprintf(path, sizeof path, "%s/.terminfo", home != NULL ? home : "");
    landlock_allow(landlock, path, LANDLOCK_READ);
}

/* Gets the folder of a path. Returns false if its name is too long. */
static bool folder_of(const char *path, char ret[PATH_SIZE])
{
    const char *slash = strrchr(path, '/');
    const int length = slash != NULL && slash > path ? (int)(slash - path) : 1;

    return snprintf(ret, PATH_SIZE, "%.*s", length, slash != NULL ? path : ".") < PATH_SIZE;
}

static void allow_folder_of(struct landlock *landlock, const char *path, uint64_t rights)
{
    char folder[PATH_SIZE];

    if (folder_of(path, folder))
        landlock_allow(landlock, folder, rights);
}

/* Returns whether SQLite must create files beside the database to read it: its header has the
 * journal mode WAL (https://sqlite.org/fileformat.html, offset 18), and the shared memory is not
 * there. */
static bool needs_shared_memory(const char *path)
{
    char shm[PATH_SIZE], head[20] = "";
    const int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    const bool is_read = file >= 0 && pread(file, head, sizeof head, 0) == (ssize_t)sizeof head;

    if (file >= 0)
        close(file);
    return is_read && head[18] == 2 &&
           snprintf(shm, sizeof shm, "%s-shm", path) < (int)sizeof shm && access(shm, F_OK) != 0;
}

/* Returns whether this holds for a file in the folder. After a power failure, a recording may have
 * its -wal file, but no shared memory. */
static bool folder_needs_shared_memory(const char *folder)
{
    DIR *entries = opendir(folder);
    const struct dirent *entry;
    char path[PATH_SIZE];
    bool ret = false;

    while (entries != NULL && !ret && (entry = readdir(entries)) != NULL) {
        const char *wal = strrchr(entry->d_name, '-');

        ret = wal != NULL && strcmp(wal, "-wal") == 0 &&
              snprintf(path, sizeof path, "%s/%.*s", folder, (int)(wal - entry->d_name),
                       entry->d_name) < (int)sizeof path &&
              needs_shared_memory(path);
    }
    if (entries != NULL)
        closedir(entries);
    return ret;
}

/* Allows to read a folder with the files of a rotated recording. */
static void allow_rotated(struct landlock *landlock, const char *folder)
{
    const uint64_t writes = LANDLOCK_WRITE | LANDLOCK_REPLACE;

    landlock_allow(landlock, folder,
                   LANDLOCK_READ | (folder_needs_shared_memory(folder) ? writes : 0));
}

/* A database consists of several files. The files of a rotated recording are in a folder, which is
 * either the input itself or the folder of a name that no file has. */
static void allow_input(struct landlock *landlock, const char *path)
{
    static const char *const ends[] = { "", "-wal", "-shm", "-journal" };
    char file[PATH_SIZE];
    struct stat status;

    allow_folder_of(landlock, path, LANDLOCK_LIST); /* other files of a rotated recording */
    if (stat(path, &status) != 0) {
        if (folder_of(path, file))
            allow_rotated(landlock, file);
    } else if (S_ISDIR(status.st_mode))
        allow_rotated(landlock, path);
    else if (needs_shared_memory(path))
        allow_folder_of(landlock, path, LANDLOCK_READ | LANDLOCK_WRITE | LANDLOCK_REPLACE);
    for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++) {
        if (snprintf(file, sizeof file, "%s%s", path, ends[i]) < (int)sizeof file)
            landlock_allow(landlock, file, LANDLOCK_READ | (i == 2 ? LANDLOCK_WRITE : 0));
    }
}

/* An output file is written under another name in its folder, and then renamed. */
static void allow_output(struct landlock *landlock, const char *path)
{
    struct output_place place;

    landlock_allow(landlock, path, LANDLOCK_WRITE);
    if (!output_place_find(&place, path)) {
        landlock_note_failure(landlock);
        return;
    }
    landlock_allow_open(landlock, place.folder, LANDLOCK_READ | LANDLOCK_WRITE | LANDLOCK_REPLACE);
    output_place_release(&place);
}

/* The converter inherits the rules, so it must be able to read its libraries and fonts. */
static void allow_converter(struct landlock *landlock)
{
    for (size_t i = 0; i < sizeof library_folders / sizeof library_folders[0]; i++)
        landlock_allow(landlock, library_folders[i], LANDLOCK_EXECUTE | LANDLOCK_READ);
    allow_folders(landlock, "PATH", LANDLOCK_EXECUTE | LANDLOCK_READ);
    landlock_allow(landlock, "/var/cache/fontconfig", LANDLOCK_READ);
}

/* A server that runs for long reads names and certificates again, whose files may be replaced: so
 * it may read their folders. */
static void allow_names(struct landlock *landlock)
{
    static const char *const places[] = {
        "/etc",
        "/etc/hosts", /* these two may be links to other folders */
        "/etc/resolv.conf",
        "/run",
        "/var/run",
        "/var/lib/sss",
        "/var/lib/extrausers",
        "/var/lib/libvirt/dnsmasq",
        "/var/cache/nscd",
    };
    static const char *const files[] = { "CAMP_PROMETHEUS_CA", "CAMP_PROMETHEUS_TOKEN_FILE" };

    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++)
        landlock_allow(landlock, places[i], LANDLOCK_READ);
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        if (getenv(files[i]) != NULL)
            allow_folder_of(landlock, getenv(files[i]), LANDLOCK_READ);
    }
}

static void allow_machine(struct landlock *landlock)
{
    static const char *const places[] = { "/proc", "/sys", "/boot" };

    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++)
        landlock_allow(landlock, places[i], LANDLOCK_READ);
}

static void allow_folder(void *context, int folder)
{
    landlock_allow_open(context, folder, LANDLOCK_READ);
}

/* Returns 0, or the errno of a lack of descriptors or memory. */
static int enter_landlock(const struct sandbox *sandbox)
{
    struct landlock landlock;

    landlock_init(&landlock, sandbox->serves, sandbox->kind == SANDBOX_FLEET);
    if (landlock.rules < 0)
        return landlock.failed;
    landlock_allow(&landlock, "/dev/null", LANDLOCK_READ | LANDLOCK_WRITE);
    landlock_allow(&landlock, "/dev/tty", LANDLOCK_READ | LANDLOCK_WRITE | LANDLOCK_TERMINAL);
    allow_system(&landlock);
    if (sandbox->kind != SANDBOX_FILE)
        allow_names(&landlock);
    if (sandbox->kind == SANDBOX_MACHINE)
        allow_machine(&landlock);
    if (sandbox->containers)
        container_folders_visit(allow_folder, &landlock);
    if (sandbox->input != NULL)
        allow_input(&landlock, sandbox->input);
    if (sandbox->other_input != NULL)
        allow_input(&landlock, sandbox->other_input);
    if (sandbox->rules_file != NULL)
        landlock_allow(&landlock, sandbox->rules_file, LANDLOCK_READ);
    if (sandbox->workload_file != NULL) {
        landlock_allow(&landlock, sandbox->workload_file, LANDLOCK_READ);
        if (sandbox->kind == SANDBOX_MACHINE) /* on SIGHUP, another file may have this name */
            allow_folder_of(&landlock, sandbox->workload_file, LANDLOCK_READ);
    }
    if (sandbox->output != NULL)
        allow_output(&landlock, sandbox->output);
    if (sandbox->socket != NULL)
        allow_folder_of(&landlock, sandbox->socket, LANDLOCK_SOCKET);
    if (sandbox->converts)
        allow_converter(&landlock);
    /* With missing rules, a command that ends now could not remove its unfinished output. */
    if (landlock.failed == 0)
        landlock_enter(&landlock);
    else
        close(landlock.rules);
    return landlock.failed;
}

/* Returns whether the output replaces a file of another user or group, whose owner and mode it then
 * keeps, or a file in a folder that gives its own group to new files. */
static bool replaces_foreign(const char *output)
{
    struct output_place place;
    struct stat file, folder;
    bool ret = false;

    if (output == NULL || !output_place_find(&place, output))
        return false;
    if (fstatat(place.folder, place.name, &file, AT_SYMLINK_NOFOLLOW) == 0)
        ret = file.st_uid != geteuid() || file.st_gid != getegid() ||
              fstat(place.folder, &folder) != 0 || (folder.st_mode & S_ISGID) != 0;
    output_place_release(&place);
    return ret;
}

static bool may_change_owner_of_output(const struct sandbox *sandbox)
{
    return sandbox->kind == SANDBOX_SESSIONS || replaces_foreign(sandbox->output);
}

static unsigned rights_of(const struct sandbox *sandbox)
{
    static const unsigned rights[] = {
        [SANDBOX_FILE] = 0,
        [SANDBOX_FLEET] = CALLS_SOCKETS | CALLS_CONNECTIONS | CALLS_INTERNET,
        [SANDBOX_MACHINE] = CALLS_SOCKETS | CALLS_CONNECTIONS | CALLS_MEASURE,
        [SANDBOX_SESSIONS] =
            CALLS_SOCKETS | CALLS_LISTEN | CALLS_CONNECTIONS | CALLS_INTERNET | CALLS_MEASURE,
    };

    return rights[sandbox->kind] | (sandbox->serves ? CALLS_SOCKETS | CALLS_LISTEN : 0) |
           (sandbox->socket != NULL ? CALLS_CONNECTIONS : 0) | /* asks whether a program listens */
           (sandbox->converts ? CALLS_PROCESSES : 0) |
           (may_change_owner_of_output(sandbox) ? CALLS_OWNERS : 0);
}

/* Returns the capabilities that are still needed: those to open files of other users and, for the
 * numbers of this machine, those that privilege_give_up() has left. */
static uint64_t capabilities_of(const struct sandbox *sandbox)
{
    static const uint64_t files = UINT64_C(1) << CAP_DAC_OVERRIDE | UINT64_C(1)
                                                                        << CAP_DAC_READ_SEARCH;
    static const uint64_t owners = UINT64_C(1) << CAP_CHOWN | UINT64_C(1) << CAP_FOWNER;
    static const uint64_t measure =
        UINT64_C(1) << CAP_SYS_PTRACE | UINT64_C(1) << CAP_NET_ADMIN | UINT64_C(1) << CAP_BPF;
    static const uint64_t low_ports = UINT64_C(1) << CAP_NET_BIND_SERVICE;

    return files | (may_change_owner_of_output(sandbox) ? owners : 0) |
           (sandbox->serves || sandbox->kind == SANDBOX_SESSIONS ? low_ports : 0) |
           (sandbox->kind >= SANDBOX_MACHINE ? measure : 0);
}

int sandbox_enter(const struct sandbox *sandbox, struct camp_error *error)
{
    static _Thread_local bool is_entered;
    int failed = 0, filter_failed;
    unsigned rights;

    if (is_entered)
        return CAMP_OK;
    is_entered = true;
    privilege_keep(capabilities_of(sandbox));
    if (!sandbox_is_used() || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
        return CAMP_OK;
    rights = rights_of(sandbox); /* while the output can be looked at */
    if (sandbox->kind != SANDBOX_SESSIONS)
        failed = enter_landlock(sandbox);
    filter_failed = system_call_filter_enter(rights);
    if (failed == 0 && filter_failed == ENOMEM)
        failed = filter_failed;
    return failed == 0 ? CAMP_OK : camp_fail_errno(error, failed, "camp cannot be confined");
}
