/* The columns of a fleet's rows: a state for each value of a label, and counters beside them. */
#ifndef CAMP_SOURCES_FLEET_FLEET_COLUMNS_H
#define CAMP_SOURCES_FLEET_FLEET_COLUMNS_H

#include "ledger/frame.h"

#define FLEET_COLUMNS_MOST 100

struct fleet_columns {
    struct schema schema;
    struct column columns[FLEET_COLUMNS_MOST]; /* [schema.column_count]; owned texts */
    char *values[FLEET_COLUMNS_MOST];          /* [schema.state_count] of the label; owned */
    char *labels[LABELS_MOST];                 /* [schema.label_count]; owned */
};

/* A state for values[count] of a label, each once, those that camp knows first and in its order.
 * `metric` is for their help. CAMP_OK; CAMP_E_NOMEM; CAMP_E_INVALID: too many, 90 at most. `ret` is
 * not to be moved. fleet_columns_release() in any case. */
int fleet_columns_init(struct fleet_columns *ret, const char *schema_name, const char *metric,
                       enum camp_provenance provenance, const char *const *values, size_t count);
void fleet_columns_release(struct fleet_columns *columns);

/* A counter behind the states; texts are copied. */
bool fleet_columns_add(struct fleet_columns *columns, enum column_kind kind,
                       enum camp_provenance provenance, const char *name, const char *title,
                       const char *help);

/* The labels of the rows, at most LABELS_MOST of names[count]. False: no memory. */
bool fleet_columns_label(struct fleet_columns *columns, const char *const *names, size_t count);

/* The state of a label's value; SIZE_MAX: there is none. */
size_t fleet_columns_find(const struct fleet_columns *columns, const char *value);

#endif
