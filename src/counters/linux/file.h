/*
 * Files below /proc and /sys, or below the directories that a struct camp_source names instead.
 *
 * The kernel generates many of these files when they are read. If the buffer is large enough, one
 * read(2) returns data of a single point in time.
 */
#pragma once

#include "../text.h"

#include <camp/camp.h>

#include <stddef.h>
#include <sys/types.h>

#define PATH_SIZE 512

const char *camp_proc(const struct camp_source *source);
const char *camp_sys(const struct camp_source *source);

/* Writes `root`, a slash and the formatted text to path[PATH_SIZE]. Returns CAMP_E_INVALID if they
 * do not fit. */
int camp_path(char *path, const char *root, struct camp_error *error, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* Reads up to `capacity` bytes of a file by one read(2), without a final NUL. One read(2) is enough
 * for files such as schedstat and those of /sys. */
int camp_read_file_once(const char *path, char *buffer, size_t capacity, size_t *ret_length,
                        struct camp_error *error);

/* Opens a file below camp_proc(source), and writes its path to path[PATH_SIZE]. Returns a
 * descriptor, or a negative CAMP_E_*. */
int camp_open_proc(const struct camp_source *source, const char *name, char *path,
                   struct camp_error *error);

/*
 * Reads a file of /proc line by line. The file may be longer than the buffer: /proc/stat has 100
 * KiB on a machine with 1152 CPUs. The buffer is on the caller's stack, because this library does
 * not allocate memory.
 *
 * Two properties of seq_file in the kernel save system calls:
 *
 * - A file of one record (/proc/stat and /proc/meminfo, by single_open()) is generated whole at the
 *   first read. A read that returns fewer bytes than requested has reached the end of the file.
 * - A file of many records (/proc/net/dev, /proc/diskstats) is generated in parts: each read
 *   returns the whole records that fit in one page. A read has reached the end of the file if it
 *   leaves space in the page for another record.
 */

#define LINES_BUFFER_SIZE 16384

struct camp_lines {
    int descriptor;
    const char *path;
    /* Reading stops before the first line without this prefix. NULL accepts all lines. */
    const char *prefix;
    size_t first_read; /* bytes of the first read(2): few if the wanted lines come first */
    /* A read(2) that returns fewer bytes than last_below, and fewer than requested, has reached the
     * end of the file. */
    size_t last_below;
    char *buffer;
    size_t capacity;
    size_t begin; /* buffer[begin] to buffer[end - 1] are not used yet */
    size_t end;
    off_t offset;
    uint64_t time_ns; /* CLOCK_MONOTONIC after the first read(2) */
    bool at_end;
};

/* Values of last_below. With LINES_ONE_RECORD, a read(2) shorter than requested has reached the end
 * of the file. With LINES_UNTIL_EMPTY, only a read(2) of 0 bytes has. */
#define LINES_ONE_RECORD SIZE_MAX
#define LINES_UNTIL_EMPTY 0

/* Prepares to read the file from its beginning by pread(2). The caller may then set `prefix` and
 * `first_read`. */
void camp_lines_start(struct camp_lines *lines, int descriptor, const char *path, char *buffer,
                      size_t capacity, size_t last_below);

/* Like text_u64(), but does not skip tabs, and relies on the newline at line->end instead of
 * checking for the end at each byte: most of the time outside system calls is spent here. */
static inline bool line_u64(struct cursor *line, uint64_t *ret)
{
    const char *at = line->at;
    const char *first;
    uint64_t value; /* stays in a register, because no function gets its address */
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

/* Returns 1 and sets *ret_line to the next line, without its newline. The line is valid until the
 * next call. Returns 0 after the last line, and CAMP_E_FORMAT if the file ends within a line or if
 * a line does not fit in the buffer. */
int camp_lines_next(struct camp_lines *lines, struct cursor *ret_line, struct camp_error *error);
