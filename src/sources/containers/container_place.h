/* A place in the tree of cgroups: the texts of its labels. Only containers.c and the tests include
 * this header. */
#pragma once

#include "container_lookup.h"
#include "containers.h"
#include "cpu_quota.h"

struct container_place {
    char *path, *cpu_path; /* cpu_path: in version 1; NULL: the same as `path` */
    struct container_path parsed;
    struct container_place
        *own; /* the place of the innermost container; NULL, or the place itself */
    struct container_place *outer; /* of a container: the place of the container around it */
    struct container_names names;
    int result; /* of container_lookup(); CAMP_OK where no file is needed */
    char texts[CONTAINER_LABEL_COUNT][CONTAINER_TEXT_SIZE];
    uint64_t last_used;   /* number of the interval */
    uint64_t quotas_read; /* number of the interval; 0: never */
};

/* Sets the texts of the labels but quotas. `siblings` are all places: one of them may know the name
 * of the pod. */
void container_place_name(struct container_place *place, struct container_place *const *siblings,
                          size_t count);

/* Returns whether both places are in one pod: of the host, or of the same user. */
bool container_place_is_same_pod(const struct container_place *left,
                                 const struct container_place *right);

/* Reads the quotas. One that can no longer be read stays as it was. */
void container_place_read_quotas(struct container_place *place,
                                 const struct cpu_hierarchy *hierarchy);
