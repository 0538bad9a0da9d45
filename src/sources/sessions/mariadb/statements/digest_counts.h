/*
 * What performance_schema counts of statements (events_statements_summary_by_digest): whether camp
 * can ask for it, what camp asks, and the answers. An answer that a server would not give is
 * CAMP_E_FORMAT, with a message.
 */
#pragma once

#include "mariadb_statements.h"

/* What a server has of digests. All zero: camp may not read performance_schema. */
struct digest_facts {
    bool is_readable;
    bool is_on;           /* performance_schema */
    bool counts;          /* consumer statements_digest */
    bool reports;         /* consumer events_statements_current or events_statements_history */
    bool has_instruments; /* of statements, which also measure their times */
};

extern const struct mariadb_statement digest_facts_statement;
void digest_facts_read(struct digest_facts *ret, struct mariadb_answer *rows);

/* Returns why statements have no digests and no counts, and what to do, or NULL if they have. */
const char *digest_facts_why_not(const struct digest_facts *facts);

/* The statement of a row for calls whose digests had no space in the server's table. */
#define DIGEST_WITHOUT_SPACE ((struct statement_id){ 0, 0 })

/* A server with more entries than this has no counts. */
#define DIGEST_ENTRIES_MOST ((size_t)20000)

/* Asks for the counts of all digests, in all schemas, and for their texts. */
extern const struct mariadb_statement digest_counts_statement;

/* Adds the entries of an answer to a reading, after statement_counts_start(), and the digests to
 * `statements`. The owner of an entry is its schema. Sets *ret_is_too_large if there are more than
 * DIGEST_ENTRIES_MOST. CAMP_OK, CAMP_E_FORMAT or CAMP_E_NOMEM. */
int digest_counts_read(struct statement_counts *counts, struct mariadb_statements *statements,
                       bool *ret_is_too_large, struct mariadb_answer *rows,
                       struct camp_error *error);
