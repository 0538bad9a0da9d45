/*
 * Rules that a person could have written. Numbers of repetitions (a{9,99}), many + (each is its
 * expression written twice, so 30 of them within each other take all memory), back references (\1)
 * and texts longer than a person writes are left out: what regcomp(3) and regexec(3) take for them
 * is the C library's.
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
