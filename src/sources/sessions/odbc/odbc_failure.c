#include "odbc_failure.h"

#include "counters/error.h"
#include "ledger/array.h"
#include "ledger/characters.h"

#include <ctype.h>
#include <string.h>

/* The error code and the advice for a SQLSTATE. The first row with a matching prefix is used. */
static const struct {
    const char *prefix;
    int code;
    const char *advice;
} failures[] = {
    { "01000", CAMP_E_NOTSUP, "; install the driver, or correct odbcinst.ini" },
    { "IM002", CAMP_E_GONE, "; odbcinst -q -s lists the data sources" },
    { "IM", CAMP_E_NOTSUP, "" },
    { "3D", CAMP_E_GONE, "" },
    { "28", CAMP_E_PERM, "; see CAMP_ODBC_USER, CAMP_ODBC_PASSWORD" },
    { "08", CAMP_E_GONE, "" },
    { "HYT", CAMP_E_GONE, "" },
    { "42", CAMP_E_INVALID, "" },
    { "S00", CAMP_E_INVALID, "" },
    { "", CAMP_E_IO, "" },
};

/* Puts a message on one line and removes prefixes such as "[unixODBC][Driver Manager]". */
static const char *tidy(char *message)
{
    char *begin = message;

    while (*begin == '[' && strchr(begin, ']') != NULL)
        begin = strchr(begin, ']') + 1;
    begin += strspn(begin, " ");
    for (char *at = begin; *at != '\0'; at++) {
        if (isspace((unsigned char)*at))
            *at = ' ';
    }
    for (size_t length = strlen(begin); length > 0 && begin[length - 1] == ' ';)
        begin[--length] = '\0';
    make_printable(begin);
    return begin;
}

/* The driver of PostgreSQL reports each failure to connect as 08001, also a refusal by the server,
 * whose SQLSTATE it drops. The text is the server's, in its language; these words are of the
 * English one. The first row whose words occur in the text is used. */
static const struct {
    const char *words, *more, *state;
} refusals[] = {
    { "password authentication failed", "", "28P01" },
    { "no password supplied", "", "28P01" },
    { "authentication failed", "", "28000" },
    { "is not permitted to log in", "", "28000" },
    { "no pg_hba.conf entry", "", "28000" },
    { ": FATAL:  role \"", "\" does not exist", "28000" },
    { ": FATAL:  database \"", "\" does not exist", "3D000" },
};

static const char *state_of(const char *state, const char *message)
{
    for (size_t i = 0; strcmp(state, "08001") == 0 && i < ARRAY_COUNT(refusals); i++) {
        const char *at = strstr(message, refusals[i].words);

        if (at != NULL && strstr(at, refusals[i].more) != NULL)
            return refusals[i].state;
    }
    return state;
}

int odbc_failure_report(int16_t type, odbc_handle handle, struct camp_error *error)
{
    unsigned char given[6] = "", message[1024] = "";
    const char *text, *state;
    int32_t native = 0;
    int16_t length = 0, result;
    size_t i = 0;

    result = libodbc.GetDiagRec(type, handle, 1, given, &native, message, (int16_t)sizeof message,
                                &length);
    if (result != ODBC_SUCCESS && result != ODBC_SUCCESS_WITH_INFO)
        return camp_fail(error, CAMP_E_IO, 0, "the ODBC driver failed without a message");
    given[sizeof given - 1] = message[sizeof message - 1] = '\0';
    make_printable((char *)given);
    text = tidy((char *)message);
    state = state_of((const char *)given, text);
    while (strncmp(state, failures[i].prefix, strlen(failures[i].prefix)) != 0)
        i++;
    return camp_fail(error, failures[i].code, 0, "%s (SQLSTATE %s)%s", text, state,
                     failures[i].advice);
}
