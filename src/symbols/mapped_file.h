/* Opens the file of a mapping of a process. */
#pragma once

#include "process_maps.h"

/* Returns a descriptor of the file that process `pid` has mapped, or -1. The file is the one that
 * the process sees at the path, so also that of a container; or, if another file or none is there
 * now, the mapped one itself, for which the caller needs CAP_CHECKPOINT_RESTORE; or, if the process
 * has exited, the one that the caller sees. It is opened only if it is a regular file with the
 * device and the inode of the mapping. `proc` is the folder of the processes (/proc). */
int mapped_file_open(const char *proc, int32_t pid, const struct mapping *mapping);

/* Returns a descriptor of the debugging file for a build id in a folder such as
 * /usr/lib/debug/.build-id, or -1. */
int mapped_file_open_debug(const char *folder, const uint8_t *build_id, size_t length);
