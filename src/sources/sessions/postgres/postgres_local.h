/* Whether the server's processes are of this machine, so that its pids are valid here. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* Whether /proc shows a process of this pid that started at start_us (since 1970), up to 10 s
 * earlier or 2 s later, in camp's own pid namespace. For camp's own backend: whether the server is
 * local. For another: whether the pid was not reused, unless the clock was set meanwhile. */
bool postgres_is_process(int32_t pid, int64_t start_us);
