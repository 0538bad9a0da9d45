/* --pid and --filter, as every command takes them. */
#ifndef CAMP_COMMANDS_SELECTION_H
#define CAMP_COMMANDS_SELECTION_H

#include "options.h"

#include <regex.h>
#include <stdint.h>

#define PIDS_MAXIMUM 256

/* The numbers of --pid into ret[PIDS_MAXIMUM]. OPTIONS_GO_ON, or a status after a complaint. */
int selection_pids(const struct text_list *texts, int32_t *ret);

/* Compiles --filter (POSIX extended) into *ret. NULL compiles nothing; *ret_used says whether. */
int selection_filter(const char *text, regex_t *ret, const regex_t **ret_used);

#endif
