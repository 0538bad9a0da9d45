/* The cgroups of a process by /proc/PID/cgroup (cgroups(7)): for hosts with version 1, where the
 * kernel's id of a cgroup is only that of version 2, and for tiers without ids. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PROCESS_CGROUP_SIZE 1024 /* a longer path is cut */

struct process_cgroup {
    /* Of all hierarchies, the path that says most: that of a container, else that of a unit. */
    char path[PROCESS_CGROUP_SIZE];
    /* The path in the hierarchy of version 1 with the CPU controller; "" if there is none. */
    char cpu_path[PROCESS_CGROUP_SIZE];
};

/* Returns whether list[length], such as "rw,cpu,cpuacct", has the CPU controller. */
bool process_cgroup_has_cpu(const char *list, size_t length);

/* Parses the text of /proc/PID/cgroup. Returns false if it has no line with a path. */
bool process_cgroup_parse(const char *text, struct process_cgroup *ret);

/* Returns false if the process has ended, or hides the file. */
bool process_cgroup_read(int32_t pid, struct process_cgroup *ret);
