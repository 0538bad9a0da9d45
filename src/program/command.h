/*
 * A command is one file with one function, and one line in the table of commands.c.
 *
 * A command prints its result through a view to stdout. It reports a failure with complain(), as
 * one line "camp NAME: what failed; what to do" on stderr. It returns an exit status.
 */
#pragma once

#include <camp/camp.h>

#include "common_options.h"

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>

enum exit_status {
    STATUS_OK = 0,
    /* A file, port, process or server is missing, in use or broken, or refuses access. */
    STATUS_FAILURE = 1,
    /* The command line itself is wrong: it would fail on every machine. */
    STATUS_USAGE = 2,
    /* A part of the request was unavailable, and a message named that part. */
    STATUS_PARTIAL = 3,
    /* A capability is missing, and a message named it. */
    STATUS_PRIVILEGE = 4,
    /* What --fail-on names was found. */
    STATUS_FOUND = 5
};

struct document;
struct view;
struct view_options;

struct command {
    const char *name;
    int (*run)(int argc, char **argv);
    const char *help;
    bool opens_processes; /* also those of other users, which takes a right on Windows */
};

int command_check(int argc, char **argv);
int command_compare(int argc, char **argv);
int command_explain(int argc, char **argv);
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
int command_why(int argc, char **argv);
int command_view(int argc, char **argv);

/* The name of the running command, for error messages. main() sets it once. */
extern const char *command_name;

/* The name of the program that --version prints: "camp", unless main() sets another name. */
extern const char *program_name;

int print_version(void);
bool is_version_option(const char *word);

/* Prepares the standard descriptors, the locale, SIGPIPE and SIGXFSZ. Each main() calls this
 * function first. */
void prepare_program(void);

/* Restores the actions of signals that this program inherited. A child process calls this function
 * before it executes another program. */
void restore_signals(void);

/* Prints a foreign text, such as the name of a file, as a part of a line on stdout: unprintable
 * characters as '?'. */
void print_name(const char *name);

/* Prints a message on stderr as one line, with unprintable characters as '?'. Returns `status`. */
int complain(int status, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Reports a failed call of the library on stderr, like complain(). Returns the exit status for the
 * error code `result`. */
int complain_of(int result, const struct camp_error *error);

/* Handles the errno that a view returned. EPIPE ends the command quietly with STATUS_OK; any
 * other errno is reported on stderr. */
int output_failed(int system_error);

/* Writes a document by a view. Returns OPTIONS_GO_ON, or an exit status if writing failed. A
 * closed pipe counts as a failed write, but is not reported. */
int show_document(const struct document *document, const struct view *view,
                  const struct view_options *options, uint64_t number);

/* After stop_on_signals(), SIGINT, SIGTERM and SIGHUP set stop_requested and interrupt sleeps.
 * The command then ends with the results that it has so far. SIGHUP stays ignored if it was
 * inherited so. */
extern volatile sig_atomic_t stop_requested;
void stop_on_signals(void);

/* Sleeps until CLOCK_MONOTONIC is time_ns. If a stop is requested, returns false at once. */
bool sleep_until(uint64_t time_ns);

/* Writes wall clock time as RFC 3339 with milliseconds: "2026-11-21T09:00:00.123+01:00". */
#define TIME_TEXT_SIZE 40
void time_text(char *ret, size_t capacity, int64_t wall_clock_ns);
