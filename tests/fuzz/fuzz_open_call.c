/* Parser: src/sources/causes/ends/open_call.c */
/* Parses any bytes as /proc/PID/task/TID/syscall. */
#include "sources/causes/ends/open_call.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 1);
    uint64_t arguments[OPEN_CALL_ARGUMENTS];
    int32_t call;

    if (text == NULL)
        return 0;
    memcpy(text, data, size);
    text[size] = '\0';
    if (open_call_parse(text, &call, arguments) != (call != CALL_UNKNOWN))
        abort();
    for (int i = 0; i < OPEN_CALL_ARGUMENTS; i++) {
        if (call < 0 && arguments[i] != 0)
            abort();
    }
    free(text);
    return 0;
}
