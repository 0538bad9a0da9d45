#include "rule_text.h"

#include <string.h>

/* regcomp(3) recurses into parentheses, and can need memory in proportion to the square of the
 * length. So the length of an expression is limited. */
#define EXPRESSION_SIZE 1024

static bool is_blank(char byte)
{
    return byte == ' ' || byte == '\t' || byte == '\r' || byte == '\n';
}

struct span span_of(const char *text)
{
    return (struct span){ text, text + strlen(text) };
}

bool span_starts(struct span span, const char *with)
{
    return span_length(span) >= strlen(with) && memcmp(span.at, with, strlen(with)) == 0;
}

struct span span_trimmed(struct span span)
{
    while (span.at < span.end && is_blank(*span.at))
        span.at++;
    while (span.at < span.end && is_blank(span.end[-1]))
        span.end--;
    return span;
}

struct span span_next_word(struct span *rest)
{
    struct span word = span_trimmed(*rest);

    for (rest->at = word.at; rest->at < rest->end && !is_blank(*rest->at);)
        rest->at++;
    word.end = rest->at;
    return word;
}

static void append(struct rule_fault *fault, const char *text, size_t length)
{
    const size_t used = strlen(fault->message);
    const size_t space = sizeof fault->message - 1 - used;

    length = length < space ? length : space;
    memcpy(fault->message + used, text, length);
    fault->message[used + length] = '\0';
}

int rule_refuse(struct rule_fault *fault, struct span word, const char *what)
{
    fault->message[0] = '\0';
    append(fault, word.at, span_length(word) < 60 ? span_length(word) : 60);
    append(fault, ": ", 2);
    append(fault, what, strlen(what));
    return CAMP_E_FORMAT;
}

static int compile(regex_t *ret, const struct rule_keys *keys, size_t key, struct span expression,
                   struct rule_fault *fault)
{
    const size_t length = span_length(expression);
    char text[EXPRESSION_SIZE + 4], message[RULE_FAULT_SIZE], *at = text;
    int r;

    if (length == 0)
        return rule_refuse(fault, span_of(keys->names[key]),
                           "an expression must follow, without a blank");
    if (length >= EXPRESSION_SIZE)
        return rule_refuse(fault, expression, "is longer than 1023 bytes");
    if (keys->whole)
        at = stpcpy(at, "^(");
    memcpy(at, expression.at, length);
    strcpy(at + length, keys->whole ? ")$" : "");
    r = regcomp(ret, text, REG_EXTENDED | REG_NOSUB);
    if (r == 0)
        return CAMP_OK;
    if (r == REG_ESPACE)
        return CAMP_E_NOMEM;
    regerror(r, ret, message, sizeof message);
    return rule_refuse(fault, expression, message);
}

int rule_condition_add(struct rule_conditions *conditions, const struct rule_keys *keys,
                       struct span condition, struct rule_fault *fault)
{
    size_t key = 0;
    int r;

    while (key < keys->count && !span_starts(condition, keys->names[key]))
        key++;
    if (key == keys->count)
        return rule_refuse(fault, condition, keys->unknown);
    if (conditions->given[key])
        return rule_refuse(fault, condition, keys->twice);
    condition.at += strlen(keys->names[key]);
    r = compile(&conditions->expressions[key], keys, key, condition, fault);
    conditions->given[key] = r == CAMP_OK;
    return r;
}

bool rule_conditions_match(const struct rule_conditions *conditions, const char *const *texts)
{
    for (size_t i = 0; i < RULE_KEYS_MAXIMUM; i++) {
        if (conditions->given[i] && regexec(&conditions->expressions[i], texts[i], 0, NULL, 0) != 0)
            return false;
    }
    return true;
}

void rule_conditions_release(struct rule_conditions *conditions)
{
    for (size_t i = 0; i < RULE_KEYS_MAXIMUM; i++) {
        if (conditions->given[i])
            regfree(&conditions->expressions[i]);
    }
}

int rule_lines(const char *text, size_t length, struct rule_fault *fault,
               int (*read_rule)(void *context, struct span line, struct rule_fault *fault),
               void *context)
{
    const char *const end = text + length;
    int r = CAMP_OK;

    *fault = (struct rule_fault){ 0 };
    while (r == CAMP_OK && text < end) {
        const char *newline = memchr(text, '\n', (size_t)(end - text));
        const struct span line =
            span_trimmed((struct span){ text, newline != NULL ? newline : end });

        fault->line++;
        if (line.at < line.end && *line.at != '#')
            r = memchr(line.at, '\0', span_length(line)) != NULL
                    ? rule_refuse(fault, span_of("a byte 0"), "this is no text")
                    : read_rule(context, line, fault);
        text = newline != NULL ? newline + 1 : end;
    }
    return r;
}
