/*
 * An output file that appears completely or not at all. camp writes the file under a temporary name
 * in the same folder, and renames it when it is complete and closed. Paths that are not regular
 * files, such as /dev/stdout or a pipe, are written directly. "-" is stdout. A file that replaces
 * another has its permissions, and its owner and group if the user may set them.
 */
#pragma once

#include "output_place.h"

#include <stdio.h>

struct output_file {
    FILE *stream;
    const char *path; /* the caller owns it */
    /* where the complete file goes; without a folder (-1) if `path` is written directly */
    struct output_place place;
    char *part; /* the temporary name, in place.folder */
};

/* Returns whether a page can be written to the path: FILE.html, FILE.htm, "-", or an existing
 * path that is not a regular file, such as a pipe. */
bool output_file_is_page(const char *path);

/* Checks that the folder of the path exists. Returns STATUS_OK, or STATUS_FAILURE after naming
 * the missing folder on stderr. */
int output_folder_check(const char *path);

/* Opens the file. Returns STATUS_OK, or an exit status after an error message; the caller then
 * has nothing to close. */
int output_file_open(struct output_file *file, const char *path);

/* Closes and renames the file. Returns STATUS_OK, or an exit status after an error message. After
 * an error, the temporary file has been removed. */
int output_file_finish(struct output_file *file);

/* Removes the file after a failed write, whose errno is system_error. Returns STATUS_OK for EPIPE
 * (the reader closed the pipe), otherwise an exit status after an error message. */
int output_file_fail(struct output_file *file, int system_error);

void output_file_discard(struct output_file *file);
