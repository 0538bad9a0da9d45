#include "session_rules.h"

#include "array.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

const char *const session_state_names[SESSION_STATE_COUNT] = { "cpu", "run_queue", "contention",
                                                               "wait", "idle" };
static const struct rule_keys keys = {
    .names = { "class=", "event=", "activity=", "type=" },
    .count = SESSION_KEYS,
    .whole = true,
    .unknown = "is not class=REGEX, event=REGEX, activity=REGEX or type=REGEX",
    .twice = "stands twice; a further rule may have the same COLUMN",
};

static bool is_name(struct span word)
{
    for (const char *at = word.at; at < word.end; at++) {
        if ((*at < 'a' || *at > 'z') && *at != '_' && (*at < '0' || *at > '9' || at == word.at))
            return false;
    }
    return word.at < word.end && word.end[-1] != '_';
}

/* Appends the conditions of a rule to column->rules. */
static bool add_line(struct session_column *column, struct span line)
{
    const size_t used = column->rules != NULL ? strlen(column->rules) : 0;
    char *grown = realloc(column->rules, used + span_length(line) + 3);

    if (grown == NULL)
        return false;
    column->rules = grown;
    if (used > 0)
        strcpy(grown + used, "; ");
    grown += used + (used > 0 ? 2 : 0);
    memcpy(grown, line.at, span_length(line));
    grown[span_length(line)] = '\0';
    return true;
}

static bool is_equal(struct span word, const char *text)
{
    return span_length(word) == strlen(text) && span_starts(word, text);
}

static int find_column(struct session_rules *rules, enum session_state state, struct span name,
                       size_t *ret, struct rule_fault *fault)
{
    for (*ret = 0; *ret < rules->column_count; ++*ret) {
        const struct session_column *column = &rules->columns[*ret];

        if (!is_equal(name, column->name))
            continue;
        return column->state == state
                   ? CAMP_OK
                   : rule_refuse(fault, name, "this column has another state further up");
    }
    if (!is_name(name) || span_length(name) >= SESSION_COLUMN_SIZE)
        return rule_refuse(fault, name, "a column's name has a-z, 0-9 and _, 39 at most");
    if (rules->column_count == SESSION_COLUMNS_MAXIMUM)
        return rule_refuse(fault, name, "there are 100 columns already; some may share a name");
    rules->columns[rules->column_count] = (struct session_column){ .state = state };
    memcpy(rules->columns[rules->column_count++].name, name.at, span_length(name));
    return CAMP_OK;
}

static int parse_state(struct span word, enum session_state *ret, struct rule_fault *fault)
{
    for (int i = 0; i < SESSION_STATE_COUNT; i++) {
        if (is_equal(word, session_state_names[i])) {
            *ret = (enum session_state)i;
            return CAMP_OK;
        }
    }
    return rule_refuse(fault, word,
                       "a line starts with a state: cpu, run_queue, contention, wait or idle");
}

static struct session_rule *add_rule(struct session_rules *rules)
{
    if (!ARRAY_RESERVE(rules->rules, rules->capacity, rules->count + 1))
        return NULL;
    rules->rules[rules->count] = (struct session_rule){ 0 };
    return &rules->rules[rules->count++];
}

static int parse_line(void *context, struct span line, struct rule_fault *fault)
{
    struct session_rules *rules = context;
    struct session_rule *rule = add_rule(rules);
    const struct span state_word = span_next_word(&line), name = span_next_word(&line);
    const struct span matches = span_trimmed(line);
    enum session_state state = SESSION_IDLE;
    int r;

    if (rule == NULL)
        return CAMP_E_NOMEM;
    r = parse_state(state_word, &state, fault);
    if (r == CAMP_OK && span_length(name) == 0)
        return rule_refuse(fault, state_word, "the name of a column must follow");
    if (r == CAMP_OK)
        r = find_column(rules, state, name, &rule->column, fault);
    if (r == CAMP_OK && span_length(matches) == 0)
        return rule_refuse(fault, name, "what must match is missing: class=REGEX, event=REGEX ...");
    while (r == CAMP_OK && span_length(span_trimmed(line)) > 0)
        r = rule_condition_add(&rule->conditions, &keys, span_next_word(&line), fault);
    if (r == CAMP_OK && !add_line(&rules->columns[rule->column], matches))
        return CAMP_E_NOMEM;
    return r;
}

/* Sorts columns by state, so that columns of one state are adjacent. */
static void sort_columns(struct session_rules *rules)
{
    struct session_column sorted[SESSION_COLUMNS_MAXIMUM];
    size_t places[SESSION_COLUMNS_MAXIMUM], count = 0;

    for (int state = 0; state < SESSION_STATE_COUNT; state++) {
        for (size_t i = 0; i < rules->column_count; i++) {
            if (rules->columns[i].state != (enum session_state)state)
                continue;
            places[i] = count;
            sorted[count++] = rules->columns[i];
        }
    }
    memcpy(rules->columns, sorted, count * sizeof *sorted);
    for (size_t i = 0; i < rules->count; i++)
        rules->rules[i].column = places[rules->rules[i].column];
}

int session_rules_parse(struct session_rules *ret, const char *text, size_t length,
                        struct rule_fault *fault)
{
    int r;

    *ret = (struct session_rules){ 0 };
    r = rule_lines(text, length, fault, parse_line, ret);
    if (r == CAMP_OK && ret->count == 0) {
        r = rule_refuse(fault, span_of("no rule in it"), "a line is STATE COLUMN class=REGEX ...");
        fault->line = 0;
    }
    if (r == CAMP_OK)
        sort_columns(ret);
    else
        session_rules_release(ret);
    return r;
}

void session_rules_release(struct session_rules *rules)
{
    for (size_t i = 0; i < rules->count; i++)
        rule_conditions_release(&rules->rules[i].conditions);
    for (size_t i = 0; i < rules->column_count; i++)
        free(rules->columns[i].rules);
    free(rules->rules);
    *rules = (struct session_rules){ 0 };
}

size_t session_rules_match(const struct session_rules *rules, const struct session_kind *kind)
{
    for (size_t i = 0; i < rules->count; i++) {
        if (rule_conditions_match(&rules->rules[i].conditions, kind->texts))
            return rules->rules[i].column;
    }
    return SIZE_MAX;
}
