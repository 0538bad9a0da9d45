/* Parser: src/counters/linux/process_stat.c */
/* Parses any bytes as the files cgroup, status and smaps_rollup of a process. */
#include "counters/linux/process.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    /* The buffer has no spare bytes, so that a sanitizer detects reads past its end. */
    char *bytes = malloc(size > 0 ? size : 1);
    struct cursor path;
    uint64_t number = 0;

    if (bytes == NULL)
        return 0;
    memcpy(bytes, data, size);
    if (camp_cgroup_parse(cursor_of(bytes, size), &path) &&
        (path.at < bytes || path.at >= path.end || path.end > bytes + size))
        abort();
    if (camp_status_user(cursor_of(bytes, size), &number) && number > UINT32_MAX)
        abort();
    if (camp_smaps_parse(cursor_of(bytes, size), &number) && number > UINT64_MAX / 1024)
        abort();
    free(bytes);
    return 0;
}
