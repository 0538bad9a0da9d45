/* The HTTP client library, loaded when it is needed (library.h). */
#pragma once

#include "library.h"

#define CURL_DISABLE_TYPECHECK /* without it, macros of curl.h replace some functions */
#include <curl/curl.h>

/* clang-format off */
#define LIBCURL_SYMBOLS(F) \
    F(curl_easy_cleanup) F(curl_easy_escape) F(curl_easy_getinfo) F(curl_easy_init) \
    F(curl_easy_setopt) F(curl_easy_strerror) F(curl_free) F(curl_global_init) \
    F(curl_multi_add_handle) F(curl_multi_cleanup) F(curl_multi_info_read) F(curl_multi_init) \
    F(curl_multi_perform) F(curl_multi_poll) F(curl_multi_remove_handle) F(curl_slist_append) \
    F(curl_slist_free_all) F(curl_url) F(curl_url_cleanup) F(curl_url_get) F(curl_url_set)
/* clang-format on */

struct libcurl {
    LIBCURL_SYMBOLS(LIBRARY_POINTER)
};
extern struct libcurl libcurl;
extern struct library libcurl_library;
