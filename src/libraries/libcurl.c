#include "libcurl.h"

struct libcurl libcurl;

static const char *const symbols[] = { LIBCURL_SYMBOLS(LIBRARY_NAME) };

int libcurl_load(struct camp_error *error)
{
    static struct library library =
        LIBRARY("libcurl", "libcurl4", symbols, libcurl, "libcurl.so.4", "libcurl-gnutls.so.4");

    return library_load(&library, error);
}
