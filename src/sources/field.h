/*
 * A field: a number, a time or a unit as text, in a table, in an answer of a server, in an option.
 * Nothing here depends on the locale.
 *
 * A time is text (ISO 8601: a date, with a time of day or not; without an offset it is in this
 * machine's time zone) or a number. A number is, by its magnitude, seconds, ms, us or ns since
 * 1970; below 10^8 it is plain: seconds from the table's own zero, or a count of its intervals.
 */
#ifndef CAMP_SOURCES_FIELD_H
#define CAMP_SOURCES_FIELD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct field {
    const char *text; /* any bytes; no final NUL */
    size_t length;
};

enum field_fault {
    FIELD_OK,
    FIELD_EMPTY,
    FIELD_NO_NUMBER,
    FIELD_COMMA, /* it would be a number, were it not for a comma: 12,5 or 1,500 */
    FIELD_NEGATIVE,
    FIELD_NOT_FINITE, /* NaN, infinite, or more than a double holds */
    FIELD_NO_TIME
};

enum unit { UNIT_NONE, UNIT_PERCENT, UNIT_SHARE, UNIT_MS, UNIT_S, UNIT_US, UNIT_NS, UNIT_COUNT };

/* Without blanks at its ends. */
struct field field_trimmed(struct field field);

/* *ret is written when there is a number: also of FIELD_NEGATIVE. */
enum field_fault field_number(struct field field, double *ret);

/* "'abc' is no number", for messages: what is unprintable is replaced, what is long is cut. */
void field_complaint(struct field field, enum field_fault fault, char *ret, size_t size);

/* Copies as a NUL-terminated string; what does not fit is cut before a character of UTF-8. */
void field_copy(struct field field, char *ret, size_t size);

/* By its name in --unit, or at the end of a column's name (written in small letters): "ms". */
enum unit unit_of_name(const char *name, size_t length);
const char *unit_name(enum unit unit); /* "ms" */

bool unit_is_time(enum unit unit); /* rather than a part of the interval */

/* 1 of it in ns, of an interval of elapsed_ns. */
double unit_ns(enum unit unit, double elapsed_ns);

struct time_form {
    bool is_number;
    bool is_plain;  /* a number from the table's own zero */
    enum unit unit; /* of a number */
    /* The offset of local time in the quarter of an hour that was asked for last. */
    bool has_offset;
    int64_t quarter, offset_s;
};

/* How times are written, by times[count] of the table's beginning; `said`: the unit by the column's
 * name, or UNIT_NONE. */
void time_form_guess(struct time_form *ret, const struct field *times, size_t count,
                     enum unit said);

/* In ns since 1970, or since the table's zero. */
enum field_fault field_time(struct field field, struct time_form *form, int64_t *ret_ns);

#endif
