/*
 * A command is one file with one function, and one line in the table of commands.c.
 *
 * A command prints its result through a view to stdout, and a failure as one line "camp NAME: what;
 * what to do" to stderr by complain(). It returns an exit status.
 */
#pragma once

#include <camp/camp.h>

#include "common_options.h"

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>

enum exit_status {
    STATUS_OK = 0,
    STATUS_FAILURE = 1, /* a file, port, process or server is missing, in use, broken, or refuses */
    STATUS_USAGE = 2,   /* the command line is wrong, on any machine */
    STATUS_PARTIAL = 3, /* part of the request was unavailable, and was named */
    STATUS_PRIVILEGE = 4 /* a capability is missing, and was named */
};

struct document;
struct view;
struct view_options;

struct command {
    const char *name;
    int (*run)(int argc, char **argv); /* argv[0] is the command's name */
    const char *help;                  /* one line */
};

int command_check(int argc, char **argv);
int command_export(int argc, char **argv);
int command_get(int argc, char **argv);
int command_list(int argc, char **argv);
int command_doctor(int argc, char **argv);
int command_load(int argc, char **argv);
int command_verify(int argc, char **argv);
int command_probe(int argc, char **argv);
int command_record(int argc, char **argv);
int command_report(int argc, char **argv);
int command_time(int argc, char **argv);
int command_top(int argc, char **argv);
int command_wait(int argc, char **argv);
int command_view(int argc, char **argv);

/* The running command, for complaints; set once by main(). */
extern const char *command_name;

/* The name of the program, for --version: "camp", unless main() sets another. */
extern const char *program_name;

/* Prints "camp 1.2". Returns an exit status. */
int print_version(void);
bool is_version_option(const char *word); /* --version, -V */

/* Prepares standard descriptors, locale and SIGPIPE; each main() calls it first. */
void prepare_program(void);

/* Writes "camp NAME: " and the line to stderr. Returns `status`. */
int complain(int status, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Complains, as complain() does, about a failed call of the library. Returns the exit status that
 * fits its result. */
int complain_of(int result, const struct camp_error *error);

/* The status after a view returned an errno: EPIPE ends quietly with STATUS_OK, anything else with
 * a complaint. */
int output_failed(int system_error);

/* Writes a document by a view. Returns OPTIONS_GO_ON, or an exit status after a complaint, or after
 * the reader has closed the pipe. */
int show_document(const struct document *document, const struct view *view,
                  const struct view_options *options, uint64_t number);

/* Set by SIGINT, SIGTERM and SIGHUP after stop_on_signals(): a command then ends with the results
 * so far. Interrupts sleeps. */
extern volatile sig_atomic_t stop_requested;
void stop_on_signals(void);

/* Sleeps until CLOCK_MONOTONIC is time_ns. False when a stop was requested first. */
bool sleep_until(uint64_t time_ns);

/* Wall clock as RFC 3339 with milliseconds and offset: "2026-11-21T09:00:00.123+01:00". */
#define TIME_TEXT_SIZE 40
void time_text(char *ret, size_t capacity, int64_t wall_clock_ns);
