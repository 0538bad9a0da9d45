/* The files that say what the running kernel counts, and its configuration. */
#pragma once

#include "file.h"
#include "kernel_text.h"

struct kernel_files {
    const struct camp_source *source;
    char release[CAMP_NAME_SIZE]; /* "" if unknown */
    char machine[CAMP_NAME_SIZE];
    struct kernel_config config;
    char buffer[LINES_BUFFER_SIZE];
    struct cursor text; /* the last file that was read */
};

/* Reads the name of the kernel and its configuration. */
void camp_kernel_files_open(struct kernel_files *files, const struct camp_source *source);

/* Read up to LINES_BUFFER_SIZE bytes of a file below /proc or /sys into files->text. Return 0 or an
 * errno. */
int camp_kernel_read_proc(struct kernel_files *files, const char *name);
int camp_kernel_read_sys(struct kernel_files *files, const char *name);

/* Returns ANSWER_YES if the file below /proc can be read, ANSWER_NO if it does not exist or is
 * switched off, and ANSWER_UNKNOWN after another error, such as a missing permission. */
int camp_kernel_answers(struct kernel_files *files, const char *name);

/* Calls take() for each line of a file below /proc, until take() returns false. Returns false if
 * the file could not be read. */
bool camp_kernel_each_line(struct kernel_files *files, const char *name,
                           bool (*take)(void *context, struct cursor line), void *context);
