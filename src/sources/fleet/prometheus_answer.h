/*
 * An answer of Prometheus' HTTP API: series with labels, each with one sample or more. The bytes
 * are untrusted: an answer with any fault is refused as a whole.
 */
#pragma once

#include <camp/camp.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PROMETHEUS_LABELS_MOST 64 /* most labels of a series; Prometheus' default limit is 30 */

struct prometheus_label {
    const char *name, *value; /* UTF-8 without NUL; owned by the answer */
};

struct prometheus_sample {
    int64_t time_ns; /* since 1970 */
    double value;    /* finite, or NaN */
};

struct prometheus_series {
    struct prometheus_label labels[PROMETHEUS_LABELS_MOST]; /* [label_count], by name */
    size_t label_count;
    size_t sample_count;
    const void *samples;
};

struct prometheus_answer {
    void *root, *series; /* of the JSON library */
    size_t series_count; /* includes those for which prometheus_answer_series() returns false */
    /* each sample has its own time; otherwise all have the time of the evaluation */
    bool is_matrix;
    bool is_scalar; /* the answer is one number without labels */
};

/* Parses text[length]. CAMP_E_FORMAT: it is no answer of Prometheus; CAMP_E_NOMEM. Release *ret
 * with prometheus_answer_release(). */
int prometheus_answer_parse(const char *text, size_t length, struct prometheus_answer *ret,
                            struct camp_error *error);
void prometheus_answer_release(struct prometheus_answer *answer);

/* Reads the series at index `at`, below series_count. False: it has no numeric samples (a
 * histogram). */
bool prometheus_answer_series(const struct prometheus_answer *answer, size_t at,
                              struct prometheus_series *ret);

/* The value of one label of the series at index `at`, without parsing the other labels; "": it has
 * no such label. */
const char *prometheus_answer_label(const struct prometheus_answer *answer, size_t at,
                                    const char *name);

/* Reads the sample at index `at`, below sample_count. False: its time is no number, or before 1970.
 */
bool prometheus_series_sample(const struct prometheus_series *series, size_t at,
                              struct prometheus_sample *ret);

/* The value of a label; "": it has no such label. */
const char *prometheus_series_label(const struct prometheus_series *series, const char *name);
