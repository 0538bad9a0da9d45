/* Texts of PromQL, and texts that come from labels, which anybody may have written. */
#ifndef CAMP_SOURCES_FLEET_FLEET_TEXT_H
#define CAMP_SOURCES_FLEET_FLEET_TEXT_H

#include "prometheus_answer.h"

#define FLEET_KEY_SIZE 4096

/* A string of PromQL, with its quotes: the regular expression that matches `text` alone, and
 * `suffix` behind it, an expression. The caller's to free; NULL: no memory. */
char *fleet_quoted_pattern(const char *text, const char *suffix);

/* ret[FLEET_KEY_SIZE]: all labels of a series but those named in without[], which ends in NULL. The
 * metric's name and camp's own mark (FLEET_PART) are never among them. What is longer is cut. */
void fleet_key(const struct prometheus_series *series, const char *const *without, char *ret);

/* Control characters, which would be a terminal's, become question marks. */
void fleet_clean(char *text);

/* "host.example:9733" as a name for people: cleaned; cut between characters. */
void fleet_name(const char *text, char *ret, size_t size);

/* Likewise the first line of text[length]. */
void fleet_line(const char *text, size_t length, char *ret, size_t size);

/* Adds a name that is not yet among names[*count], if there is room for `most`. */
void fleet_meet(const char **names, size_t *count, size_t most, const char *name);

/* A label with which camp marks parts of its own questions. */
#define FLEET_PART "camp_part"

#endif
