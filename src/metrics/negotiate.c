#include "negotiate.h"

#include <string.h>
#include <strings.h>

struct word {
    const char *text;
    size_t length;
};

static bool is_blank(char byte)
{
    return byte == ' ' || byte == '\t';
}

static struct word trim(struct word word)
{
    while (word.length > 0 && is_blank(word.text[0])) {
        word.text++;
        word.length--;
    }
    while (word.length > 0 && is_blank(word.text[word.length - 1]))
        word.length--;
    return word;
}

/* Moves the part of *rest before the separator to *ret. Returns false if *rest is empty. */
static bool next_part(struct word *rest, char separator, struct word *ret)
{
    const char *end;

    if (rest->length == 0)
        return false;
    end = memchr(rest->text, separator, rest->length);
    ret->text = rest->text;
    ret->length = end != NULL ? (size_t)(end - rest->text) : rest->length;
    rest->text += ret->length + (end != NULL ? 1 : 0);
    rest->length -= ret->length + (end != NULL ? 1 : 0);
    *ret = trim(*ret);
    return true;
}

static bool is(struct word word, const char *text)
{
    return word.length == strlen(text) && strncasecmp(word.text, text, word.length) == 0;
}

/* Returns whether a parameter has the form NAME=VALUE with this name. Sets *ret_value to VALUE
 * without quotation marks. */
static bool has_name(struct word parameter, const char *name, struct word *ret_value)
{
    struct word before;

    *ret_value = parameter;
    if (!next_part(ret_value, '=', &before) || !is(before, name))
        return false;
    *ret_value = trim(*ret_value);
    if (ret_value->length >= 2 && ret_value->text[0] == '"' &&
        ret_value->text[ret_value->length - 1] == '"') {
        ret_value->text++;
        ret_value->length -= 2;
    }
    return true;
}

/* Converts a quality, such as "0.75", to thousandths. Returns 0, which means "not accepted", for an
 * invalid text. */
static int quality_of(struct word value)
{
    int quality = 0, unit = 1000;

    for (size_t i = 0; i < value.length; i++) {
        const char byte = value.text[i];

        if (i == 1 && byte == '.')
            continue;
        if (byte < '0' || byte > '9' || i > 4)
            return 0;
        quality += (byte - '0') * unit;
        unit /= 10;
    }
    return quality <= 1000 ? quality : 0;
}

struct choice {
    struct word what, version; /* version.text is NULL if no version is given */
    int quality;
};

static bool next_choice(struct word *rest, struct choice *ret)
{
    struct word whole, parameter, value;

    if (!next_part(rest, ',', &whole))
        return false;
    *ret = (struct choice){ .quality = 1000 };
    next_part(&whole, ';', &ret->what);
    while (next_part(&whole, ';', &parameter)) {
        if (has_name(parameter, "q", &value))
            ret->quality = quality_of(value);
        else if (has_name(parameter, "version", &value))
            ret->version = value;
    }
    return true;
}

static bool is_openmetrics(const struct choice *choice)
{
    return is(choice->what, "application/openmetrics-text") &&
           (choice->version.text == NULL || is(choice->version, "1.0.0") ||
            is(choice->version, "0.0.1"));
}

/* Prometheus' format is version 0.0.4, so text/plain with another version is not accepted. */
static bool is_prometheus(const struct choice *choice)
{
    return (is(choice->what, "text/plain") &&
            (choice->version.text == NULL || is(choice->version, "0.0.4"))) ||
           is(choice->what, "text/*") || is(choice->what, "*/*");
}

enum exposition_format negotiate_format(const char *accept, size_t length)
{
    struct word rest = { accept, accept != NULL ? length : 0 };
    struct choice choice;
    int openmetrics = 0, prometheus = 0;

    while (next_choice(&rest, &choice)) {
        if (is_openmetrics(&choice) && choice.quality > openmetrics)
            openmetrics = choice.quality;
        else if (is_prometheus(&choice) && choice.quality > prometheus)
            prometheus = choice.quality;
    }
    return openmetrics > 0 && openmetrics >= prometheus ? EXPOSITION_OPENMETRICS
                                                        : EXPOSITION_PROMETHEUS;
}

bool negotiate_gzip(const char *accept_encoding, size_t length)
{
    struct word rest = { accept_encoding, accept_encoding != NULL ? length : 0 };
    struct choice choice;
    int named = -1, any = 0;

    while (next_choice(&rest, &choice)) {
        if (is(choice.what, "gzip") || is(choice.what, "x-gzip"))
            named = choice.quality;
        else if (is(choice.what, "*"))
            any = choice.quality;
    }
    return named >= 0 ? named > 0 : any > 0;
}
