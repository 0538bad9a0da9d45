/* The capabilities(7) that camp can use, and what each of them permits. */
#pragma once

#include <camp/linux.h>

#include <stdbool.h>

struct capability {
    const char *name;
    unsigned number;
    const char *gives;
};

#define CAPABILITY_COUNT 6
extern const struct capability capabilities[CAPABILITY_COUNT];

/* Returns whether this process has the named capability. Returns false if the capabilities of this
 * process are unknown. */
bool capability_held(const struct camp_linux *facts, const char *name);

/* Returns whether a capability lets this process open files regardless of their mode. */
bool capability_opens_all(const struct camp_linux *facts);
