#include "from.h"

#include "beside.h"
#include "counters/error.h"
#include "from_machine.h"
#include "ledger/words.h"
#include "parts.h"
#include "recording/recording.h"
#include "sources/fleet/fleet.h"
#include "sources/sessions/mariadb/mariadb.h"
#include "sources/sessions/odbc/odbc.h"
#include "sources/sessions/postgres/postgres.h"
#include "sources/tables/csv.h"
#include "sources/tables/demo.h"
#include "sources/tables/query.h"
#include "sources/tables/table.h"

#include <stdio.h>
#include <string.h>

#define SQLITE_PREFIX "sqlite:"
#define ODBC_PREFIX "odbc:"
#define PROMETHEUS_PREFIX "prometheus:"

struct from_shown from_shown(const char *text)
{
    const size_t word = strspn(text, "abcdefghijklmnopqrstuvwxyz");
    struct from_shown ret;

    if (text[word] == ':' && strncmp(text, SQLITE_PREFIX, strlen(SQLITE_PREFIX)) != 0)
        snprintf(ret.text, sizeof ret.text, "%.*s:...", word < 40 ? (int)word : 40, text);
    else
        snprintf(ret.text, sizeof ret.text, "%s", text);
    return ret;
}

bool from_is_fleet(const char *text)
{
    return strncmp(text, PROMETHEUS_PREFIX, strlen(PROMETHEUS_PREFIX)) == 0;
}

/* -------------------------------------------------------------------------------- Files -- */

/* csv.c detects the separator of a table. It does not depend on the name of the file. */
static bool is_table_path(const char *text)
{
    return strcmp(text, "-") == 0 || ends_with_any_case(text, ".csv") ||
           ends_with_any_case(text, ".tsv") || ends_with_any_case(text, ".txt");
}

/* "-" is standard input. */
static int open_csv(const struct from *from, struct source **ret, struct from_facts *facts,
                    struct camp_error *error)
{
    struct rows *rows;
    int r;

    if (strcmp(from->text, "-") == 0) {
        snprintf(facts->name, sizeof facts->name, "standard input");
        if (from->begin_ns != 0 || from->end_ns != 0)
            return camp_fail(error, CAMP_E_INVALID, 0,
                             "--begin and --end parse_number a file: standard input is read once");
    }
    r = csv_rows_open(from->text, from, &rows, error);
    return r == CAMP_OK ? table_source_open(rows, facts->name, from, ret, facts, error) : r;
}

/* The table that comes with camp. Its values are in ms. */
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

static int open_query(const struct from *from, struct source **ret, struct from_facts *facts,
                      struct camp_error *error)
{
    const char *path = from->text + strlen(SQLITE_PREFIX);
    struct rows *rows;
    int r;

    snprintf(facts->name, sizeof facts->name, "%s", basename(path));
    if (from->query == NULL)
        return camp_fail(error, CAMP_E_INVALID, 0,
                         "%s needs --query \"select time, entity, ... from ...\"", from->text);
    r = query_rows_open(path, from->query, from, &rows, error);
    return r == CAMP_OK ? table_source_open(rows, facts->name, from, ret, facts, error) : r;
}

/* An option of another source would have no effect. The user gets an error instead of silence. */
static int refuse_unused(const struct from *from, const char *text, struct camp_error *error)
{
    const bool is_query = strncmp(text, SQLITE_PREFIX, strlen(SQLITE_PREFIX)) == 0;
    const bool is_fleet = from_is_fleet(text);
    const bool is_table = is_query || is_table_path(text);

    if (strncmp(text, ODBC_PREFIX, strlen(ODBC_PREFIX)) == 0)
        return CAMP_OK; /* sessions or a table; odbc_source_open() checks the options */
    if (from->query != NULL && !is_query && !is_fleet)
        return camp_fail(error, CAMP_E_INVALID, 0,
                         "--query goes with --from sqlite:FILE, odbc:DSN or prometheus:URL, not "
                         "with --from %s",
                         from_shown(text).text);
    if ((from->host != NULL || from->column != NULL) && !is_fleet)
        return camp_fail(error, CAMP_E_INVALID, 0,
                         "--%s goes with --from prometheus:URL, not with --from %s",
                         from->host != NULL ? "host" : "column", from_shown(text).text);
    if (from->unit != NULL && !is_table && !(is_fleet && from->query != NULL))
        return camp_fail(error, CAMP_E_INVALID, 0,
                         "--unit is for the numbers in a table; --from %s has units of its own",
                         from_shown(text).text);
    if (from->tier != NULL &&
        (is_table || is_fleet || strcmp(text, DEMO_NAME) == 0 || recording_is_path(text)))
        return camp_fail(error, CAMP_E_INVALID, 0,
                         "--tier is for live measurements; --from %s was measured before",
                         from_shown(text).text);
    return CAMP_OK;
}

