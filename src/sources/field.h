/*
 * A field: a number, a time or a unit as text, in a table, in a server's answer, in an option.
 * Independent of the locale.
 *
 * A time is text (ISO 8601: a date, with an optional time of day; without an offset it is in this
 * machine's time zone) or a number. A number is, by its magnitude, seconds, ms, us or ns since
 * 1970; below 10^8 it is plain: seconds since the table's own zero, or a count of its intervals.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct field {
    const char *text; /* any bytes, without a final NUL */
    size_t length;
};

enum field_fault {
    FIELD_OK,
    FIELD_EMPTY,
    FIELD_NO_NUMBER,
    FIELD_COMMA, /* a number except for its comma: 12,5 or 1,500 */
    FIELD_NEGATIVE,
    FIELD_NOT_FINITE, /* NaN, infinite, or too large for a double */
    FIELD_NO_TIME
};

enum unit { UNIT_NONE, UNIT_PERCENT, UNIT_SHARE, UNIT_MS, UNIT_S, UNIT_US, UNIT_NS, UNIT_COUNT };

/* The field without blanks at both ends. */
struct field field_trimmed(struct field field);

/* Parses a number. *ret is set if there is one, also for FIELD_NEGATIVE. */
enum field_fault field_number(struct field field, double *ret);

/* Writes a message such as "'abc' is no number": unprintable bytes are replaced, a long text is
 * cut. */
void field_complaint(struct field field, enum field_fault fault, char *ret, size_t size);

/* Copies a NUL-terminated string, cut before a UTF-8 character if it does not fit. */
void field_copy(struct field field, char *ret, size_t size);

/* The unit of a name in --unit or at the end of a column's name (in lower case): "ms". */
enum unit unit_of_name(const char *name, size_t length);
const char *unit_name(enum unit unit); /* "ms" */

bool unit_is_time(enum unit unit); /* otherwise a part of the interval */

/* One unit in ns, where the interval is elapsed_ns long. */
double unit_ns(enum unit unit, double elapsed_ns);

struct time_form {
    bool is_number;
    bool is_plain;  /* a number since the table's own zero */
    enum unit unit; /* of a number */
    /* Cached offset of local time in the last quarter of an hour. */
    bool has_offset;
    int64_t quarter, offset_s;
};

/* Guesses the form of times from times[count], the start of the table. `named`: the unit in the
 * column's name, or UNIT_NONE. */
void time_form_guess(struct time_form *ret, const struct field *times, size_t count,
                     enum unit named);

/* Converts a time to ns since 1970, or since the table's zero. */
enum field_fault field_time(struct field field, struct time_form *form, int64_t *ret_ns);
