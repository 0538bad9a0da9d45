#include "libmariadb.h"

struct libmariadb libmariadb;

static const char *const symbols[] = { LIBMARIADB_SYMBOLS(LIBRARY_NAME) };
struct library libmariadb_library =
    LIBRARY("libmariadb", "libmariadb3", symbols, libmariadb, "libmariadb.so.3");
