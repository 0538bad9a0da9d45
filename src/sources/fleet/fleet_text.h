/* Texts of PromQL, and untrusted texts of labels. */
#pragma once

#include "prometheus_answer.h"

#define FLEET_KEY_SIZE 4096

/* Formats a text, which the caller frees. NULL: no memory. */
char *fleet_text_of(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Returns a quoted PromQL string: a regular expression that matches exactly `text`, followed by the
 * regular expression `suffix`. The caller frees it; NULL: no memory. */
char *fleet_quoted_pattern(const char *text, const char *suffix);

/* Writes to ret[FLEET_KEY_SIZE] all labels of a series except those in without[], which ends in
 * NULL. The metric's name and camp's own mark (FLEET_PART) are always left out. A longer key is
 * cut. */
void fleet_key(const struct prometheus_series *series, const char *const *without, char *ret);

/* Replaces control characters, which could control a terminal, by question marks. */
void fleet_clean(char *text);

/* Writes `text` ("host.example:9733") as a name to show: cleaned by fleet_clean(), and if too long,
 * cut between two characters. */
void fleet_name(const char *text, char *ret, size_t size);

/* Does the same as fleet_name() with the first line of text[length]. */
void fleet_line(const char *text, size_t length, char *ret, size_t size);

/* Appends to the string in ret[size], as far as it fits. */
void fleet_append(char *ret, size_t size, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Adds a name that is not yet in names[*count], up to `most` names. */
void fleet_add_name(const char **names, size_t *count, size_t most, const char *name);

/* The label by which camp distinguishes the parts of its query. */
#define FLEET_PART "camp_part"
