#include "report.h"

#include "page.h"
#include "views/pictures/svg.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

/* The size is a multiple of 3, so that base64 needs padding only at the end. */
#define BUFFER_SIZE (48 * 1024)
#define DATA_BEGIN "<script id=\"camp-data\" type=\"application/octet-stream\">"
#define DATA_END "</script>"
#define TITLE_BEGIN "<title>"
#define TITLE_END "</title>"

struct report {
    FILE *stream;
    z_stream deflate;
    const char *rest;
    int failed; /* errno of the first failed write, or 0 */
    uint8_t buffer[BUFFER_SIZE];
};

static const char *behind(const char *word)
{
    const char *found = memmem(page_html, page_size(), word, strlen(word));

    return found != NULL ? found + strlen(word) : NULL;
}

/* Writes the page up to the data, and inserts the title. Tests check that the page contains the
 * markers for title and data. */
static void put_start(struct report *report, const char *title)
{
    const char *from = page_html, *title_begin = behind(TITLE_BEGIN),
               *title_end = behind(TITLE_END);
    const char *place = behind(PAGE_DATA_PLACE);

    if (title_begin != NULL && title_end != NULL) {
        fwrite(from, 1, (size_t)(title_begin - from), report->stream);
        svg_escape(report->stream, title);
        from = title_end - strlen(TITLE_END);
    }
    report->rest = place != NULL ? place : page_html + page_size();
    fwrite(from, 1, (size_t)(report->rest - from) - strlen(PAGE_DATA_PLACE), report->stream);
    fputs(DATA_BEGIN, report->stream);
}

static void put_base64(FILE *stream, const uint8_t *data, size_t size)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

    for (size_t i = 0; i < size; i += 3) {
        const size_t count = size - i < 3 ? size - i : 3;
        const uint32_t bits = (uint32_t)data[i] << 16 |
                              (count > 1 ? (uint32_t)data[i + 1] << 8 : 0) |
                              (count > 2 ? (uint32_t)data[i + 2] : 0);
        const char text[4] = { digits[bits >> 18], digits[bits >> 12 & 63],
                               count > 1 ? digits[bits >> 6 & 63] : '=',
                               count > 2 ? digits[bits & 63] : '=' };

        fwrite(text, 1, sizeof text, stream);
    }
}

/* Compresses the input, and writes each buffer of output that is full. If `flush` is Z_FINISH, also
 * writes the last buffer. */
static void compress_more(struct report *report, int flush)
{
    z_stream *deflater = &report->deflate;
    int result;

    do {
        result = deflate(deflater, flush);
        if (deflater->avail_out == 0 || (flush == Z_FINISH && result == Z_STREAM_END)) {
            put_base64(report->stream, report->buffer, BUFFER_SIZE - deflater->avail_out);
            deflater->next_out = report->buffer;
            deflater->avail_out = BUFFER_SIZE;
        }
    } while (flush == Z_FINISH ? result == Z_OK : deflater->avail_in > 0);
}

/* Returns the errno of the first failed write, or 0. Callers set errno to 0 before they write. */
static int written(struct report *report)
{
    if (report->failed == 0 && ferror(report->stream))
        report->failed = errno != 0 ? errno : EIO;
    return report->failed;
}

int report_put(struct report *report, const uint8_t *data, size_t size)
{
    errno = 0;
    while (size > 0) {
        const uInt part = size < INT32_MAX ? (uInt)size : INT32_MAX;

        report->deflate.next_in = (Bytef *)(uintptr_t)data;
        report->deflate.avail_in = part;
        compress_more(report, Z_NO_FLUSH);
        data += part;
        size -= part;
    }
    return written(report);
}

struct report *report_start(FILE *stream, const char *title)
{
    struct report *report = calloc(1, sizeof *report);

    if (report == NULL || deflateInit(&report->deflate, Z_DEFAULT_COMPRESSION) != Z_OK) {
        free(report);
        return NULL;
    }
    report->stream = stream;
    report->deflate.next_out = report->buffer;
    report->deflate.avail_out = BUFFER_SIZE;
    errno = 0;
    put_start(report, title);
    written(report);
    return report;
}

int report_end(struct report *report, uint64_t *ret_size)
{
    errno = 0;
    report->deflate.avail_in = 0;
    compress_more(report, Z_FINISH);
    fputs(DATA_END, report->stream);
    fwrite(report->rest, 1, page_size() - (size_t)(report->rest - page_html), report->stream);
    fflush(report->stream);
    *ret_size = (report->deflate.total_out + 2) / 3 * 4 + page_size();
    return written(report);
}

void report_release(struct report *report)
{
    if (report != NULL)
        deflateEnd(&report->deflate);
    free(report);
}
