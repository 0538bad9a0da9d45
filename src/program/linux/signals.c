/* Standard descriptors and signals. */
#include "program/command.h"

#include "ledger/array.h"

#include <fcntl.h>
#include <langinfo.h>
#include <locale.h>
#include <string.h>
#include <unistd.h>

volatile sig_atomic_t stop_requested;

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

/* camp writes UTF-8 or ASCII, so it uses the terminal's encoding only if that is UTF-8. For other
 * encodings the C library would load a module, and a static program also another C library. Numbers
 * keep the format of the C locale. */
static void use_encoding_of_terminal(void)
{
    setlocale(LC_CTYPE, "");
    if (strcmp(nl_langinfo(CODESET), "UTF-8") != 0)
        setlocale(LC_CTYPE, "C");
}

void prepare_program(void)
{
    occupy_standard_descriptors();
    use_encoding_of_terminal();
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
