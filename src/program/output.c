#include "command.h"
#include "output_place.h"

#include "ledger/characters.h"
#include "views/document.h"
#include "views/format.h"

#include <errno.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

const char *command_name = "";
const char *program_name = "camp";

int print_version(void)
{
    printf("%s %s\n", program_name, camp_version());
    return fflush(stdout) == 0 ? STATUS_OK : output_failed(errno);
}

bool is_version_option(const char *word)
{
    return strcmp(word, "--version") == 0 || strcmp(word, "-V") == 0;
}

void print_name(const char *name)
{
    write_printable(stdout, name, "");
}

int complain(int status, const char *format, ...)
{
    char line[2 * CAMP_ERROR_SIZE];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    make_printable(line);
    fprintf(stderr, "camp%s%s: %s\n", command_name[0] != '\0' ? " " : "", command_name, line);
    return status;
}

int complain_of(int result, const struct camp_error *error)
{
    int status = result == CAMP_E_PERM      ? STATUS_PRIVILEGE
                 : result == CAMP_E_INVALID ? STATUS_USAGE
                                            : STATUS_FAILURE;

    return complain(status, "%s",
                    error->message[0] != '\0' ? error->message : camp_result_name(result));
}

int output_failed(int system_error)
{
    if (output_is_closed(system_error))
        return STATUS_OK;
    return complain(STATUS_FAILURE, "cannot write the output: %s", strerror(system_error));
}

int show_document(const struct document *document, const struct view *view,
                  const struct view_options *options, uint64_t number)
{
    int failed;

    if (document->failed)
        return complain(STATUS_FAILURE, "out of memory");
    failed = view->record(options, &document->record, number);
    return failed != 0 ? output_failed(failed) : OPTIONS_GO_ON;
}

void time_text(char *ret, size_t capacity, int64_t wall_clock_ns)
{
    time_t seconds = (time_t)(wall_clock_ns / 1000000000);
    int milliseconds = (int)(wall_clock_ns % 1000000000 / 1000000);
    struct tm local, utc;
    int offset_minutes;
    char day[24];

    localtime_r(&seconds, &local);
    utc = local;
    offset_minutes = (int)((timegm(&utc) - seconds) / 60);
    strftime(day, sizeof day, "%Y-%m-%dT%H:%M:%S", &local);
    snprintf(ret, capacity, "%s.%03d%c%02d:%02d", day, milliseconds, offset_minutes < 0 ? '-' : '+',
             abs(offset_minutes) / 60, abs(offset_minutes) % 60);
}
