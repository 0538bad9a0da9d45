/*
 * What the loads share as commands: options, a table of what their truth reports, and how they run.
 * load_NAME_command() is in the file of the load.
 */
#pragma once

#include "counters/units.h"
#include "ledger/array.h"
#include "load.h"
#include "program/command.h"
#include "views/view.h"

#include <stddef.h>

#define DEFAULT_DURATION_NS (10ull * NS_PER_S)
#define NEARLY 0.98 /* share of the requested amount that counts as all of it */
#define REMARK_SIZE 200u

/* One member of a truth, which becomes a field of its record. */
struct fact {
    const char *name; /* of the member: the key in JSON and CSV */
    enum cell_kind kind;
    size_t offset;
    const char *title, *help; /* see struct field */
    int decimals;
    size_t
        known_if; /* offset of a bool; if that is false, the member is unknown. 0: always known */
};

/* A member's type makes it a text, a natural or real number or a boolean; an int32_t is unknown if
 * negative. The other arguments follow `offset` in struct fact. */
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

/* The steps or threads of a truth: structs `row_size` bytes apart. */
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
    const struct fact *facts; /* in the order of display */
    size_t fact_count;
    /* Writes to `ret` how the load fell short of its plan, if it did. NULL: it cannot. */
    void (*remark)(const void *plan, const void *truth, char ret[REMARK_SIZE]);
    const struct load_rows *rows; /* NULL: none */
};

#define LOAD_FORMAT                                                                                \
    COMMON_OPTION(COMMON_FORMAT, &load_format, .choices = load_formats), COLOR_OPTION
/* The option that sets the duration of `plan`. */
#define LOAD_DURATION_OF(text) COMMON_OPTION(COMMON_DURATION, &plan.duration_ns, .help = text)
#define LOAD_DURATION                                                                              \
    LOAD_DURATION_OF("Run for this time (10 s). Ctrl-C ends the load early, with its report so "   \
                     "far.")
extern const char *const load_formats[];
extern int load_format; /* an index into load_formats */

/* Parses the options of a load; arguments are an error. */
int load_parse(const char *about, const struct option_spec *specs, size_t count, int argc,
               char **argv);

/* Runs the load and shows its truth, and then reports how it failed or fell short. Returns an exit
 * status. */
int load_run(const struct load_command *load);

/* Must be called once, before the options of a load are parsed: each record states the CPU time
 * that the process had used at this call, and at the end. */
void load_mark_startup(void);

/* Writes the truth to stdout as a record "camp.load/1". Returns an exit status. */
int load_show(const struct load_command *load);

int load_cpu_command(int argc, char **argv);
int load_fork_command(int argc, char **argv);
int load_memory_command(int argc, char **argv);
int load_net_command(int argc, char **argv);
int load_io_command(int argc, char **argv);
int load_sleep_command(int argc, char **argv); /* lock, pipe and sleep, by argv[0] */
int load_fault_command(int argc, char **argv);
int load_threads_command(int argc, char **argv);
