/* Formats rows of threads in the columns of prstat -mL. */
#pragma once

#include "ledger/group.h"
#include "sources/user_names.h"

const char *prstat_heading(enum group_key key, bool ended);

/* Writes a row of a frame of threads as a line. `key` is what the threads are grouped by. */
void prstat_line(char *ret, size_t capacity, const struct frame *rows, size_t row,
                 enum group_key key, struct user_names *users, const char *name);
