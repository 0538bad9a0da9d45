/*
 * Metrics as text, in Prometheus' format (0.0.4) or OpenMetrics (1.0.0).
 *
 * Times are in seconds with all nine decimals, so that sums are exact. Labels are UTF-8. An invalid
 * byte or a control character becomes \xHH. A backslash before an "x" becomes \x5c, so that
 * different labels remain different.
 */
#pragma once

#include "metric.h"
#include "views/byte_buffer.h"

enum exposition_format { EXPOSITION_PROMETHEUS, EXPOSITION_OPENMETRICS };

const char *exposition_type(enum exposition_format format);

/* Appends a page, or sets ret->failed if there is no memory. A family without known series is
 * omitted. */
void exposition_write(struct bytes *ret, enum exposition_format format,
                      const struct metric_family *families, size_t count);
