/* The texts of one line or less: stat, schedstat, and the names of executables. */
#include "counters/linux/process.h"

#include <stdint.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A name or state that is not the text's own, or that has no end, is a finding. */
static void check_stat(struct cursor text)
{
    struct stat_line line;

    if (!camp_stat_parse(text, &line))
        return;
    if (memchr(line.name, '\0', sizeof line.name) == NULL)
        abort();
    if (memchr(text.at, line.state, cursor_left(&text)) == NULL || line.parent < 0)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    /* Of exactly this size, so that a read past the end is seen. */
    char *bytes = malloc(size > 0 ? size : 1);
    struct cursor text;
    struct schedstat_line schedstat;

    if (bytes == NULL)
        return 0;
    memcpy(bytes, data, size);
    text = cursor_of(bytes, size);
    check_stat(text);
    camp_schedstat_parse(text, &schedstat);
    camp_executable_is(text, "camp");
    camp_argument_is(text, "camp");
    free(bytes);
    return 0;
}
