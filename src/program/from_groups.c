#include "from_groups.h"

#include "command.h"
#include "ledger/array.h"
#include "sources/groups.h"

#include <stdio.h>
#include <string.h>

int from_label_index(const char *option, const char *name, const struct schema *schema,
                     const struct from_facts *facts, size_t *ret)
{
    char names[LABELS_MOST * LABELS_VALUE_SIZE] = "";
    size_t length = 0;

    *ret = schema_find_label(schema, name);
    if (*ret != SIZE_MAX)
        return OPTIONS_GO_ON;
    for (size_t i = 0; i < schema->label_count && length < sizeof names; i++)
        length += (size_t)snprintf(names + length, sizeof names - length, "%s%s", i > 0 ? ", " : "",
                                   schema->label_names[i]);
    if (length == 0)
        return complain(STATUS_USAGE, "--%s %s: %s has no labels", option, name, facts->name);
    return complain(STATUS_USAGE, "--%s %s: %s has the labels %s", option, name, facts->name,
                    names);
}

#define GROUP_SESSION "session"
#define LABEL_NAME_SIZE 64

bool from_group_has(const char *group, const char *label)
{
    const size_t length = strlen(label);

    for (const char *at = group; at != NULL; at = strchr(at, ',')) {
        at += *at == ',';
        if (strncmp(at, label, length) == 0 && (at[length] == '\0' || at[length] == ','))
            return true;
    }
    return false;
}

const char *from_group_division(const char *group)
{
    static const char *const labels[] = { SOURCE_DIVISIONS };

    for (size_t i = 0; i < ARRAY_COUNT(labels); i++) {
        if (from_group_has(group, labels[i]))
            return labels[i];
    }
    return NULL;
}

/* Returns `name`, or the label of the last statement if time is not divided by statement. */
static const char *label_of_group(const char *name, const struct schema *schema,
                                  const struct from_facts *facts)
{
    if (strcmp(name, SOURCE_LABEL_WAIT_EVENT) == 0 && !facts->live && !facts->has_events &&
        strcmp(facts->kind, "sessions") == 0 && strcmp(schema->name, "samples") != 0)
        complain(STATUS_OK,
                 "--group %s: this has whole sessions, without their wait events: record them with "
                 "camp record --group %s",
                 name, name);
    if (strcmp(name, SOURCE_LABEL_STATEMENT) != 0 || schema_find_label(schema, name) != SIZE_MAX ||
        schema_find_label(schema, SOURCE_LABEL_LAST_STATEMENT) == SIZE_MAX)
        return name;
    if (facts->no_statements != NULL)
        complain(STATUS_OK,
                 "--group %s: %s; until then sessions are in the groups of their last statements, "
                 "which are (none) without --queries",
                 name, facts->no_statements);
    else
        complain(STATUS_OK,
                 "--group %s: this has sessions, not statements: record them with camp record "
                 "--group query; each session is in the group of its last statement",
                 name);
    return SOURCE_LABEL_LAST_STATEMENT;
}

/* The rows by wait event of a recording of whole sessions (sources/events_beside.h) have no pids of
 * other sessions. */
static int refuse_pids(const char *group, const struct from_facts *facts)
{
    static const char *const labels[] = { SOURCE_LABEL_BLOCKER, SOURCE_LABEL_ROOT_BLOCKER,
                                          SOURCE_LABEL_BLOCKING_ACTIVITY, "leader" };

    if (!facts->has_events || !from_group_has(group, SOURCE_LABEL_WAIT_EVENT))
        return OPTIONS_GO_ON;
    for (size_t i = 0; i < ARRAY_COUNT(labels); i++) {
        if (from_group_has(group, labels[i]))
            return complain(STATUS_USAGE,
                            "--group %s: a recording of whole sessions has their wait events "
                            "without %s; group by one of the two",
                            group, labels[i]);
    }
    return OPTIONS_GO_ON;
}

/* Recorded sessions of a database without ids of statements do not even have their last ones. */
static int refuse_statements(const char *name, const struct schema *schema,
                             const struct from_facts *facts)
{
    if (strcmp(name, SOURCE_LABEL_STATEMENT) != 0 || schema_find_label(schema, name) != SIZE_MAX ||
        facts->live || strcmp(facts->kind, "sessions") != 0 || strcmp(schema->name, "samples") == 0)
        return OPTIONS_GO_ON;
    return complain(STATUS_USAGE,
                    "--group %s: %s has sessions, not statements: record them with camp record "
                    "--group query",
                    name, facts->name);
}

/* Adds the label text[length] to a grouping that has `count` labels. */
static int add_label(const char *text, size_t length, const struct schema *schema,
                     const struct from_facts *facts, size_t count, struct grouping *ret)
{
    char name[LABEL_NAME_SIZE];
    const char *label;
    size_t at;
    int status;

    snprintf(name, sizeof name, "%.*s", (int)length, text);
    label = label_of_group(name, schema, facts);
    status = refuse_statements(label, schema, facts);
    if (status == OPTIONS_GO_ON)
        status = from_label_index("group", label, schema, facts, &at);
    if (status != OPTIONS_GO_ON)
        return status;
    if (count == GROUPING_LABELS_MOST)
        return complain(STATUS_USAGE, "--group %s: at most %d labels", ret->title,
                        GROUPING_LABELS_MOST);
    if (count > 0 && grouping_has_label(ret, at))
        return complain(STATUS_USAGE, "--group %s: the label %s is given twice", ret->title, name);
    if (count == 0)
        ret->label = at;
    else
        ret->more_labels[ret->more_count++] = at;
    return OPTIONS_GO_ON;
}

int from_grouping(const char *group, const struct schema *schema, const struct from_facts *facts,
                  struct grouping *ret)
{
    int status = OPTIONS_GO_ON;
    size_t count = 0;

    *ret = (struct grouping){ .title = group };
    if (group == NULL ||
        (strcmp(group, GROUP_SESSION) == 0 && strcmp(facts->kind, "sessions") == 0 &&
         schema_find_label(schema, group) == SIZE_MAX))
        return OPTIONS_GO_ON;
    ret->key = GROUP_LABEL;
    status = refuse_pids(group, facts);
    for (const char *at = group; at != NULL && status == OPTIONS_GO_ON; count++) {
        const size_t length = strcspn(at, ",");

        status = add_label(at, length, schema, facts, count, ret);
        at = at[length] == ',' ? at + length + 1 : NULL;
    }
    return status;
}

int from_groups_open(const char *group, struct source *source, struct source **ret,
                     struct from_facts *facts)
{
    const struct camp_error nothing = { 0 };
    struct grouping grouping;
    const struct schema *schema = source->describe(source);
    const int status = from_grouping(group, schema, facts, &grouping);

    if (status != OPTIONS_GO_ON) {
        source_close(source);
        return status;
    }
    if (grouping.key == GROUP_NONE) {
        *ret = source;
        return OPTIONS_GO_ON;
    }
    snprintf(facts->kind, sizeof facts->kind, "%s",
             grouping.more_count > 0 ? group : schema->label_names[grouping.label]);
    return label_groups_open(source, &grouping, ret) == CAMP_OK
               ? OPTIONS_GO_ON
               : complain_of(CAMP_E_NOMEM, &nothing);
}
