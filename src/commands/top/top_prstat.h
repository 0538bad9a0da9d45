/* The columns of prstat -mL: a line for each row of threads. */
#pragma once

#include "ledger/group.h"
#include "sources/machine/user_names.h"

const char *prstat_heading(enum group_key key, bool ended);

/* A row of a frame of threads, added up by `key`. */
void prstat_line(char *ret, size_t capacity, const struct frame *rows, size_t row,
                 enum group_key key, struct user_names *users, const char *name);
