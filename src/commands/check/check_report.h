/*
 * camp check --report: all intervals of a run as one HTML file, with the statistics of error. Its
 * numbers are those of the records of `camp check` (check_record.h), added up.
 */
#ifndef CAMP_COMMANDS_CHECK_CHECK_REPORT_H
#define CAMP_COMMANDS_CHECK_CHECK_REPORT_H

#include "check_record.h"
#include "ledger/registry.h"
#include "program/output_file.h"
#include "views/pictures/picture_error.h"

#define REPORT_COLUMNS 18    /* of an interval */
#define REPORT_INTERVALS 300 /* the last ones have a row; all are in the pictures and sums */

/* One interval: a row of the report. */
struct report_interval {
    char time[40];
    struct cell cells[REPORT_COLUMNS];
};

/* A process, or those of one name that ended, in all intervals. */
struct report_process {
    double measured_s, sampled_s, absolute_s; /* sampled_s NAN: not known */
};

struct report_cpu {
    int64_t cpu;
    double measured_s, sampled_s, elapsed_s; /* of the intervals in which both were known */
};

/* All zero is an empty one. */
struct check_report {
    struct output_file file; /* stream NULL: not open */
    char *command;           /* that made it */
    char host[128], kernel[192];
    struct check_record record; /* of the last interval, with all its rows */
    struct check_context context;
    struct error_picture picture;
    struct accuracy whole; /* of all intervals, in ns */
    double elapsed_s, measured_busy_s, sampled_busy_s;
    struct losses losses;
    double unread_percent;             /* the most of an interval */
    char begin[40];                    /* when the first interval ended */
    struct report_interval *intervals; /* [REPORT_INTERVALS]: i is at i % REPORT_INTERVALS */
    struct registry registry;
    struct report_process *processes; /* [registry.count] */
    size_t process_capacity;
    size_t crowd;            /* so many processes that those long gone are added up by name */
    struct report_cpu *cpus; /* [cpu_count] */
    size_t cpu_count, cpu_capacity;
};

/* Where it will be is opened now: what cannot be written is told before the first interval.
 * OPTIONS_GO_ON or an exit status. argv[argc]: the command line, from "check" on. */
int check_report_open(struct check_report *report, const char *path, int argc, char **argv);

/* An interval more, of the selected processes, all of them. CAMP_OK or CAMP_E_NOMEM. */
int check_report_add(struct check_report *report, const struct check_context *context,
                     const struct frame *tasks, const struct frame *cpus, const char *time);

/* Writes it and puts it to its place; without an interval nothing. An exit status. */
int check_report_write(struct check_report *report);

void check_report_release(struct check_report *report);

/* ------------------------------------------------------------- check_report_page.c -- */

extern const struct field report_interval_fields[REPORT_COLUMNS];

/* CAMP_OK or CAMP_E_NOMEM; whether the stream took it is to be asked of the stream. */
int check_report_page(FILE *stream, const struct check_report *report);

#endif
