/* Parser: src/sources/machine/interrupts.c */
/* Parses any bytes as the file /proc/interrupts. */
#include "sources/machine/interrupts.h"

#include <camp/camp.h>

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct interrupts interrupts;
    FILE *stream = size > 0 ? fmemopen((void *)(uintptr_t)data, size, "r") : NULL;
    int r;

    if (stream == NULL)
        return 0;
    r = interrupts_scan(stream, &interrupts);
    fclose(stream);
    if ((r == CAMP_OK) != (interrupts.count > 0))
        abort();
    return 0;
}
