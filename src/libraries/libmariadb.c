#include "libmariadb.h"

struct libmariadb libmariadb;

static const char *const symbols[] = { LIBMARIADB_SYMBOLS(LIBRARY_NAME) };

int libmariadb_load(struct camp_error *error)
{
    static struct library library =
        LIBRARY("libmariadb", "libmariadb3", symbols, libmariadb, "libmariadb.so.3");

    return library_load(&library, error);
}
