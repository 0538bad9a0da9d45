/*
 * Texts of statements, by the server's id. pg_stat_statements has the text that the server has
 * normalised. Without it, pg_stat_activity has the text of one execution; its literals are
 * replaced, and it is marked as an example, because another execution may look different. The first
 * text of an id stays, unless it is an example and the normalised text is found later. At most
 * POSTGRES_STATEMENTS_MOST are kept: further ones have no text.
 */
#pragma once

#include "ledger/labels.h"

#include <stdbool.h>

#define POSTGRES_STATEMENTS_MOST 8192

struct postgres_statement {
    int64_t id;
    bool is_normalised;
    char text[LABELS_VALUE_SIZE];
};

struct postgres_statements {
    struct postgres_statement *statements; /* [count], in ascending order of ids */
    size_t count, capacity;
};

/* Frees the texts. An all-zero struct has none. */
void postgres_statements_release(struct postgres_statements *statements);

/* Adds the text of an execution of a statement. CAMP_OK or CAMP_E_NOMEM. */
int postgres_statements_add(struct postgres_statements *statements, int64_t id, const char *sql);

/* Adds the normalised text of a statement, which replaces an example. A server before version 16
 * leaves literals in texts of utility statements, so they are replaced here, too. CAMP_OK or
 * CAMP_E_NOMEM. */
int postgres_statements_add_normalised(struct postgres_statements *statements, int64_t id,
                                       const char *sql);

bool postgres_statements_has_normalised(const struct postgres_statements *statements, int64_t id);

/* Returns NULL if there is no text of this id. Valid until the next postgres_statements_add(). */
const char *postgres_statements_text(const struct postgres_statements *statements, int64_t id);
