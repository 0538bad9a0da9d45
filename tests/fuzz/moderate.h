/*
 * Selects rules that a person could have written. Left out are counts of repetitions (a{9,99}),
 * many
 * + (regcomp(3) copies the expression of each, so 30 nested + take all memory), back references
 * (\1) and very long texts: the C library decides how much time and memory they take, not camp.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SIZE_MAXIMUM 4096
#define PLUSES_MAXIMUM 8

static inline bool is_moderate(const uint8_t *data, size_t size)
{
    size_t pluses = 0;

    for (size_t i = 0; i < size; i++) {
        pluses += data[i] == '+';
        if (data[i] == '{' || data[i] == '\\')
            return false;
    }
    return size <= SIZE_MAXIMUM && pluses <= PLUSES_MAXIMUM;
}
