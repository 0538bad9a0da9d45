/*
 * Options of other programs (top(1), vmstat(8), pidstat(1), perf(1), time(1)), and options that had
 * another letter or meaning in earlier versions of camp. A command refuses these options, and its
 * message names the option of camp that does the same.
 *
 * camp cannot accept all letters of other programs, because a letter has one meaning in all
 * commands. For example, -d is --duration in camp, but the delay between two outputs in top.
 */
#pragma once

/* Returns a sentence that names the replacement for an option ("-d", "--delay"). `command`
 * ("camp top") does not have this option, or gives it another meaning. Returns NULL if there is
 * no replacement. */
const char *habit_of(const char *command, const char *option);

/* All rows, for a test. The last row has a NULL option. */
struct habit {
    const char *commands; /* the commands that refuse the option: "top, load cpu" */
    const char *option;
    const char *instead;
};
extern const struct habit habits[];
