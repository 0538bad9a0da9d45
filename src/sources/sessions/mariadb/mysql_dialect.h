/*
 * The statements of this driver as MySQL has them. MySQL 8 and later show sessions, transactions
 * and locks in performance_schema; MariaDB shows them in information_schema.
 *
 * The columns of an answer and their meaning are the same. What differs: the process list of MySQL
 * has seconds only, so the time of a state comes from the statement's events; a transaction also
 * counts before its first access to a table; locks are those of this moment, not of a copy.
 */
#pragma once

#include "mariadb_answer.h"

/* Returns what to ask MySQL instead of a statement, or the statement itself if both have it. */
const struct mariadb_statement *mysql_dialect_of(const struct mariadb_statement *statement);
