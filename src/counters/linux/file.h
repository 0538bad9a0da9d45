/*
 * Files below /proc and /sys, or below the folders of a struct camp_source.
 *
 * The kernel writes many of these files at each first read, so one read into a buffer that is large
 * enough is of one point in time.
 */
#pragma once

#include <camp/camp.h>

#include <stddef.h>

#define PATH_SIZE 512 /* a root folder and what is below it */

/* "/proc" or "/sys", or their replacement. */
const char *camp_proc(const struct camp_source *source);
const char *camp_sys(const struct camp_source *source);

/* root/format... into path[PATH_SIZE]. CAMP_E_INVALID when it does not fit. */
int camp_path(char *path, const char *root, struct camp_error *error, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* Reads the beginning of a file into buffer[capacity]: *ret_length bytes, no final NUL. In one
 * read(2), for files that answer whole at once (stat, schedstat, a /sys file); a longer one is cut
 * there, and *ret_length == capacity. */
int camp_read_file_once(const char *path, char *buffer, size_t capacity, size_t *ret_length,
                        struct camp_error *error);
