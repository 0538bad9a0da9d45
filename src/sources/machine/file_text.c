#include "file_text.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

ssize_t file_text(const char *path, char *ret, size_t capacity)
{
    const int descriptor = open(path, O_RDONLY | O_CLOEXEC);
    size_t used = 0;
    ssize_t got = 0;
    int system_error;

    if (descriptor < 0)
        return -1;
    while (used < capacity && (got = read(descriptor, ret + used, capacity - used)) > 0)
        used += (size_t)got;
    system_error = errno;
    close(descriptor);
    errno = system_error;
    return got < 0 ? -1 : (ssize_t)used;
}
