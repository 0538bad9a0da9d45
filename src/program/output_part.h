/*
 * The unfinished file of an output, and what replaces the old file by it. Each system has these
 * functions, in program/linux and windows.
 */
#pragma once

#include "output_file.h"

/* Returns a second descriptor of stdout, which child processes do not inherit, or -1 with errno. */
int output_copy_stdout(void);

/* Creates the unfinished file in the folder of file->path, and sets file->part and file->place. On
 * Linux, opens a path that is not a regular file, such as a pipe; file->part then stays NULL.
 * Returns a descriptor, or -1 with errno. */
int output_part_open(struct output_file *file);

/* Renames the complete file, so that it replaces the old one, if any. Returns 0 or an errno. */
int output_part_replace(const struct output_file *file);

/* Removes the unfinished file. */
void output_part_remove(const struct output_file *file);
