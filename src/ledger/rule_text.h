/*
 * Rules as text: a line each, words between blanks, a # at the start of a line makes a comment. A
 * rule has conditions, KEY=REGEX, all of which must match. Pure text, of any bytes; workload.h and
 * session_rules.h have the keys and what a rule is for.
 */
#pragma once

#include <camp/camp.h>

#include <regex.h>
#include <stdbool.h>
#include <stddef.h>

#define RULE_FAULT_SIZE 200

/* A part of the text. */
struct span {
    const char *at, *end;
};

/* What is wrong with a text: the line (from 1), and what to do. */
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

/* The span without the blanks around it. */
struct span span_trimmed(struct span span);

/* The word up to the next blank; `rest` then starts after it. */
struct span span_next_word(struct span *rest);

/* Sets *fault to "WORD: what", with at most 60 bytes of the word. Returns CAMP_E_FORMAT. */
int rule_refuse(struct rule_fault *fault, struct span word, const char *what);

#define RULE_KEYS_MAXIMUM 4

/* The conditions that a kind of rules may have. */
struct rule_keys {
    const char *names[RULE_KEYS_MAXIMUM]; /* [count] "user=" */
    size_t count;
    bool whole;          /* an expression must match the whole text, not a part of it */
    const char *unknown; /* the complaint about another key */
    const char *twice;   /* the complaint about a key that is given twice */
};

struct rule_conditions {
    bool given[RULE_KEYS_MAXIMUM];          /* by key */
    regex_t expressions[RULE_KEYS_MAXIMUM]; /* by key, where given; owned */
};

/* Adds the condition KEY=REGEX, a POSIX extended expression. CAMP_OK; CAMP_E_FORMAT with *fault;
 * CAMP_E_NOMEM. */
int rule_condition_add(struct rule_conditions *conditions, const struct rule_keys *keys,
                       struct span condition, struct rule_fault *fault);

/* Does each condition match its text? texts[] are in the order of the keys. */
bool rule_conditions_match(const struct rule_conditions *conditions, const char *const *texts);

void rule_conditions_release(struct rule_conditions *conditions);

/* Calls read() with each rule line, trimmed, while it returns CAMP_OK. Returns its last result;
 * CAMP_E_FORMAT with *fault: the bytes are no text. fault->line is set before each call. */
int rule_lines(const char *text, size_t length, struct rule_fault *fault,
               int (*read)(void *context, struct span line, struct rule_fault *fault),
               void *context);
