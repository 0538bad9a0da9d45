/* The capabilities that camp can use, what each gives, and whether this process holds it. */
#pragma once

#include <camp/camp.h>

#include <stdbool.h>

struct capability {
    const char *name; /* as in capabilities(7) */
    unsigned number;
    const char *gives;
};

#define CAPABILITY_COUNT 6
extern const struct capability capabilities[CAPABILITY_COUNT];

/* Does this process hold the named capability? False also when the kernel did not report it. */
bool capability_held(const struct camp_kernel *kernel, const char *name);

/* May this process open files regardless of their mode? */
bool capability_opens_all(const struct camp_kernel *kernel);
