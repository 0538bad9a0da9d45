/*
 * An output file that appears completely or not at all: it is written under another name in the
 * same folder, and renamed once it is complete and closed. Files that are not regular (/dev/stdout,
 * a pipe) are written directly; "-" is stdout.
 */
#pragma once

#include <stdbool.h>
#include <stdio.h>

struct output_file {
    FILE *stream;
    const char *path; /* as given; owned by the caller */
    char *target;     /* final path; owned. NULL: written directly */
    char *part;       /* path of the file until it is renamed; owned */
};

/* Is the path suitable for a page: FILE.html, FILE.htm, "-", or something other than a file (a
 * pipe)? */
bool output_file_is_page(const char *path);

/* Checks that the folder of the path exists. STATUS_OK, or STATUS_FAILURE after a complaint that
 * names the missing folder. */
int output_folder_check(const char *path);

/* Opens the file. STATUS_OK, or an exit status after a complaint, with nothing left to close. */
int output_file_open(struct output_file *file, const char *path);

/* Closes and renames the file. STATUS_OK, or an exit status after a complaint; then no file is left
 * behind. */
int output_file_finish(struct output_file *file);

/* Removes the file after a failed write. Returns an exit status after a complaint, or STATUS_OK for
 * a closed pipe. */
int output_file_fail(struct output_file *file, int system_error);

/* Removes the unfinished file. */
void output_file_discard(struct output_file *file);
