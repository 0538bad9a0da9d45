#include "field.h"

#include "counters/units.h"
#include "ledger/characters.h"
#include "ledger/words.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#define MOST_DIGITS 18 /* a number of 18 digits fits 64 bits */
#define LARGEST_EXPONENT 400
#define EXACT_POWERS 23 /* the powers 10^0 to 10^22 are exact as doubles */
#define QUOTED_LENGTH 24

static bool is_blank(char character)
{
    return character == ' ' || character == '\t' || character == '\r' || character == '\n';
}

struct field field_trimmed(struct field field)
{
    while (field.length > 0 && is_blank(field.text[0])) {
        field.text++;
        field.length--;
    }
    while (field.length > 0 && is_blank(field.text[field.length - 1]))
        field.length--;
    return field;
}

void field_copy(struct field field, char *ret, size_t size)
{
    copy_text(ret, size, field.text, field.length);
}

void field_complaint(struct field field, enum field_fault fault, char *ret, size_t size)
{
    static const char *const faults[] = {
        [FIELD_OK] = "is fine",
        [FIELD_EMPTY] = "is empty",
        [FIELD_NO_NUMBER] = "is no number",
        [FIELD_COMMA] = "has a comma: write numbers with a point",
        [FIELD_NEGATIVE] = "is negative",
        [FIELD_NOT_FINITE] = "is no finite number",
        [FIELD_NO_TIME] = "is no time, such as 2026-11-22 10:00:00",
    };
    char text[QUOTED_LENGTH + 1];

    field_copy(field_trimmed(field), text, sizeof text);
    make_printable(text);
    snprintf(ret, size, "'%s' %s", text, faults[fault]);
}

static bool is_digit(char character)
{
    return character >= '0' && character <= '9';
}

static bool is_word(struct field field, const char *word)
{
    return field.length == strlen(word) && strncasecmp(field.text, word, field.length) == 0;
}

static bool is_no_finite(struct field field)
{
    return is_word(field, "nan") || is_word(field, "inf") || is_word(field, "infinity");
}

/* Returns mantissa x 10^exponent. The last bit may be wrong if no double is exactly
 * 10^exponent. */
static double scaled(uint64_t mantissa, int exponent)
{
    static const double powers[EXACT_POWERS] = { 1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                                 1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                                 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22 };

    if (mantissa == 0 || exponent == 0)
        return (double)mantissa;
    if (mantissa < (uint64_t)1 << 53 && exponent < 0 && exponent > -EXACT_POWERS)
        return (double)mantissa / powers[-exponent];
    return (double)((long double)mantissa * powl(10, exponent));
}

/* Parses digits with an optional decimal point. The number is *mantissa x 10^*exponent; digits
 * after the first 18 significant ones are cut. Returns false if there are no digits. */
static bool parse_digits(const char **at, const char *end, uint64_t *mantissa, int *exponent)
{
    int digits = 0, point = 0;
    bool is_any = false;

    for (; *at < end && (is_digit(**at) || (**at == '.' && point == 0)); (*at)++) {
        if (**at == '.') {
            point = 1;
            continue;
        }
        is_any = true;
        if (digits < MOST_DIGITS) {
            *mantissa = *mantissa * 10 + (uint64_t)(**at - '0');
            digits += *mantissa > 0;
            *exponent -= point;
        } else if (*exponent < LARGEST_EXPONENT) {
            *exponent += 1 - point;
        }
    }
    return is_any;
}

/* Parses an optional exponent such as "e-3", and adds it to *exponent. Returns false if the
 * exponent is malformed or other text follows. */
static bool parse_exponent(const char **at, const char *end, int *exponent)
{
    int value = 0, sign = 1;

    if (*at == end)
        return true;
    if (**at != 'e' && **at != 'E')
        return false;
    (*at)++;
    if (*at < end && (**at == '+' || **at == '-')) {
        sign = **at == '-' ? -1 : 1;
        (*at)++;
    }
    if (*at == end)
        return false;
    for (; *at < end && is_digit(**at); (*at)++)
        value = value < 10 * LARGEST_EXPONENT ? 10 * value + (**at - '0') : value;
    *exponent += sign * value;
    return *at == end;
}

/* Returns whether the field looks like "12,5" or "1,500": it has only digits, signs, points, an
 * "e", and at least one comma. */
static bool has_comma(struct field field)
{
    bool is_any_digit = false, is_any_comma = false;

    for (size_t i = 0; i < field.length; i++) {
        if (memchr("0123456789.,eE+-", field.text[i], 16) == NULL)
            return false;
        is_any_digit |= is_digit(field.text[i]);
        is_any_comma |= field.text[i] == ',';
    }
    return is_any_digit && is_any_comma;
}

enum field_fault field_number(struct field field, double *ret)
{
    const char *at, *end;
    uint64_t mantissa = 0;
    int exponent = 0;
    bool is_negative;

    field = field_trimmed(field);
    if (field.length == 0)
        return FIELD_EMPTY;
    is_negative = field.text[0] == '-';
    if (is_negative || field.text[0] == '+') {
        field.text++;
        field.length--;
    }
    if (is_no_finite(field))
        return FIELD_NOT_FINITE;
    at = field.text;
    end = at + field.length;
    if (!parse_digits(&at, end, &mantissa, &exponent) || !parse_exponent(&at, end, &exponent))
        return has_comma(field) ? FIELD_COMMA : FIELD_NO_NUMBER;
    *ret = scaled(mantissa, exponent);
    if (!isfinite(*ret))
        return FIELD_NOT_FINITE;
    if (is_negative)
        *ret = -*ret;
    return *ret < 0 ? FIELD_NEGATIVE : FIELD_OK;
}

static const struct {
    const char *name;
    enum unit unit;
} unit_names[] = {
    { "percent", UNIT_PERCENT }, { "pct", UNIT_PERCENT }, { "share", UNIT_SHARE },
    { "ratio", UNIT_SHARE },     { "ms", UNIT_MS },       { "msec", UNIT_MS },
    { "milliseconds", UNIT_MS }, { "s", UNIT_S },         { "sec", UNIT_S },
    { "seconds", UNIT_S },       { "us", UNIT_US },       { "usec", UNIT_US },
    { "microseconds", UNIT_US }, { "ns", UNIT_NS },       { "nsec", UNIT_NS },
    { "nanoseconds", UNIT_NS },
};

enum unit unit_of_name(const char *name, size_t length)
{
    for (size_t i = 0; i < sizeof unit_names / sizeof unit_names[0]; i++) {
        if (strlen(unit_names[i].name) == length && memcmp(unit_names[i].name, name, length) == 0)
            return unit_names[i].unit;
    }
    return UNIT_NONE;
}

const char *unit_name(enum unit unit)
{
    for (size_t i = 0; i < sizeof unit_names / sizeof unit_names[0]; i++) {
        if (unit_names[i].unit == unit)
            return unit_names[i].name;
    }
    return "?";
}

bool unit_is_time(enum unit unit)
{
    return unit >= UNIT_MS && unit < UNIT_COUNT;
}

double unit_ns(enum unit unit, double elapsed_ns)
{
    switch (unit) {
    case UNIT_PERCENT:
        return elapsed_ns / 100;
    case UNIT_SHARE:
        return elapsed_ns;
    case UNIT_MS:
        return NS_PER_MS;
    case UNIT_S:
        return NS_PER_S;
    case UNIT_US:
        return NS_PER_US;
    default:
        return 1;
    }
}
