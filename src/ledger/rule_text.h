/*
 * Rules as people write them: a line each, words between blanks, what follows a # at the beginning
 * of a line is a comment. Pure text, of any bytes. What the rules say is their readers' business:
 * workload.h, session_rules.h.
 */
#ifndef CAMP_LEDGER_RULE_TEXT_H
#define CAMP_LEDGER_RULE_TEXT_H

#include <camp/camp.h>

#include <regex.h>
#include <stdbool.h>
#include <stddef.h>

#define RULE_FAULT_SIZE 200

/* A part of the text. */
struct span {
    const char *at, *end;
};

/* What is wrong with a text: in which line (from 1), and what to do. */
struct rule_fault {
    size_t line;
    char message[RULE_FAULT_SIZE];
};

static inline size_t span_length(struct span span)
{
    return (size_t)(span.end - span.at);
}

struct span span_of(const char *text);
bool span_begins(struct span span, const char *with);

/* Without the blanks around it. */
struct span span_trimmed(struct span span);

/* Up to the next blank; `rest` is left behind it. */
struct span span_take_word(struct span *rest);

/* "WORD: what", the word cut at 60 bytes. CAMP_E_FORMAT. */
int rule_refuse(struct rule_fault *fault, struct span word, const char *what);

/* A POSIX extended expression, which matches anywhere in a text; or, `whole`, all of it. `key` is
 * named when there is none. CAMP_OK; CAMP_E_FORMAT with *fault; CAMP_E_NOMEM. */
int rule_compile(regex_t *ret, const char *key, struct span expression, bool whole,
                 struct rule_fault *fault);

/* Calls take() with each line that is a rule, trimmed, as long as it returns CAMP_OK. Returns what
 * it did last; CAMP_E_FORMAT with *fault where the bytes are no text. fault->line is set. */
int rule_lines(const char *text, size_t length, struct rule_fault *fault,
               int (*take)(void *context, struct span line, struct rule_fault *fault),
               void *context);

#endif
