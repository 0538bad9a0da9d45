/*
 * Metrics as text: the format of Prometheus (0.0.4) and OpenMetrics (1.0.0), from the same
 * families.
 *
 * Times are in seconds with all nine digits, so that sums are exact. Labels are UTF-8: an invalid
 * byte or a control character is \xHH, and so is a backslash before an x; different names stay
 * different.
 */
#pragma once

#include "metric.h"
#include "views/byte_buffer.h"

enum exposition_format { EXPOSITION_PROMETHEUS, EXPOSITION_OPENMETRICS };

/* The value of Content-Type. */
const char *exposition_type(enum exposition_format format);

/* Appends a page; ret->failed: no memory. A family without a known series is omitted. */
void exposition_write(struct bytes *ret, enum exposition_format format,
                      const struct metric_family *families, size_t count);
