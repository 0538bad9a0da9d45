/*
 * Statements of MariaDB and MySQL: by their texts, and by the server's digests.
 *
 * The process list has the text of a session's statement together with its state, so the statement
 * of a sample is known by that text, without its literals. MariaDB reports the digest of a
 * statement only when the statement has ended (performance_schema.events_statements_current), and
 * then together with its text. So camp learns which digest belongs to a text, and remembers it. A
 * statement whose digest is unknown (yet) is known by its text alone.
 *
 * At most MARIADB_STATEMENTS_MOST texts and as many digests are kept: further ones are known by
 * their numbers, without a text.
 */
#pragma once

#include "ledger/labels.h"
#include "sources/sessions/mariadb/mariadb_answer.h"
#include "sources/sessions/statement_counts.h"

#define MARIADB_STATEMENTS_MOST 8192

/* Numbers that stand for no statement, and for one that no sample found. The number of a text is
 * another one. */
#define MARIADB_STATEMENT_NONE INT64_C(0)
#define MARIADB_STATEMENT_OTHER INT64_C(-1)

/* Statements with equal starts are one: the server's own copies of texts are cut, too. */
#define MARIADB_SQL_BYTES ((size_t)1000)

/* What is before the text of a statement whose digest is unknown, if the server has digests. */
#define MARIADB_EXAMPLE "example: "

struct mariadb_text {
    int64_t number;
    struct statement_id digest; /* all zero if it is unknown */
    /* Of samples that know whether a sleeping session of this statement waits for the lock of a
     * row: their time, and the part in which it does. */
    uint64_t known_ns, locked_ns;
    char text[LABELS_VALUE_SIZE - sizeof MARIADB_EXAMPLE]; /* its start */
};

struct mariadb_digest {
    struct statement_id id;
    char text[LABELS_VALUE_SIZE];
    bool is_own; /* of a statement that camp itself sends */
};

/* All zero means none. */
struct mariadb_statements {
    bool has_digests;           /* the server makes them, and camp may read them */
    struct mariadb_text *texts; /* [text_count], in ascending order of numbers */
    size_t text_count, text_capacity;
    struct mariadb_digest *digests; /* [digest_count], in ascending order of ids */
    size_t digest_count, digest_capacity;
    size_t unknown; /* number of texts whose digest is unknown */
};

void mariadb_statements_release(struct mariadb_statements *statements);

/* Returns the number of a text, which depends on its first MARIADB_SQL_BYTES without their
 * literals. */
int64_t mariadb_statement_number(const char *sql);

/* Adds a text. CAMP_OK or CAMP_E_NOMEM. */
int mariadb_statements_add(struct mariadb_statements *statements, const char *sql,
                           int64_t *ret_number);

/* Returns NULL if there is no text of this number. */
struct mariadb_text *mariadb_statements_find(const struct mariadb_statements *statements,
                                             int64_t number);

/* Reads a digest as the server writes it, in hexadecimal digits: all 32 of MariaDB, or the first 32
 * of MySQL. Returns false if it is none. */
bool mariadb_digest_read(const char *text, struct statement_id *ret);

/* Adds a digest with its text, which the server has normalised. The first text that is not empty
 * stays. CAMP_OK or CAMP_E_NOMEM. */
int mariadb_statements_add_digest(struct mariadb_statements *statements,
                                  const struct statement_id *id, const char *text);

const struct mariadb_digest *
mariadb_statements_find_digest(const struct mariadb_statements *statements,
                               const struct statement_id *id);

/* Reads the digests of statements that have ended: the answer to mariadb_digests_statement. Only
 * the digests of texts that were added are kept. CAMP_OK or CAMP_E_NOMEM. */
#define MARIADB_DIGESTS_MOST 4000
extern const struct mariadb_statement mariadb_digests_statement;
int mariadb_statements_learn(struct mariadb_statements *statements, struct mariadb_answer *rows);

/* Each of camp's own statements has this name in it, so that its digest can be recognised. */
#define MARIADB_OWN "camp_own"

/* A number that all texts of one digest have in common. */
int64_t mariadb_statements_merged(const struct mariadb_statements *statements, int64_t number);

/* Writes what shows a statement, which is "" for MARIADB_STATEMENT_NONE: with `with_text` its text,
 * otherwise the digits of its digest, or of its number. */
void mariadb_statements_show(const struct mariadb_statements *statements, int64_t number,
                             bool with_text, char ret[LABELS_VALUE_SIZE]);

/* The same of a digest. */
void mariadb_statements_show_digest(const struct mariadb_statements *statements,
                                    const struct statement_id *id, bool with_text,
                                    char ret[LABELS_VALUE_SIZE]);
