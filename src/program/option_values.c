#include "option_values.h"

#include "ledger/array.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void text_list_release(struct text_list *list)
{
    free(list->texts);
    *list = (struct text_list){ 0 };
}

static int text_list_add(struct text_list *list, const char *text)
{
    if (!ARRAY_RESERVE(list->texts, list->capacity, list->count + 1))
        return 0;
    list->texts[list->count++] = text;
    return 1;
}

/* Parses a finite decimal number. *ret_rest points to the text after the number. */
static int parse_number(const char *text, double *ret, const char **ret_rest)
{
    const char *digits = text + strspn(text, "+-");
    char *rest;

    /* strtod() also accepts blanks, "nan", "infinity" and hexadecimal numbers, which camp
     * refuses. */
    if (strspn(digits, ".0123456789") == 0 || digits[1] == 'x' || digits[1] == 'X')
        return 0;
    errno = 0;
    *ret = strtod(text, &rest);
    *ret_rest = rest;
    return rest != text && errno == 0 && isfinite(*ret);
}

struct suffix {
    const char *name;
    double factor;
};

static int parse_with_suffix(const char *text, const struct suffix *suffixes, uint64_t *ret)
{
    const char *rest;
    double number;

    if (!parse_number(text, &number, &rest) || number < 0)
        return 0;
    for (; suffixes->name != NULL; suffixes++) {
        if (strcmp(rest, suffixes->name) != 0)
            continue;
        number *= suffixes->factor;
        if (number >= 18446744073709551616.0)
            return 0;
        *ret = (uint64_t)llround(fmin(number, 9.2e18));
        return 1;
    }
    return 0;
}

int parse_duration(const char *text, uint64_t *ret_ns)
{
    static const struct suffix suffixes[] = {
        { "", 1e9 },   { "s", 1e9 },    { "ms", 1e6 },   { "us", 1e3 },    { "ns", 1 },
        { "m", 60e9 }, { "min", 60e9 }, { "h", 3600e9 }, { "d", 86400e9 }, { NULL, 0 },
    };

    return parse_with_suffix(text, suffixes, ret_ns);
}

int parse_size(const char *text, uint64_t *ret_bytes)
{
    static const struct suffix suffixes[] = {
        { "", 1 },
        { "B", 1 },
        { "K", 1024.0 },
        { "KB", 1e3 },
        { "kB", 1e3 },
        { "KiB", 1024.0 },
        { "M", 1048576.0 },
        { "MB", 1e6 },
        { "MiB", 1048576.0 },
        { "G", 1073741824.0 },
        { "GB", 1e9 },
        { "GiB", 1073741824.0 },
        { "T", 1099511627776.0 },
        { "TB", 1e12 },
        { "TiB", 1099511627776.0 },
        { NULL, 0 },
    };

    return parse_with_suffix(text, suffixes, ret_bytes);
}

static int in_bounds(const struct option_spec *spec, double value)
{
    return (spec->minimum == 0 && spec->maximum == 0) ||
           (value >= spec->minimum && value <= spec->maximum);
}

static int set_choice(const struct option_spec *spec, const char *text)
{
    for (int i = 0; spec->choices[i] != NULL; i++) {
        if (strcmp(spec->choices[i], text) == 0) {
            *(int *)spec->value = i;
            return 1;
        }
    }
    return 0;
}

static int set_count(const struct option_spec *spec, const char *text)
{
    unsigned long long number;
    char *rest;

    errno = 0;
    number = strtoull(text, &rest, 10);
    if (text[0] < '0' || text[0] > '9' || *rest != '\0' || errno != 0 ||
        !in_bounds(spec, (double)number))
        return 0;
    *(uint64_t *)spec->value = number;
    return 1;
}

static int set_real(const struct option_spec *spec, const char *text)
{
    const char *rest;
    double number;

    if (!parse_number(text, &number, &rest) || *rest != '\0' || !in_bounds(spec, number))
        return 0;
    *(double *)spec->value = number;
    return 1;
}

static int set_scaled(const struct option_spec *spec, const char *text)
{
    int is_duration = spec->type == OPTION_DURATION;
    uint64_t number;

    if (!(is_duration ? parse_duration : parse_size)(text, &number) ||
        !in_bounds(spec, is_duration ? (double)number / 1e9 : (double)number))
        return 0;
    *(uint64_t *)spec->value = number;
    return 1;
}

static bool first_texts_add(struct first_texts *texts, const char *text)
{
    if (*texts->first == NULL) {
        *texts->first = text;
        return true;
    }
    if (texts->count < FIRST_TEXTS_MOST)
        texts->more[texts->count] = text;
    texts->count++;
    return true;
}

bool option_set(const struct option_spec *spec, const char *text)
{
    switch (spec->type) {
    case OPTION_FLAG:
        *(bool *)spec->value = true;
        return 1;
    case OPTION_NO_FLAG:
        *(bool *)spec->value = false;
        return 1;
    case OPTION_COUNT:
        return set_count(spec, text);
    case OPTION_REAL:
        return set_real(spec, text);
    case OPTION_DURATION:
    case OPTION_SIZE:
        return set_scaled(spec, text);
    case OPTION_TEXT:
        *(const char **)spec->value = text;
        return 1;
    case OPTION_CHOICE:
        return set_choice(spec, text);
    case OPTION_LIST:
        return text_list_add(spec->value, text);
    case OPTION_TEXTS:
        return first_texts_add(spec->value, text);
    case OPTION_ALIAS:
        *(int *)spec->value = (int)spec->minimum;
        return 1;
    case OPTION_HELP:
    case OPTION_VERSION:
        return 0;
    }
    return 0;
}

/* Writes a bound as a user would type it: "1T", "976K", "0.01". */
static void bound_text(const struct option_spec *spec, double bound, char *ret, size_t capacity)
{
    static const char suffixes[] = "KMGT";
    size_t at = 0;

    while (spec->type == OPTION_SIZE && at < sizeof suffixes - 1 && bound >= 1024 &&
           fmod(bound, 1024) == 0) {
        bound /= 1024;
        at++;
    }
    snprintf(ret, capacity, "%.10g%.*s", bound, at > 0 ? 1 : 0, &suffixes[at > 0 ? at - 1 : 0]);
}

void option_describe(const struct option_spec *spec, char *ret, size_t capacity)
{
    static const char *const kinds[] = {
        [OPTION_COUNT] = "a whole number",
        [OPTION_REAL] = "a number",
        [OPTION_DURATION] = "a time such as 500ms, 2s or 1m",
        [OPTION_SIZE] = "a size such as 4096, 976K or 2M",
    };
    char least[32], most[32];
    size_t used;

    if (spec->type == OPTION_CHOICE) {
        used = (size_t)snprintf(ret, capacity, "one of");
        for (int i = 0; spec->choices[i] != NULL && used < capacity; i++)
            used += (size_t)snprintf(ret + used, capacity - used, "%s %s", i > 0 ? "," : "",
                                     spec->choices[i]);
        return;
    }
    used = (size_t)snprintf(
        ret, capacity, "%s",
        spec->type < OPTION_TEXT && kinds[spec->type] != NULL ? kinds[spec->type] : "a text");
    if ((spec->minimum == 0 && spec->maximum == 0) || used >= capacity)
        return;
    bound_text(spec, spec->minimum, least, sizeof least);
    bound_text(spec, spec->maximum, most, sizeof most);
    snprintf(ret + used, capacity - used, ", from %s to %s%s", least, most,
             spec->type == OPTION_DURATION ? " s" : "");
}
