/*
 * Chooses the format of an answer from the headers of a request, which may have any bytes.
 *
 * A scraper sends a list of the formats it accepts,
 * "application/openmetrics-text;version=1.0.0;q=0.6, text/plain;version=0.0.4;q=0.4" and so on,
 * with parameters (charset=, escaping=) that do not matter: all names here are plain.
 */
#pragma once

#include "exposition.h"

#include <stdbool.h>
#include <stddef.h>

/* The preferred format in an Accept header: OpenMetrics 1.0.0 (also for 0.0.1, which it extends, or
 * without a version), otherwise the text of Prometheus. NULL: no header. */
enum exposition_format negotiate_format(const char *accept, size_t length);

/* Does an Accept-Encoding header allow gzip? */
bool negotiate_gzip(const char *accept_encoding, size_t length);
