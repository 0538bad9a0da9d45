/*
 * An ODBC driver that lies, for rogue_odbc.py. It has no database: each query has
 * three rows of a time, an entity and a number. The key LIE of the connection string names what is
 * wrong with its answers; it is honest without.
 *
 * It is a shared library that unixODBC loads. It writes only into the buffers that it is given, up
 * to their ends, because what a driver does to the memory of its program cannot be defended
 * against.
 */
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))

enum { SUCCESS = 0, SUCCESS_WITH_INFO = 1, FAILURE = -1, NO_DATA = 100, NO_TOTAL = -4 };
enum { ROWS = 3, COLUMNS = 3 };

typedef intptr_t length_type;

/* 2^62, or 2^30 on 32-bit systems. */
#define HUGE_LENGTH ((length_type)1 << (8 * sizeof(length_type) - 2))

static const char nasty[] = "\033[2J\xc2\x9b"
                            "2J\x9b"
                            "2J\a\r\n\xe2\x80\xae"
                            "evil";
static char lie[64];
static uint64_t row;

static int lies(const char *which)
{
    return strcmp(lie, which) == 0;
}

/* Writes to every byte of the buffer but its last, or to all if `is_unterminated`. */
static void fill(char *buffer, long size, int is_unterminated)
{
    if (buffer == NULL || size <= 0)
        return;
    memset(buffer, 'A', (size_t)size);
    if (!is_unterminated)
        buffer[size - 1] = '\0';
}

EXPORT int16_t SQLAllocHandle(int16_t type, void *parent, void **ret);
EXPORT int16_t SQLAllocHandle(int16_t type, void *parent, void **ret)
{
    static char handles[8];

    (void)parent;
    *ret = &handles[type & 7];
    return SUCCESS;
}

EXPORT int16_t SQLFreeHandle(int16_t type, void *handle);
EXPORT int16_t SQLFreeHandle(int16_t type, void *handle)
{
    (void)type;
    (void)handle;
    return SUCCESS;
}

EXPORT int16_t SQLSetEnvAttr(void *handle, int32_t attribute, void *value, int32_t length);
EXPORT int16_t SQLSetEnvAttr(void *handle, int32_t attribute, void *value, int32_t length)
{
    (void)handle;
    (void)attribute;
    (void)value;
    (void)length;
    return SUCCESS;
}

EXPORT int16_t SQLSetConnectAttr(void *handle, int32_t attribute, void *value, int32_t length);
EXPORT int16_t SQLSetConnectAttr(void *handle, int32_t attribute, void *value, int32_t length)
{
    return SQLSetEnvAttr(handle, attribute, value, length);
}

EXPORT int16_t SQLSetStmtAttr(void *handle, int32_t attribute, void *value, int32_t length);
EXPORT int16_t SQLSetStmtAttr(void *handle, int32_t attribute, void *value, int32_t length)
{
    return SQLSetEnvAttr(handle, attribute, value, length);
}

EXPORT int16_t SQLDriverConnect(void *handle, void *window, unsigned char *text, int16_t length,
                                unsigned char *ret, int16_t size, int16_t *ret_length,
                                uint16_t completion);
EXPORT int16_t SQLDriverConnect(void *handle, void *window, unsigned char *text, int16_t length,
                                unsigned char *ret, int16_t size, int16_t *ret_length,
                                uint16_t completion)
{
    const char *key = strstr((const char *)text, "LIE=");

    (void)handle;
    (void)window;
    (void)length;
    (void)ret;
    (void)size;
    (void)ret_length;
    (void)completion;
    if (key != NULL)
        snprintf(lie, sizeof lie, "%.*s", (int)strcspn(key + 4, ";"), key + 4);
    if (lies("connecting stalls"))
        sleep(3600);
    return strncmp(lie, "refusal", 7) == 0 ? FAILURE : SUCCESS;
}

EXPORT int16_t SQLDisconnect(void *handle);
EXPORT int16_t SQLDisconnect(void *handle)
{
    (void)handle;
    return SUCCESS;
}

