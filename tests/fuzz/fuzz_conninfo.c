/* Parser: src/sources/sessions/postgres/conninfo.c */
/* Parses any bytes as a connection string. Then puts them before and after a password, which must
 * not be shown. */
#include "libraries/libpq.h"
#include "sources/sessions/postgres/conninfo.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SECRET "geheim"
#define BYTES_MOST 200

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void show(const char *conninfo, char *ret, size_t size)
{
    memset(ret, 'x', size);
    conninfo_shown(conninfo, ret, size);
    if (memchr(ret, '\0', size) == NULL)
        abort();
    for (; *ret != '\0'; ret++) {
        if ((unsigned char)*ret < ' ' || *ret == 0x7f)
            abort();
    }
}

/* A password with options in it, such as "?user=geheim&password=", cannot be distinguished from
 * options. It is not tested. */
static void check_password(const char *format, const char *bytes)
{
    char conninfo[3 * BYTES_MOST], shown[3 * BYTES_MOST];

    if (strpbrk(bytes, "&'\\") != NULL || strstr(bytes, SECRET) != NULL)
        return;
    snprintf(conninfo, sizeof conninfo, format, bytes, bytes);
    show(conninfo, shown, sizeof shown);
    if (strstr(shown, SECRET) != NULL)
        abort();
    conninfo_without_secrets(conninfo, shown, sizeof shown);
    if (strstr(shown, SECRET) != NULL)
        abort();
}

/* A string without secrets must be one that libpq reads, and must have no further secrets. */
static void check_text(const char *bytes)
{
    char bare[3 * BYTES_MOST], again[3 * BYTES_MOST], *address = conninfo_of_address(bytes);
    struct camp_error error;

    if (address == NULL)
        abort();
    free(address);
    if (conninfo_check(bytes, &error) != CAMP_OK && strchr(error.message, '\n') != NULL)
        abort();
    conninfo_without_secrets(bytes, bare, sizeof bare);
    if (bare[0] == '\0')
        return;
    conninfo_without_secrets(bare, again, sizeof again);
    if (conninfo_check(bare, &error) != CAMP_OK || strcmp(bare, again) != 0)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char bytes[BYTES_MOST + 1], shown[32];

    if (library_load(&libpq_library, NULL) != CAMP_OK)
        abort();
    if (size > BYTES_MOST)
        return 0;
    memcpy(bytes, data, size);
    bytes[size] = '\0';
    show(bytes, shown, sizeof shown);
    check_text(bytes);
    check_password("postgres://user:%s" SECRET "%s@host/database", bytes);
    check_password("host=h password='%s" SECRET "%s' user=u", bytes);
    return 0;
}
