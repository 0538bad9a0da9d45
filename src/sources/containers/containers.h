/*
 * The container, the pod and the unit of each task of this machine, by name. A task's cgroup leads
 * to them (container_path.h); names are in the files of the runtimes (container_lookup.h), which
 * are read once for each container.
 *
 * A text in parentheses stands for no name: a task outside of containers is in "(host)", and one
 * whose cgroup was removed before its path was read is in "(unknown)". A container without a
 * readable file is named by its runtime and the first 12 digits of its id, its pod by its uid.
 */
#pragma once

#include <camp/camp.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum container_label {
    LABEL_CONTAINER,
    LABEL_POD,
    LABEL_UNIT,
    /* The quota of CPU time that each of them has, in CPUs: "0.5"; "none" if there is none, and
     * "" if it is unknown, because the cgroup was removed before it was read. */
    LABEL_CONTAINER_QUOTA,
    LABEL_POD_QUOTA,
    LABEL_UNIT_QUOTA,
    CONTAINER_LABEL_COUNT
};

/* "container", "pod", "unit", "container_quota", "pod_quota", "unit_quota" */
extern const char *const container_label_names[CONTAINER_LABEL_COUNT];

/* Returns whether rows can be grouped by this label; false for NULL. */
bool container_label_is_group(const char *name);

/* A task, as far as it says where the task is. */
struct container_task {
    uint64_t cgroup;     /* the id of its cgroup of version 2; 0 if it is unknown */
    int32_t pid, parent; /* of its process */
};

struct containers;

/* A place in the tree of cgroups. Its texts are valid until the next interval starts. */
struct container_place;

/* Returns CAMP_E_NOTSUP if no cgroups are mounted, and CAMP_E_NOMEM. */
int containers_open(struct containers **ret, struct camp_error *error);
void containers_close(struct containers *containers);

/* Starts an interval. Forgets what no task of the last intervals had. */
void containers_start(struct containers *containers);

/* Finds the place of a task. Returns NULL if there is no memory. A process that has ended keeps
 * the place that it, or else its parent, had in an earlier call. */
const struct container_place *containers_find(struct containers *containers,
                                              const struct container_task *task);

const char *container_place_text(const struct container_place *place, enum container_label label);

/* Sets `ret` to the path of the cgroup of the container, the pod or the unit (LABEL_CONTAINER,
 * LABEL_POD or LABEL_UNIT) of a place, and `ret_cpu` to its path in the hierarchy of version 1 with
 * the CPU controller; both have `size` bytes. Returns false if the place is in none. */
bool container_place_path(const struct container_place *place, enum container_label label,
                          char *ret, char *ret_cpu, size_t size);

/* Returns how many containers of this interval have no readable name, and why; "" if all have. */
const char *containers_note(struct containers *containers);
