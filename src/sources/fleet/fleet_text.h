/* Texts of PromQL, and texts that come from labels, which anybody may have written. */
#ifndef CAMP_SOURCES_FLEET_TEXT_H
#define CAMP_SOURCES_FLEET_TEXT_H

#include "prometheus_answer.h"

#define FLEET_KEY_SIZE 4096

/* "a\"b" with its quotes: a string of PromQL. The caller's to free; NULL: no memory. */
char *fleet_quoted(const char *text);

/* Likewise the regular expression that matches `text` alone, and `suffix` behind it: an expression.
 */
char *fleet_quoted_pattern(const char *text, const char *suffix);

/* ret[FLEET_KEY_SIZE]: all labels of a series but those named in without[], which ends in NULL. The
 * metric's name and camp's own mark (FLEET_PART) are never among them. What is longer is cut. */
void fleet_key(const struct prometheus_series *series, const char *const *without, char *ret);

/* "host.example:9733" as a name for people: no control characters; cut between characters. */
void fleet_name(const char *text, char *ret, size_t size);

/* A label with which camp marks parts of its own questions. */
#define FLEET_PART "camp_part"

#endif
