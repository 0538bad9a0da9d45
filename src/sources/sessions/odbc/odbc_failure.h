/* Describes in one line why a call of ODBC failed, and what the user can do. */
#pragma once

#include "libraries/libodbc.h"

#include <camp/camp.h>

/* Fills *error from the first diagnostic record of a handle (ODBC_ENVIRONMENT, ODBC_CONNECTION or
 * ODBC_STATEMENT) whose last call failed, and returns its code. CAMP_E_NOTSUP (a driver is
 * missing), CAMP_E_PERM (the user was refused), CAMP_E_GONE (no data source, or no database there),
 * CAMP_E_INVALID (the database refuses the statement) or CAMP_E_IO. The message has the SQLSTATE.
 */
int odbc_failure_report(int16_t type, odbc_handle handle, struct camp_error *error);
