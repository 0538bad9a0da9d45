/*
 * A report: the page with a stream in it, one HTML file that opens without a server or a network.
 *
 * The stream is compressed (zlib) and in base64 within a script element that no browser runs. It is
 * written piece by piece; only a buffer of it is in memory.
 */
#ifndef CAMP_VIEWS_PAGE_REPORT_H
#define CAMP_VIEWS_PAGE_REPORT_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct report;

/* The page up to its data. `title`: of the document. The stream stays the caller's. NULL: no
 * memory. */
struct report *report_begin(FILE *stream, const char *title);

/* Blocks of a stream (stream.h) that come next. 0, or the errno of a write that failed. */
int report_put(struct report *report, const uint8_t *data, size_t size);

/* The rest of the page; it is flushed. *ret_size in bytes. 0, or the errno of a write. */
int report_end(struct report *report, uint64_t *ret_size);

/* NULL is allowed. */
void report_release(struct report *report);

#endif
