/* What the common code of the library needs of each system: posix.c, or a file of the system's own
 * folder. */
#pragma once

#include <stdint.h>

/* Returns the time of a clock that only goes forward, which all `time_ns` of camp.h come from. */
uint64_t camp_now_ns(void);

/* Blocks for this time, or until the thread has handled a signal. */
void camp_sleep_ms(unsigned ms);
