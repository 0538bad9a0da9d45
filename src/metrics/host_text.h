/* Parses texts of the kernel about the whole machine. Reads no files. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Finds the line that starts with `key` and a blank, and sets *ret to the number after it. Returns
 * false if there is no such line or the number is too large. */
bool host_text_number(const char *text, size_t length, const char *key, uint64_t *ret);

/* Finds the line that starts with `share` ("some" or "full") in the text of a file of
 * /proc/pressure. Sets *ret to the number after "total=" in this line, in us. Returns false if
 * there is no such line or number, or if the number is too large. */
bool host_text_pressure_us(const char *text, size_t length, const char *share, uint64_t *ret);
