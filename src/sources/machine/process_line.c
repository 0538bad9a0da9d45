#include "process_line.h"

#include "file_text.h"

#include <stdio.h>

static ssize_t read_line(int32_t pid, char *ret, size_t capacity)
{
    char path[40];

    snprintf(path, sizeof path, "/proc/%d/cmdline", pid);
    return file_text(path, ret, capacity);
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
