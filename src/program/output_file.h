/*
 * An output file that appears completely or not at all: it is written under another name beside its
 * place, and renamed once all of it is on its way to the disk. Other than regular files
 * (/dev/stdout, a pipe) are written directly; "-" is stdout.
 */
#pragma once

#include <stdbool.h>
#include <stdio.h>

struct output_file {
    FILE *stream;
    const char *path; /* as given; owned by the caller */
    char *target;     /* final path; owned. NULL: written directly */
    char *part;       /* path until then; owned */
};

/* Is it the name of a page: FILE.html, FILE.htm, "-", or something other than a file (a pipe)? */
bool output_file_is_page(const char *path);

/* Checks that the folder of the path exists. STATUS_OK, or STATUS_FAILURE after a complaint that
 * names the missing folder. */
int output_folder_check(const char *path);

/* STATUS_OK, or an exit status after a complaint; then there is nothing to close. */
int output_file_open(struct output_file *file, const char *path);

/* Renames it. STATUS_OK, or an exit status after a complaint, without leftovers. */
int output_file_finish(struct output_file *file);

/* Likewise, after a failed write. An exit status: STATUS_OK for a closed pipe. */
int output_file_fail(struct output_file *file, int system_error);

/* Ends without a result and without leftovers. */
void output_file_discard(struct output_file *file);
