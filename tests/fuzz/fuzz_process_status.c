/* Parser: src/counters/linux/process_stat.c */
/* Parses any bytes as /proc/PID/status: the context switches, and the process of a thread. */
#include "counters/linux/process.h"

#include <stdint.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    /* The buffer has no spare bytes, so that a sanitizer detects reads past its end. */
    char *bytes = malloc(size > 0 ? size : 1);
    struct status_switches switches;
    int32_t pid = 0;

    if (bytes == NULL)
        return 0;
    memcpy(bytes, data, size);
    camp_status_parse(cursor_of(bytes, size), &switches);
    if (camp_status_group(cursor_of(bytes, size), &pid) && pid < 0)
        abort();
    free(bytes);
    return 0;
}
