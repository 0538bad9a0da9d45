/* Parser: src/counters/linux/process_stat.c */
/* Parses any bytes as /proc/PID/stat, /proc/PID/schedstat and the name of an executable. */
#include "counters/linux/process.h"

#include <stdint.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The name must end with '\0', and the state must come from the text. */
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
    /* The buffer has no spare bytes, so that a sanitizer detects reads past its end. */
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
    camp_invoked_as(text, "camp");
    camp_interprets(text, "camp");
    free(bytes);
    return 0;
}
