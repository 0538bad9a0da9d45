#include "file.h"

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
