#include "libodbc.h"

struct libodbc libodbc;

#define ODBC_NAME(name, arguments) "SQL" #name,

static const char *const symbols[] = { ODBC_FUNCTIONS(ODBC_NAME) };

int libodbc_load(struct camp_error *error)
{
    static struct library library =
        LIBRARY("unixODBC", "libodbc2, and the ODBC driver of the database", symbols, libodbc,
                "libodbc.so.2"); /* SQLLEN has its width of today since .so.2 */

    return library_load(&library, error);
}
