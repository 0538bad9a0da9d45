#include "from.h"

#include "counters/error.h"
#include "from_list.h"
#include "from_machine.h"
#include "ledger/words.h"
#include "parts.h"
#include "recording/recording.h"
#include "sources/fleet/fleet.h"
#include "sources/servers/servers_from.h"
#include "sources/sessions/mariadb/mariadb.h"
#include "sources/sessions/odbc/odbc.h"
#include "sources/sessions/postgres/postgres.h"
#include "sources/sessions/samples/samples.h"
#include "sources/tables/demo.h"
#include "sources/tables/table.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define SQLITE_PREFIX "sqlite:"

_Static_assert(FROM_PATH_SIZE >= DEMO_PATH_SIZE, "the path of the sample data fits");

static int open_csv(const struct from *from, struct source **ret, struct from_facts *facts,
                    struct camp_error *error)
{
    struct rows *rows;
    int r;

    if (strcmp(from->text, "-") == 0)
        snprintf(facts->name, sizeof facts->name, "standard input");
    r = csv_rows_open(from->text, from, &rows, error);
    return r == CAMP_OK ? samples_or_table_open(rows, facts->name, from, ret, facts, error) : r;
}

static int open_demo(const struct from *from, struct source **ret, struct from_facts *facts,
                     struct camp_error *error)
{
    struct from in_ms = *from;
    char path[DEMO_PATH_SIZE];
    struct rows *rows;
    int r = demo_find(path, error);

    in_ms.unit = "ms";
    if (r == CAMP_OK)
        r = csv_rows_open(path, &in_ms, &rows, error);
    if (r == CAMP_OK)
        r = table_source_open(rows, facts->name, &in_ms, ret, facts, error);
    if (r == CAMP_OK)
        snprintf(facts->note, sizeof facts->note, "%s", DEMO_NOTE);
    return r;
}

const char *from_path(const struct from_source *source, const char *text,
                      char buffer[FROM_PATH_SIZE])
{
    switch (source->opener) {
    case OPENS_DEMO:
        return demo_find(buffer, NULL) == CAMP_OK ? buffer : NULL;
    case OPENS_SQLITE:
        return text + strlen(SQLITE_PREFIX);
    case OPENS_RECORDING:
    case OPENS_TABLE:
        return strcmp(text, "-") != 0 ? text : NULL;
    default:
        return NULL;
    }
}

static int open_query(const struct from *from, struct source **ret, struct from_facts *facts,
                      struct camp_error *error)
{
    const char *path = from->text + strlen(SQLITE_PREFIX);
    struct rows *rows;
    int r;

    snprintf(facts->name, sizeof facts->name, "%s", name_in_path(path));
    if (from->query == NULL)
        return camp_fail(error, CAMP_E_INVALID, 0,
                         "%s needs --query \"select time, entity, ... from ...\"", from->text);
    r = query_rows_open(path, from->query, from, &rows, error);
    return r == CAMP_OK ? samples_or_table_open(rows, facts->name, from, ret, facts, error) : r;
}

/* `place` is the text of the source after a prefix such as "postgres:". */
static int open_foreign(const struct from *from, enum from_opener opener, const char *place,
                        struct source **ret, struct from_facts *facts, struct camp_error *error)
{
    switch (opener) {
    case OPENS_DEMO:
        return open_demo(from, ret, facts, error);
    case OPENS_RECORDING:
        return recording_replay_open(from, from->text, ret, facts, error);
    case OPENS_TABLE:
        return open_csv(from, ret, facts, error);
    case OPENS_SQLITE:
        return open_query(from, ret, facts, error);
    case OPENS_POSTGRES:
        return postgres_source_open(from, place, ret, facts, error);
    case OPENS_MARIADB:
        return mariadb_source_open(from, place, ret, facts, error);
    case OPENS_ODBC:
        return odbc_source_open(from, place, ret, facts, error);
    case OPENS_FLEET:
        return fleet_source_open(from, place, ret, facts, error);
    default:
        return from_machine_open(from, ret, facts, error);
    }
}

#define NAMES_SIZE 320

static void list_names(char names[NAMES_SIZE])
{
    size_t length = 0;

    names[0] = '\0';
    for (size_t i = 0; i < from_source_count && length < NAMES_SIZE; i++) {
        const struct from_source *source = &from_sources[i];

        if (!source->hidden)
            length +=
                (size_t)snprintf(names + length, NAMES_SIZE - length, "%s%s%s", i > 0 ? ", " : "",
                                 source->name[0] == '.' ? "*" : "", source->name);
    }
}

int from_source_of(const char *text, const struct from_source **ret, struct camp_error *error)
{
    const struct from_source *source = from_source_find(text);
    const bool may_be_path = source == NULL || source->name[0] == '.';
    char names[NAMES_SIZE];

    errno = 0;
    if (may_be_path && recording_is_path(text))
        source = from_source_of_recordings();
    else if (source != NULL && source->opener == OPENS_RECORDING)
        source = NULL;                  /* unlike .csv, the ending .camp must be in lower case */
    if (source == NULL && errno == EIO) /* of stat(2): the text may name a folder */
        return camp_fail_errno(error, EIO, from_shown(text).text);
    if (source == NULL) {
        list_names(names);
        return camp_fail(error, CAMP_E_INVALID, 0, "there is no source '%s'; the sources are %s",
                         from_shown(text).text, names);
    }
    if (source->opener == OPENS_NOTHING)
        return camp_fail(error, CAMP_E_INVALID, 0, "there is no source %s; %s", source->name,
                         source->help);
    *ret = source;
    return CAMP_OK;
}

/* Replaces a source without states, such as "check", by the CPUs beside it. Leaves out the row of
 * all CPUs together, because the caller adds up the rows and must count no time twice. */
static int select_states(struct source *source, struct source **ret)
{
    int r = CAMP_OK;

    if (source->describe(source)->state_count == 0 && source_beside(source) != NULL)
        r = beside_source_open(source, &source);
    if (r == CAMP_OK && strcmp(source->describe(source)->name, "cpus") == 0)
        r = parts_source_open(source, &source);
    if (r == CAMP_OK)
        *ret = source;
    return r;
}

int from_open(const struct from *from, struct source **ret, struct from_facts *ret_facts,
              struct camp_error *error)
{
    const char *text = from->text != NULL ? from->text : FROM_DEFAULT;
    const struct from_source *source = NULL;
    int r = from_source_of(text, &source, error);

    if (r == CAMP_OK)
        r = from_check(source, text, from_given(from), error);
    *ret_facts = (struct from_facts){ 0 };
    snprintf(ret_facts->name, sizeof ret_facts->name, "%s", name_in_path(text));
    if (r == CAMP_OK && from->more_count > 0)
        r = servers_from_open(from, ret, ret_facts, error);
    else if (r == CAMP_OK)
        r = open_foreign(from, source->opener, text + strlen(source->name), ret, ret_facts, error);
    return r == CAMP_OK && from->wants_states ? select_states(*ret, ret) : r;
}
