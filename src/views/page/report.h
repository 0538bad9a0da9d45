/*
 * A report: the page with a whole stream in one HTML file, which needs neither a server nor a
 * network.
 *
 * The stream is compressed (zlib) and encoded (base64) in a script element that browsers do not
 * run. The output is written during compression, so that only one buffer is in memory.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct report;

/* Starts a report, and writes the page up to the data. The caller closes the stream after
 * report_end(). Returns NULL if there is no memory. */
struct report *report_start(FILE *stream, const char *title);

/* Writes the next blocks of a stream (stream.h). Returns 0, or the errno of a failed write. */
int report_put(struct report *report, const uint8_t *data, size_t size);

/* Writes and flushes the rest of the report. *ret_size is the size of the file in bytes. Returns 0,
 * or the errno of a failed write. */
int report_end(struct report *report, uint64_t *ret_size);

/* `report` may be NULL. */
void report_release(struct report *report);
