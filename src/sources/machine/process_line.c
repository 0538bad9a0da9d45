#include "process_line.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

static ssize_t read_line(int32_t pid, char *ret, size_t capacity)
{
    char path[40];
    int descriptor;
    size_t used = 0;
    ssize_t got = -1;

    snprintf(path, sizeof path, "/proc/%d/cmdline", pid);
    descriptor = open(path, O_RDONLY | O_CLOEXEC);
    if (descriptor < 0)
        return -1;
    while (used < capacity && (got = read(descriptor, ret + used, capacity - used)) > 0)
        used += (size_t)got;
    close(descriptor);
    return got < 0 ? -1 : (ssize_t)used;
}

void process_line(int32_t pid, bool has_line, const char *name, char ret[PROCESS_LINE_SIZE])
{
    ssize_t length = has_line ? read_line(pid, ret, PROCESS_LINE_SIZE - 1) : 0;

    while (length > 0 && ret[length - 1] == '\0')
        length--;
    if (length <= 0) {
        snprintf(ret, PROCESS_LINE_SIZE, "%s", name);
        return;
    }
    ret[length] = '\0';
    for (ssize_t i = 0; i < length; i++) {
        if (ret[i] == '\0')
            ret[i] = ' ';
    }
}
