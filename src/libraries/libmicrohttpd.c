#include "libmicrohttpd.h"

struct libmicrohttpd libmicrohttpd;

static const char *const symbols[] = { LIBMICROHTTPD_SYMBOLS(LIBRARY_NAME) };

int libmicrohttpd_load(struct camp_error *error)
{
    static struct library library =
        LIBRARY("libmicrohttpd", "libmicrohttpd12", symbols, libmicrohttpd, "libmicrohttpd.so.12");

    return library_load(&library, error);
}
