/*
 * Chooses the format of an answer from the headers of an HTTP request. The headers may contain any
 * bytes.
 *
 * A scraper sends a list of the formats that it accepts, such as
 * "application/openmetrics-text;version=1.0.0;q=0.6, text/plain;version=0.0.4;q=0.4". Parameters
 * other than version and q, such as charset, are ignored, because the names of all metrics are
 * ASCII.
 */
#pragma once

#include "exposition.h"

#include <stdbool.h>
#include <stddef.h>

/* Returns the format that an Accept header prefers. A header may ask for OpenMetrics in version
 * 1.0.0, in version 0.0.1 or without a version. `accept` is NULL if there is no header. */
enum exposition_format negotiate_format(const char *accept, size_t length);

bool negotiate_gzip(const char *accept_encoding, size_t length);
