#include "libcurl.h"

struct libcurl libcurl;

static const char *const symbols[] = { LIBCURL_SYMBOLS(LIBRARY_NAME) };
struct library libcurl_library =
    LIBRARY("libcurl", "libcurl4", symbols, libcurl, "libcurl.so.4", "libcurl-gnutls.so.4");
