#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Finds the line `processes N` in a piece of /proc/stat. False: it is not there, or cut. */
bool camp_parse_fork_count(const char *bytes, size_t length, uint64_t *ret_count);
