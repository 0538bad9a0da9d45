/* The commands `camp load NAME`: their options, and the tables of what they report. */
#pragma once

#include "counters/clock.h"
#include "ledger/array.h"
#include "load.h"
#include "program/command.h"
#include "views/view.h"

#include <stddef.h>

#define DEFAULT_DURATION_NS (10ull * NS_PER_S)
#define NEARLY 0.98 /* a load that did this share of its plan counts as complete */
#define REMARK_SIZE 200u

/* One member of a struct load_*_truth, which becomes a field of the report. */
struct fact {
    const char *name; /* name of the member, and of the field in JSON and CSV */
    enum cell_kind kind;
    size_t offset;
    const char *title, *help;
    int decimals;
    /* Offset of a bool in the truth that says whether the value is known. 0 means that the value is
     * always known. */
    size_t known_if;
};

/* The arguments after `member` set title, help and later members of struct fact. A negative int32_t
 * is shown as unknown. */
#define FACT(type, member, ...)                                                                    \
    {                                                                                              \
        .name = #member, .kind = CELL_KIND(((const type *)0)->member),                             \
        .offset = offsetof(type, member), __VA_ARGS__                                              \
    }
#define CELL_KIND(value)                                                                           \
    _Generic((value), uint64_t                                                                     \
             : CELL_NATURAL, double                                                                \
             : CELL_REAL, int32_t                                                                  \
             : CELL_INTEGER, bool                                                                  \
             : CELL_BOOLEAN, const char *                                                          \
             : CELL_TEXT)

/* The array of steps or threads in a truth. An element has row_size bytes. */
struct load_rows {
    const char *name;
    const struct fact *facts;
    size_t fact_count;
    const void *rows;
    size_t row_size;
    const uint64_t *row_count;
};

struct load_command {
    const char *name;
    load_function *run;
    const void *plan;
    void *truth;
    const struct fact *facts;
    size_t fact_count;
    /* If the load did less than its plan, writes to `ret` what is missing. NULL if a load cannot do
     * less without an error. */
    void (*remark)(const void *plan, const void *truth, char ret[REMARK_SIZE]);
    const struct load_rows *rows; /* NULL if the load has no steps or threads */
};

#define LOAD_FORMAT                                                                                \
    COMMON_OPTION(COMMON_FORMAT, &load_format, .choices = load_formats), COLOR_OPTION
#define LOAD_DURATION_OF(text) COMMON_OPTION(COMMON_DURATION, &plan.duration_ns, .help = text)
#define LOAD_DURATION                                                                              \
    LOAD_DURATION_OF("Run for this time (10 s). Ctrl-C ends the load early, with its report so "   \
                     "far.")
extern const char *const load_formats[];
extern int load_format; /* index into load_formats */

/* Parses the options of a load. Arguments that are not options are an error. */
int load_parse(const char *about, const struct option_spec *specs, size_t count, int argc,
               char **argv);

/* Runs the load and prints its report, and then its error or remark to stderr. Returns an exit
 * status. */
int load_run(const struct load_command *load);

/* Must be called once, before the options of a load are parsed. The CPU time of the process up to
 * this call is the startup_ns of the report. */
void load_mark_startup(void);

/* Prints the report as a record "camp.load/1" to stdout. Returns an exit status. */
int load_show(const struct load_command *load);

int load_cpu_command(int argc, char **argv);
int load_fork_command(int argc, char **argv);
int load_memory_command(int argc, char **argv);
int load_net_command(int argc, char **argv);
int load_io_command(int argc, char **argv);
int load_sleep_command(int argc, char **argv); /* argv[0] is lock, pipe or sleep */
int load_fault_command(int argc, char **argv);
int load_threads_command(int argc, char **argv);
