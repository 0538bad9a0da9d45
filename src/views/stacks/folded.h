/* Folded stacks: a line a stack, its frames, the outermost first, then a number. flamegraph.pl,
 * inferno and speedscope read them. */
#pragma once

#include "stack_sums.h"

#include <stdio.h>

/* Writes "main;serve;ep_poll_[k] 1500000": the number is the time in ns. Bytes that cannot be
 * printed become '?'. */
void folded_write(FILE *stream, const struct stack_sums *sums);
