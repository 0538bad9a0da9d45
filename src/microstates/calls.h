/* The state of a thread that sleeps in a system call. */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* kind_of_call[count], by the number of the call: an enum camp_state, KIND_BY_DESCRIPTOR or
 * KIND_BY_RESTART. */
void calls_fill(uint8_t *kind_of_call, size_t count);
