#include "from_list.h"

#include "counters/error.h"
#include "ledger/words.h"

#include <stdio.h>
#include <string.h>

#define MACHINE (WITH_TIER | WITH_INTERVAL)
#define REPLAY (WITH_BEGIN | WITH_END | WITH_SPEED)
/* A table may have samples of sessions, which have rules and details. */
#define TABLE (WITH_UNIT | WITH_RULES | WITH_DETAIL | REPLAY)
#define SESSIONS                                                                                   \
    (WITH_TIER | WITH_RULES | WITH_DETAIL | WITH_BACKGROUND | WITH_QUERIES | WITH_INTERVAL)
#define FLEET (WITH_QUERY | WITH_HOST | REPLAY | WITH_INTERVAL)

#define HELP_MACHINE "of this machine"
#define HELP_TABLE "a table"

const struct from_source from_sources[] = {
    { "threads", "", HELP_MACHINE, OPENS_THREADS, MACHINE, 0, false },
    { "processes", "", HELP_MACHINE, OPENS_THREADS, MACHINE, 0, false },
    { "users", "", HELP_MACHINE, OPENS_THREADS, MACHINE, 0, false },
    { "commands", "", HELP_MACHINE, OPENS_THREADS, MACHINE, 0, false },
    { "cgroups", "", HELP_MACHINE, OPENS_THREADS, MACHINE, 0, false },
    { "cpus", "", HELP_MACHINE, OPENS_CPUS, MACHINE, 0, false },
    { "check", "", "CPUs and processes, sampled time beside measured time; camp top shows the CPUs",
      OPENS_CHECK, MACHINE, 0, false },
    { "demo", "", "the sample data that comes with camp", OPENS_DEMO, REPLAY, 0, false },
    { ".camp", "FILE", "a recording, or the folder of a rotated recording", OPENS_RECORDING, REPLAY,
      0, false },
    { ".csv", "FILE", HELP_TABLE, OPENS_TABLE, TABLE, 0, false },
    { ".tsv", "FILE", HELP_TABLE, OPENS_TABLE, TABLE, 0, false },
    { ".txt", "FILE", HELP_TABLE, OPENS_TABLE, TABLE, 0, false },
    { "-", "", "a table on standard input", OPENS_TABLE, TABLE & ~(WITH_BEGIN | WITH_END), 0,
      false },
    { "sqlite:", "FILE", "a table, by --query", OPENS_SQLITE, WITH_QUERY | TABLE,
      WITH_QUERY | TABLE, false },
    { "postgres:", "CONNINFO", "sessions of PostgreSQL (docs/sessions.md)", OPENS_POSTGRES,
      SESSIONS, 0, false },
    { "postgresql:", "CONNINFO", "sessions of PostgreSQL", OPENS_POSTGRES, SESSIONS, 0, true },
    { "mariadb:", "CONNINFO", "sessions of MariaDB and MySQL (docs/sessions.md)", OPENS_MARIADB,
      SESSIONS, 0, false },
    { "mysql:", "CONNINFO", "sessions of MySQL", OPENS_MARIADB, SESSIONS, 0, true },
    { "odbc:", "DSN", "sessions of Oracle or, with --query, a table", OPENS_ODBC,
      WITH_QUERY | SESSIONS, WITH_QUERY | TABLE, false },
    { "prometheus:", "URL", "a fleet of hosts (docs/fleet.md)", OPENS_FLEET, FLEET,
      FLEET | WITH_COLUMN | WITH_UNIT, false },
};

const size_t from_source_count = sizeof from_sources / sizeof from_sources[0];

const char *const from_option_names[FROM_OPTION_COUNT] = {
    "query",      "host",    "column", "unit", "tier",  "rules",    "detail",
    "background", "queries", "begin",  "end",  "speed", "interval",
};

static bool is_file(const struct from_source *source)
{
    return source->name[0] == '.';
}

static bool is_prefix(const struct from_source *source)
{
    return source->name[strlen(source->name) - 1] == ':';
}

static bool is_of(const struct from_source *source, const char *text)
{
    if (is_file(source))
        return ends_with_any_case(text, source->name);
    if (is_prefix(source))
        return strncmp(text, source->name, strlen(source->name)) == 0;
    return strcmp(text, source->name) == 0;
}

