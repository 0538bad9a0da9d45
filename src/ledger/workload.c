#include "workload.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* regcomp(3) takes memory by the square of some expressions, and goes as deep as they have
 * parentheses: what a person writes is far below. */
#define EXPRESSION_SIZE 1024

static const char other[] = "(other)";
static const char *const keys[] = { "name=", "user=", "line=" };

/* A part of the text. */
struct span {
    const char *at, *end;
};

static bool is_blank(char byte)
{
    return byte == ' ' || byte == '\t' || byte == '\r';
}

static size_t length_of(struct span span)
{
    return (size_t)(span.end - span.at);
}

static struct span trimmed(struct span span)
{
    while (span.at < span.end && is_blank(*span.at))
        span.at++;
    while (span.at < span.end && is_blank(span.end[-1]))
        span.end--;
    return span;
}

/* Up to the next blank; `rest` is left behind it. */
static struct span take_word(struct span *rest)
{
    struct span word = trimmed(*rest);

    for (rest->at = word.at; rest->at < rest->end && !is_blank(*rest->at);)
        rest->at++;
    word.end = rest->at;
    return word;
}

/* ------------------------------------------------------------------------------- Faults -- */

static void append(struct workload_fault *fault, const char *text, size_t length)
{
    const size_t used = strlen(fault->message);
    const size_t room = sizeof fault->message - 1 - used;
    const size_t taken = length < room ? length : room;

    memcpy(fault->message + used, text, taken);
    fault->message[used + taken] = '\0';
}

/* "WORD: what". */
static int refuse(struct workload_fault *fault, struct span word, const char *what)
{
    fault->message[0] = '\0';
    append(fault, word.at, length_of(word) < 60 ? length_of(word) : 60);
    append(fault, ": ", 2);
    append(fault, what, strlen(what));
    return CAMP_E_FORMAT;
}

/* -------------------------------------------------------------------------------- Rules -- */

static void release_rule(struct workload_rule *rule)
{
    for (int i = 0; i < WORKLOAD_KEY_COUNT; i++) {
        if (rule->given[i])
            regfree(&rule->expressions[i]);
    }
}

void workloads_release(struct workloads *workloads)
{
    for (size_t i = 0; i < workloads->count; i++)
        release_rule(&workloads->rules[i]);
    free(workloads->rules);
    *workloads = (struct workloads){ 0 };
}

static int compile(struct workload_rule *rule, enum workload_key key, struct span expression,
                   struct workload_fault *fault)
{
    char text[EXPRESSION_SIZE], message[80];
    int r;

    if (length_of(expression) == 0)
        return refuse(fault, (struct span){ keys[key], keys[key] + strlen(keys[key]) },
                      "an expression must follow, without a blank");
    if (length_of(expression) >= sizeof text)
        return refuse(fault, expression, "is longer than 1023 bytes");
    memcpy(text, expression.at, length_of(expression));
    text[length_of(expression)] = '\0';
    r = regcomp(&rule->expressions[key], text, REG_EXTENDED | REG_NOSUB);
    rule->given[key] = r == 0;
    if (r == REG_ESPACE)
        return CAMP_E_NOMEM;
    if (r != 0) {
        regerror(r, &rule->expressions[key], message, sizeof message);
        return refuse(fault, expression, message);
    }
    return CAMP_OK;
}

static int take_key(struct workload_rule *rule, struct span *rest, struct workload_fault *fault)
{
    const struct span word = take_word(rest);
    size_t key = 0, length;

    while (key < WORKLOAD_KEY_COUNT && (length_of(word) < strlen(keys[key]) ||
                                        memcmp(word.at, keys[key], strlen(keys[key])) != 0))
        key++;
    if (key == WORKLOAD_KEY_COUNT)
        return refuse(fault, word, "is not name=REGEX, user=REGEX or line=REGEX");
    if (rule->given[key])
        return refuse(fault, word, "stands twice; a further rule may have the same NAME");
    length = strlen(keys[key]);
    if (key != WORKLOAD_LINE)
        return compile(rule, (enum workload_key)key, (struct span){ word.at + length, word.end },
                       fault);
    rest->at = rest->end;
    return compile(rule, WORKLOAD_LINE, (struct span){ word.at + length, rest->end }, fault);
}

