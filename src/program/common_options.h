/*
 * The options that several commands share. One table has a row for each option: its name, letter,
 * argument word, help and bounds. A command copies the row into its own table of options. It adds
 * the variable to set, and the members that differ from the row:
 *
 *     COMMON_OPTION(COMMON_INTERVAL, &top->interval_ns),
 *     COMMON_OPTION(COMMON_FORMAT, &top->format, .choices = formats),
 */
#pragma once

#include "options.h"

enum common_option {
    COMMON_BYTES,
    COMMON_COLOR,
    COMMON_COLUMNS,
    COMMON_COUNT,
    COMMON_CPU,
    COMMON_DURATION,
    COMMON_FILE,
    COMMON_FILTER,
    COMMON_FORCE,
    COMMON_FORMAT,
    COMMON_FROM,
    COMMON_GROUP,
    COMMON_HOST,
    COMMON_INTERVAL,
    COMMON_NAME,
    COMMON_NO_KERNEL_THREADS,
    COMMON_NO_SYSCALLS,
    COMMON_OUTPUT,
    COMMON_PERCENT,
    COMMON_PERIOD,
    COMMON_PID,
    COMMON_PORT,
    COMMON_PROC,
    COMMON_RATE,
    COMMON_SOCKET,
    COMMON_SYS,
    COMMON_TABLE,
    COMMON_TIER,
    COMMON_TOP,
    COMMON_VERBOSE,
    COMMON_WORKLOAD
};

/* Returns a copy of a row of the table, with the variable own->value. Other members of `own` that
 * are not zero replace the members of the row. */
struct option_spec common_option(enum common_option which, const struct option_spec *own);

/* The arguments are the row, the variable to set, and the members of struct option_spec that
 * differ from the row. */
#define COMMON_OPTION(which, ...)                                                                  \
    common_option(which, &(struct option_spec){ .value = __VA_ARGS__ })

/* The option --color, which sets the colors of all output of the command. */
#define COLOR_OPTION COMMON_OPTION(COMMON_COLOR, &view_colour)
