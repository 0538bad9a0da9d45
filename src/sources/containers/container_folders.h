/*
 * The folders in which runtimes of containers keep their files on this machine, of root and of
 * users who run containers without root. The same list is for reading files, and for the rules that
 * confine camp (program/sandbox.h).
 */
#pragma once

#include "container_path.h"

#include <limits.h>
#include <stdbool.h>
#include <sys/types.h>

/* Before each folder, for tests: CAMP_ROOT of the environment, or "". A program with capabilities
 * of its file ignores the environment. */
const char *container_root(void);

struct container_folder {
    const char *path; /* of a user: relative to the home */
    enum container_runtime runtime;
    bool of_user;
};

/* Returns the folder number `at`: first those that the runtimes use by themselves, then configured
 * ones. Returns NULL after the last. */
const struct container_folder *container_folder_at(size_t at);

/* Reads which folders the administrator has configured: data-root of Docker (daemon.json),
 * graphroot and runroot of Podman and CRI-O (storage.conf). What confines camp hides these files,
 * so container_folders_visit() calls this function before, and container_folder_at() only if it was
 * never called. */
void container_folders_configure(void);

/* Opens a file or folder below `base` without following a symbolic link in any part of `name`.
 * Returns -1 with errno set. */
int container_open_below(int base, const char *name, int flags);

/* Opens the folder of a runtime with O_PATH. Links of root lead to other disks; links of a user, to
 * files that the user may not read, so they are not followed below the home. Returns -1 with errno
 * set. */
int container_folder_open(const struct container_folder *folder, uint32_t user);

/* Calls visit() with each folder that exists, opened with O_PATH: those of root, and those of users
 * who have a folder in /run/user. */
void container_folders_visit(void (*visit)(void *context, int folder), void *context);
