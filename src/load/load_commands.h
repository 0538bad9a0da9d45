/* The commands of the loads: shared by their files. */
#pragma once

#include "counters/units.h"
#include "ledger/array.h"
#include "program/command.h"
#include "views/view.h"

#include <camp/camp.h>

#include <stddef.h>

#define DEFAULT_DURATION_NS (10ull * NS_PER_S)
#define NEARLY 0.98 /* of the requested amount counts as all of it */
#define REMARK_SIZE 200u

/* LOAD_FORMAT's variable `format` is an index into this list. */
extern const char *const load_formats[];

#define LOAD_FORMAT COMMON_OPTION(COMMON_FORMAT, &format, .choices = load_formats), COLOR_OPTION
/* The duration of `plan`. */
#define LOAD_DURATION_OF(text) COMMON_OPTION(COMMON_DURATION, &plan.duration_ns, .help = text)
#define LOAD_DURATION                                                                              \
    LOAD_DURATION_OF("Run for this time (10 s). Ctrl-C ends the load early, with its report so "   \
                     "far.")

/* Parses the options of a load; arguments are an error. */
int load_parse(const char *usage, const char *about, const struct option_spec *specs, size_t count,
               int argc, char **argv);

/* The exit status of a load that was shown: `failed` and `error` are its result, `remark` says how
 * it fell short (empty: it did not). */
int load_ended(int shown, int failed, const struct camp_error *error, const char *remark);

/* Loads that use a resource. */
int load_cpu_command(int argc, char **argv);
int load_fork_command(int argc, char **argv);
int load_memory_command(int argc, char **argv);
int load_net_command(int argc, char **argv);
int load_threads_command(int argc, char **argv);

/* Loads that wait. The second is lock, pipe and sleep, by argv[0]. */
int load_io_command(int argc, char **argv);
int load_sleep_command(int argc, char **argv);
int load_fault_command(int argc, char **argv);
