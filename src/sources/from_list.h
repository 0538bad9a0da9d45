/*
 * The list of sources: what --from takes, and which options go with each. Help, completions,
 * errors, `camp list sources` and docs/options.md come from this list.
 *
 * A new source is a row here, and a function that opens it in from.c (from_machine.c for a source
 * of this machine).
 */
#pragma once

#include "from.h"

/* Which function opens a source. */
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
    OPENS_NOTHING /* an old name, whose help has the new one */
};

/* The options that go with some sources only. */
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
    const char *name;     /* "threads"; "postgres:", followed by its argument; ".csv", the end of a
                           * file's name */
    const char *argument; /* "CONNINFO", "FILE"; "": it has none */
    const char *help;     /* what its rows are */
    enum from_opener opener;
    uint32_t options;       /* enum from_option: the options that go with the source */
    uint32_t query_options; /* the same for the source with --query; 0: `options` */
    bool hidden;            /* another spelling of a source: not listed */
};

extern const struct from_source from_sources[];
extern const size_t from_source_count;

/* The names of the options, such as "query", by the number of their bit in enum from_option. */
extern const char *const from_option_names[FROM_OPTION_COUNT];

/* The row of a text such as "threads" or "postgres:host=db"; NULL: there is none. It opens no file,
 * so it does not find the folder of a rotated recording. */
const struct from_source *from_source_find(const char *text);

/* The row of recordings. */
const struct from_source *from_source_of_recordings(void);

/* Finds the row of any text, a folder too (from.c). CAMP_E_INVALID: there is no such source; the
 * message lists the sources. */
int from_source_of(const char *text, const struct from_source **ret, struct camp_error *error);

/* Writes a source as a user would give it ("postgres:CONNINFO", "FILE.csv") to ret[size]; returns
 * `ret`. */
const char *from_source_form(const struct from_source *source, char *ret, size_t size);

/* The options that are set in `from`, except --speed and --interval, which belong to commands. */
uint32_t from_given(const struct from *from);

/* CAMP_OK, or CAMP_E_INVALID: one of the options `given` does not go with the source, so it would
 * have no effect; the message says with which sources it goes. */
int from_check(const struct from_source *source, const char *text, uint32_t given,
               struct camp_error *error);
