/* Why MariaDB does not answer: one line that names the failure and says what to do. */
#ifndef CAMP_SOURCES_SESSIONS_MARIADB_MARIADB_FAILURE_H
#define CAMP_SOURCES_SESSIONS_MARIADB_MARIADB_FAILURE_H

#include <camp/camp.h>

#include <stdbool.h>

/* `number` and `text` as mysql_errno() and mysql_error() have them; number 0: it is a failure of
 * our own (a deadline). Writes *error and returns its code: CAMP_E_PERM (who may not),
 * CAMP_E_INVALID (what there is not), CAMP_E_GONE (no server there), CAMP_E_NOMEM (connections used
 * up), CAMP_E_IO. */
int mariadb_failure_tell(unsigned number, const char *text, struct camp_error *error);

/* Whether a further try may help: not when the server refused who we are. */
bool mariadb_failure_may_pass(unsigned number);

#endif
