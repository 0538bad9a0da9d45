/*
 * camp report writes a source to one file. The file is the page with its data, one picture
 * (report_picture.h), or a picture of errors. A picture of errors compares sampled with measured
 * CPU time, from --from check or a recording of it.
 */
#include "views/page/report.h"
#include "ledger/active.h"
#include "ledger/words.h"
#include "page_options.h"
#include "program/command.h"
#include "program/output_file.h"
#include "report_picture.h"
#include "views/pictures/picture.h"
#include "views/pictures/picture_error.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

struct work {
    struct page_options *page;
    struct output_file file;
    struct report *report;
    struct stream stream;
    struct unusual unusual;
    struct bytes blocks; /* blocks of the stream that are not in the file yet */
    uint64_t size;
};

static int report_page_check(const char *output)
{
    if (output == NULL)
        return complain(STATUS_USAGE, "takes --output FILE.html; with --picture KIND also .svg, "
                                      ".png or .pdf");
    if (!output_file_is_page(output))
        return report_picture_refuse(output);
    return OPTIONS_GO_ON;
}

/* Writes work->blocks to the file. `r` is the result of the call that made the blocks. */
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
    page->stream.live = false; /* The file gets no further frames. */
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

    stream_set_cpus(&work->stream, page_cpus(work->page, frame));
    if (r == CAMP_OK)
        r = unusual_add(&work->unusual, frame);
    if (r == CAMP_OK && page_causes(work->page) != NULL)
        r = stream_causes(page_causes(work->page), &work->blocks);
    if (r == CAMP_OK)
        r = stream_frame(&work->stream, frame, &work->blocks, &is_key);
    return put_blocks(work, r);
}

static int finish(struct work *work)
{
    const char *reason =
        work->page->status == OPTIONS_GO_ON ? "this is all there is" : "the source failed";
    size_t open;
    int r = unusual_find(&work->unusual, &open);
    int status, failed;

    if (r == CAMP_OK)
        r = stream_end(reason, &open, &work->blocks);
    status = put_blocks(work, r);
    if (status != OPTIONS_GO_ON)
        return status;
    failed = report_end(work->report, &work->size);
    return failed == 0 ? OPTIONS_GO_ON : output_file_fail(&work->file, failed);
}

