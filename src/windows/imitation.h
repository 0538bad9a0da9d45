/* The numbers that Wine does not have, or makes up. */
#pragma once

#include <stddef.h>

struct imitated {
    const char *counter; /* as camp get takes it */
    const char *reports; /* what Wine reports for it */
    const char *shown;   /* what camp shows; NULL: nothing, it is unknown */
};

extern const struct imitated imitated_by_wine[];
extern const size_t imitated_by_wine_count;
