#pragma once

#include "views/record.h"

enum list_format { LIST_TEXT, LIST_JSON, LIST_CSV, LIST_MARKDOWN };

/* Returns an exit status. */
int list_print(enum list_format format, const struct table *table);

/* Prints the sources of --from, and the options of each source. Returns an exit status. */
int list_sources(enum list_format format);
