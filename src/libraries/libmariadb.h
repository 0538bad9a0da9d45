/* The client library of MariaDB, loaded when it is needed (library.h). */
#pragma once

#include "library.h"

#include <mysql.h>

/* Declared in ma_pvio.h, which needs other private headers of libmariadb. The function is called
 * after each read (mode 0) and write (mode 1); `length` is (size_t)-1 after a failure. */
int ma_pvio_register_callback(my_bool is_registered,
                              void (*function)(int mode, MYSQL *mysql, const unsigned char *bytes,
                                               size_t length));

/* clang-format off */
#define LIBMARIADB_SYMBOLS(F) \
    F(ma_pvio_register_callback) F(mariadb_connection) F(mysql_close) F(mysql_errno) \
    F(mysql_error) F(mysql_fetch_row_cont) F(mysql_fetch_row_start) F(mysql_field_count) \
    F(mysql_free_result) F(mysql_get_server_info) F(mysql_get_socket) F(mysql_init) \
    F(mysql_options) F(mysql_optionsv) F(mysql_real_connect_cont) F(mysql_real_connect_start) \
    F(mysql_real_query_cont) F(mysql_real_query_start) F(mysql_set_local_infile_handler) \
    F(mysql_thread_id) F(mysql_use_result)
/* clang-format on */

struct libmariadb {
    LIBMARIADB_SYMBOLS(LIBRARY_POINTER)
};
extern struct libmariadb libmariadb;
extern struct library libmariadb_library;
