#include "libpq.h"

struct libpq libpq;

static const char *const symbols[] = { LIBPQ_SYMBOLS(LIBRARY_NAME) };
struct library libpq_library = LIBRARY("libpq", "libpq5", symbols, libpq, "libpq.so.5");
