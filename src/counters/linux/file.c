#include "file.h"

#include "../clock.h"
#include "../error.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

const char *camp_proc(const struct camp_source *source)
{
    return source != NULL && source->proc != NULL ? source->proc : "/proc";
}

const char *camp_sys(const struct camp_source *source)
{
    return source != NULL && source->sys != NULL ? source->sys : "/sys";
}

int camp_path(char *path, const char *root, struct camp_error *error, const char *format, ...)
{
    size_t root_length = strlen(root);
    va_list arguments;
    int length;

    if (root_length + 2 > PATH_SIZE)
        return camp_fail(error, CAMP_E_INVALID, 0, "a source's folder has a name over %d bytes",
                         PATH_SIZE - 2);
    memcpy(path, root, root_length);
    path[root_length] = '/';
    va_start(arguments, format);
    length = vsnprintf(path + root_length + 1, PATH_SIZE - root_length - 1, format, arguments);
    va_end(arguments);
    if (length < 0 || (size_t)length >= PATH_SIZE - root_length - 1)
        return camp_fail(error, CAMP_E_INVALID, 0, "a path below %s is over %d bytes", root,
                         PATH_SIZE - 1);
    return CAMP_OK;
}

int camp_read_file_once(const char *path, char *buffer, size_t capacity, size_t *ret_length,
                        struct camp_error *error)
{
    int descriptor = open(path, O_RDONLY | O_CLOEXEC);
    int system_error;
    ssize_t got;

    if (descriptor < 0)
        return camp_fail_errno(error, errno, path);
    do
        got = read(descriptor, buffer, capacity);
    while (got < 0 && errno == EINTR);
    system_error = errno;
    close(descriptor);
    if (got < 0)
        return camp_fail_errno(error, system_error, path);
    *ret_length = (size_t)got;
    return CAMP_OK;
}

int camp_open_proc(const struct camp_source *source, const char *name, char *path,
                   struct camp_error *error)
{
    const char *root = camp_proc(source);
    size_t root_length = strlen(root);
    size_t name_length = strlen(name);
    int descriptor;

    /* With snprintf(), reading the file would take 2 % longer. */
    if (root_length + 1 + name_length >= PATH_SIZE)
        return camp_fail(error, CAMP_E_INVALID, 0, "a source's folder has a name over %d bytes",
                         PATH_SIZE - 32);
    memcpy(path, root, root_length);
    path[root_length] = '/';
    memcpy(path + root_length + 1, name, name_length + 1);
    descriptor = open(path, O_RDONLY | O_CLOEXEC);
    return descriptor < 0 ? camp_fail_errno(error, errno, path) : descriptor;
}

void camp_lines_start(struct camp_lines *lines, int descriptor, const char *path, char *buffer,
                      size_t capacity, size_t last_below)
{
    *lines = (struct camp_lines){
        .descriptor = descriptor,
        .path = path,
        .first_read = capacity,
        .last_below = last_below,
        .buffer = buffer,
        .capacity = capacity,
    };
}

static int fill(struct camp_lines *lines, struct camp_error *error)
{
    size_t left = lines->end - lines->begin;
    size_t room = (lines->offset == 0 ? lines->first_read : lines->capacity) - left;
    ssize_t got;

    if (room == 0)
        return camp_fail(error, CAMP_E_FORMAT, 0, "%s: a line is over %zu bytes; report it",
                         lines->path, lines->capacity);
    if (left != 0 && lines->begin != 0)
        memmove(lines->buffer, lines->buffer + lines->begin, left);
    do
        got = pread(lines->descriptor, lines->buffer + left, room, lines->offset);
    while (got < 0 && errno == EINTR);
    if (got < 0)
        return camp_fail_errno(error, errno, lines->path);
    if (lines->time_ns == 0)
        lines->time_ns = now_ns(CLOCK_MONOTONIC);
    lines->at_end = got == 0 || ((size_t)got < lines->last_below && (size_t)got < room);
    lines->offset += got;
    lines->begin = 0;
    lines->end = left + (size_t)got;
    return CAMP_OK;
}

/* True if the next line does not begin with lines->prefix. Only the beginning of the line needs to
 * be in the buffer, because an unwanted line may be longer than the buffer. */
static bool is_unwanted(const struct camp_lines *lines)
{
    const char *at = lines->buffer + lines->begin;
    const char *end = lines->buffer + lines->end;
    const char *prefix = lines->prefix;

    if (prefix == NULL || at == end)
        return false;
    while (at < end && *prefix != '\0')
        if (*at++ != *prefix++)
            return true;
    return false;
}

int camp_lines_next(struct camp_lines *lines, struct cursor *ret_line, struct camp_error *error)
{
    for (;;) {
        const char *at = lines->buffer + lines->begin;
        size_t left = lines->end - lines->begin;
        const char *newline = NULL;
        int r;

        if (is_unwanted(lines))
            return 0;
        if (left != 0)
            newline = memchr(at, '\n', left);
        if (newline != NULL) {
            *ret_line = (struct cursor){ at, newline };
            lines->begin += (size_t)(newline - at) + 1;
            return 1;
        }
        if (lines->at_end && left == 0)
            return 0;
        if (lines->at_end)
            return camp_fail(error, CAMP_E_FORMAT, 0, "%s ends within a line; read it again",
                             lines->path);
        r = fill(lines, error);
        if (r < 0)
            return r;
    }
}
