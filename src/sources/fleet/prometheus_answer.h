/*
 * An answer of Prometheus' HTTP API: series with labels, each with one sample or more. The bytes
 * are untrusted: an answer is valid as a whole, or refused.
 */
#pragma once

#include <camp/camp.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PROMETHEUS_LABELS_MOST 64 /* of a series; Prometheus' default limit is 30 */

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
    size_t series_count; /* including unreadable ones: prometheus_answer_series() */
    bool is_matrix;      /* samples have times of their own; otherwise that of the evaluation */
    bool is_scalar;      /* one number without labels */
};

/* Parses text[length]. CAMP_E_FORMAT: it is no answer; CAMP_E_NOMEM.
 * prometheus_answer_release(). */
int prometheus_answer_parse(const char *text, size_t length, struct prometheus_answer *ret,
                            struct camp_error *error);
void prometheus_answer_release(struct prometheus_answer *answer);

/* Series number `at`, below series_count. False: it has no numeric samples (a histogram). */
bool prometheus_answer_series(const struct prometheus_answer *answer, size_t at,
                              struct prometheus_series *ret);

/* One label of series number `at`, without parsing the others; "": it has no such label. */
const char *prometheus_answer_label(const struct prometheus_answer *answer, size_t at,
                                    const char *name);

/* Sample number `at`, below sample_count. False: it is no number, or before 1970. */
bool prometheus_series_sample(const struct prometheus_series *series, size_t at,
                              struct prometheus_sample *ret);

/* The value of a label; "": it has no such label. */
const char *prometheus_series_label(const struct prometheus_series *series, const char *name);
