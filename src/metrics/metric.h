/* The metrics of an exporter. The table of metrics has the meaning, the unit, the provenance and
 * the source of each family. A snapshot fills the series of the families. */
#pragma once

#include <camp/camp.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum metric_type {
    METRIC_COUNTER,
    METRIC_GAUGE,
    METRIC_INFO, /* the labels are the information; the value is 1 */
    METRIC_HISTOGRAM
};

#define METRIC_LABELS 5

struct metric {
    const char *name; /* without the suffixes _total and _info: "camp_cpu_seconds" */
    /* last word of the name: "seconds" (values are in ns) or "bytes"; NULL if there is no unit */
    const char *unit;
    const char *help; /* one sentence; may contain any bytes */
    const char *from; /* the source in the system, such as "/proc/stat" */
    enum metric_type type;
    enum camp_provenance provenance;
    const char *labels[METRIC_LABELS]; /* names of the labels; unused ones are NULL */
    /* [value_count] fixed values of the labels: all labels of the first series, then all labels of
     * the second series, and so on. NULL if the family has a single series, or if each snapshot
     * determines the series. */
    const char *const *values;
    size_t value_count;
    /* METRIC_HISTOGRAM: upper bounds of the buckets in ns, ascending; the last bucket has none. */
    const uint64_t *bounds; /* [bound_count] */
    size_t bound_count;
};

struct series {
    const char *labels[METRIC_LABELS]; /* values of the metric's labels; may contain any bytes */
    uint64_t value;                    /* in ns if the unit is "seconds" */
    bool known;                        /* if false, the series is not written */
    /* METRIC_HISTOGRAM: [bound_count + 1] numbers of values in each bucket; `value` is their sum.
     * NULL with other types. */
    const uint64_t *counts;
};

/* Numbers of HTTP requests by their result. */
struct scrapes {
    uint64_t answered, failed, refused;
    uint64_t sent_bytes; /* of all pages, after compression */
};

struct metric_family {
    const struct metric *metric;
    struct series *series;
    size_t count;
};
