/*
 * Files below /proc and /sys, or below the directories that a struct camp_source names instead.
 *
 * The kernel generates many of these files at the first read. If the buffer is large enough, one
 * read returns data of a single point in time.
 */
#pragma once

#include "../text.h"

#include <camp/camp.h>

#include <stddef.h>
#include <sys/types.h>

#define PATH_SIZE 512

/* The directories to read. The defaults are "/proc" and "/sys". */
const char *camp_proc(const struct camp_source *source);
const char *camp_sys(const struct camp_source *source);

/* Writes root, a slash and the formatted text to path[PATH_SIZE]. Returns CAMP_E_INVALID if the
 * path is too long. */
int camp_path(char *path, const char *root, struct camp_error *error, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* Reads the beginning of a file by one read(2), without a final NUL. A file longer than `capacity`
 * is truncated. The kernel returns files such as stat, schedstat and those of /sys in one read(2).
 */
int camp_read_file_once(const char *path, char *buffer, size_t capacity, size_t *ret_length,
                        struct camp_error *error);

/* Opens a file below /proc, or below source->proc, and writes its path to path[PATH_SIZE]. Returns
 * a descriptor, or a negative CAMP_E_*. */
int camp_open_proc(const struct camp_source *source, const char *name, char *path,
                   struct camp_error *error);

/*
 * Reads a file of /proc line by line. The file may be longer than the buffer: /proc/stat has 100
 * KiB on a machine with 1152 CPUs. The buffer is on the caller's stack, because this library does
 * not allocate memory.
 *
 * Two properties of seq_file in the kernel save system calls:
 *
 * - A file with one record (/proc/stat and /proc/meminfo, by single_open()) is generated whole at
 *   the first read. Later reads return the rest of that text. A read that returns fewer bytes than
 *   requested is the last one.
 * - For a file with many records (/proc/net/dev, /proc/diskstats) each read returns the whole
 *   records that fit in one page. A read that returns fewer bytes than requested is the last one
 *   only if another record would have fitted in the page.
 */

#define LINES_BUFFER_SIZE 16384

struct camp_lines {
    int descriptor;
    const char *path;
    /* Reading stops at the first line without this prefix. NULL accepts all lines. */
    const char *prefix;
    size_t first_read; /* size of the first read(2); small if the wanted lines come first */
    /* A read(2) is the last one if it returns fewer bytes than this and fewer than requested. */
    size_t last_below;
    char *buffer;
    size_t capacity;
    size_t begin; /* the bytes from begin to end - 1 are not yet used */
    size_t end;
    off_t offset;
    uint64_t time_ns; /* CLOCK_MONOTONIC after the first read(2) */
    bool at_end;
};

/* Values of last_below. In a file with one record, any read(2) shorter than requested is the last
 * one. In a file with many records, only a read(2) of 0 bytes is surely the last one. */
#define LINES_ONE_RECORD SIZE_MAX
#define LINES_UNTIL_EMPTY 0

/* Prepares to read the file from its beginning by pread(2). The caller may then set `prefix` and
 * `first_read`. */
void camp_lines_start(struct camp_lines *lines, int descriptor, const char *path, char *buffer,
                      size_t capacity, size_t last_below);

/* Like text_u64(), but the newline at line->end stops the loop, so the end is not checked at each
 * byte. Tabs are not accepted as blanks. More than half of the time outside system calls is spent
 * in this loop. */
static inline bool line_u64(struct cursor *line, uint64_t *ret)
{
    const char *at = line->at;
    const char *first;
    uint64_t value; /* its address is not taken, so that it stays in a register */
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

/* True if only blanks are left in the line. */
static inline bool line_is_at_end(const struct cursor *line)
{
    const char *at = line->at;

    while (*at == ' ')
        at++;
    return at == line->end;
}

/* Returns 1 and stores the next line, without its newline, in *ret_line. Returns 0 after the last
 * line. The line is valid until the next call. CAMP_E_FORMAT means that the file ends within a line
 * or that a line does not fit in the buffer. */
int camp_lines_next(struct camp_lines *lines, struct cursor *ret_line, struct camp_error *error);
