/* Times and counts by stack. */
#pragma once

#include "ledger/index.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Between the frames of a stack, the outermost first: a frame has no such character. */
#define STACK_SEPARATOR ';'

struct stack_sum {
    char *stack; /* owned: "postgres;poll;main;...;ep_poll_[k]" */
    uint64_t ns, count;
};

/* An all-zero struct is empty. */
struct stack_sums {
    struct stack_sum *items; /* [count] */
    size_t count, capacity;
    struct index index;
};

/* Appends a frame to the stack text[size]. Each character of the frame that a separator or the end
 * of a line could be taken for becomes ':' or '?'. A frame for which there is no space is left out.
 */
void stack_append(char *text, size_t size, const char *frame);

/* Adds time and a count to a stack. Returns false if there is no memory. */
bool stack_sums_add(struct stack_sums *sums, const char *stack, uint64_t ns, uint64_t count);

/* Sorts by time, the longest first. No stack may be added before stack_sums_clear(). */
void stack_sums_sort(struct stack_sums *sums);

/* Removes all stacks, but keeps the memory of the array. */
void stack_sums_clear(struct stack_sums *sums);
void stack_sums_release(struct stack_sums *sums);
