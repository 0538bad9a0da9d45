#include "libmicrohttpd.h"

struct libmicrohttpd libmicrohttpd;

static const char *const symbols[] = { LIBMICROHTTPD_SYMBOLS(LIBRARY_NAME) };
struct library libmicrohttpd_library =
    LIBRARY("libmicrohttpd", "libmicrohttpd12", symbols, libmicrohttpd, "libmicrohttpd.so.12");
