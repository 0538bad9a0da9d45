/* Parser: src/sources/sessions/statement_text.c */
/* Removes the literals of any bytes, in each dialect. The result must not grow, and must be the
 * start of the whole result if there is less space. */
#include "sources/sessions/statement_text.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(enum statement_dialect dialect, const char *sql, size_t space)
{
    const size_t length = strlen(sql);
    char *whole = malloc(length + 1), *cut = malloc(space);

    if (whole == NULL || cut == NULL)
        abort();
    statement_text_without_literals(dialect, sql, whole, length + 1);
    if (strlen(whole) > length)
        abort();
    statement_text_without_literals(dialect, sql, cut, space);
    if (strlen(cut) >= space || strncmp(cut, whole, strlen(cut)) != 0)
        abort();
    free(whole);
    free(cut);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const size_t space = size > 0 ? 1 + data[0] % 64u : 1;
    char *sql = malloc(size + 1);

    if (sql == NULL)
        abort();
    if (size > 0)
        memcpy(sql, data, size);
    sql[size] = '\0';
    check(STATEMENT_POSTGRES, sql, space);
    check(STATEMENT_MYSQL, sql, space);
    check(STATEMENT_MYSQL_ANY_MODE, sql, space);
    free(sql);
    return 0;
}
