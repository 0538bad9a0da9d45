/* Parser: src/sources/sessions/odbc/odbc_text.c */
/* Parses any bytes as an ODBC connection string. Then uses them as a user and a part of a password,
 * which must not be shown. */
#include "sources/sessions/odbc/odbc_text.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SECRET "geheim"
#define BYTES_MOST 200

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void show(const char *text, char *ret, size_t size)
{
    memset(ret, 'x', size);
    odbc_text_shown(text, ret, size);
    if (memchr(ret, '\0', size) == NULL)
        abort();
    for (; *ret != '\0'; ret++) {
        if ((unsigned char)*ret < ' ' || *ret == 0x7f)
            abort();
    }
}

/* The bytes are the user and a part of the password, as if they came from the environment. The
 * connection string must quote them. */
static void check_password(const char *bytes)
{
    char connect[ODBC_TEXT_SIZE], shown[ODBC_TEXT_SIZE], password[BYTES_MOST + sizeof SECRET];

    snprintf(password, sizeof password, "%s%s", SECRET, bytes);
    if (strstr(bytes, SECRET) != NULL ||
        !odbc_text_to_connect("DSN=sales", bytes, password, connect))
        return;
    show(connect, shown, sizeof shown);
    if (strcmp(shown, "DSN=sales") != 0)
        abort();
}

/* A message has the keys of a connection string, but no value. */
static void check_message(const char *bytes)
{
    char text[BYTES_MOST + 40];
    struct camp_error error = { 0 };

    odbc_text_check(bytes, NULL);
    snprintf(text, sizeof text, "DSN=sales;UID=u;PWD=" SECRET "%s", bytes);
    if (strstr(bytes, SECRET) == NULL && odbc_text_check(text, &error) != CAMP_OK &&
        strstr(error.message, SECRET) != NULL)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char bytes[BYTES_MOST + 1], shown[32], connect[ODBC_TEXT_SIZE];

    if (size > BYTES_MOST)
        return 0;
    memcpy(bytes, data, size);
    bytes[size] = '\0';
    show(bytes, shown, sizeof shown);
    odbc_text_to_connect(bytes, bytes, bytes, connect);
    check_message(bytes);
    check_password(bytes);
    return 0;
}
