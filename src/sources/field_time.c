#include "counters/units.h"
#include "field.h"

#include <math.h>
#include <strings.h>
#include <time.h>

/* A smaller number is plain (field.h): as seconds since 1970 it would be a time before 1974. */
#define PLAIN_BELOW_S 1e8
#define LATEST_S 9000000000 /* the year 2255; 64 bits hold ns until 2262 */
#define QUARTER_S 900       /* the offset of a time zone changes only at a quarter of an hour */

/* Parses exactly `count` digits, and removes them from the start of the field. */
static bool parse_number(struct field *field, size_t count, int *ret)
{
    int value = 0;

    if (field->length < count)
        return false;
    for (size_t i = 0; i < count; i++) {
        if (field->text[i] < '0' || field->text[i] > '9')
            return false;
        value = 10 * value + (field->text[i] - '0');
    }
    field->text += count;
    field->length -= count;
    *ret = value;
    return true;
}

static bool parse_one_of(struct field *field, const char *characters)
{
    for (; field->length > 0 && *characters != '\0'; characters++) {
        if (*field->text == *characters) {
            field->text++;
            field->length--;
            return true;
        }
    }
    return false;
}

/* Parses an optional fraction such as ".5". Digits after the ninth have no effect. */
static bool parse_fraction(struct field *field, int64_t *ret_ns)
{
    int64_t place = NS_PER_S / 10;
    int digit;

    *ret_ns = 0;
    if (!parse_one_of(field, ".,"))
        return true;
    if (!parse_number(field, 1, &digit))
        return false;
    do {
        *ret_ns += digit * place;
        place /= 10;
    } while (parse_number(field, 1, &digit));
    return true;
}

/* Parses an offset from UTC: "Z", "UTC", "+01:00", "+0100" or "+01". */
static bool parse_offset(struct field *field, int64_t *ret_s)
{
    const bool is_west = field->length > 0 && *field->text == '-';
    int hours, minutes = 0;

    *ret_s = 0;
    if (parse_one_of(field, "Zz") ||
        (parse_one_of(field, "U") && parse_one_of(field, "T") && parse_one_of(field, "C")))
        return field->length == 0;
    if (!parse_one_of(field, "+-") || !parse_number(field, 2, &hours))
        return false;
    parse_one_of(field, ":");
    if (field->length > 0 && !parse_number(field, 2, &minutes))
        return false;
    *ret_s = (is_west ? -1 : 1) * (hours * 3600 + minutes * 60);
    return field->length == 0 && hours < 24 && minutes < 60;
}

/* Parses the name of a month, of which Oracle writes three letters. Returns false if it is none. */
static bool parse_month(struct field *field, int *ret)
{
    static const char names[] = "janfebmaraprmayjunjulaugsepoctnovdec";

    for (*ret = 0; field->length >= 3 && *ret < 12; ++*ret) {
        if (strncasecmp(field->text, names + 3 * *ret, 3) == 0) {
            field->text += 3;
            field->length -= 3;
            return true;
        }
    }
    return false;
}

/* Parses a date as Oracle writes it, such as 23-NOV-26 or 23-NOV-2026. */
static bool parse_oracle_date(struct field *field, struct tm *ret)
{
    int century = 20;

    if (!parse_number(field, 2, &ret->tm_mday) || !parse_one_of(field, "-") ||
        !parse_month(field, &ret->tm_mon) || !parse_one_of(field, "-") ||
        !parse_number(field, 2, &ret->tm_year))
        return false;
    if (field->length >= 2 && field->text[0] >= '0' && field->text[0] <= '9') {
        century = ret->tm_year;
        if (!parse_number(field, 2, &ret->tm_year))
            return false;
    }
    ret->tm_year += 100 * century - 1900;
    return true;
}

/* Parses a time of day as Oracle writes it after such a date: 02.00.01.117000 PM, 14:00:01. */
static bool parse_oracle_time(struct field *field, struct tm *ret, int64_t *ret_fraction_ns)
{
    bool is_afternoon;

    if (!parse_number(field, 2, &ret->tm_hour) || !parse_one_of(field, ".:") ||
        !parse_number(field, 2, &ret->tm_min) || !parse_one_of(field, ".:") ||
        !parse_number(field, 2, &ret->tm_sec) || !parse_fraction(field, ret_fraction_ns))
        return false;
    *field = field_trimmed(*field);
    if (field->length >= 2 && strncasecmp(field->text + 1, "m", 1) == 0) {
        is_afternoon = strncasecmp(field->text, "p", 1) == 0;
        if ((!is_afternoon && strncasecmp(field->text, "a", 1) != 0) || ret->tm_hour < 1 ||
            ret->tm_hour > 12)
            return false;
        ret->tm_hour = ret->tm_hour % 12 + (is_afternoon ? 12 : 0);
        field->text += 2;
        field->length -= 2;
    }
    return ret->tm_hour < 24 && ret->tm_min < 60 && ret->tm_sec <= 60;
}

static bool parse_date(struct field *field, struct tm *ret)
{
    if (!parse_number(field, 4, &ret->tm_year) || !parse_one_of(field, "-/") ||
        !parse_number(field, 2, &ret->tm_mon) || !parse_one_of(field, "-/") ||
        !parse_number(field, 2, &ret->tm_mday))
        return false;
    ret->tm_year -= 1900;
    ret->tm_mon -= 1;
    return ret->tm_mon >= 0 && ret->tm_mon < 12;
}

