/*
 * unixODBC, loaded when it is needed (library.h). This file declares the part of ODBC 3 (ISO/IEC
 * 9075-3) that camp uses, so camp builds without the headers of unixODBC. If the headers are
 * installed, tests/unit/sessions/test_odbc.c compares these declarations with them.
 */
#pragma once

#include "library.h"

#include <stdint.h>

enum { ODBC_SUCCESS = 0, ODBC_SUCCESS_WITH_INFO = 1, ODBC_NO_DATA = 100 };
/* Types of handles. An environment has connections, and a connection has statements. */
enum { ODBC_ENVIRONMENT = 1, ODBC_CONNECTION = 2, ODBC_STATEMENT = 3 };
/* Attributes and their values, one enum each for an environment, a connection and a statement. */
enum { ODBC_VERSION = 200, ODBC_VERSION_3 = 3 };
enum { ODBC_ACCESS_MODE = 101, ODBC_LOGIN_TIMEOUT = 103, ODBC_READ_ONLY = 1 };
enum { ODBC_QUERY_TIMEOUT = 0 };
enum { ODBC_DATABASE_NAME = 17 }; /* GetInfo() writes the name of the database's program */
enum {
    ODBC_TEXT_TO_ITS_END = -3, /* passed as the length of a text that ends with a NUL */
    ODBC_NULL = -1,            /* returned as the length of a value that is NULL */
    ODBC_NO_TOTAL = -4,        /* returned as the length of a value that the driver does not know */
    ODBC_TEXT = 1,             /* passed as the type of a value: char */
    ODBC_CLOSE_CURSOR = 0,
    ODBC_NEVER_ASK = 0 /* the driver must not ask the user for what the connection string lacks */
};

/* SQLLEN of ODBC 3.52: as wide as a pointer. */
typedef intptr_t odbc_length;
typedef void *odbc_handle;

/* The functions of ODBC. AllocHandle stands for SQLAllocHandle, and so on. */
#define ODBC_FUNCTIONS(F)                                                                          \
    F(AllocHandle, (int16_t type, odbc_handle parent, odbc_handle * ret))                          \
    F(FreeHandle, (int16_t type, odbc_handle handle))                                              \
    F(SetEnvAttr, (odbc_handle environment, int32_t attribute, void *value, int32_t length))       \
    F(SetConnectAttr, (odbc_handle connection, int32_t attribute, void *value, int32_t length))    \
    F(SetStmtAttr, (odbc_handle statement, int32_t attribute, void *value, int32_t length))        \
    F(DriverConnect,                                                                               \
      (odbc_handle connection, void *window, unsigned char *text, int16_t length,                  \
       unsigned char *ret_text, int16_t size, int16_t *ret_length, uint16_t completion))           \
    F(GetInfo,                                                                                     \
      (odbc_handle connection, uint16_t type, void *ret, int16_t size, int16_t *ret_length))       \
    F(Disconnect, (odbc_handle connection))                                                        \
    F(Prepare, (odbc_handle statement, unsigned char *text, int32_t length))                       \
    F(Execute, (odbc_handle statement))                                                            \
    F(NumResultCols, (odbc_handle statement, int16_t * ret))                                       \
    F(DescribeCol, (odbc_handle statement, uint16_t column, unsigned char *ret_name, int16_t size, \
                    int16_t *ret_length, int16_t *ret_type, uintptr_t *ret_size,                   \
                    int16_t *ret_digits, int16_t *ret_nullable))                                   \
    F(Fetch, (odbc_handle statement))                                                              \
    F(GetData, (odbc_handle statement, uint16_t column, int16_t type, void *ret, odbc_length size, \
                odbc_length *ret_length))                                                          \
    F(FreeStmt, (odbc_handle statement, uint16_t option))                                          \
    F(GetDiagRec,                                                                                  \
      (int16_t type, odbc_handle handle, int16_t number, unsigned char *ret_state,                 \
       int32_t *ret_native, unsigned char *ret_message, int16_t size, int16_t *ret_length))

#define ODBC_POINTER(name, arguments) int16_t(*name) arguments;
struct libodbc {
    ODBC_FUNCTIONS(ODBC_POINTER)
};
extern struct libodbc libodbc;
extern struct library libodbc_library;
