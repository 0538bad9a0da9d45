/*
 * Finds the names of a container in the files of its runtime, by the id of the container.
 *
 * The folders of rootless containers belong to an ordinary user, and a container may write into its
 * own files. So below the folder of a runtime no symbolic link is followed, only a regular file of
 * root, of this user or of the owner of the folder is read, and opening never waits.
 */
#pragma once

#include "container_file.h"
#include "container_path.h"

/* Looks up the container that `path` leads to. Returns CAMP_OK; CAMP_E_GONE if no file names it;
 * CAMP_E_PERM if a file or folder may not be read; CAMP_E_FORMAT if a file is not as its runtime
 * writes it; CAMP_E_NOTSUP if camp was built without the JSON library; CAMP_E_NOMEM or CAMP_E_IO.
 * If several files were tried, the result is the one that says most. */
int container_lookup(const struct container_path *path, struct container_names *ret);
