#include "libodbc.h"

struct libodbc libodbc;

#define ODBC_NAME(name, arguments) "SQL" #name,

static const char *const symbols[] = { ODBC_FUNCTIONS(ODBC_NAME) };
struct library libodbc_library =
    LIBRARY("unixODBC", "libodbc2, and the ODBC driver of the database", symbols, libodbc,
            "libodbc.so.2"); /* the first version in which SQLLEN is always as wide as a pointer */
