/*
 * camp check --report: all intervals of a run as one HTML file, with the statistics of error. It
 * adds up the numbers in the records of `camp check` (check_record.h).
 */
#pragma once

#include "check_record.h"
#include "ledger/registry.h"
#include "program/output_file.h"
#include "views/pictures/picture_error.h"

#define REPORT_COLUMNS 18    /* of an interval */
#define REPORT_INTERVALS 300 /* the last intervals, which have rows; pictures and sums have all */

/* One interval: a row of the report. */
struct report_interval {
    char time[40];
    struct cell cells[REPORT_COLUMNS];
};

/* The sums of a process, or of the exited processes of one name, over all intervals. */
struct report_process {
    double measured_s, sampled_s, absolute_s; /* sampled_s NAN: unknown */
};

struct report_cpu {
    int64_t cpu;
    double measured_s, sampled_s, elapsed_s; /* of the intervals in which both were known */
};

/* All zero is an empty report. */
struct check_report {
    struct output_file file; /* stream NULL: not open */
    char *command;           /* the command line */
    char host[128], kernel[192];
    struct check_record record; /* of the last interval, with all its rows */
    struct check_context context;
    struct error_picture picture;
    struct accuracy whole; /* of all intervals, in ns */
    double elapsed_s, measured_busy_s, sampled_busy_s;
    struct losses losses;
    double unread_percent;             /* the highest of an interval */
    char begin[40];                    /* end of the first interval */
    struct report_interval *intervals; /* [REPORT_INTERVALS]: i is at i % REPORT_INTERVALS */
    struct registry registry;
    struct report_process *processes; /* [registry.count] */
    size_t process_capacity;
    size_t crowd;            /* with this many processes, those that are gone are merged by name */
    struct report_cpu *cpus; /* [cpu_count] */
    size_t cpu_count, cpu_capacity;
};

/* Opens the file, so that a failure is reported before the first interval. OPTIONS_GO_ON or an exit
 * status. argv[argc]: the command line, from "check" on. */
int check_report_open(struct check_report *report, const char *path, int argc, char **argv);

/* Adds an interval with all selected processes. CAMP_OK or CAMP_E_NOMEM. */
int check_report_add(struct check_report *report, const struct check_context *context,
                     const struct frame *tasks, const struct frame *cpus, const char *time);

/* Writes the report to its file, or nothing if there was no interval. Returns an exit status. */
int check_report_write(struct check_report *report);

void check_report_release(struct check_report *report);

extern const struct field report_interval_fields[REPORT_COLUMNS];

/* Writes the HTML page. CAMP_OK or CAMP_E_NOMEM; the caller checks the stream for write errors. */
int check_report_page(FILE *stream, const struct check_report *report);