static bool parse_time_of_day(struct field *field, struct tm *ret, int64_t *ret_fraction_ns)
{
    if (!parse_number(field, 2, &ret->tm_hour) || !parse_one_of(field, ":") ||
        !parse_number(field, 2, &ret->tm_min))
        return false;
    if (parse_one_of(field, ":") &&
        (!parse_number(field, 2, &ret->tm_sec) || !parse_fraction(field, ret_fraction_ns)))
        return false;
    return ret->tm_hour < 24 && ret->tm_min < 60 && ret->tm_sec <= 60;
}

/* Returns by how many seconds local time is ahead of UTC. `as_utc_s` is a local time that was
 * converted as if it were UTC. The result is cached, because mktime(3) is slow, and adjacent rows
 * are mostly in the same quarter of an hour. */
static int64_t local_offset_s(struct time_form *form, int64_t as_utc_s)
{
    const int64_t quarter = as_utc_s / QUARTER_S;

    if (!form->has_offset || form->quarter != quarter) {
        const time_t begin = (time_t)(quarter * QUARTER_S);
        struct tm local;

        gmtime_r(&begin, &local);
        local.tm_isdst = -1;
        form->offset_s = (int64_t)begin - (int64_t)mktime(&local);
        form->quarter = quarter;
        form->has_offset = true;
    }
    return form->offset_s;
}

static enum field_fault read_text(struct field field, struct time_form *form, int64_t *ret_ns)
{
    struct tm date = { 0 };
    int64_t fraction_ns = 0, offset_s = 0, second;
    bool is_local = true;
    int day, leap;

    if (field.length > 2 && field.text[2] == '-') {
        if (!parse_oracle_date(&field, &date) ||
            (field.length > 0 &&
             (!parse_one_of(&field, " ") || !parse_oracle_time(&field, &date, &fraction_ns))))
            return FIELD_NO_TIME;
    } else if (!parse_date(&field, &date) ||
               (field.length > 0 && (!parse_one_of(&field, "Tt ") ||
                                     !parse_time_of_day(&field, &date, &fraction_ns)))) {
        return FIELD_NO_TIME;
    }
    field = field_trimmed(field);
    if (field.length > 0) {
        is_local = false;
        if (!parse_offset(&field, &offset_s))
            return FIELD_NO_TIME;
    }
    day = date.tm_mday;
    leap = date.tm_sec == 60;
    date.tm_sec -= leap;
    second = (int64_t)timegm(&date) + leap;
    if (date.tm_mday != day) /* timegm() changes a day that does not exist, such as February 30 */
        return FIELD_NO_TIME;
    second -= is_local ? local_offset_s(form, second) : offset_s;
    if (second < 0 || second > LATEST_S)
        return FIELD_NO_TIME;
    *ret_ns = second * (int64_t)NS_PER_S + fraction_ns;
    return FIELD_OK;
}

/* Parses a decimal number exactly, because a double is too coarse for ns since 1970. `unit` is the
 * length of the unit in ns. Returns false if the number has an exponent or is too large, or if the
 * field is no number. */
static bool read_exactly(struct field field, uint64_t unit, int64_t *ret_ns)
{
    const uint64_t largest = (uint64_t)LATEST_S * (NS_PER_S / unit);
    uint64_t whole = 0, fraction = 0;
    int digit;

    if (field.length == 0 || *field.text == '.')
        return false;
    while (parse_number(&field, 1, &digit)) {
        if (whole > (largest - 9) / 10)
            return false;
        whole = 10 * whole + (uint64_t)digit;
    }
    if (parse_one_of(&field, ".")) {
        for (uint64_t place = unit / 10; parse_number(&field, 1, &digit); place /= 10)
            fraction += (uint64_t)digit * place;
    }
    if (field.length > 0)
        return false;
    *ret_ns = (int64_t)(whole * unit + fraction);
    return true;
}

static enum field_fault read_number(struct field field, enum unit unit, int64_t *ret_ns)
{
    const double scale = unit_ns(unit, 0);
    enum field_fault fault;
    double value;

    if (read_exactly(field, (uint64_t)scale, ret_ns))
        return FIELD_OK;
    fault = field_number(field, &value);
    if (fault != FIELD_OK)
        return fault == FIELD_NO_NUMBER ? FIELD_NO_TIME : fault;
    if (value * scale > (double)LATEST_S * NS_PER_S)
        return FIELD_NO_TIME;
    *ret_ns = (int64_t)llrint(value * scale);
    return FIELD_OK;
}

enum field_fault field_time(struct field field, struct time_form *form, int64_t *ret_ns)
{
    field = field_trimmed(field);
    if (field.length == 0)
        return FIELD_EMPTY;
    return form->is_number ? read_number(field, form->unit, ret_ns)
                           : read_text(field, form, ret_ns);
}

/* Guesses the unit of a time from its size. A plain number is in seconds. */
static enum unit unit_of_magnitude(double value)
{
    return value >= PLAIN_BELOW_S * 1e9   ? UNIT_NS
           : value >= PLAIN_BELOW_S * 1e6 ? UNIT_US
           : value >= PLAIN_BELOW_S * 1e3 ? UNIT_MS
                                          : UNIT_S;
}

void time_form_guess(struct time_form *ret, const struct field *times, size_t count,
                     enum unit named)
{
    size_t numbers = 0, empty = 0;
    double largest = 0, value;

    *ret = (struct time_form){ 0 };
    for (size_t i = 0; i < count; i++) {
        const enum field_fault fault = field_number(times[i], &value);

        empty += fault == FIELD_EMPTY;
        numbers += fault == FIELD_OK;
        if (fault == FIELD_OK && value > largest)
            largest = value;
    }
    ret->is_number = 2 * numbers > count - empty;
    ret->unit = unit_is_time(named) ? named : unit_of_magnitude(largest);
    ret->is_plain = ret->is_number && largest * unit_ns(ret->unit, 0) < PLAIN_BELOW_S * 1e9;
}
