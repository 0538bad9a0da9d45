/* Whether a process sleeps, for the samplers that are witnesses of what sessions wait for. */
#pragma once

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* Returns true if the state of the process in /proc/PID/stat is S. */
static inline bool is_asleep(const char *pid)
{
    char path[64], line[512] = "";
    const char *end;
    FILE *file;

    snprintf(path, sizeof path, "/proc/%s/stat", pid);
    file = fopen(path, "re");
    if (file == NULL)
        return false;
    if (fgets(line, sizeof line, file) == NULL)
        line[0] = '\0';
    fclose(file);
    end = strrchr(line, ')'); /* The name before it may have any character. */
    return end != NULL && strncmp(end, ") S", 3) == 0;
}
