/* Reads the value of an option from text, and describes which values the option accepts. */
#pragma once

#include "options.h"

/* Sets the variable of the option. Returns false if the option does not accept this text; the
 * variable is then unchanged. */
bool option_set(const struct option_spec *spec, const char *text);

/* Describes which values the option accepts: "one of text, json, csv", "a time such as 500ms, 2s
 * or 1m, from 0.01 to 86400 s". */
void option_describe(const struct option_spec *spec, char *ret, size_t capacity);

/* Checks the rules of the table, after all values are set. `given` says for each option whether
 * it was given. Returns OPTIONS_GO_ON, or STATUS_USAGE after an error message. */
int option_rules_check(const struct option_table *table, const bool *given);
