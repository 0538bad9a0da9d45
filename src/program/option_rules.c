/* Checks the combinations of options that a command refuses. */
#include "option_values.h"

#include "command.h"

#include <string.h>

#define ONE_FORMAT "--json, --csv and --format set the same value: give only one of them"

/* These rules apply to each command that has the options. */
static const struct option_rule common_rules[] = { { "json", NULL, "csv, format", ONE_FORMAT },
                                                   { "csv", NULL, "format", ONE_FORMAT },
                                                   { "table", "format csv", NULL, NULL },
                                                   { 0 } };

#define SEPARATOR ", "

/* Returns whether a condition holds. "format csv" holds if the option --format has this value;
 * "host" holds if --host was given. */
static bool holds(const struct option_table *table, const bool *given, const char *condition,
                  size_t length)
{
    const size_t name = strcspn(condition, " ,");
    const char *value = condition + name + 1;

    for (size_t i = 0; i < table->count; i++) {
        const struct option_spec *spec = &table->specs[i];
        const int chosen = spec->type == OPTION_CHOICE ? *(int *)spec->value : -1;

        if (strlen(spec->name) != name || strncmp(spec->name, condition, name) != 0)
            continue;
        if (name == length)
            return given[i];
        return chosen >= 0 && strlen(spec->choices[chosen]) == length - name - 1 &&
               strncmp(spec->choices[chosen], value, length - name - 1) == 0;
    }
    return false;
}

static const char *first_held(const struct option_table *table, const bool *given,
                              const char *conditions, int *ret_length)
{
    while (conditions != NULL && *conditions != '\0') {
        const size_t length = strcspn(conditions, ",");

        *ret_length = (int)length;
        if (holds(table, given, conditions, length))
            return conditions;
        conditions += length;
        conditions += strspn(conditions, SEPARATOR);
    }
    return NULL;
}

static int check(const struct option_table *table, const bool *given,
                 const struct option_rule *rules)
{
    for (; rules != NULL && rules->option != NULL; rules++) {
        const char *excluded;
        int length = 0;

        if (!holds(table, given, rules->option, strlen(rules->option)))
            continue;
        excluded = first_held(table, given, rules->without, &length);
        if (excluded == NULL &&
            (rules->with == NULL || first_held(table, given, rules->with, &length) != NULL))
            continue;
        if (rules->complaint != NULL)
            return complain(STATUS_USAGE, "%s", rules->complaint);
        if (excluded != NULL)
            return complain(STATUS_USAGE, "--%s goes without --%.*s", rules->option, length,
                            excluded);
        return complain(STATUS_USAGE, "--%s goes with --%s", rules->option, rules->with);
    }
    return OPTIONS_GO_ON;
}

int option_rules_check(const struct option_table *table, const bool *given)
{
    const int status = check(table, given, common_rules);

    return status == OPTIONS_GO_ON ? check(table, given, table->rules) : status;
}
