/*
 * camp report: a source in one file to keep and pass on: the page with its data inside
 * (report_page.h), one picture (report_picture.h), or one of errors (report_error.h).
 */
#include "ledger/words.h"
#include "page_options.h"
#include "program/command.h"
#include "report_error.h"
#include "report_page.h"

#include <inttypes.h>

#define COUNT 10

struct report_options {
    struct page_options page;
    struct report_picture picture;
    const char *output;
    uint64_t count;
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
    };

    return options_parse(&table, argc, argv, ret_first);
}

/* Options that pictures share with the page. */
static int check_picture(struct report_options *options)
{
    struct report_picture *picture = &options->picture;

    if (options->page.title != NULL)
        return complain(STATUS_USAGE, "--title is of a page, not of a picture");
    picture->output = options->output;
    picture->count = options->count;
    picture->axes = options->page.axes3_text;
    picture->axes_4 = options->page.axes4_text;
    return report_error_is(picture->kind) ? report_error_check(picture)
                                          : report_picture_check(picture);
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
    int status;

    page->from.from.wants_states = !is_error;
    status = from_options_open(&page->from, &page->source, &page->facts);
    if (status != OPTIONS_GO_ON)
        return status;
    status =
        is_error ? report_error(&options->picture, page) : report_picture(&options->picture, page);
    if (status == STATUS_OK && page->from.notes > 0)
        complain(STATUS_OK,
                 "%s has %" PRIu64 " %s, which a picture does not show: --output FILE.html does",
                 page->facts.name, page->from.notes, noun_of(page->from.notes, "note", "notes"));
    return status == STATUS_OK && page->status != OPTIONS_GO_ON ? page->status : status;
}

int command_report(int argc, char **argv)
{
    struct report_options options;
    int status = read_options(&options, argc, argv);

    if (status != OPTIONS_GO_ON)
        return status;
    stop_on_signals();
    status = options.picture.kind >= 0 ? write_picture(&options)
                                       : report_page(&options.page, options.output, options.count);
    page_close(&options.page);
    return status;
}
