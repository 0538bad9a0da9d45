/*
 * A field is a number, a time or a unit as text: in a table, in the answer of a server, or in an
 * option. Parsing does not depend on the locale.
 *
 * A time may be a date of ISO 8601, with an optional time of day. If it has no offset from UTC, it
 * is in the time zone of this machine. The date may also be written as Oracle does:
 * 23-NOV-26 02.00.01.117 PM.
 *
 * A time may also be a number of seconds, ms, us or ns since 1970; the size of the number tells its
 * unit. A number of less than 10^8 s does not count from 1970, and is called plain: it counts
 * seconds from a zero that the table chose, or it numbers the intervals of the table.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct field {
    const char *text; /* not terminated by a NUL */
    size_t length;
};

enum field_fault {
    FIELD_OK,
    FIELD_EMPTY,
    FIELD_NO_NUMBER,
    FIELD_COMMA, /* a number, but with a comma, such as 12,5 or 1,500 */
    FIELD_NEGATIVE,
    FIELD_NOT_FINITE, /* NaN, infinite, or too large for a double */
    FIELD_NO_TIME
};

enum unit { UNIT_NONE, UNIT_PERCENT, UNIT_SHARE, UNIT_MS, UNIT_S, UNIT_US, UNIT_NS, UNIT_COUNT };

/* Returns the field without blanks at both ends. */
struct field field_trimmed(struct field field);

/* Parses a number. *ret is valid after FIELD_OK and FIELD_NEGATIVE. */
enum field_fault field_number(struct field field, double *ret);

/* Writes a message such as "'abc' is no number". Unprintable characters of the field are replaced,
 * and a long field is cut. */
void field_complaint(struct field field, enum field_fault fault, char *ret, size_t size);

/* Copies the field as a NUL-terminated string. A field that does not fit is cut between two UTF-8
 * characters. */
void field_copy(struct field field, char *ret, size_t size);

/* Returns the unit with a name such as "ms", or UNIT_NONE. `name` is in lower case, from --unit or
 * from the end of a column's name. */
enum unit unit_of_name(const char *name, size_t length);
const char *unit_name(enum unit unit);

/* Returns false for percent and share, which are fractions of the interval. */
bool unit_is_time(enum unit unit);

/* Returns the length of one unit in ns. One percent is 1/100 of `elapsed_ns`, the length of the
 * interval, and a share of 1 is all of it. */
double unit_ns(enum unit unit, double elapsed_ns);

struct time_form {
    bool is_number;
    bool is_plain;  /* the number counts from a zero that the table chose, not from 1970 */
    enum unit unit; /* if is_number */
    /* The newest offset from UTC, if has_offset: local time is offset_s ahead of UTC in one quarter
     * of an hour, the one with the number `quarter` since 1970. */
    bool has_offset;
    int64_t quarter, offset_s;
};

/* Guesses the form of a column of times from times[count], the first fields of the column. `named`
 * is the unit in the name of the column, or UNIT_NONE. */
void time_form_guess(struct time_form *ret, const struct field *times, size_t count,
                     enum unit named);

/* Converts a time to ns since 1970 or, if form->is_plain, since the zero of the table. */
enum field_fault field_time(struct field field, struct time_form *form, int64_t *ret_ns);
