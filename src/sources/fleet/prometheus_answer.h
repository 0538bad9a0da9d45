/* An answer of Prometheus' HTTP API: series with labels, each with one or more samples. The bytes
 * are untrusted, so each part is checked when it is read. */
#pragma once

#include <camp/camp.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PROMETHEUS_LABELS_MOST 64 /* Prometheus' default limit is 30 */

struct prometheus_label {
    const char *name, *value; /* UTF-8 without NUL; the text belongs to the answer */
};

struct prometheus_sample {
    int64_t time_ns; /* ns since 1970 */
    double value;    /* finite, or NAN */
};

struct prometheus_series {
    struct prometheus_label labels[PROMETHEUS_LABELS_MOST]; /* [label_count] sorted by name */
    size_t label_count;
    size_t sample_count;
    const void *samples;
};

struct prometheus_answer {
    void *root, *series;
    size_t series_count; /* includes series that prometheus_answer_series() cannot read */
    bool is_matrix; /* samples have their own times; otherwise all have the time of evaluation */
    bool is_scalar; /* the answer is one number without labels */
};

/* Parses text[length]. After CAMP_OK, release *ret with prometheus_answer_release(). Returns
 * CAMP_E_FORMAT if the text is no answer of Prometheus. */
int prometheus_answer_parse(const char *text, size_t length, struct prometheus_answer *ret,
                            struct camp_error *error);
void prometheus_answer_release(struct prometheus_answer *answer);

/* Reads the series at index `at`, which must be below series_count. Returns false if its samples
 * are histograms, or it has too many labels. */
bool prometheus_answer_series(const struct prometheus_answer *answer, size_t at,
                              struct prometheus_series *ret);

/* Returns the value of a label of the series at index `at`, or "" if the series has no such label.
 * Faster than prometheus_answer_series(), because it reads one label only. */
const char *prometheus_answer_label(const struct prometheus_answer *answer, size_t at,
                                    const char *name);

/* Reads the sample at index `at`, below sample_count. Returns false if its time is no number, or is
 * before 1970 or too large. */
bool prometheus_series_sample(const struct prometheus_series *series, size_t at,
                              struct prometheus_sample *ret);

/* Returns the value of a label, or "" if the series has no such label. */
const char *prometheus_series_label(const struct prometheus_series *series, const char *name);
