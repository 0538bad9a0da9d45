/*
 * What an answer is to be, by what a request says it takes: pure text, any bytes.
 *
 * A scraper sends a list of what it takes, "application/openmetrics-text;version=1.0.0;q=0.6,
 * text/plain;version=0.0.4;q=0.4" and so on, with parameters (charset=, escaping=) that are no
 * matter: all names here are plain.
 */
#ifndef CAMP_METRICS_NEGOTIATE_H
#define CAMP_METRICS_NEGOTIATE_H

#include "exposition.h"

#include <stdbool.h>
#include <stddef.h>

/* Of Accept. The format that it likes best, of what there is: OpenMetrics 1.0.0 (also where 0.0.1
 * is asked for, which it extends, or no version), the text of Prometheus for anything else. NULL:
 * the header is not there. */
enum exposition_format negotiate_format(const char *accept, size_t length);

/* Of Accept-Encoding: whether gzip is taken. */
bool negotiate_gzip(const char *accept_encoding, size_t length);

#endif
