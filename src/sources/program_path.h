#pragma once

#include <stdbool.h>
#include <stddef.h>

#define PROGRAM_PATH_SIZE 4096 /* PATH_MAX of Linux; that of Windows is 260 */

/* Writes the path of the running program, with '/' between folders. Returns false if it is unknown
 * or has no space. */
bool program_path(char *ret, size_t size);
