/*
 * unixODBC, loaded when it is first needed: camp is built and runs without it. What is declared
 * here is the part of ODBC 3 (ISO/IEC 9075-3) that camp calls: an interface that has stood still
 * since 1996, so that building needs no package for it. tests/unit/test_odbc.c holds it
 * against unixODBC's own headers where they are installed.
 */
#ifndef CAMP_SOURCES_SESSIONS_ODBC_ODBC_LIBRARY_H
#define CAMP_SOURCES_SESSIONS_ODBC_ODBC_LIBRARY_H

#include <camp/camp.h>

#include <stdint.h>

/* Results. */
enum { ODBC_SUCCESS = 0, ODBC_SUCCESS_WITH_INFO = 1, ODBC_NO_DATA = 100 };
/* Handles: an environment has connections, which have statements. */
enum { ODBC_ENVIRONMENT = 1, ODBC_CONNECTION = 2, ODBC_STATEMENT = 3 };
/* Attributes of each of the three, in this order. */
enum { ODBC_VERSION = 200, ODBC_VERSION_3 = 3 };
enum { ODBC_ACCESS_MODE = 101, ODBC_LOGIN_TIMEOUT = 103, ODBC_READ_ONLY = 1 };
enum { ODBC_QUERY_TIMEOUT = 0 };
/* Others. */
enum {
    ODBC_TEXT_TO_ITS_END = -3, /* a length: up to the NUL */
    ODBC_NULL = -1,            /* a length that is given back: the value is NULL */
    ODBC_TEXT = 1,             /* a type: char */
    ODBC_CLOSE_CURSOR = 0,
    ODBC_NEVER_ASK = 0 /* no window for what a connection string lacks */
};

/* SQLLEN of ODBC 3.52: as wide as a pointer. */
typedef intptr_t odbc_length;
typedef void *odbc_handle;

/* As in ODBC's reference, without "SQL". A handle's type goes with it where it is asked for. */
struct odbc_library {
    int16_t (*AllocHandle)(int16_t type, odbc_handle parent, odbc_handle *ret);
    int16_t (*FreeHandle)(int16_t type, odbc_handle handle);
    int16_t (*SetEnvAttr)(odbc_handle environment, int32_t attribute, void *value, int32_t length);
    int16_t (*SetConnectAttr)(odbc_handle connection, int32_t attribute, void *value,
                              int32_t length);
    int16_t (*SetStmtAttr)(odbc_handle statement, int32_t attribute, void *value, int32_t length);
    int16_t (*DriverConnect)(odbc_handle connection, void *window, unsigned char *text,
                             int16_t length, unsigned char *ret_text, int16_t size,
                             int16_t *ret_length, uint16_t completion);
    int16_t (*Disconnect)(odbc_handle connection);
    int16_t (*Prepare)(odbc_handle statement, unsigned char *text, int32_t length);
    int16_t (*Execute)(odbc_handle statement);
    int16_t (*NumResultCols)(odbc_handle statement, int16_t *ret);
    int16_t (*DescribeCol)(odbc_handle statement, uint16_t column, unsigned char *ret_name,
                           int16_t size, int16_t *ret_length, int16_t *ret_type,
                           uintptr_t *ret_size, int16_t *ret_digits, int16_t *ret_nullable);
    int16_t (*Fetch)(odbc_handle statement);
    int16_t (*GetData)(odbc_handle statement, uint16_t column, int16_t type, void *ret,
                       odbc_length size, odbc_length *ret_length);
    int16_t (*FreeStmt)(odbc_handle statement, uint16_t option);
    int16_t (*GetDiagRec)(int16_t type, odbc_handle handle, int16_t number,
                          unsigned char *ret_state, int32_t *ret_native, unsigned char *ret_message,
                          int16_t size, int16_t *ret_length);
};

/* Loads it, once: *ret stays for as long as the process runs. CAMP_E_NOTSUP: it is not installed,
 * the message says what to install. */
int odbc_library_load(const struct odbc_library **ret, struct camp_error *error);

#endif
