/* Parser: src/metrics/negotiate.c */
/* Parses any bytes as the headers Accept and Accept-Encoding. A format or encoding that is chosen
 * must be named in the bytes. */
#include "metrics/negotiate.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int holds(const char *text, size_t size, const char *word)
{
    const size_t length = strlen(word);

    for (size_t i = 0; i + length <= size; i++) {
        if (strncasecmp(text + i, word, length) == 0)
            return 1;
    }
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    /* The buffer has no spare bytes, so that a sanitizer detects reads past its end. */
    char *exact = malloc(size > 0 ? size : 1);

    if (exact == NULL)
        abort();
    if (size > 0)
        memcpy(exact, data, size);
    if (negotiate_format(exact, size) == EXPOSITION_OPENMETRICS &&
        !holds(exact, size, "application/openmetrics-text"))
        abort();
    if (negotiate_gzip(exact, size) && !holds(exact, size, "gzip") && !holds(exact, size, "*"))
        abort();
    free(exact);
    return 0;
}
