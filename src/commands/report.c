/* camp report: what a source says, in one file. */
#include "command.h"
#include "counters/units.h"
#include "from_options.h"
#include "report_error.h"

#define COUNT 10
#define INTERVAL_NS NS_PER_S

struct report_options {
    struct from_options from;
    struct report_picture picture;
};

static int parse_options(struct report_options *options, int argc, char **argv)
{
    const struct option_spec specs[] = {
        FROM_OPTIONS(&options->from),
        { "output", 'o', OPTION_TEXT, &options->picture.output, "FILE", "Where it goes.", 0, 0,
          NULL },
        { "count", 'n', OPTION_COUNT, &options->picture.count, "N",
          "Of this machine: so many intervals; 10 unless told.", 1, 1e6, NULL },
        { "interval", 'i', OPTION_DURATION, &options->picture.interval_ns, "TIME",
          "Of this machine: how long each is; 1s unless told.", 0.01, 86400, NULL },
        { "axes", 0, OPTION_TEXT, &options->picture.axes, "TEXT",
          "Three vertices: CPU=user+system+irq; WAIT=disk+lock+run_queue; IDLE=*", 0, 0, NULL },
        { "axes4", 0, OPTION_TEXT, &options->picture.axes_4, "TEXT", "Likewise four.", 0, 0, NULL },
        REPORT_PICTURE_OPTIONS(&options->picture),
    };
    const struct option_table table = {
        "camp report --from SOURCE --picture KIND --output FILE [OPTIONS]",
        "Draws what a source says: a recording, a table, or this machine as it goes on.", specs,
        sizeof specs / sizeof specs[0]
    };
    int first, status = options_parse(&table, argc, argv, &first);

    if (status != OPTIONS_GO_ON)
        return status;
    if (first < argc)
        return complain(STATUS_USAGE, "takes no operand '%s'", argv[first]);
    if (options->picture.kind < 0)
        return complain(STATUS_USAGE, "takes --picture");
    return report_error_is(options->picture.kind) ? report_error_check(&options->picture)
                                                  : report_picture_check(&options->picture);
}

int command_report(int argc, char **argv)
{
    struct report_options options = {
        .picture = { .kind = -1, .count = COUNT, .interval_ns = INTERVAL_NS }
    };
    struct from_facts facts;
    struct source *source;
    int status;

    from_options_init(&options.from);
    status = parse_options(&options, argc, argv);
    if (status != OPTIONS_GO_ON)
        return status;
    stop_on_signals();
    options.from.from.wants_states = !report_error_is(options.picture.kind);
    status = from_options_open(&options.from, &source, &facts);
    if (status != OPTIONS_GO_ON)
        return status;
    status = report_error_is(options.picture.kind)
                 ? report_error(&options.picture, source, &facts)
                 : report_picture(&options.picture, source, &facts);
    progress_clear(&options.from.progress);
    source_close(source);
    return status;
}
