#include "libpq.h"

struct libpq libpq;

static const char *const symbols[] = { LIBPQ_SYMBOLS(LIBRARY_NAME) };

int libpq_load(struct camp_error *error)
{
    static struct library library = LIBRARY("libpq", "libpq5", symbols, libpq, "libpq.so.5");

    return library_load(&library, error);
}