EXPORT int16_t SQLPrepare(void *handle, unsigned char *text, int32_t length);
EXPORT int16_t SQLPrepare(void *handle, unsigned char *text, int32_t length)
{
    (void)handle;
    (void)text;
    (void)length;
    return strncmp(lie, "error", 5) == 0 ? FAILURE : SUCCESS;
}

EXPORT int16_t SQLExecute(void *handle);
EXPORT int16_t SQLExecute(void *handle)
{
    (void)handle;
    row = 0;
    if (lies("executing stalls"))
        sleep(3600);
    return SUCCESS;
}

EXPORT int16_t SQLNumResultCols(void *handle, int16_t *ret);
EXPORT int16_t SQLNumResultCols(void *handle, int16_t *ret)
{
    static int16_t asked;

    (void)handle;
    *ret = COLUMNS;
    if (lies("no columns"))
        *ret = 0;
    else if (lies("-1 columns"))
        *ret = -1;
    else if (lies("32767 columns"))
        *ret = 32767;
    else if (lies("1 column"))
        *ret = 1;
    else if (lies("more columns each time"))
        *ret = (int16_t)(COLUMNS + ++asked);
    return SUCCESS;
}

EXPORT int16_t SQLDescribeCol(void *handle, uint16_t column, unsigned char *ret_name, int16_t size,
                              int16_t *ret_length, int16_t *ret_type, uintptr_t *ret_size,
                              int16_t *ret_digits, int16_t *ret_nullable);
EXPORT int16_t SQLDescribeCol(void *handle, uint16_t column, unsigned char *ret_name, int16_t size,
                              int16_t *ret_length, int16_t *ret_type, uintptr_t *ret_size,
                              int16_t *ret_digits, int16_t *ret_nullable)
{
    static const char *const names[] = { "time", "entity", "busy_ms" };

    (void)handle;
    *ret_type = 12; /* a text */
    *ret_size = 40;
    *ret_digits = *ret_nullable = 0;
    if (lies("no names"))
        return SUCCESS;
    if (lies("names without an end")) {
        fill((char *)ret_name, size, 1);
        *ret_length = 32767;
    } else if (lies("names of a negative length")) {
        *ret_length = -5;
    } else {
        *ret_length = (int16_t)snprintf((char *)ret_name, (size_t)size, "%s%s",
                                        column <= COLUMNS ? names[column - 1] : "more",
                                        lies("names with escapes") ? nasty : "");
    }
    return SUCCESS;
}

EXPORT int16_t SQLFetch(void *handle);
EXPORT int16_t SQLFetch(void *handle)
{
    (void)handle;
    if (lies("fetching stalls"))
        sleep(3600);
    if (strncmp(lie, "fetch error", 11) == 0 && row == 1)
        return FAILURE;
    return ++row <= ROWS || lies("rows without end") || lies("empty rows without end") ? SUCCESS
                                                                                       : NO_DATA;
}

/* Returns what is wrong in the third column, or in all columns if the lie starts with "all". */
static int16_t lie_about_value(char *ret, length_type size, length_type *ret_length)
{
    const char *which = strncmp(lie, "all ", 4) == 0 ? lie + 4 : lie;

    if (strcmp(which, "values without data") == 0)
        return SUCCESS;
    if (strcmp(which, "values of length 10 that are not there") == 0) {
        *ret_length = 10;
    } else if (strcmp(which, "values of length 2^62 that are not there") == 0) {
        *ret_length = HUGE_LENGTH;
    } else if (strcmp(which, "values of no total") == 0) {
        *ret_length = NO_TOTAL;
    } else if (strcmp(which, "values without end") == 0) {
        fill(ret, size, 0);
        *ret_length = NO_TOTAL;
        return SUCCESS_WITH_INFO;
    } else if (strcmp(which, "values that are longer than the buffer") == 0) {
        fill(ret, size, 0);
        *ret_length = size * 2;
    } else if (strcmp(which, "values without a terminator") == 0) {
        fill(ret, size, 1);
        *ret_length = size - 1;
    } else if (strcmp(which, "values of a negative length") == 0) {
        *ret_length = -77;
    } else if (strcmp(which, "values of the lowest length") == 0) {
        *ret_length = INTPTR_MIN;
    } else if (strcmp(which, "values with escapes") == 0) {
        *ret_length = snprintf(ret, (size_t)size, "%s", nasty);
    } else if (strcmp(which, "an unknown result") == 0) {
        return 4711;
    } else if (strcmp(which, "NULL") == 0) {
        *ret_length = -1;
    } else {
        return -1000; /* no lie about values */
    }
    return SUCCESS;
}

