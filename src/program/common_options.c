#include "common_options.h"

#include <stdint.h>

static const char *const color_choices[] = { "auto", "always", "never", NULL };

static const struct option_spec rows[] = {
    [COMMON_BYTES] = { "bytes", 'b', OPTION_SIZE, NULL, "SIZE", NULL, 1, 1099511627776.0, NULL },
    [COMMON_COLOR] = { "color", 0, OPTION_CHOICE, NULL, "WHEN",
                       "Color the text output: auto (the default: on a terminal, unless NO_COLOR "
                       "is set), always or never.",
                       0, 0, color_choices },
    [COMMON_COLUMNS] = { "columns", 0, OPTION_TEXT, NULL, "NAME,...", NULL, 0, 0, NULL },
    [COMMON_COUNT] = { "count", 'n', OPTION_COUNT, NULL, "N", "End after N intervals.", 1, 1e9,
                       NULL },
    [COMMON_CPU] = { "cpu", 'c', OPTION_COUNT, NULL, "CPU", "Run on this CPU only.", 0, 1023,
                     NULL },
    [COMMON_DURATION] = { "duration", 'd', OPTION_DURATION, NULL, "TIME", NULL, 0.01, 2592000,
                          NULL },
    [COMMON_FILE] = { "file", 0, OPTION_TEXT, NULL, "PATH", NULL, 0, 0, NULL },
    [COMMON_FILTER] = { "filter", 0, OPTION_TEXT, NULL, "REGEX",
                        "Show only rows whose name, or the value of a label, matches (POSIX "
                        "extended). Sessions of a database have labels, such as the application.",
                        0, 0, NULL },
    [COMMON_FORCE] = { "force", 0, OPTION_FLAG, NULL, NULL, NULL, 0, 0, NULL },
    [COMMON_FORMAT] = { "format", 'f', OPTION_CHOICE, NULL, "FORMAT", "text, json or csv.", 0, 0,
                        NULL },
    [COMMON_FROM] = { "from", 0, OPTION_TEXTS, NULL, "SOURCE", NULL, 0, 0, NULL },
    [COMMON_GROUP] = { "group", 'g', OPTION_TEXT, NULL, "WHAT", NULL, 0, 0, NULL },
    [COMMON_HOST] = { "host", 0, OPTION_TEXT, NULL, "NAME", NULL, 0, 0, NULL },
    [COMMON_INTERVAL] = { "interval", 'i', OPTION_DURATION, NULL, "TIME",
                          "Length of an interval (1s).", 0.01, 86400, NULL },
    [COMMON_NAME] = { "name", 0, OPTION_TEXT, NULL, "EXECUTABLE", NULL, 0, 0, NULL },
    [COMMON_NO_KERNEL_THREADS] = { "no-kernel-threads", 0, OPTION_NO_FLAG, NULL, NULL,
                                   "Leave kernel threads out.", 0, 0, NULL },
    [COMMON_NO_SYSCALLS] = { "no-syscalls", 0, OPTION_FLAG, NULL, NULL,
                             "Do not separate user time from system time and page faults. System "
                             "calls and page faults then have no extra cost.",
                             0, 0, NULL },
    [COMMON_OUTPUT] = { "output", 'o', OPTION_TEXT, NULL, "FILE", NULL, 0, 0, NULL },
    [COMMON_PERCENT] = { "percent", 0, OPTION_REAL, NULL, "N", NULL, 0.01, 100, NULL },
    [COMMON_PERIOD] = { "period", 0, OPTION_DURATION, NULL, "TIME", NULL, 0.001, 10, NULL },
    [COMMON_PID] = { "pid", 'p', OPTION_LIST, NULL, "PID", NULL, 0, 0, NULL },
    [COMMON_PORT] = { "port", 0, OPTION_COUNT, NULL, "N", NULL, 0, UINT16_MAX, NULL },
    [COMMON_PROC] = { "proc", 0, OPTION_TEXT, NULL, "FOLDER", "Read this folder instead of /proc.",
                      0, 0, NULL },
    [COMMON_RATE] = { "rate", 'r', OPTION_FLAG, NULL, NULL, NULL, 0, 0, NULL },
    [COMMON_SOCKET] = { "socket", 0, OPTION_TEXT, NULL, "PATH",
                        "Listen at a Unix socket that only you can open, instead of a port.", 0, 0,
                        NULL },
    [COMMON_SYS] = { "sys", 0, OPTION_TEXT, NULL, "FOLDER", "Read this folder instead of /sys.", 0,
                     0, NULL },
    [COMMON_TABLE] = { "table", 0, OPTION_CHOICE, NULL, "TABLE", NULL, 0, 0, NULL },
    [COMMON_TIER] = { "tier", 0, OPTION_TEXT, NULL, "TIER", NULL, 0, 0, NULL },
    [COMMON_TOP] = { "top", 0, OPTION_COUNT, NULL, "N", "Show at most N rows; 0: all.", 0, 1e9,
                     NULL },
    [COMMON_VERBOSE] = { "verbose", 'v', OPTION_FLAG, NULL, NULL,
                         "Print what the kernel reports about the programs that camp loads into "
                         "it.",
                         0, 0, NULL },
    [COMMON_WORKLOAD] = { "workload", 'w', OPTION_TEXT, NULL, "FILE", NULL, 0, 0, NULL },
};

struct option_spec common_option(enum common_option which, const struct option_spec *own)
{
    struct option_spec spec = rows[which];

    spec.value = own->value;
    if (own->type != OPTION_FLAG)
        spec.type = own->type;
    if (own->argument != NULL)
        spec.argument = own->argument;
    if (own->help != NULL)
        spec.help = own->help;
    if (own->choices != NULL)
        spec.choices = own->choices;
    if (own->minimum != 0 || own->maximum != 0) {
        spec.minimum = own->minimum;
        spec.maximum = own->maximum;
    }
    return spec;
}
