/* The commands of the loads: what the files that hold them share. */
#ifndef CAMP_COMMANDS_LOAD_COMMANDS_H
#define CAMP_COMMANDS_LOAD_COMMANDS_H

#include "commands/command.h"
#include "counters/units.h"

#include <camp/camp.h>

#include <stddef.h>

#define DURATION_MIN_S 0.01
#define DURATION_MAX_S 2592000.0 /* 30 days */
#define DEFAULT_DURATION_NS (10ull * NS_PER_S)
#define NEARLY 0.98 /* of what was asked for is taken for all of it */
#define REMARK_SIZE 200u

/* By the place in this list: OPTION_FORMAT's variable `format`. */
extern const char *const load_formats[];

#define OPTION_FORMAT                                                                              \
    {                                                                                              \
        "format", 'f', OPTION_CHOICE, &format, "FORMAT", "text, json or csv.", 0, 0, load_formats  \
    }
#define OPTION_LENGTH(variable)                                                                    \
    {                                                                                              \
        "duration", 'd', OPTION_DURATION, &(variable), "TIME",                                     \
            "How long (10 s). It ends early, "                                                     \
            "with the truth so far, by Ctrl-C.",                                                   \
            DURATION_MIN_S, DURATION_MAX_S, NULL                                                   \
    }
#define COUNT_OF(array) (sizeof(array) / sizeof(array)[0])

/* Parses the options of one load: nothing but options. */
int load_parse(const char *usage, const char *about, const struct option_spec *specs, size_t count,
               int argc, char **argv);

/* The status of a load that was shown: `failed` and `error` are its result, `remark` says in how
 * far it fell short (empty: it did not). */
int load_ended(int shown, int failed, const struct camp_error *error, const char *remark);

/* Loads that use something up. */
int load_cpu_command(int argc, char **argv);
int load_fork_command(int argc, char **argv);
int load_memory_command(int argc, char **argv);
int load_net_command(int argc, char **argv);
int load_threads_command(int argc, char **argv);

/* Loads that wait. The second is lock, pipe and sleep, by argv[0]. */
int load_io_command(int argc, char **argv);
int load_sleep_command(int argc, char **argv);
int load_fault_command(int argc, char **argv);

#endif
