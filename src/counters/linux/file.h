/*
 * Files below /proc and /sys, or below the folders of a struct camp_source.
 *
 * The kernel generates many of these files at the first read, so one read into a buffer that is
 * large enough has the data of one point in time.
 */
#pragma once

#include "../text.h"

#include <camp/camp.h>

#include <stddef.h>
#include <sys/types.h>

#define PATH_SIZE 512 /* for a root folder and a path below it */

/* "/proc" or "/sys", or their replacement. */
const char *camp_proc(const struct camp_source *source);
const char *camp_sys(const struct camp_source *source);

/* root/format... into path[PATH_SIZE]. CAMP_E_INVALID when it does not fit. */
int camp_path(char *path, const char *root, struct camp_error *error, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* Reads the beginning of a file into buffer[capacity]: *ret_length bytes, no final NUL. It takes
 * one read(2), for files that the kernel returns whole (stat, schedstat, a /sys file); a longer
 * file is truncated, with *ret_length == capacity. */
int camp_read_file_once(const char *path, char *buffer, size_t capacity, size_t *ret_length,
                        struct camp_error *error);

/* Opens a file below /proc, or its replacement, and writes its path[PATH_SIZE]. Returns a
 * descriptor, or a negative CAMP_E_*. */
int camp_open_proc(const struct camp_source *source, const char *name, char *path,
                   struct camp_error *error);

/*
 * The lines of a file of /proc, read through a buffer that is smaller than the file may be.
 *
 * A machine of 1152 CPUs writes a /proc/stat of 100 KiB, one of a thousand disks a longer
 * /proc/diskstats; this library has no memory of its own, so what it reads streams through a buffer
 * on the stack. Two facts about the kernel's seq_file are used to need the fewest system calls:
 *
 * - A file that is written as one record (/proc/stat, /proc/meminfo: single_open()) is made whole
 * at the first read, and the reads after it get the rest of the same point in time. Less than what
 *   was asked for is its end.
 * - A file of many records (/proc/net/dev, /proc/diskstats) answers with the whole records that fit
 *   one page. Less than was asked for is its end only where one more record would have fitted.
 */

#define LINES_BUFFER_SIZE 16384

struct camp_lines {
    int descriptor;
    const char *path;   /* path of the file, for messages */
    const char *prefix; /* the first line without this prefix is the end; NULL: all lines are
                         * wanted */
    size_t first_read;  /* size of the first read: small where the wanted lines come first */
    size_t last_below;  /* a read of fewer bytes than this (and than requested) is the last one */
    char *buffer;
    size_t capacity;
    size_t begin; /* unread bytes in the buffer: from begin up to end */
    size_t end;
    off_t offset;
    uint64_t time_ns; /* CLOCK_MONOTONIC after the first read(2) */
    bool at_end;
};

#define LINES_ONE_RECORD SIZE_MAX /* as last_below: any read shorter than requested */
#define LINES_UNTIL_EMPTY 0       /* as last_below: only an empty answer is the end */

/* Prepares to read all lines from the beginning of the file, by pread(2). Afterwards, prefix and
 * first_read may be set. */
void camp_lines_start(struct camp_lines *lines, int descriptor, const char *path, char *buffer,
                      size_t capacity, size_t last_below);

/* text_u64() for lines, without a check for the end at every byte: the newline at line->end stops
 * it. This loop takes more than half of the time that a reading spends outside system calls. Tabs
 * are not accepted as blanks. */
static inline bool line_u64(struct cursor *line, uint64_t *ret)
{
    const char *at = line->at;
    const char *first;
    uint64_t value; /* its address is not taken, so it stays in a register */
    unsigned digit;

    while (*at == ' ')
        at++;
    first = at;
    value = (unsigned)(unsigned char)*at - '0';
    if (value > 9)
        return false;
    while ((digit = (unsigned)(unsigned char)*++at - '0') <= 9)
        value = value * 10 + digit;
    if (at - first <= 19)
        *ret = value;
    else if (!camp_text_long_u64(first, at, ret))
        return false;
    line->at = at;
    return true;
}

/* Is all of the line parsed, except for blanks? */
static inline bool line_is_at_end(const struct cursor *line)
{
    const char *at = line->at;

    while (*at == ' ')
        at++;
    return at == line->end;
}

/* Returns 1 and in *ret_line the next line without its newline, valid until the next call. 0: there
 * is none. CAMP_E_FORMAT: the file ends within a line, or a line does not fit the buffer. */
int camp_lines_next(struct camp_lines *lines, struct cursor *ret_line, struct camp_error *error);
