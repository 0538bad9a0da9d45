/*
 * Selects inputs with regular expressions that a person could have written. Other inputs would test
 * the C library, which may need very much time and memory for them. They are repetition counts such
 * as a{9,99}, back references such as \1, very long texts, and many + signs. For each +, regcomp(3)
 * copies the expression before it, so 30 nested + take all memory.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SIZE_MAXIMUM 4096
#define PLUSES_MAXIMUM 8
#define NESTED_MAXIMUM 8

static inline bool is_repetition(uint8_t byte)
{
    return byte == '*' || byte == '+' || byte == '?';
}

static inline bool is_moderate(const uint8_t *data, size_t size)
{
    size_t pluses = 0, nested = 0;

    for (size_t i = 0; i < size; i++) {
        pluses += data[i] == '+';
        nested += i > 0 && is_repetition(data[i]) && is_repetition(data[i - 1]);
        if (data[i] == '{' || data[i] == '\\')
            return false;
    }
    return size <= SIZE_MAXIMUM && pluses <= PLUSES_MAXIMUM && nested <= NESTED_MAXIMUM;
}
