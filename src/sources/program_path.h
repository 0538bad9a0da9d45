#pragma once

#include <stdbool.h>
#include <stddef.h>

/* Writes the path of the running program, with '/' between folders. Returns false if it is unknown
 * or has no space. */
bool program_path(char *ret, size_t size);
