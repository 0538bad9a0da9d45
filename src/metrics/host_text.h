/* Texts of the kernel about the whole machine, for the exporter. Pure: no file is read here. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The first number of the line that starts with `key` and a blank (/proc/stat, /proc/vmstat).
 * False: missing, or too large. */
bool host_text_number(const char *text, size_t length, const char *key, uint64_t *ret);

/* The value of total=, in us, in the line of a file of /proc/pressure that starts with `share`
 * ("some", "full"). */
bool host_text_pressure_us(const char *text, size_t length, const char *share, uint64_t *ret);
