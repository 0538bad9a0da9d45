/* Why MariaDB does not answer: one line that names the failure and says what to do. */
#pragma once

#include <camp/camp.h>

#include <stdbool.h>

/* `number` and `text` as of mysql_errno() and mysql_error(); number 0: camp's own failure (a
 * deadline). Fills *error and returns its code: CAMP_E_PERM (refused), CAMP_E_INVALID (an unknown
 * name), CAMP_E_GONE (no server there), CAMP_E_NOMEM (no free connections), CAMP_E_IO. */
int mariadb_failure_report(unsigned number, const char *text, struct camp_error *error);

/* Whether another try may help: not after the server refused the user. */
bool mariadb_failure_may_pass(unsigned number);
