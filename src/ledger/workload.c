#include "workload.h"

#include "array.h"

#include <stdlib.h>
#include <string.h>

static const char unmatched[] = "(unmatched)";
static const struct rule_keys keys = {
    .names = { "name=", "user=", "line=" },
    .count = WORKLOAD_KEY_COUNT,
    .unknown = "is not name=REGEX, user=REGEX or line=REGEX",
    .twice = "stands twice; a further rule may have the same NAME",
};

void workloads_release(struct workloads *workloads)
{
    for (size_t i = 0; i < workloads->count; i++)
        rule_conditions_release(&workloads->rules[i].conditions);
    free(workloads->rules);
    *workloads = (struct workloads){ 0 };
}

static int parse_condition(struct workload_rule *rule, struct span *rest, struct rule_fault *fault)
{
    struct span condition = span_next_word(rest);

    if (span_starts(condition, keys.names[WORKLOAD_LINE])) {
        condition.end = rest->end;
        rest->at = rest->end;
    }
    return rule_condition_add(&rule->conditions, &keys, condition, fault);
}

static int parse_name(struct workload_rule *rule, struct span name, struct rule_fault *fault)
{
    if (span_length(name) >= sizeof rule->name)
        return rule_refuse(fault, name, "a workload's name has 63 bytes at most");
    if (memchr(name.at, '=', span_length(name)) != NULL)
        return rule_refuse(fault, name, "a line starts with the NAME of its workload");
    memcpy(rule->name, name.at, span_length(name));
    if (strcmp(rule->name, unmatched) == 0)
        return rule_refuse(fault, name, "is the name of all that match no rule");
    return CAMP_OK;
}

static int parse_rule(struct workload_rule *rule, struct span line, struct rule_fault *fault)
{
    const struct span name = span_next_word(&line);
    int r = parse_name(rule, name, fault);

    if (r == CAMP_OK && span_length(span_trimmed(line)) == 0)
        return rule_refuse(fault, name,
                           "what must match is missing: name=REGEX, user=REGEX, line=REGEX");
    while (r == CAMP_OK && span_length(span_trimmed(line)) > 0)
        r = parse_condition(rule, &line, fault);
    return r;
}

static struct workload_rule *add_rule(struct workloads *workloads)
{
    if (!ARRAY_RESERVE(workloads->rules, workloads->capacity, workloads->count + 1))
        return NULL;
    workloads->rules[workloads->count] = (struct workload_rule){ 0 };
    return &workloads->rules[workloads->count++];
}

static int parse_line(void *context, struct span line, struct rule_fault *fault)
{
    struct workloads *workloads = context;
    struct workload_rule *rule = add_rule(workloads);
    int r;

    if (rule == NULL)
        return CAMP_E_NOMEM;
    r = parse_rule(rule, line, fault);
    for (rule->workload = 0; strcmp(workloads->rules[rule->workload].name, rule->name) != 0;)
        rule->workload++;
    return r;
}

int workloads_parse(struct workloads *ret, const char *text, size_t length,
                    struct rule_fault *fault)
{
    int r;

    *ret = (struct workloads){ 0 };
    r = rule_lines(text, length, fault, parse_line, ret);
    if (r != CAMP_OK)
        workloads_release(ret);
    return r;
}

size_t workloads_match(const struct workloads *workloads, const char *name, const char *user,
                       const char *line)
{
    const char *const texts[WORKLOAD_KEY_COUNT] = { name, user, line };

    for (size_t i = 0; i < workloads->count; i++) {
        if (rule_conditions_match(&workloads->rules[i].conditions, texts))
            return workloads->rules[i].workload;
    }
    return workloads->count;
}

bool workloads_need_lines(const struct workloads *workloads)
{
    for (size_t i = 0; i < workloads->count; i++) {
        if (workloads->rules[i].conditions.given[WORKLOAD_LINE])
            return true;
    }
    return false;
}

const char *workloads_name(const struct workloads *workloads, size_t workload)
{
    return workload < workloads->count ? workloads->rules[workload].name : unmatched;
}
