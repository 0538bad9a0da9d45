/* What the files of camp check share: options, the opened source, the command's state. */
#pragma once

#include "check_record.h"
#include "check_report.h"
#include "program/from_options.h"
#include "program/process_selection.h"
#include "views/view.h"

/* ------------------------------------------------------------------------ A source of --from -- */

/* All zero: no source. */
struct check_recorded {
    struct source *source; /* NULL: not open */
    struct from_facts facts;
    bool is_sessions;   /* rows are sessions of a database: `is_sampled` and `tasks` are unused */
    bool is_sampled;    /* false: the sampled time of processes is unknown */
    struct frame tasks; /* if not is_sampled: the rows, extended to all columns */
};
void check_recorded_release(struct check_recorded *recorded);

/* Opens the source, and sets the tier and is_recorded of `context`. OPTIONS_GO_ON, or an exit
 * status after a complaint. `options` must outlive it. */
int check_recorded_open(struct check_recorded *recorded, struct from_options *options,
                        struct check_context *context);

/* Reads the next interval; sets context->measured_cpus if its CPUs are timed. CAMP_OK, SOURCE_END,
 * CAMP_E_*. */
int check_recorded_next(struct check_recorded *recorded, struct check_context *context,
                        const struct frame **ret_tasks, const struct frame **ret_cpus,
                        struct camp_error *error);

/* ----------------------------------------------------------------------------- The command -- */

enum { CHECK_TEXT, CHECK_JSON, CHECK_CSV, CHECK_CLASSIC };

struct check_options {
    uint64_t interval_ns, count, top;
    int format, tier, table;
    bool kernel_threads;
    const char *filter, *columns, *report;
    struct process_selection processes;
    struct from_options from; /* its text NULL: this machine */
};

struct check {
    struct check_options options;
    struct check_context context;
    struct source *tasks, *cpus; /* of this machine */
    struct check_recorded recorded;
    struct check_record record;
    struct check_report report;
    struct view_options view_options;
    const struct view *view;
    regex_t filter;
    const char *columns[16];
    char column_text[256];
    bool lost; /* exit records were dropped: the totals are partial */
};

/* Parses and checks all options. OPTIONS_GO_ON or an exit status. */
int check_options_read(struct check *check, int argc, char **argv);
