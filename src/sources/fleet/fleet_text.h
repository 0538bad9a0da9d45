/* Builds texts of PromQL. Makes untrusted texts of labels safe to show. */
#pragma once

#include "prometheus_answer.h"

#define FLEET_KEY_SIZE 4096

/* Returns a formatted text, which the caller frees, or NULL if there is no memory. */
char *fleet_text_of(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Returns a regular expression in quotes, for PromQL: `text` taken literally, followed by the
 * regular expression `suffix`. The caller frees it. Returns NULL if there is no memory. */
char *fleet_quoted_pattern(const char *text, const char *suffix);

/* Writes to ret[FLEET_KEY_SIZE] a key that identifies the labels of a series. The name of the
 * metric, FLEET_PART and the labels in without[], which ends in NULL, are not part of the key. If
 * the key is too long, its last labels are left out. */
void fleet_key(const struct prometheus_series *series, const char *const *without, char *ret);

/* Replaces control characters by question marks, because they could control a terminal. */
void fleet_clean(char *text);

/* Copies `text` to ret[size] and calls fleet_clean(). If `text` is too long, it is cut between two
 * UTF-8 characters. */
void fleet_name(const char *text, char *ret, size_t size);

/* Like fleet_name(), but copies the first line of text[length]. */
void fleet_line(const char *text, size_t length, char *ret, size_t size);

/* Appends to the string in ret[size]. Cuts what does not fit. */
void fleet_append(char *ret, size_t size, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Adds a name to names[*count], unless it is there already, or `most` names are there. */
void fleet_add_name(const char **names, size_t *count, size_t most, const char *name);

/* This label tells which part of a snapshot's question a series answers. */
#define FLEET_PART "camp_part"
