#pragma once

#include <stddef.h>
#include <stdint.h>

/* Fills kind_of_call[count], indexed by the number of the system call. Each value is an enum
 * camp_state, KIND_BY_DESCRIPTOR or KIND_BY_RESTART. */
void calls_fill(uint8_t *kind_of_call, size_t count);
