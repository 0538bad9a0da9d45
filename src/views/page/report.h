/*
 * A report: the page with a stream in it, as one HTML file that needs neither a server nor a
 * network.
 *
 * The stream is compressed (zlib) and encoded (base64) in a script element that browsers do not
 * run. It is written piece by piece; only a buffer is in memory.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct report;

/* Writes the page up to its data. `title`: of the document. The caller closes the stream. NULL: no
 * memory. */
struct report *report_start(FILE *stream, const char *title);

/* Writes the next blocks of a stream (stream.h). 0, or the errno of a failed write. */
int report_put(struct report *report, const uint8_t *data, size_t size);

/* Writes and flushes the rest. *ret_size: of the file, in bytes. 0, or the errno of a failed write.
 */
int report_end(struct report *report, uint64_t *ret_size);

/* NULL is allowed. */
void report_release(struct report *report);
