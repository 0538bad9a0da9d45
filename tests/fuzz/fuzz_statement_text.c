/* Parser: src/sources/sessions/postgres/statements/statement_text.c */
/* Removes the literals of any bytes. The result must not grow, and must be the start of the whole
 * result if there is less space. */
#include "sources/sessions/postgres/statements/statement_text.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *sql = malloc(size + 1), *whole = malloc(size + 1), *cut;
    const size_t space = size > 0 ? 1 + data[0] % 64u : 1;

    cut = malloc(space);
    if (sql == NULL || whole == NULL || cut == NULL)
        abort();
    if (size > 0)
        memcpy(sql, data, size);
    sql[size] = '\0';
    statement_text_without_literals(sql, whole, size + 1);
    if (strlen(whole) > strlen(sql))
        abort();
    statement_text_without_literals(sql, cut, space);
    if (strlen(cut) >= space || strncmp(cut, whole, strlen(cut)) != 0)
        abort();
    free(sql);
    free(whole);
    free(cut);
    return 0;
}
