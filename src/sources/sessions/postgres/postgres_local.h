/* Are the server's processes those of this machine, so that its pids are ours? */
#ifndef CAMP_SOURCES_SESSIONS_POSTGRES_POSTGRES_LOCAL_H
#define CAMP_SOURCES_SESSIONS_POSTGRES_POSTGRES_LOCAL_H

#include <stdbool.h>
#include <stdint.h>

/* Whether /proc shows a process of this pid that began at start_us (since 1970), up to 10 s earlier
 * or 2 s later, in our own pid namespace. Of our own backend, just connected to: whether the server
 * is local. Of another: that the pid was not given to somebody else, unless the clock was set
 * meanwhile. */
bool postgres_is_process(int32_t pid, int64_t start_us);

#endif
