#include "command.h"

#include "ledger/array.h"
#include "ledger/characters.h"
#include "views/document.h"
#include "views/format.h"

#include <errno.h>
#include <fcntl.h>
#include <locale.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

volatile sig_atomic_t stop_requested;

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
    if (system_error == EPIPE)
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

/* Opens /dev/null at each closed standard descriptor. Otherwise the next file that camp opens would
 * get the number of that descriptor, and output of camp would go to that file. /dev/null is opened
 * read-only, so that writing to the descriptor fails. */
static void occupy_standard_descriptors(void)
{
    int descriptor;

    do
        descriptor = open("/dev/null", O_RDONLY);
    while (descriptor >= 0 && descriptor <= STDERR_FILENO);
    if (descriptor >= 0)
        close(descriptor);
}

/* The signals that a command handles or ignores, and whether this program was started with them
 * ignored, as by nohup(1). */
static struct {
    int number;
    bool is_ignored;
} inherited[] = { { .number = SIGPIPE }, { .number = SIGXFSZ }, { .number = SIGINT },
                  { .number = SIGQUIT }, { .number = SIGTERM }, { .number = SIGHUP } };

static void note_signals(void)
{
    struct sigaction action;

    for (size_t i = 0; i < ARRAY_COUNT(inherited); i++)
        inherited[i].is_ignored =
            sigaction(inherited[i].number, NULL, &action) == 0 && action.sa_handler == SIG_IGN;
}

void prepare_program(void)
{
    occupy_standard_descriptors();
    /* Uses the encoding of the terminal. Numbers keep the format of the C locale. */
    setlocale(LC_CTYPE, "");
    /* If a reader such as head(1) closes the pipe, or a file reaches the limit of its size, writing
     * fails with EPIPE or EFBIG, and the command ends after its cleanup. */
    note_signals();
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN);
}

void restore_signals(void)
{
    for (size_t i = 0; i < ARRAY_COUNT(inherited); i++)
        signal(inherited[i].number, inherited[i].is_ignored ? SIG_IGN : SIG_DFL);
}

static void request_stop(int signal_number)
{
    stop_requested = signal_number;
}

void stop_on_signals(void)
{
    /* Without SA_RESTART, a signal ends a sleep. */
    struct sigaction action = { .sa_handler = request_stop };

    sigemptyset(&action.sa_mask);
    /* A shell ignores SIGINT for its background jobs, but scripts end them with kill -INT. */
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    /* With nohup(1), the command outlives its terminal. */
    for (size_t i = 0; i < ARRAY_COUNT(inherited); i++)
        if (inherited[i].number == SIGHUP && !inherited[i].is_ignored)
            sigaction(SIGHUP, &action, NULL);
}

bool sleep_until(uint64_t time_ns)
{
    struct timespec time = { .tv_sec = (time_t)(time_ns / 1000000000),
                             .tv_nsec = (long)(time_ns % 1000000000) };

    while (!stop_requested) {
        int failed = clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &time, NULL);

        if (failed == 0)
            return true;
        if (failed != EINTR)
            return false;
    }
    return false;
}

void time_text(char *ret, size_t capacity, int64_t wall_clock_ns)
{
    time_t seconds = (time_t)(wall_clock_ns / 1000000000);
    int milliseconds = (int)(wall_clock_ns % 1000000000 / 1000000);
    struct tm broken_down;
    char day[24];
    char zone[8];

    localtime_r(&seconds, &broken_down);
    strftime(day, sizeof day, "%Y-%m-%dT%H:%M:%S", &broken_down);
    /* strftime() writes "+0100", but RFC 3339 requires "+01:00". */
    strftime(zone, sizeof zone, "%z", &broken_down);
    snprintf(ret, capacity, "%s.%03d%.3s:%s", day, milliseconds, zone, zone + 3);
}
