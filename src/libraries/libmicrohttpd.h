/* The HTTP server library, loaded when it is needed (library.h). */
#pragma once

#include "library.h"

#include <microhttpd.h>

/* clang-format off */
#define LIBMICROHTTPD_SYMBOLS(F) \
    F(MHD_add_response_header) F(MHD_create_response_from_buffer) \
    F(MHD_create_response_from_callback) F(MHD_destroy_response) F(MHD_get_connection_info) \
    F(MHD_get_connection_values_n) F(MHD_queue_response) F(MHD_resume_connection) \
    F(MHD_set_connection_option) F(MHD_start_daemon) F(MHD_stop_daemon) \
    F(MHD_suspend_connection)
/* clang-format on */

struct libmicrohttpd {
    LIBMICROHTTPD_SYMBOLS(LIBRARY_POINTER)
};
extern struct libmicrohttpd libmicrohttpd;
extern struct library libmicrohttpd_library;
