#pragma once

#include "check_record.h"
#include "check_report.h"
#include "program/from_options.h"
#include "program/process_selection.h"
#include "views/view.h"

/* The source of --from. It is all zero if camp check reads this machine. */
struct check_recorded {
    struct source *source;
    struct from_facts facts;
    bool is_sessions;   /* the rows are database sessions; `is_sampled` and `tasks` are unused */
    bool is_sampled;    /* the sampled time of processes was recorded */
    struct frame tasks; /* the rows converted to tasks_schema, if `is_sampled` is false */
};
void check_recorded_release(struct check_recorded *recorded);

/* Opens the source. If its rows are processes, also sets `tier` and `is_recorded` of `context`.
 * `options` must outlive `recorded`. Returns OPTIONS_GO_ON, or an exit status after an error
 * message. */
int check_recorded_open(struct check_recorded *recorded, struct from_options *options,
                        struct check_context *context);

/* Reads the next interval. Sets context->measured_cpus to the recorded CPUs if their times were
 * measured, otherwise to NULL. Returns CAMP_OK, SOURCE_END or CAMP_E_*. */
int check_recorded_next(struct check_recorded *recorded, struct check_context *context,
                        const struct frame **ret_tasks, const struct frame **ret_cpus,
                        struct camp_error *error);

enum { CHECK_TEXT, CHECK_JSON, CHECK_CSV, CHECK_CLASSIC };

struct check_options {
    uint64_t interval_ns, count, top;
    int format, tier, table;
    bool kernel_threads;
    const char *filter, *columns, *report;
    struct process_selection processes;
    struct from_options from; /* from.from.text is NULL if this machine is measured */
};

struct check {
    struct check_options options;
    struct check_context context;
    struct source *tasks, *cpus; /* NULL if --from is given */
    struct check_recorded recorded;
    struct check_record record;
    struct check_report report;
    struct view_options view_options;
    const struct view *view;
    regex_t filter;
    const char *columns[16];
    char column_text[256];
    bool lost; /* the kernel dropped exit records, so the totals are incomplete */
};

/* Parses and checks all options. Returns OPTIONS_GO_ON or an exit status. */
int check_options_read(struct check *check, int argc, char **argv);
