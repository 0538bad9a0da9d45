/* The columns of a fleet's rows: a state per value of a label, then counters. */
#pragma once

#include "ledger/frame.h"

#define FLEET_COLUMNS_MOST 100

struct fleet_columns {
    struct schema schema;
    struct column columns[FLEET_COLUMNS_MOST]; /* [schema.column_count]; owned texts */
    char *values[FLEET_COLUMNS_MOST];          /* [schema.state_count] of the label; owned */
    char *labels[LABELS_MOST];                 /* [schema.label_count]; owned */
};

/* Makes a state of each of values[count] of a label; states that camp knows come first, in camp's
 * order. `metric` is for the help texts. CAMP_OK; CAMP_E_NOMEM; CAMP_E_INVALID: more than 90. `ret`
 * must not move. Call fleet_columns_release() in any case. */
int fleet_columns_init(struct fleet_columns *ret, const char *schema_name, const char *metric,
                       enum camp_provenance provenance, const char *const *values, size_t count);
void fleet_columns_release(struct fleet_columns *columns);

/* Adds a counter after the states; texts are copied. */
bool fleet_columns_add(struct fleet_columns *columns, enum column_kind kind,
                       enum camp_provenance provenance, const char *name, const char *title,
                       const char *help);

/* Sets the labels of the rows, at most LABELS_MOST of names[count]. False: no memory. */
bool fleet_columns_label(struct fleet_columns *columns, const char *const *names, size_t count);

/* The state of a label's value; SIZE_MAX: none. */
size_t fleet_columns_find(const struct fleet_columns *columns, const char *value);
