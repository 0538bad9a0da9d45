/* An array that grows. */
#ifndef CAMP_LEDGER_GROW_H
#define CAMP_LEDGER_GROW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* Room for `capacity` elements in the array whose pointer `array` is the address of. False: no
 * memory, and it stays as it was. */
static inline bool grow(void *array, size_t capacity, size_t element_size)
{
    void *grown, *old;

    memcpy(&old, array, sizeof old);
    grown = reallocarray(old, capacity > 0 ? capacity : 1, element_size > 0 ? element_size : 1);
    if (grown == NULL)
        return false;
    memcpy(array, &grown, sizeof grown);
    /* cppcheck-suppress memleak ; memcpy() has stored the pointer in the caller's variable */
    return true;
}

#endif
