#include "report_page.h"

#include "ledger/words.h"
#include "program/command.h"
#include "program/output_file.h"
#include "report_picture.h"
#include "views/page/report.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* A report in progress. */
struct work {
    struct page_options *page;
    struct output_file file;
    struct report *report;
    struct stream stream;
    struct bytes blocks; /* the current ones */
    uint64_t size;
};

int report_page_check(const char *output)
{
    if (output == NULL)
        return complain(STATUS_USAGE, "takes --output FILE.html; with --picture KIND also .svg, "
                                      ".png or .pdf");
    if (!output_file_is_page(output))
        return report_picture_refuse(output);
    return OPTIONS_GO_ON;
}

/* Writes the current blocks; `r` is the result of making them. */
static int put_blocks(struct work *work, int r)
{
    int failed;

    if (r != CAMP_OK)
        return complain(STATUS_FAILURE, "no memory");
    failed = report_put(work->report, work->blocks.data, work->blocks.size);
    bytes_clear(&work->blocks);
    return failed == 0 ? OPTIONS_GO_ON : output_file_fail(&work->file, failed);
}

static int start(struct work *work)
{
    struct page_options *page = work->page;
    char title[FROM_NAME_SIZE + sizeof((struct page_options *)0)->host + 8];

    snprintf(title, sizeof title, "%s on %s", page->facts.name, page->host);
    page->stream.live = false; /* the reader cannot wait for more */
    work->report = report_start(work->file.stream, page->title != NULL ? page->title : title);
    if (work->report == NULL || stream_init(&work->stream, page->schema) != CAMP_OK)
        return complain(STATUS_FAILURE, "no memory");
    return put_blocks(work, stream_head(page->schema, &page->stream, &work->blocks));
}

static int put_frame(void *context, const struct frame *frame)
{
    struct work *work = context;
    bool is_key;
    int r = stream_frame_note(&work->stream, frame, &work->blocks);

    if (r == CAMP_OK)
        r = stream_frame(&work->stream, frame, &work->blocks, &is_key);
    return put_blocks(work, r);
}

static int finish(struct work *work)
{
    const char *reason =
        work->page->status == OPTIONS_GO_ON ? "this is all there is" : "the source failed";
    int status = put_blocks(work, stream_end(reason, &work->blocks));
    int failed;

    if (status != OPTIONS_GO_ON)
        return status;
    failed = report_end(work->report, &work->size);
    return failed == 0 ? OPTIONS_GO_ON : output_file_fail(&work->file, failed);
}

/* A summary, unless the report itself goes to stdout. */
static int print_summary(const struct work *work, const char *output)
{
    if (strcmp(output, "-") == 0)
        return STATUS_OK;
    printf("%s: %" PRIu64 " %s, %zu %s, %.1f MB\n", output, work->page->frames,
           noun_of(work->page->frames, "interval", "intervals"), work->stream.registry.count,
           noun_of(work->stream.registry.count, "entity", "entities"), (double)work->size / 1e6);
    return fflush(stdout) == 0 ? STATUS_OK : output_failed(errno);
}

static int write_file(struct work *work, uint64_t count)
{
    int status = start(work);

    if (status == OPTIONS_GO_ON)
        status = page_read(work->page, count, put_frame, work);
    if (status == OPTIONS_GO_ON)
        status = finish(work);
    report_release(work->report);
    if (status == OPTIONS_GO_ON)
        return output_file_finish(&work->file);
    output_file_discard(&work->file);
    return status;
}

int report_page(struct page_options *page, const char *output, uint64_t count)
{
    struct work work = { .page = page };
    int status = page_open(page);

    if (status != OPTIONS_GO_ON)
        return status;
    status = output_file_open(&work.file, output);
    if (status == STATUS_OK)
        status = write_file(&work, count);
    if (status == STATUS_OK)
        status = print_summary(&work, output);
    if (status == STATUS_OK && page->status != OPTIONS_GO_ON)
        status = page->status; /* for a damaged file: its intact part was written */
    stream_release(&work.stream);
    bytes_release(&work.blocks);
    return status;
}