/* Sessions of databases: the text after the prefix says where the database is. */
static const struct database {
    const char *prefix;
    int (*open)(const struct from *from, const char *place, struct source **ret,
                struct from_facts *facts, struct camp_error *error);
} databases[] = {
    { "postgres:", postgres_source_open },
    { "postgresql:", postgres_source_open },
    { "mariadb:", mariadb_source_open },
    { ODBC_PREFIX, odbc_source_open },
};

/* With a query, such a source yields a table. */
static bool are_sessions(const struct from *from, const char *text)
{
    if (from->query != NULL)
        return false;
    for (size_t i = 0; i < sizeof databases / sizeof databases[0]; i++) {
        if (strncmp(text, databases[i].prefix, strlen(databases[i].prefix)) == 0)
            return true;
    }
    return false;
}

static int refuse_options_of_sessions(const struct from *from, const char *text,
                                      struct camp_error *error)
{
    const struct {
        const char *name;
        bool given;
    } all[] = { { "rules", from->rules != NULL },
                { "detail", from->detail },
                { "background", from->background },
                { "queries", from->queries } };

    for (size_t i = 0; i < sizeof all / sizeof all[0] && !are_sessions(from, text); i++) {
        if (all[i].given)
            return camp_fail(error, CAMP_E_INVALID, 0,
                             "--%s is for database sessions: it does not go with --from %s%s",
                             all[i].name, from_shown(text).text,
                             from->query != NULL ? " and --query" : "");
    }
    return CAMP_OK;
}

static int open_named(const struct from *from, const char *text, struct source **ret,
                      struct from_facts *facts, struct camp_error *error)
{
    if (from_machine_has(text))
        return from_machine_open(from, ret, facts, error);
    if (strcmp(text, DEMO_NAME) == 0)
        return open_demo(from, ret, facts, error);
    if (strncmp(text, SQLITE_PREFIX, strlen(SQLITE_PREFIX)) == 0)
        return open_query(from, ret, facts, error);
    for (size_t i = 0; i < sizeof databases / sizeof databases[0]; i++) {
        const size_t length = strlen(databases[i].prefix);

        if (strncmp(text, databases[i].prefix, length) == 0)
            return databases[i].open(from, text + length, ret, facts, error);
    }
    if (from_is_fleet(text))
        return fleet_source_open(from, text + strlen(PROMETHEUS_PREFIX), ret, facts, error);
    if (strncmp(text, "mysql:", strlen("mysql:")) == 0)
        return camp_fail(error, CAMP_E_INVALID, 0,
                         "there is no source mysql:; sessions of MariaDB are mariadb:CONNINFO");
    if (recording_is_path(text))
        return recording_replay_open(from, text, ret, facts, error);
    if (is_table_path(text))
        return open_csv(from, ret, facts, error);
    return camp_fail(error, CAMP_E_INVALID, 0,
                     "there is no source '%s'; the sources are threads, processes, users, "
                     "commands, cgroups, cpus, check, demo, postgres:, mariadb:, odbc:, "
                     "prometheus:, sqlite:, *.camp, *.csv, *.tsv, *.txt and -",
                     from_shown(text).text);
}

/* Selects disjoint rows with states, so that adding them up counts no time twice. */
static int select_states(struct source *source, struct source **ret)
{
    int r = CAMP_OK;

    if (source->describe(source)->state_count == 0 && source_beside(source) != NULL)
        r = beside_source_open(source, &source);
    if (r == CAMP_OK && parts_has_total(source))
        r = parts_source_open(source, &source);
    if (r == CAMP_OK)
        *ret = source;
    return r;
}

int from_open(const struct from *from, struct source **ret, struct from_facts *ret_facts,
              struct camp_error *error)
{
    const char *text = from->text != NULL ? from->text : FROM_DEFAULT;
    int r = refuse_unused(from, text, error);

    if (r == CAMP_OK)
        r = refuse_options_of_sessions(from, text, error);
    *ret_facts = (struct from_facts){ 0 };
    snprintf(ret_facts->name, sizeof ret_facts->name, "%s", basename(text));
    if (r == CAMP_OK)
        r = open_named(from, text, ret, ret_facts, error);
    return r == CAMP_OK && from->wants_states ? select_states(*ret, ret) : r;
}
