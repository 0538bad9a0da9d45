/*
 * Metrics of an exporter. A family is stated once, in its source's table: its meaning, its unit,
 * how and from where its numbers are obtained; its series are filled by each snapshot.
 */
#pragma once

#include <camp/camp.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum metric_type {
    METRIC_COUNTER, /* never falls while the exporter runs */
    METRIC_GAUGE,
    METRIC_INFO /* texts in labels; its value is 1 */
};

#define METRIC_LABELS 2

struct metric {
    const char *name; /* without _total and _info: "camp_cpu_seconds" */
    const char *unit; /* the last word of the name: "seconds" (its values are ns), "bytes"; NULL */
    const char *help; /* one sentence, any bytes */
    const char *from; /* where in the system it is read: "/proc/stat" */
    enum metric_type type;
    enum camp_provenance provenance;
    const char *labels[METRIC_LABELS]; /* names; NULL: none */
    /* The values of the labels, series after series, where they never change; NULL: one series, or
     * the series that a snapshot finds. */
    const char *const *values;
    size_t value_count;
};

struct series {
    const char *labels[METRIC_LABELS]; /* values, any bytes, of the metric's labels */
    uint64_t value;                    /* seconds: in ns */
    bool known;                        /* false: omitted, not 0 */
};

/* Counts of the answers of the exporter's server, which its page shows too. */
struct scrapes {
    uint64_t answered, failed, refused;
    uint64_t sent_bytes; /* of pages, compressed or not, as sent */
};

struct metric_family {
    const struct metric *metric;
    struct series *series; /* [count] */
    size_t count;
};
