/*
 * Options of other programs (top(1), vmstat(8), pidstat(1), perf(1), time(1)), and letters that
 * camp's own options had in earlier versions. A command refuses them, and names the option that
 * does the same.
 *
 * camp cannot accept all letters of other programs, because a letter has one meaning in all
 * commands: -d is --duration, and the delay of top -d is --interval.
 */
#pragma once

/* A sentence that names the replacement for an option ("-d", "--delay") which a command ("camp
 * top") does not have, or which has another meaning there. NULL: no option does the same. */
const char *habit_of(const char *command, const char *option);

/* All rows, for a test. The option of the last one is NULL. */
struct habit {
    const char *commands; /* the commands that refuse it: "top, load cpu" */
    const char *option;
    const char *instead;
};
extern const struct habit habits[];
