#include "exposition.h"

#include "counters/units.h"
#include "views/format.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

const char *exposition_type(enum exposition_format format)
{
    return format == EXPOSITION_OPENMETRICS
               ? "application/openmetrics-text; version=1.0.0; charset=utf-8"
               : "text/plain; version=0.0.4; charset=utf-8";
}

static void put(struct bytes *to, const char *text)
{
    bytes_put(to, text, strlen(text));
}

/* Puts each byte of an unprintable character as "\xHH". */
static void put_hexadecimal(struct bytes *to, const char *character, size_t length)
{
    char text[8];

    for (size_t i = 0; i < length; i++) {
        snprintf(text, sizeof text, "\\\\x%02x", (unsigned char)character[i]);
        put(to, text);
    }
}

/* Returns the number of characters at the start of a text that no format escapes. */
static size_t plain_length(const char *text)
{
    size_t length = 0;

    while (text[length] >= ' ' && text[length] < 127 && text[length] != '"' && text[length] != '\\')
        length++;
    return length;
}

static void put_label(struct bytes *to, const char *value)
{
    for (const char *at = value; *at != '\0';) {
        const size_t plain = plain_length(at);
        const size_t length = plain > 0 ? plain : utf8_length(at);
        const size_t taken = length > 0 ? length : 1;

        if (plain > 0)
            bytes_put(to, at, plain);
        else if (*at == '\n')
            put(to, "\\n");
        else if (*at == '"')
            put(to, "\\\"");
        else if (!is_printable(at, length) || (*at == '\\' && at[1] == 'x'))
            put_hexadecimal(to, at, taken);
        else if (*at == '\\')
            put(to, "\\\\");
        else
            bytes_put(to, at, length);
        at += taken;
    }
}

/* Only OpenMetrics escapes quotation marks in help texts. */
static void put_help(struct bytes *to, enum exposition_format format, const char *text)
{
    while (*text != '\0') {
        const size_t plain = plain_length(text);

        if (plain > 0)
            bytes_put(to, text, plain);
        else if (*text == '\\')
            put(to, "\\\\");
        else if (*text == '\n')
            put(to, "\\n");
        else if (*text == '"' && format == EXPOSITION_OPENMETRICS)
            put(to, "\\\"");
        else
            bytes_put(to, text, 1);
        text += plain > 0 ? plain : 1;
    }
}

static const char *suffix_of(const struct metric *metric)
{
    return metric->type == METRIC_COUNTER ? "_total" : metric->type == METRIC_INFO ? "_info" : "";
}

/* In Prometheus' format the name of a family includes the suffix _total or _info. */
static void put_head(struct bytes *to, enum exposition_format format, const struct metric *metric,
                     const char *keyword)
{
    put(to, "# ");
    put(to, keyword);
    put(to, " ");
    put(to, metric->name);
    if (format == EXPOSITION_PROMETHEUS)
        put(to, suffix_of(metric));
    put(to, " ");
}

static void put_heads(struct bytes *to, enum exposition_format format, const struct metric *metric)
{
    const char *const types[] = { [METRIC_COUNTER] = "counter",
                                  [METRIC_GAUGE] = "gauge",
                                  [METRIC_INFO] =
                                      format == EXPOSITION_OPENMETRICS ? "info" : "gauge" };

    put_head(to, format, metric, "HELP");
    put_help(to, format, metric->help);
    put(to, " ");
    put(to, camp_provenance_name((int)metric->provenance));
    put(to, "; source: ");
    put_help(to, format, metric->from);
    put(to, "\n");
    put_head(to, format, metric, "TYPE");
    put(to, types[metric->type]);
    put(to, "\n");
    if (format == EXPOSITION_OPENMETRICS && metric->unit != NULL) {
        put_head(to, format, metric, "UNIT");
        put(to, metric->unit);
        put(to, "\n");
    }
}

static void put_value(struct bytes *to, const struct metric *metric, uint64_t value)
{
    char text[48];

    if (metric->unit != NULL && strcmp(metric->unit, "seconds") == 0)
        snprintf(text, sizeof text, " %" PRIu64 ".%09" PRIu64 "\n", value / NS_PER_S,
                 value % NS_PER_S);
    else
        snprintf(text, sizeof text, " %" PRIu64 "\n", value);
    put(to, text);
}

static void put_series(struct bytes *to, const struct metric *metric, const struct series *series)
{
    const char *separator = "{";

    put(to, metric->name);
    put(to, suffix_of(metric));
    for (size_t i = 0; i < METRIC_LABELS && metric->labels[i] != NULL; i++) {
        put(to, separator);
        put(to, metric->labels[i]);
        put(to, "=\"");
        put_label(to, series->labels[i]);
        put(to, "\"");
        separator = ",";
    }
    if (metric->labels[0] != NULL)
        put(to, "}");
    put_value(to, metric, series->value);
}

static void put_family(struct bytes *to, enum exposition_format format,
                       const struct metric_family *family)
{
    bool begun = false;

    for (size_t i = 0; i < family->count; i++) {
        if (!family->series[i].known)
            continue;
        if (!begun)
            put_heads(to, format, family->metric);
        begun = true;
        put_series(to, family->metric, &family->series[i]);
    }
}

void exposition_write(struct bytes *ret, enum exposition_format format,
                      const struct metric_family *families, size_t count)
{
    for (size_t i = 0; i < count; i++)
        put_family(ret, format, &families[i]);
    if (format == EXPOSITION_OPENMETRICS)
        put(ret, "# EOF\n");
}
