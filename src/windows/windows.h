/* <windows.h> without its rarely used parts, and what files of this room share. */
#pragma once

#define WIN32_LEAN_AND_MEAN
#define NOMINMAX

#include <windows.h>

#include <stdbool.h>

/* The longest path of Windows, in UTF-16, with its zero. */
#define LONGEST_PATH 32768
#define UTF8_PATH_SIZE (3 * LONGEST_PATH)

/* An event that is set as soon as a stop was requested. NULL before stop_on_signals(). */
HANDLE stop_event(void);
