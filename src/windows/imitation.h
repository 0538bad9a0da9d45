/* Wine, which imitates Windows on Linux, and the numbers that it does not have, or makes up. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* Returns the version of Wine, or NULL on Windows itself. */
const char *wine_version(void);
bool is_wine(void);

struct imitated {
    const char *counter; /* as camp get takes it */
    const char *reports; /* what Wine reports for it */
    const char *shown;   /* what camp shows; NULL: nothing, it is unknown */
};

extern const struct imitated imitated_by_wine[];
extern const size_t imitated_by_wine_count;
