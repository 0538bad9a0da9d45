/* Why the kernel takes no programs from us, and what to do about it. */
#ifndef CAMP_MICROSTATES_REFUSED_H
#define CAMP_MICROSTATES_REFUSED_H

#include <camp/camp.h>

/* CAMP_E_PERM, and which capability is missing. `what` takes it ("microstates"), `without` is what
 * there is without ("camp check does without"). */
int refused_permission(int system_error, const char *what, const char *without,
                       struct camp_error *error);

#endif
