/*
 * The list of sources: the names that --from takes, and the options that go with each source. Help,
 * completions, errors, `camp list sources` and docs/options.md come from this list.
 *
 * A new source needs a row in this list, and a function that opens it. The function is in
 * from_machine.c for a source of this machine, and in from.c for any other source.
 */
#pragma once

#include "from.h"

enum from_opener {
    OPENS_THREADS,
    OPENS_CPUS,
    OPENS_CHECK,
    OPENS_DEMO,
    OPENS_RECORDING,
    OPENS_TABLE,
    OPENS_SQLITE,
    OPENS_POSTGRES,
    OPENS_MARIADB,
    OPENS_ODBC,
    OPENS_FLEET,
    OPENS_NOTHING /* not a source; `help` names the source to use instead */
};

/* The options that only some sources accept. */
enum from_option {
    WITH_QUERY = 1u << 0,
    WITH_HOST = 1u << 1,
    WITH_COLUMN = 1u << 2,
    WITH_UNIT = 1u << 3,
    WITH_TIER = 1u << 4,
    WITH_RULES = 1u << 5,
    WITH_DETAIL = 1u << 6,
    WITH_BACKGROUND = 1u << 7,
    WITH_QUERIES = 1u << 8,
    WITH_BEGIN = 1u << 9,
    WITH_END = 1u << 10,
    WITH_SPEED = 1u << 11,
    WITH_INTERVAL = 1u << 12
};

#define FROM_OPTION_COUNT 13

struct from_source {
    /* "threads", a prefix such as "postgres:", or the end of a file name such as ".csv". */
    const char *name;
    const char *argument; /* "CONNINFO", "FILE"; empty if the source has no argument */
    const char *help;
    enum from_opener opener;
    uint32_t options; /* the options that go with the source (enum from_option) */
    /* The options that go with the source if --query is given. 0 means the same as `options`. */
    uint32_t query_options;
    bool hidden; /* not shown in lists, because another row has the same source */
};

extern const struct from_source from_sources[];
extern const size_t from_source_count;

/* The name of each option, such as "query", in the order of the bits of enum from_option. */
extern const char *const from_option_names[FROM_OPTION_COUNT];

/* Returns the row for a text such as "threads" or "postgres:host=db", or NULL. Does not find the
 * folder of a rotated recording, because it opens no file. */
const struct from_source *from_source_find(const char *text);

const struct from_source *from_source_of_recordings(void);

/* Returns whether a source is a PostgreSQL or MariaDB server. `source` may be NULL. */
bool from_source_is_server(const struct from_source *source);

/* Returns the options that go with a source (enum from_option). */
uint32_t from_source_options(const struct from_source *source, bool with_query);

/* Like from_source_find(), but also finds the folder of a rotated recording. Returns CAMP_E_INVALID
 * if there is no such source; the message lists the sources. Defined in from.c. */
int from_source_of(const char *text, const struct from_source **ret, struct camp_error *error);

/* Writes a source as a user would give it, such as "postgres:CONNINFO" or "FILE.csv". Returns
 * `ret`. */
const char *from_source_form(const struct from_source *source, char *ret, size_t size);

/* Returns the options that are set in `from` (enum from_option), except --speed and --interval:
 * commands set them even if the user did not. */
uint32_t from_given(const struct from *from);

/* Checks that the source accepts each of the options in `given` (enum from_option). Returns
 * CAMP_E_INVALID for the first that it does not accept; the message lists the sources that do. */
int from_check(const struct from_source *source, const char *text, uint32_t given,
               struct camp_error *error);
