/* The option --group of sources whose rows have labels. */
#pragma once

#include "ledger/group.h"
#include "sources/from.h"

/* Sets *ret to the index of the label `name`. `option` is an option's name without --, for the
 * message if there is no such label. Returns OPTIONS_GO_ON, or an exit status after an error
 * message. */
int from_label_index(const char *option, const char *name, const struct schema *schema,
                     const struct from_facts *facts, size_t *ret);

/* Sets *ret to how --group `group`, the name of a label or names with commas between them, groups
 * the rows: by GROUP_LABEL, or not at all if `group` is NULL, or "session" for sessions. For
 * "query" the label is that of the last statement if the source does not divide time by statement;
 * a line says why, and what to do. Returns OPTIONS_GO_ON, or an exit status after an error message.
 * ret->title is `group`. */
int from_grouping(const char *group, const struct schema *schema, const struct from_facts *facts,
                  struct grouping *ret);

/* Returns whether --group has the name of a label, alone or among others. */
bool from_group_has(const char *group, const char *label);

/* Returns the first label of --group by which the time of sessions can be divided, or NULL. */
const char *from_group_division(const char *group);

/* Adds up the rows of `source` by --group `group`. Takes ownership of `source`. Sets facts->kind to
 * the labels. Returns OPTIONS_GO_ON, or an exit status after an error message. */
int from_groups_open(const char *group, struct source *source, struct source **ret,
                     struct from_facts *facts);
