/* The parts of camp that Windows does not have: for the messages of commands, --help, camp list
 * sources and camp doctor. */
#include "parts.h"

#include "ledger/array.h"
#include "program/absence.h"
#include "program/command.h"

#include <string.h>

#define WITHOUT "this camp was built without "

const struct absent_part absent_parts[PART_COUNT] = {
    [PART_STATES] = { "thread_states", "Windows does not count the time of threads by state" },
    [PART_IO_WAIT] = { "io_wait", "Windows does not count I/O wait" },
    [PART_RECORDINGS] = { "recordings", WITHOUT "SQLite" },
    [PART_PAGES] = { "live_pages", WITHOUT "libmicrohttpd" },
    [PART_POSTGRES] = { "postgresql", WITHOUT "libpq" },
    [PART_MARIADB] = { "mariadb", WITHOUT "libmariadb" },
    [PART_ODBC] = { "odbc", WITHOUT "ODBC" },
    [PART_FLEETS] = { "fleets", WITHOUT "libcurl and yajl" },
    [PART_CONVERTER] = { "png_and_pdf", "camp runs no converter of pictures on Windows",
                         "camp report --picture FILE.png or FILE.pdf" },
};

/* A command that is not there complains, whatever its arguments are. */
#define COMMANDS(X)                                                                                \
    X(top, PART_STATES)                                                                            \
    X(time, PART_STATES)                                                                           \
    X(wait, PART_IO_WAIT)                                                                          \
    X(why, PART_STATES)                                                                            \
    X(explain, PART_STATES)                                                                        \
    X(view, PART_PAGES)                                                                            \
    X(export, PART_PAGES)                                                                          \
    X(record, PART_RECORDINGS)

#define ROW(command, part) { #command, part },
#define FUNCTION(command, part)                                                                    \
    int command_##command(int argc, char **argv)                                                   \
    {                                                                                              \
        (void)argc, (void)argv;                                                                    \
        return complain(STATUS_FAILURE, "%s; `camp --help` lists the commands that are here",      \
                        absent_parts[part].why);                                                   \
    }

const struct absent_command absent_commands[] = { COMMANDS(ROW) };
const size_t absent_command_count = sizeof absent_commands / sizeof absent_commands[0];

COMMANDS(FUNCTION)

enum part absent_part_of(const struct from_source *source)
{
    switch (source->opener) {
    case OPENS_THREADS:
        return PART_STATES;
    case OPENS_RECORDING:
    case OPENS_SQLITE:
        return PART_RECORDINGS;
    case OPENS_POSTGRES:
        return PART_POSTGRES;
    case OPENS_MARIADB:
        return PART_MARIADB;
    case OPENS_ODBC:
        return PART_ODBC;
    case OPENS_FLEET:
        return PART_FLEETS;
    default:
        return PART_COUNT;
    }
}

const char *command_absence(const char *name)
{
    for (size_t i = 0; i < absent_command_count; i++) {
        if (strcmp(absent_commands[i].name, name) == 0)
            return absent_parts[absent_commands[i].part].why;
    }
    return NULL;
}

/* Only other sources of camp check have these options: recordings, and sessions of databases. */
static const char *const of_other_checks[] = {
    "from", "rules", "background", "begin", "end", "speed",
};

const char *option_absence(const char *command, const char *name)
{
    if (strcmp(name, "proc") == 0 || strcmp(name, "sys") == 0)
        return "Windows has no folders that could be read instead";
    for (size_t i = 0; strcmp(command, "camp check") == 0 && i < ARRAY_COUNT(of_other_checks);
         i++) {
        if (strcmp(of_other_checks[i], name) == 0)
            return WITHOUT "SQLite and client libraries of databases";
    }
    return NULL;
}

const char *source_absence(const struct from_source *source)
{
    const enum part part = absent_part_of(source);

    return part < PART_COUNT ? absent_parts[part].why : NULL;
}
