/* Parser: src/metrics/host_text.c */
/* Parses any bytes as /proc/stat and as a file of /proc/pressure. */
#include "metrics/host_text.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    /* The buffer has no spare bytes, so that a sanitizer detects reads past its end. */
    char *exact = malloc(size > 0 ? size : 1);
    uint64_t number;

    if (exact == NULL)
        abort();
    if (size > 0)
        memcpy(exact, data, size);
    if (host_text_number(exact, size, "ctxt", &number) && size < sizeof "ctxt 1" - 1)
        abort();
    if (host_text_pressure_us(exact, size, "some", &number) && size < sizeof "some total=1" - 1)
        abort();
    free(exact);
    return 0;
}
