/* Why the kernel refused programs, and what to do about it. */
#pragma once

#include <camp/camp.h>

/* CAMP_E_PERM, with a message that names the missing capability. `what` needs it ("microstates").
 * The caller knows what works without it. */
int refused_permission(int system_error, const char *what, struct camp_error *error);
