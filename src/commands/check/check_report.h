/*
 * camp check --report writes all intervals of a run to one HTML file, with statistics of the error
 * of sampled CPU time. The sums are made from the numbers in the records of `camp check`
 * (check_record.h).
 */
#pragma once

#include "check_record.h"
#include "ledger/registry.h"
#include "program/output_file.h"
#include "sources/from.h"
#include "views/pictures/picture_error.h"

#define REPORT_COLUMNS 18    /* columns in the table of intervals */
#define REPORT_INTERVALS 300 /* only the last intervals are in the table; sums include all */

struct report_interval {
    char time[40];
    struct cell cells[REPORT_COLUMNS];
};

/* Sums over all intervals, for one process or for the exited processes with one name. */
struct report_process {
    double measured_s, sampled_s, absolute_s; /* sampled_s is NAN if it is unknown */
};

/* Sums over the intervals in which all times of the CPU are known. */
struct report_cpu {
    int64_t cpu;
    double measured_s, sampled_s, elapsed_s;
};

/* An all-zero report is empty. */
struct check_report {
    struct output_file file; /* file.stream is NULL if the file is not open */
    char *command;
    char source[FROM_NAME_SIZE]; /* the name of this machine, or of the recording */
    char kernel[192];
    struct check_record record; /* the last interval, with all rows */
    struct check_context context;
    struct error_picture picture;
    struct accuracy whole; /* the sum of all intervals, in ns */
    double elapsed_s, measured_busy_s, sampled_busy_s;
    struct losses losses;
    double unread_percent; /* the maximum of all intervals */
    char begin[40];        /* end of the first interval */

    /* [REPORT_INTERVALS] Interval i is at index i % REPORT_INTERVALS. */
    struct report_interval *intervals;
    struct registry registry;
    struct report_process *processes; /* [registry.count] */
    size_t process_capacity;
    size_t crowd; /* above this number, processes not seen for a while are merged by name */
    struct report_cpu *cpus; /* [cpu_count] */
    size_t cpu_count, cpu_capacity;
};

/* Opens the file, so that a failure is reported before the first interval. `argv` is the command
 * line from the word "check" on. Returns OPTIONS_GO_ON or an exit status. */
int check_report_open(struct check_report *report, const char *path, int argc, char **argv);

/* Names the recording that is reported. The report then does not name this machine. */
void check_report_name_source(struct check_report *report, const char *name);

/* Adds an interval with all selected processes. Returns CAMP_OK or CAMP_E_NOMEM. */
int check_report_add(struct check_report *report, const struct check_context *context,
                     const struct frame *tasks, const struct frame *cpus, const char *time);

/* Writes the report to its file, or nothing if there was no interval. Returns an exit status. */
int check_report_write(struct check_report *report);

void check_report_release(struct check_report *report);

extern const struct field report_interval_fields[REPORT_COLUMNS];

/* Writes the HTML page. Returns CAMP_OK or CAMP_E_NOMEM. The caller checks the stream for write
 * errors. */
int check_report_page(FILE *stream, const struct check_report *report);
