/* The options --why-of and --why-by of camp record. */
#pragma once

#include "sources/causes/causes.h"

/* Prints a line if no process had the name of --why-of in the first interval. It may appear later.
 */
void record_why_check(const struct causes *causes, const char *name);
