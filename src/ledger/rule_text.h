/*
 * Rules as text. Each line is a rule of words separated by blanks, or a comment if it starts with
 * #. A rule has conditions of the form KEY=REGEX, and matches if all its conditions match. The text
 * may contain any bytes. workload.h and session_rules.h define the keys and what a rule does.
 */
#pragma once

#include <camp/camp.h>

#include <regex.h>
#include <stdbool.h>
#include <stddef.h>

#define RULE_FAULT_SIZE 200

struct span {
    const char *at, *end;
};

/* An error in a text: its line (from 1; 0 for the whole text), and a message that says what to do.
 */
struct rule_fault {
    size_t line;
    char message[RULE_FAULT_SIZE];
};

static inline size_t span_length(struct span span)
{
    return (size_t)(span.end - span.at);
}

struct span span_of(const char *text);
bool span_starts(struct span span, const char *with);

struct span span_trimmed(struct span span);

/* Removes the first word from *rest and returns it. */
struct span span_next_word(struct span *rest);

/* Sets the message of *fault to "WORD: WHAT", with at most 60 bytes of the word. Returns
 * CAMP_E_FORMAT. */
int rule_refuse(struct rule_fault *fault, struct span word, const char *what);

#define RULE_KEYS_MAXIMUM 4

struct rule_keys {
    const char *names[RULE_KEYS_MAXIMUM]; /* [count] such as "user=" */
    size_t count;
    bool whole;          /* whether an expression must match the whole text instead of a part */
    const char *unknown; /* the message about an unknown key */
    const char *twice;   /* the message about a key that is given twice */
};

struct rule_conditions {
    bool given[RULE_KEYS_MAXIMUM];
    /* expressions[key] is valid only if given[key] is true. rule_conditions_release() frees it. */
    regex_t expressions[RULE_KEYS_MAXIMUM];
};

/* Adds a condition KEY=REGEX, whose REGEX is a POSIX extended expression. Returns CAMP_OK,
 * CAMP_E_NOMEM, or CAMP_E_FORMAT with the reason in *fault. */
int rule_condition_add(struct rule_conditions *conditions, const struct rule_keys *keys,
                       struct span condition, struct rule_fault *fault);

/* Returns whether all conditions match. texts[] has a text for each key, in the order of the keys.
 */
bool rule_conditions_match(const struct rule_conditions *conditions, const char *const *texts);

void rule_conditions_release(struct rule_conditions *conditions);

/* Calls read_rule() for each line that is a rule. Blanks around the line are removed. Stops if
 * read_rule() fails. Sets fault->line before each call. Returns the last result of read_rule(), or
 * CAMP_E_FORMAT with *fault if a line contains a byte 0. */
int rule_lines(const char *text, size_t length, struct rule_fault *fault,
               int (*read_rule)(void *context, struct span line, struct rule_fault *fault),
               void *context);
