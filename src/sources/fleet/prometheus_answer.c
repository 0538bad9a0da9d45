#include "prometheus_answer.h"

#include "counters/error.h"
#include "sources/field.h"

#include <jansson.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define LARGEST_S 9e9 /* a longer time does not fit into 64 bits as ns */

static int complain(struct camp_error *error, const char *what)
{
    return camp_fail(error, CAMP_E_FORMAT, 0, "no answer of Prometheus: %s; is it one?", what);
}

void prometheus_answer_release(struct prometheus_answer *answer)
{
    json_decref(answer->root);
    *answer = (struct prometheus_answer){ 0 };
}

int prometheus_answer_parse(const char *text, size_t length, struct prometheus_answer *ret,
                            struct camp_error *error)
{
    const json_t *data;
    const char *type;

    *ret = (struct prometheus_answer){ .root = json_loadb(text, length, 0, NULL) };
    if (ret->root == NULL)
        return complain(error, "it is no JSON");
    data = json_object_get(ret->root, "data");
    type = json_string_value(json_object_get(data, "resultType"));
    ret->series = json_object_get(data, "result");
    if (type != NULL && json_is_array((json_t *)ret->series)) {
        ret->is_matrix = strcmp(type, "matrix") == 0;
        ret->is_scalar = strcmp(type, "scalar") == 0;
        ret->series_count = ret->is_scalar ? 1 : json_array_size(ret->series);
        if (ret->is_matrix || ret->is_scalar || strcmp(type, "vector") == 0)
            return CAMP_OK;
    }
    prometheus_answer_release(ret);
    return complain(error, type != NULL ? "a result of another type" : "it has no result");
}

static int compare_labels(const void *left, const void *right)
{
    return strcmp(((const struct prometheus_label *)left)->name,
                  ((const struct prometheus_label *)right)->name);
}

/* Reads the labels of a series, and sorts them if the server has not. Returns false if the value of
 * a label is not a text, or there are too many labels. */
static bool read_labels(json_t *metric, struct prometheus_series *ret)
{
    const char *name;
    json_t *value;
    bool sorted = true;

    json_object_foreach(metric, name, value)
    {
        struct prometheus_label *label = &ret->labels[ret->label_count];

        if (ret->label_count == PROMETHEUS_LABELS_MOST || !json_is_string(value))
            return false;
        *label = (struct prometheus_label){ name, json_string_value(value) };
        sorted &= ret->label_count == 0 || compare_labels(label - 1, label) < 0;
        ret->label_count++;
    }
    if (!sorted)
        qsort(ret->labels, ret->label_count, sizeof ret->labels[0], compare_labels);
    return true;
}

bool prometheus_answer_series(const struct prometheus_answer *answer, size_t at,
                              struct prometheus_series *ret)
{
    json_t *series;

    ret->label_count = 0;
    ret->sample_count = 1;
    ret->samples = answer->series;
    if (answer->is_scalar)
        return true;
    series = json_array_get(answer->series, at);
    ret->samples = json_object_get(series, answer->is_matrix ? "values" : "value");
    if (!json_is_array((const json_t *)ret->samples) ||
        !read_labels(json_object_get(series, "metric"), ret))
        return false;
    if (answer->is_matrix)
        ret->sample_count = json_array_size(ret->samples);
    return true;
}

const char *prometheus_answer_label(const struct prometheus_answer *answer, size_t at,
                                    const char *name)
{
    const json_t *series = answer->is_scalar ? NULL : json_array_get(answer->series, at);
    const char *value = json_string_value(json_object_get(json_object_get(series, "metric"), name));

    return value != NULL ? value : "";
}

static double number_of(const char *text)
{
    double number = NAN;
    const enum field_fault fault = field_number((struct field){ text, strlen(text) }, &number);

    return (fault == FIELD_OK || fault == FIELD_NEGATIVE) && isfinite(number) ? number : NAN;
}

bool prometheus_series_sample(const struct prometheus_series *series, size_t at,
                              struct prometheus_sample *ret)
{
    const json_t *sample = series->samples, *time;
    const char *text;
    double seconds;

    /* In a matrix a series is an array of pairs [time, value]; otherwise it is one pair. */
    if (json_is_array(json_array_get(sample, 0)))
        sample = json_array_get(sample, at);
    else if (at != 0)
        return false;
    time = json_array_get(sample, 0);
    text = json_string_value(json_array_get(sample, 1));
    seconds = json_number_value(time);
    if (!json_is_number(time) || text == NULL || !(seconds >= 0 && seconds < LARGEST_S))
        return false;
    ret->time_ns = llround(seconds * 1e3) * 1000000;
    ret->value = number_of(text);
    return true;
}

const char *prometheus_series_label(const struct prometheus_series *series, const char *name)
{
    for (size_t i = 0; i < series->label_count; i++) {
        if (strcmp(series->labels[i].name, name) == 0)
            return series->labels[i].value;
    }
    return "";
}
