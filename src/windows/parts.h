/* The parts of camp that Windows does not have, each with the reason. */
#pragma once

#include "sources/from_list.h"

#include <stddef.h>

enum part {
    PART_STATES,
    PART_IO_WAIT,
    PART_RECORDINGS,
    PART_PAGES,
    PART_POSTGRES,
    PART_MARIADB,
    PART_ODBC,
    PART_FLEETS,
    PART_CONVERTER,
    PART_COUNT
};

struct absent_part {
    const char *name; /* as camp doctor shows it */
    const char *why;  /* a sentence without a full stop */
    const char *more; /* what needs the part, beside commands and sources; NULL: nothing */
};

extern const struct absent_part absent_parts[PART_COUNT];

/* The commands that need a part. */
struct absent_command {
    const char *name;
    enum part part;
};

extern const struct absent_command absent_commands[];
extern const size_t absent_command_count;

/* Returns the part that a source needs, or PART_COUNT if Windows has the source. */
enum part absent_part_of(const struct from_source *source);
