/*
 * Rules as text: a line each, words between blanks, a # at the start of a line makes a comment.
 * Pure text, of any bytes. The readers interpret the rules: workload.h, session_rules.h.
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

/* Without the blanks around it. */
struct span span_trimmed(struct span span);

/* The word up to the next blank; `rest` is left after it. */
struct span span_next_word(struct span *rest);

/* "WORD: what", the word cut at 60 bytes. CAMP_E_FORMAT. */
int rule_refuse(struct rule_fault *fault, struct span word, const char *what);

/* Compiles a POSIX extended expression, which matches anywhere in a text, or if `whole` all of it.
 * `key` is named when it is empty. CAMP_OK; CAMP_E_FORMAT with *fault; CAMP_E_NOMEM. */
int rule_compile(regex_t *ret, const char *key, struct span expression, bool whole,
                 struct rule_fault *fault);

/* Calls read() with each rule line, trimmed, while it returns CAMP_OK. Returns its last result;
 * CAMP_E_FORMAT with *fault where the bytes are no text. fault->line is set. */
int rule_lines(const char *text, size_t length, struct rule_fault *fault,
               int (*read)(void *context, struct span line, struct rule_fault *fault),
               void *context);
