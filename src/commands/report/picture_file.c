#include "converter.h"
#include "report_picture.h"

#include "ledger/words.h"
#include "program/command.h"
#include "program/output_file.h"
#include "views/memory_text.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum format { FORMAT_SVG, FORMAT_PNG, FORMAT_PDF, FORMAT_NONE };

static enum format format_of(const char *path)
{
    static const char *const suffixes[] = { ".svg", ".png", ".pdf" };

    for (int i = FORMAT_SVG; i < FORMAT_NONE; i++) {
        if (ends_with_any_case(path, suffixes[i]))
            return (enum format)i;
    }
    return strcmp(path, "-") == 0 ? FORMAT_SVG : FORMAT_NONE;
}

bool picture_file_is_converted(const char *path)
{
    const enum format format = format_of(path);

    return format == FORMAT_PNG || format == FORMAT_PDF;
}

int picture_file_check(const char *path)
{
    const enum format format = format_of(path);

    if (format == FORMAT_NONE)
        return complain(STATUS_USAGE, "--output %s: a picture ends with .svg, .png or .pdf", path);
    if (picture_file_is_converted(path) && !converter_exists())
        return complain(STATUS_FAILURE, "--output %s %s", path, converter_change);
    return OPTIONS_GO_ON;
}

static int write_file(const char *path, const char *svg, size_t length)
{
    const enum format format = format_of(path);
    struct output_file file;
    int status = output_file_open(&file, path);

    if (status != STATUS_OK)
        return status;
    if (format == FORMAT_SVG && fwrite(svg, 1, length, file.stream) != length)
        return output_file_fail(&file, errno);
    if (format != FORMAT_SVG)
        status = converter_run(format == FORMAT_PNG, svg, length, file.stream);
    if (status == STATUS_OK)
        return output_file_finish(&file);
    output_file_discard(&file);
    return status;
}

/* Draws to memory first, so the file is created only for a complete picture. */
int picture_file_draw(const char *path, int (*draw)(void *context, FILE *stream), void *context)
{
    struct memory_text svg;
    const int r = memory_text_open(&svg) ? draw(context, svg.stream) : CAMP_E_NOMEM;
    int status = STATUS_FAILURE;

    if (svg.stream != NULL && memory_text_close(&svg) && r == CAMP_OK)
        status = write_file(path, svg.text, svg.size);
    else
        complain(status, "no memory for the picture");
    free(svg.text);
    return status;
}
