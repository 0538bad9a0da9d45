/* Parser: src/sources/causes/open_sleeps.c */
/* Parses any bytes as /proc/PID/task/TID/syscall. */
#include "sources/causes/open_sleeps.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 1);
    uint64_t argument;
    int32_t call;

    if (text == NULL)
        return 0;
    memcpy(text, data, size);
    text[size] = '\0';
    if (open_call_parse(text, &call, &argument) != (call != CALL_UNKNOWN))
        abort();
    if (call < 0 && argument != 0)
        abort();
    free(text);
    return 0;
}
