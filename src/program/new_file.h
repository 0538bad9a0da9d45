/*
 * A new file that appears completely or not at all, and never replaces another one.
 *
 * The file has no name until it is complete and on the disk. So a program that is killed leaves
 * nothing behind. In file systems without files that have no name (O_TMPFILE of open(2)), it has a
 * temporary name, which a killed program leaves: NAME.NUMBER.part. output_file.h is for files that
 * may replace others.
 */
#pragma once

#include <stdio.h>

struct new_file {
    FILE *stream;
    char *path, *part; /* `part` is the temporary name, or NULL */
};

/* Opens a file that will have this path, with permissions for its owner alone. Returns 0 or an
 * errno: EEXIST if the path exists. */
int new_file_open(struct new_file *ret, const char *path);

/* Like new_file_open(), but with a temporary name in any file system. */
int new_file_open_part(struct new_file *ret, const char *path);

/* Writes the file to the disk, gives it its name, and closes it. Returns 0 or an errno, which is
 * that of a failed write, or EEXIST if the path exists now; the file is then gone. */
int new_file_finish(struct new_file *file);

/* Closes the file, which gets no name. Accepts a file that is closed. */
void new_file_discard(struct new_file *file);
