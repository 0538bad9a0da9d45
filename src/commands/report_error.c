#include "report_error.h"

#include "command.h"
#include "counters/error.h"
#include "picture_file.h"
#include "views/picture.h"
#include "views/picture_error.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* In report_picture_kinds these follow enum picture_kind. */
enum { ERROR_OVER_TIME = PICTURE_KIND_COUNT, ERROR_BY_LOAD };

bool report_error_is(int kind)
{
    return kind == ERROR_OVER_TIME || kind == ERROR_BY_LOAD;
}

int report_error_check(const struct report_picture *options)
{
    if (options->only != NULL || options->pin != NULL || options->at != NULL ||
        options->axes != NULL || options->axes_4 != NULL || options->over == 1)
        return complain(STATUS_USAGE,
                        "--picture %s is of all processes together: it takes none of "
                        "--only, --pin, --at, --over, --axes",
                        report_picture_kinds[options->kind]);
    if (options->output == NULL)
        return complain(STATUS_USAGE, "--picture takes --output, a file that ends with .svg, .png "
                                      "or .pdf");
    return picture_file_check(options->output);
}

static int read_frames(struct error_series *series, const struct report_picture *options,
                       struct source *source, const struct from_facts *facts)
{
    uint64_t deadline_ns = source_clock_ns(CLOCK_MONOTONIC);
    struct camp_error error = { 0 };
    const struct frame *frame;
    int r = CAMP_OK;

    for (uint64_t i = 0; !stop_requested && (!facts->live || i < options->count); i++) {
        deadline_ns += facts->live ? options->interval_ns : 0;
        r = source->next(source, deadline_ns, &frame, &error);
        if (r == CAMP_OK && error_series_add_frame(series, frame) != CAMP_OK)
            r = camp_fail(&error, CAMP_E_NOMEM, 0, "no memory for so many intervals");
        if (r != CAMP_OK)
            break;
    }
    if (r != CAMP_OK && r != SOURCE_END)
        return complain_of(r, &error);
    if (series->count == 0)
        return complain(STATUS_FAILURE, "%s has no interval in that time: nothing to draw",
                        facts->name);
    return STATUS_OK;
}

/* To memory first: a file is not begun before the picture is whole. */
static int draw(const struct report_picture *options, struct error_picture *picture)
{
    char *svg = NULL;
    size_t length = 0;
    FILE *stream = open_memstream(&svg, &length);
    int r = stream != NULL ? error_picture_fit(picture) : CAMP_E_NOMEM;
    int status = STATUS_FAILURE;

    if (r == CAMP_OK)
        r = options->kind == ERROR_BY_LOAD ? error_by_load(stream, picture)
                                           : error_over_time(stream, picture);
    if (stream != NULL && fclose(stream) == 0 && r == CAMP_OK)
        status = picture_file_write(options->output, svg, length);
    else
        complain(status, "no memory for the picture");
    free(svg);
    return status;
}

int report_error(const struct report_picture *options, struct source *source,
                 const struct from_facts *facts)
{
    struct error_picture picture = { .source = facts->name };
    struct tasks_columns columns;
    char host[65] = "", name[sizeof facts->name + sizeof host + 2];
    int status;

    if (!tasks_columns_find(&columns, source->describe(source)))
        return complain(STATUS_USAGE,
                        "%s does not have sampled beside measured time: --picture %s takes --from "
                        "check, or a recording of it (camp record --from check)",
                        facts->name, report_picture_kinds[options->kind]);
    if (facts->live) {
        gethostname(host, sizeof host - 1);
        snprintf(name, sizeof name, "%s, %s", facts->name, host);
        picture.source = name;
    }
    status = read_frames(&picture.series, options, source, facts);
    if (status == STATUS_OK)
        status = draw(options, &picture);
    error_picture_release(&picture);
    return status;
}
