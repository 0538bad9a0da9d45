/* A set of texts from a table. Each text has an id, from 1. */
#pragma once

#include "ledger/index.h"
#include "sources/field.h"

struct table_names {
    struct field *names; /* [count], at index id - 1 */
    /* [count] The part of the name that fits in a frame is also that of another name. NULL: no name
     * is too long. */
    bool *is_shared;
    size_t count, capacity;
    size_t bytes; /* of the texts */
    struct index index;
};

/* Returns the id of a text, which is added if it is new. Returns 0 if there is no memory. */
uint32_t table_names_id(struct table_names *names, const char *text, size_t length);

/* Sets names->is_shared. Returns CAMP_OK or CAMP_E_NOMEM. */
int table_names_find_shared(struct table_names *names);

void table_names_release(struct table_names *names);