EXPORT int16_t SQLGetData(void *handle, uint16_t column, int16_t type, void *ret, length_type size,
                          length_type *ret_length);
EXPORT int16_t SQLGetData(void *handle, uint16_t column, int16_t type, void *ret, length_type size,
                          length_type *ret_length)
{
    char *text = ret;

    (void)handle;
    (void)type;
    if (lies("empty rows without end"))
        return NO_DATA;
    if (column == COLUMNS || strncmp(lie, "all ", 4) == 0) {
        const int16_t result = lie_about_value(text, size, ret_length);

        if (result != -1000)
            return result;
    }
    if (column == 1)
        *ret_length = snprintf(text, (size_t)size, "%llu", 1767225600ull + (unsigned long long)row);
    else
        *ret_length = snprintf(text, (size_t)size, column == 2 ? "a" : "100");
    return SUCCESS;
}

EXPORT int16_t SQLFreeStmt(void *handle, uint16_t option);
EXPORT int16_t SQLFreeStmt(void *handle, uint16_t option)
{
    (void)handle;
    (void)option;
    return SUCCESS;
}

EXPORT int16_t SQLGetDiagRec(int16_t type, void *handle, int16_t number, unsigned char *state,
                             int32_t *native, unsigned char *message, int16_t size,
                             int16_t *ret_length);
EXPORT int16_t SQLGetDiagRec(int16_t type, void *handle, int16_t number, unsigned char *state,
                             int32_t *native, unsigned char *message, int16_t size,
                             int16_t *ret_length)
{
    (void)type;
    (void)handle;
    if (number > 1 && strstr(lie, "without end") == NULL)
        return NO_DATA;
    if (strstr(lie, "without a text") != NULL)
        return NO_DATA;
    *native = -1;
    memcpy(state, strstr(lie, "escapes") != NULL ? "\033[2J\a" : "HY000", 6);
    if (strstr(lie, "terminator") != NULL && message != NULL) {
        memcpy(state, "ABCDEF", 6);
        fill((char *)message, size, 1);
        *ret_length = 32767;
    } else if (message != NULL) {
        *ret_length = (int16_t)snprintf((char *)message, (size_t)size, "[Lying]%s refused", nasty);
    }
    return SUCCESS;
}

/* unixODBC asks for errors of statements only if the driver has this function, too. */
EXPORT int16_t SQLGetDiagField(int16_t type, void *handle, int16_t number, int16_t field, void *ret,
                               int16_t size, int16_t *ret_length);
EXPORT int16_t SQLGetDiagField(int16_t type, void *handle, int16_t number, int16_t field, void *ret,
                               int16_t size, int16_t *ret_length)
{
    (void)type;
    (void)handle;
    (void)number;
    (void)field;
    (void)ret;
    (void)size;
    (void)ret_length;
    return NO_DATA;
}

/* unixODBC asks what the driver can. */
EXPORT int16_t SQLGetInfo(void *handle, uint16_t what, void *ret, int16_t size,
                          int16_t *ret_length);
EXPORT int16_t SQLGetInfo(void *handle, uint16_t what, void *ret, int16_t size, int16_t *ret_length)
{
    (void)handle;
    (void)what;
    if (ret != NULL && size > 0)
        memset(ret, 0, (size_t)size);
    if (ret_length != NULL)
        *ret_length = 0;
    return SUCCESS;
}
