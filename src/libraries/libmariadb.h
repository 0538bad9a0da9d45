/* The client library of MariaDB, loaded when it is needed (library.h). */
#pragma once

#include "library.h"

#include <mysql.h>

/* clang-format off */
#define LIBMARIADB_SYMBOLS(F) \
    F(mariadb_connection) F(mysql_close) F(mysql_errno) F(mysql_error) F(mysql_fetch_row) \
    F(mysql_free_result) F(mysql_get_server_info) F(mysql_get_socket) F(mysql_init) \
    F(mysql_options) F(mysql_optionsv) F(mysql_real_connect_cont) F(mysql_real_connect_start) \
    F(mysql_real_query_cont) F(mysql_real_query_start) F(mysql_store_result_cont) \
    F(mysql_store_result_start) F(mysql_thread_id)
/* clang-format on */

struct libmariadb {
    LIBMARIADB_SYMBOLS(LIBRARY_POINTER)
};
extern struct libmariadb libmariadb;
extern struct library libmariadb_library;