static int take_name(struct workload_rule *rule, struct span name, struct workload_fault *fault)
{
    if (length_of(name) >= sizeof rule->name)
        return refuse(fault, name, "a workload's name has 63 bytes at most");
    if (memchr(name.at, '=', length_of(name)) != NULL)
        return refuse(fault, name, "a line begins with the NAME of its workload");
    memcpy(rule->name, name.at, length_of(name));
    if (strcmp(rule->name, other) == 0)
        return refuse(fault, name, "is the name of all that match no rule");
    return CAMP_OK;
}

static int take_rule(struct workload_rule *rule, struct span line, struct workload_fault *fault)
{
    const struct span name = take_word(&line);
    int r = take_name(rule, name, fault);

    if (r == CAMP_OK && length_of(trimmed(line)) == 0)
        return refuse(fault, name,
                      "what must match is missing: name=REGEX, user=REGEX, line=REGEX");
    while (r == CAMP_OK && length_of(trimmed(line)) > 0)
        r = take_key(rule, &line, fault);
    return r;
}

static struct workload_rule *add_rule(struct workloads *workloads)
{
    if (workloads->count == workloads->capacity) {
        const size_t capacity = 2 * workloads->capacity + 8;
        struct workload_rule *grown = reallocarray(workloads->rules, capacity, sizeof *grown);

        if (grown == NULL)
            return NULL;
        workloads->rules = grown;
        workloads->capacity = capacity;
    }
    workloads->rules[workloads->count] = (struct workload_rule){ 0 };
    return &workloads->rules[workloads->count++];
}

static int take_line(struct workloads *workloads, struct span line, struct workload_fault *fault)
{
    static const char zero[] = "a byte 0";
    struct workload_rule *rule;
    int r;

    line = trimmed(line);
    if (line.at == line.end || *line.at == '#')
        return CAMP_OK;
    if (memchr(line.at, '\0', length_of(line)) != NULL)
        return refuse(fault, (struct span){ zero, zero + strlen(zero) }, "this is no text");
    rule = add_rule(workloads);
    if (rule == NULL)
        return CAMP_E_NOMEM;
    r = take_rule(rule, line, fault);
    for (rule->workload = 0; strcmp(workloads->rules[rule->workload].name, rule->name) != 0;)
        rule->workload++;
    return r;
}

int workloads_parse(struct workloads *ret, const char *text, size_t length,
                    struct workload_fault *fault)
{
    const char *const end = text + length;
    int r = CAMP_OK;

    *ret = (struct workloads){ 0 };
    *fault = (struct workload_fault){ 0 };
    while (r == CAMP_OK && text < end) {
        const char *newline = memchr(text, '\n', (size_t)(end - text));

        fault->line++;
        r = take_line(ret, (struct span){ text, newline != NULL ? newline : end }, fault);
        text = newline != NULL ? newline + 1 : end;
    }
    if (r != CAMP_OK)
        workloads_release(ret);
    return r;
}

/* ------------------------------------------------------------------------------- Matching -- */

static bool matches(const struct workload_rule *rule, const char *const texts[WORKLOAD_KEY_COUNT])
{
    for (int i = 0; i < WORKLOAD_KEY_COUNT; i++) {
        if (rule->given[i] && regexec(&rule->expressions[i], texts[i], 0, NULL, 0) != 0)
            return false;
    }
    return true;
}

size_t workloads_match(const struct workloads *workloads, const char *name, const char *user,
                       const char *line)
{
    const char *const texts[WORKLOAD_KEY_COUNT] = { name, user, line };

    for (size_t i = 0; i < workloads->count; i++) {
        if (matches(&workloads->rules[i], texts))
            return workloads->rules[i].workload;
    }
    return workloads->count;
}

bool workloads_ask_lines(const struct workloads *workloads)
{
    for (size_t i = 0; i < workloads->count; i++) {
        if (workloads->rules[i].given[WORKLOAD_LINE])
            return true;
    }
    return false;
}

const char *workloads_name(const struct workloads *workloads, size_t workload)
{
    return workload < workloads->count ? workloads->rules[workload].name : other;
}
