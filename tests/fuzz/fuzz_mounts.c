/* Parser: src/sources/machine/cgroup_paths.c */
/* Reads any bytes as /proc/self/mounts, to find where the control groups are mounted. */
#include "sources/machine/cgroup_paths.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    FILE *mounts = size > 0 ? fmemopen((void *)(uintptr_t)data, size, "r") : NULL;
    char *folder;

    if (mounts == NULL)
        return 0;
    folder = cgroup_mount_of(mounts);
    if (folder != NULL && strlen(folder) >= size)
        abort();
    free(folder);
    fclose(mounts);
    return 0;
}
