/*
 * A report: the page with a stream in it, one HTML file that opens without a server or a network.
 *
 * The stream is compressed (zlib) and base64 in a script element that browsers do not run. It is
 * written piece by piece; only a buffer of it is in memory.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct report;

/* The page up to its data. `title`: of the document. The caller keeps the stream. NULL: no memory.
 */
struct report *report_start(FILE *stream, const char *title);

/* The next blocks of a stream (stream.h). 0, or the errno of a failed write. */
int report_put(struct report *report, const uint8_t *data, size_t size);

/* The rest of the page, flushed. *ret_size in bytes. 0, or the errno of a failed write. */
int report_end(struct report *report, uint64_t *ret_size);

/* NULL is allowed. */
void report_release(struct report *report);
