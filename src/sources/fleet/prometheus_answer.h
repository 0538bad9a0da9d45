/*
 * An answer of Prometheus' HTTP API: series with labels, each with one or more samples.
 *
 * The bytes are untrusted. They are parsed while they arrive (prometheus_parser.h), and only labels
 * and samples are kept, each different label once. So the memory of an answer does not depend on
 * the form of its JSON.
 */
#pragma once

#include "ledger/index.h"

#include <camp/camp.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PROMETHEUS_LABELS_MOST 64                    /* Prometheus' default limit is 30 */
#define PROMETHEUS_KEPT_BYTES ((size_t)24 << 20)     /* of the labels and samples of an answer */
#define PROMETHEUS_ANSWER_BYTES ((uint64_t)64 << 20) /* of the JSON, decompressed */

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
    const struct prometheus_sample *samples; /* [sample_count] in ascending order of their times */
    size_t sample_count;
};

/* The ends of a series in labels[] and samples[]. It starts at the ends of the series before. */
struct prometheus_ends {
    uint32_t labels, samples;
};

/* An empty answer is all zero. */
struct prometheus_answer {
    struct prometheus_ends *series; /* [series_count] */
    size_t series_count, series_capacity;
    uint32_t *labels; /* [label_count] positions in `text` of the name and the value of a label */
    size_t label_count, label_capacity;
    struct prometheus_sample *samples; /* [sample_count] */
    size_t sample_count, sample_capacity;
    char *text; /* [text_length] name, NUL, value, NUL of each different label */
    size_t text_length, text_capacity;
    struct index by_text;
    bool is_matrix; /* samples have their own times; otherwise all have the time of evaluation */
};

void prometheus_answer_release(struct prometheus_answer *answer);

/* Reads the series at index `at`, which must be below series_count. */
void prometheus_answer_series(const struct prometheus_answer *answer, size_t at,
                              struct prometheus_series *ret);

/* Returns the value of a label of the series at index `at`, or "" if the series has no such label.
 * Faster than prometheus_answer_series(), because it reads one label only. */
const char *prometheus_answer_label(const struct prometheus_answer *answer, size_t at,
                                    const char *name);

/* Returns the value of a label, or "" if the series has no such label. */
const char *prometheus_series_label(const struct prometheus_series *series, const char *name);

/* The next three functions add to an answer. They return CAMP_OK, CAMP_E_NOMEM, or CAMP_E_SPACE if
 * the answer would have more than PROMETHEUS_KEPT_BYTES. A label and a sample belong to the series
 * that prometheus_answer_end_series() ends next. text[length] is a name, NUL, a value, NUL. */
int prometheus_answer_add_label(struct prometheus_answer *answer, const char *text, size_t length);
int prometheus_answer_add_sample(struct prometheus_answer *answer,
                                 const struct prometheus_sample *sample);
int prometheus_answer_end_series(struct prometheus_answer *answer);

/* Drops labels and samples that belong to no series yet. */
void prometheus_answer_drop(struct prometheus_answer *answer);

/* Returns the number of labels, or of samples, that belong to no series yet. */
size_t prometheus_answer_new_labels(const struct prometheus_answer *answer);
size_t prometheus_answer_new_samples(const struct prometheus_answer *answer);