static int print_summary(const struct work *work, const char *output)
{
    if (strcmp(output, "-") == 0)
        return STATUS_OK;
    print_name(output);
    printf(": %" PRIu64 " %s, %zu %s, %.1f MB\n", work->page->frames,
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

/* Returns the exit status of a complete file. */
static int status_of(const struct page_options *page)
{
    if (page->status != OPTIONS_GO_ON)
        return page->status; /* The source is damaged; the file shows its intact part. */
    return page->facts.is_unmeasured ? STATUS_PARTIAL : STATUS_OK;
}

static int report_page(struct page_options *page, const char *output, uint64_t count)
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
    if (status == STATUS_OK)
        status = status_of(page);
    stream_release(&work.stream);
    unusual_release(&work.unusual);
    bytes_release(&work.blocks);
    return status;
}

/* In report_picture_kinds, these kinds follow the kinds of enum picture_kind. */
enum { ERROR_OVER_TIME = PICTURE_KIND_COUNT, ERROR_BY_LOAD };

static bool report_error_is(int kind)
{
    return kind == ERROR_OVER_TIME || kind == ERROR_BY_LOAD;
}

static int keep(void *series, const struct frame *frame)
{
    return error_series_add_frame(series, frame) == CAMP_OK
               ? OPTIONS_GO_ON
               : complain(STATUS_FAILURE, "no memory for so many intervals");
}

struct drawing {
    struct error_picture picture;
    int (*draw)(FILE *stream, const struct error_picture *picture);
};

static int draw(void *context, FILE *stream)
{
    struct drawing *drawing = context;
    const int r = error_picture_fit(&drawing->picture);

    return r == CAMP_OK ? drawing->draw(stream, &drawing->picture) : r;
}

static int report_error(const struct report_picture *options, struct page_options *page)
{
    const struct from_facts *facts = &page->facts;
    struct drawing drawing = { .picture.source = facts->name,
                               .draw = options->kind == ERROR_BY_LOAD ? error_by_load
                                                                      : error_over_time };
    struct tasks_columns columns;
    char host[65] = "", name[sizeof facts->name + sizeof host + 2];
    int status;

    if (!tasks_columns_find(&columns, page->source->describe(page->source)) ||
        columns.sampled == SIZE_MAX)
        return complain(STATUS_USAGE,
                        "%s has no sampled time of processes: --picture %s takes --from "
                        "check with tier taskstats or bpf, or a recording of it (camp record "
                        "--from check)",
                        facts->name, report_picture_kinds[options->kind]);
    if (facts->live) {
        gethostname(host, sizeof host - 1);
        snprintf(name, sizeof name, "%s, %s", facts->name, host);
        drawing.picture.source = name;
    }
    status = page_read(page, options->count, keep, &drawing.picture.series);
    if (status == OPTIONS_GO_ON)
        status = picture_file_draw(options->output, draw, &drawing);
    error_picture_release(&drawing.picture);
    return status;
}

#define COUNT 10

struct report_options {
    struct page_options page;
    struct report_picture picture;
    const char *output;
    uint64_t count;
};

/* Options that do not go with a picture of errors, which always shows the sum of all processes. */
#define NOT_OF_ERRORS "only, pin, at, axes, axes4, color-by, over entities"

static const struct option_rule option_rules[] = {
    { "title", NULL, "picture", "--title is of a page, not of a picture" },
    { "picture error-over-time", NULL, NOT_OF_ERRORS, NULL },
    { "picture error-by-load", NULL, NOT_OF_ERRORS, NULL },
    { "at", "picture barry3, picture barry4, over entities", NULL,
      "--at goes with barry3, barry4 and stack --over entities; --begin and --end say which time "
      "the others show" },
    { "color-by", "picture barry3, picture barry4, picture ribbon, picture ranking", NULL,
      "--color-by goes with barry3, barry4, ribbon and ranking" },
    { "picture ribbon", NULL, "pin, axes, axes4", NULL },
    { "picture ranking", NULL, "pin, axes, axes4", NULL },
    { "over entities", "picture stack", NULL, NULL },
    { 0 },
};

static int parse_options(struct report_options *options, int argc, char **argv, int *ret_first)
{
    const struct option_spec specs[] = {
        PAGE_OPTIONS(&options->page),
        COMMON_OPTION(COMMON_OUTPUT, &options->output,
                      .help = "The file to write. FILE.html is the page with all its data: it "
                              "opens without a server or a network."),
        COMMON_OPTION(COMMON_COUNT, &options->count,
                      .help = "For this machine: end after N intervals (10).", .minimum = 1,
                      .maximum = 1e6),
        REPORT_PICTURE_OPTIONS(&options->picture),
    };
    const struct option_table table = {
        .usage = "camp report --output FILE [OPTIONS] [INTERVAL [COUNT]]",
        .about = "Writes the data of a recording, of a table or of this machine to one file that\n"
                 "can be kept and passed on: the page with its data, or one picture. An existing\n"
                 "file is replaced only when the new one is complete.",
        .specs = specs,
        .count = sizeof specs / sizeof specs[0],
        .rules = option_rules,
    };

    return options_parse(&table, argc, argv, ret_first);
}

static int check_picture(struct report_options *options)
{
    struct report_picture *picture = &options->picture;

    picture->output = options->output;
    picture->count = options->count;
    if (picture->output == NULL)
        return complain(STATUS_USAGE, "--picture needs --output, a file that ends with .svg, .png "
                                      "or .pdf");
    return report_picture_check(picture);
}

static int read_options(struct report_options *options, int argc, char **argv)
{
    int first, status;

    *options = (struct report_options){ .picture = { .kind = -1 }, .count = COUNT };
    page_options_init(&options->page);
    status = parse_options(options, argc, argv, &first);
    if (status != OPTIONS_GO_ON)
        return status;
    return options->picture.kind >= 0 ? check_picture(options) : report_page_check(options->output);
}

static int write_picture(struct report_options *options)
{
    struct page_options *page = &options->page;
    const bool is_error = report_error_is(options->picture.kind);
    const char *division = report_picture_division(&options->picture);
    int status;

    page->from.from.wants_states = !is_error;
    page->from.from.by_statement =
        division != NULL && strcmp(division, SOURCE_LABEL_STATEMENT) == 0;
    status = from_options_open(&page->from, &page->source, &page->facts);
    if (status != OPTIONS_GO_ON)
        return status;
    status =
        is_error ? report_error(&options->picture, page) : report_picture(&options->picture, page);
    if (status == STATUS_OK && page->from.notes > 0)
        complain(STATUS_OK,
                 "%s has %" PRIu64 " %s, which a picture does not show: --output FILE.html does",
                 page->facts.name, page->from.notes, noun_of(page->from.notes, "note", "notes"));
    return status == STATUS_OK ? status_of(page) : status;
}

int command_report(int argc, char **argv)
{
    struct report_options options;
    int status = read_options(&options, argc, argv);

    if (status != OPTIONS_GO_ON)
        return status;
    stop_on_signals();
    options.page.from.sandbox.output = options.output;
    options.page.from.sandbox.converts =
        options.picture.kind >= 0 && picture_file_is_converted(options.output);
    status = options.picture.kind >= 0 ? write_picture(&options)
                                       : report_page(&options.page, options.output, options.count);
    page_close(&options.page);
    return status;
}
