#include "report_error.h"

#include "picture_file.h"
#include "program/command.h"
#include "views/pictures/picture.h"
#include "views/pictures/picture_error.h"

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
        options->axes != NULL || options->axes_4 != NULL || options->colour != NULL ||
        options->over == 1)
        return complain(STATUS_USAGE,
                        "--picture %s is of all processes together: it takes none of "
                        "--only, --pin, --color-by, --at, --over, --axes",
                        report_picture_kinds[options->kind]);
    if (options->output == NULL)
        return complain(STATUS_USAGE, "--picture takes --output, a file that ends with .svg, .png "
                                      "or .pdf");
    return picture_file_check(options->output);
}

static int keep(void *series, const struct frame *frame)
{
    return error_series_add_frame(series, frame) == CAMP_OK
               ? OPTIONS_GO_ON
               : complain(STATUS_FAILURE, "no memory for so many intervals");
}

/* To memory first: the file is created only for a whole picture. */
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

int report_error(const struct report_picture *options, struct page_options *page)
{
    const struct from_facts *facts = &page->facts;
    struct error_picture picture = { .source = facts->name };
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
        picture.source = name;
    }
    status = page_read(page, options->count, keep, &picture.series);
    if (status == OPTIONS_GO_ON)
        status = draw(options, &picture);
    error_picture_release(&picture);
    return status;
}
