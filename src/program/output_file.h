/*
 * A file of output that appears whole or not at all: it is written beside its place and put there
 * by a rename once all of it is on its way to the disk. What is no regular file (/dev/stdout, a
 * pipe) is written directly; "-" is stdout.
 */
#ifndef CAMP_PROGRAM_OUTPUT_FILE_H
#define CAMP_PROGRAM_OUTPUT_FILE_H

#include <stdbool.h>
#include <stdio.h>

struct output_file {
    FILE *stream;
    const char *path; /* as it was said; the caller's */
    char *target;     /* where it will be; owned. NULL: written directly */
    char *part;       /* what is written until then; owned */
};

/* Is it a name for a page: FILE.html, FILE.htm, "-", or what is there and no file (a pipe)? */
bool output_file_is_page(const char *path);

/* Checks that the folder of the path exists. STATUS_OK, or STATUS_FAILURE after a complaint that
 * names the missing folder. */
int output_folder_check(const char *path);

/* STATUS_OK, or an exit status after a complaint; then there is nothing to close. */
int output_file_open(struct output_file *file, const char *path);

/* Puts it in its place. STATUS_OK; otherwise it was complained of, and nothing is left behind. */
int output_file_finish(struct output_file *file);

/* Likewise, once something could not be written. An exit status: STATUS_OK of a closed pipe. */
int output_file_fail(struct output_file *file, int system_error);

/* Ends it without a result: nothing is left behind. */
void output_file_discard(struct output_file *file);

#endif
