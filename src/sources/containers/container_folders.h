/*
 * The folders in which runtimes of containers keep their files on this machine, of root and of
 * users who run containers without root. One table states them: for reading files, and for the
 * rules that confine camp (program/sandbox.h).
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

extern const struct container_folder container_folders[];
extern const size_t container_folder_count;

/* Writes the path of the folder, or of the user's home if the folder is of a user. Returns false if
 * the user has no home, or the path is too long. */
bool container_folder_parent(const struct container_folder *folder, uint32_t user,
                             char ret[PATH_MAX]);

/* Calls visit() with each folder that exists: those of root, and those of users who have a folder
 * in /run/user. */
void container_folders_visit(void (*visit)(void *context, const char *path), void *context);
