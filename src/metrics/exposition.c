#include "exposition.h"

#include "counters/units.h"
#include "views/format.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
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
                                  [METRIC_HISTOGRAM] = "histogram",
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

static bool is_time(const struct metric *metric)
{
    return metric->unit != NULL && strcmp(metric->unit, "seconds") == 0;
}

static void put_value(struct bytes *to, uint64_t value, bool is_time)
{
    char text[48];

    if (is_time)
        snprintf(text, sizeof text, " %" PRIu64 ".%09" PRIu64 "\n", value / NS_PER_S,
                 value % NS_PER_S);
    else
        snprintf(text, sizeof text, " %" PRIu64 "\n", value);
    put(to, text);
}

/* Puts the name of a sample and its labels. `bound` is the value of the label le, or NULL. */
static void put_name(struct bytes *to, const struct metric *metric, const struct series *series,
                     const char *suffix, const char *bound)
{
    const char *separator = "{";

    put(to, metric->name);
    put(to, suffix);
    for (size_t i = 0; i < METRIC_LABELS && metric->labels[i] != NULL; i++) {
        put(to, separator);
        put(to, metric->labels[i]);
        put(to, "=\"");
        put_label(to, series->labels[i]);
        put(to, "\"");
        separator = ",";
    }
    if (bound != NULL) {
        put(to, separator);
        put(to, "le=\"");
        put(to, bound);
        put(to, "\"");
    }
    if (metric->labels[0] != NULL || bound != NULL)
        put(to, "}");
}

/* Writes seconds with the fewest digits that identify them, as OpenMetrics wants for this label. No
 * bound is a whole number. */
static void bound_text(char ret[32], uint64_t bound_ns)
{
    const double seconds = (double)bound_ns / NS_PER_S;
    int digits = 1;

    do
        snprintf(ret, 32, "%.*g", digits, seconds);
    while (strtod(ret, NULL) != seconds && digits++ < 17);
}

static void put_histogram(struct bytes *to, const struct metric *metric,
                          const struct series *series)
{
    uint64_t count = 0;

    for (size_t i = 0; i <= metric->bound_count; i++) {
        char bound[32] = "+Inf";

        if (i < metric->bound_count)
            bound_text(bound, metric->bounds[i]);
        count += series->counts[i];
        put_name(to, metric, series, "_bucket", bound);
        put_value(to, count, false);
    }
    put_name(to, metric, series, "_sum", NULL);
    put_value(to, series->value, is_time(metric));
    put_name(to, metric, series, "_count", NULL);
    put_value(to, count, false);
}

static void put_series(struct bytes *to, const struct metric *metric, const struct series *series)
{
    if (metric->type == METRIC_HISTOGRAM) {
        put_histogram(to, metric, series);
        return;
    }
    put_name(to, metric, series, suffix_of(metric), NULL);
    put_value(to, series->value, is_time(metric));
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
