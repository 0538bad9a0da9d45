/* Private parts of camp check: check.c (intervals), check_options.c (options). */
#ifndef CAMP_COMMANDS_CHECK_CHECK_INSIDE_H
#define CAMP_COMMANDS_CHECK_CHECK_INSIDE_H

#include "check_recorded.h"
#include "check_report.h"
#include "program/process_selection.h"
#include "views/view.h"

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

#endif
