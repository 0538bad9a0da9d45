/* How this kernel obtains the idle time of CPUs, and so the busy time that is the rest of it. */
#pragma once

#include <camp/camp.h>

/* The provenance of the idle time and of the I/O wait of CPUs in /proc/stat. */
enum camp_provenance idle_time_provenance(const struct camp_kernel *kernel);

/* Returns why wall time - idle - iowait is not a measured busy time, or NULL if it is one. If only
 * tickless_idle is unknown, as in many containers, the result is NULL, because nearly every kernel
 * stops the tick. */
const char *idle_time_doubt(const struct camp_kernel *kernel);
