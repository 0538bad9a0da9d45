/* A bar on stderr for what takes long: only on a terminal, and only once it has taken a while. */
#ifndef CAMP_COMMANDS_PROGRESS_H
#define CAMP_COMMANDS_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

/* All zero: nothing has begun. */
struct progress {
    uint64_t begin_ns, drawn_ns; /* CLOCK_MONOTONIC */
    bool shown;
};

/* So much of it is done. `context` is a struct progress *; the shape of struct from's progress().
 */
void progress_show(void *context, uint64_t done, uint64_t total);

/* Takes the bar away, so that other lines can be written. It may go on afterwards. */
void progress_clear(struct progress *progress);

#endif
