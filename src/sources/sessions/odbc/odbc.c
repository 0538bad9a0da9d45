#include "odbc.h"

#include "counters/error.h"
#include "odbc_query.h"
#include "odbc_text.h"
#include "oracle.h"
#include "sources/sessions/samples/samples.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int open_query(const struct from *from, const char *connect, struct source **ret,
                      struct from_facts *facts, struct camp_error *error)
{
    struct rows *rows;
    const int r = odbc_query_open(connect, from, &rows, error);

    return r == CAMP_OK ? samples_or_table_open(rows, facts->name, from, ret, facts, error) : r;
}

int odbc_source_open(const struct from *from, const char *text, struct source **ret,
                     struct from_facts *facts, struct camp_error *error)
{
    char connect[ODBC_TEXT_SIZE];
    int r;

    odbc_text_shown(text, facts->name, sizeof facts->name);
    if (from->query == NULL && text[0] != '\0' && strcmp(facts->name, text) == 0)
        snprintf(facts->from, sizeof facts->from, "odbc:%s", text);
    if (text[0] == '\0')
        return camp_fail(error, CAMP_E_INVALID, 0,
                         "odbc: give a data source (odbc:NAME; odbcinst -q -s lists them) or a "
                         "connection string (odbc:DRIVER=...;...)");
    r = odbc_text_check(text, error);
    if (r != CAMP_OK)
        return r;
    if (!odbc_text_to_connect(text, getenv("CAMP_ODBC_USER"), getenv("CAMP_ODBC_PASSWORD"),
                              connect))
        return camp_fail(error, CAMP_E_INVALID, 0, "odbc:%s: the text is longer than %d bytes",
                         facts->name, ODBC_TEXT_SIZE);
    r = from->query != NULL ? open_query(from, connect, ret, facts, error)
                            : oracle_source_open(from, connect, ret, facts, error);
    explicit_bzero(connect, sizeof connect);
    return r;
}