/* A prefix takes precedence over the ending of a file name: "sqlite:x.csv" is a database. */
const struct from_source *from_source_find(const char *text)
{
    const struct from_source *file = NULL;

    for (size_t i = 0; i < from_source_count; i++) {
        if (!is_of(&from_sources[i], text))
            continue;
        if (!is_file(&from_sources[i]))
            return &from_sources[i];
        file = &from_sources[i];
    }
    return file;
}

const struct from_source *from_source_of_recordings(void)
{
    size_t i = 0;

    while (from_sources[i].opener != OPENS_RECORDING)
        i++;
    return &from_sources[i];
}

const char *from_source_form(const struct from_source *source, char *ret, size_t size)
{
    const bool first = is_file(source);

    snprintf(ret, size, "%s%s%s", first ? source->argument : "", source->name,
             first ? "" : source->argument);
    return ret;
}

/* Shows a path in full, but not a connection string, which may hold a password. */
struct from_shown from_shown(const char *text)
{
    const size_t word = strspn(text, "abcdefghijklmnopqrstuvwxyz");
    const struct from_source *source = from_source_find(text);
    struct from_shown ret;

    if (text[word] == ':' && (source == NULL || source->opener != OPENS_SQLITE))
        snprintf(ret.text, sizeof ret.text, "%.*s:...", word < 40 ? (int)word : 40, text);
    else
        snprintf(ret.text, sizeof ret.text, "%s", text);
    return ret;
}

bool from_is_fleet(const char *text)
{
    const struct from_source *source = from_source_find(text);

    return source != NULL && source->opener == OPENS_FLEET;
}

uint32_t from_given(const struct from *from)
{
    const struct {
        uint32_t option;
        bool given;
    } all[] = {
        { WITH_QUERY, from->query != NULL },   { WITH_HOST, from->host != NULL },
        { WITH_COLUMN, from->column != NULL }, { WITH_UNIT, from->unit != NULL },
        { WITH_TIER, from->tier != NULL },     { WITH_RULES, from->rules != NULL },
        { WITH_DETAIL, from->detail },         { WITH_BACKGROUND, from->background },
        { WITH_QUERIES, from->queries },       { WITH_BEGIN, from->begin_ns != 0 },
        { WITH_END, from->end_ns != 0 },
    };
    uint32_t ret = 0;

    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        ret |= all[i].given ? all[i].option : 0;
    return ret;
}

bool from_source_is_server(const struct from_source *source)
{
    return source != NULL && (source->opener == OPENS_POSTGRES || source->opener == OPENS_MARIADB);
}

uint32_t from_source_options(const struct from_source *source, bool with_query)
{
    return with_query && source->query_options != 0 ? source->query_options : source->options;
}

/* Writes a list of the sources that accept an option, such as "sqlite:FILE, odbc:DSN with --query
 * or prometheus:URL". */
static void list_sources(uint32_t option, char *ret, size_t size)
{
    const struct from_source *found[32];
    size_t count = 0, length = 0;

    for (size_t i = 0; i < from_source_count; i++) {
        const struct from_source *source = &from_sources[i];

        if (!source->hidden && ((source->options | source->query_options) & option) != 0)
            found[count++] = source;
    }
    for (size_t i = 0; i < count && length < size; i++) {
        const bool takes_query = option != WITH_QUERY && (found[i]->options & option) == 0;
        char form[32];

        length += (size_t)snprintf(ret + length, size - length, "%s%s%s",
                                   i == 0           ? ""
                                   : i + 1 == count ? " or "
                                                    : ", ",
                                   from_source_form(found[i], form, sizeof form),
                                   takes_query ? " with --query" : "");
    }
}

int from_check(const struct from_source *source, const char *text, uint32_t given,
               struct camp_error *error)
{
    const bool with_query = (given & WITH_QUERY) != 0;
    const uint32_t refused = given & ~from_source_options(source, with_query);
    char sources[256];

    for (size_t i = 0; i < FROM_OPTION_COUNT; i++) {
        if ((refused & 1u << i) == 0)
            continue;
        list_sources(1u << i, sources, sizeof sources);
        return camp_fail(
            error, CAMP_E_INVALID, 0, "--%s does not go with --from %s%s%s; it goes with %s",
            from_option_names[i], from_shown(text).text, with_query && i > 0 ? " and --query" : "",
            1u << i == WITH_INTERVAL ? ", whose rows have their intervals (--speed N sets the pace)"
                                     : "",
            sources);
    }
    return CAMP_OK;
}
