/*
 * The cgroups of the causes: which of them are in the watched one, and the paths of all that are
 * groups.
 *
 * The kernel reports the group of each cgroup in which a thread ran as one of the watched cgroup,
 * also if it was removed meanwhile. A thread that never ran is in a cgroup that exists: its
 * directory is looked for below that of the watched one, at most once in a reading. A cgroup that
 * is not in the watched one may be a new one that was not found yet, so each reading asks again.
 */
#pragma once

#include "causes.h"
#include "ledger/index.h"
#include "sources/machine/cgroup_paths.h"

struct known_cgroup {
    uint64_t id;
    bool is_inside;
    uint32_t version; /* of the reading that asked for it last */
};

/* An all-zero struct is empty. */
struct cause_cgroups {
    struct camp_states *session;
    uint64_t watched;           /* its id, or 0 */
    uint32_t group;             /* number of the watched one */
    char *folder, *name;        /* of the watched one */
    bool is_walked;             /* in this reading */
    uint32_t version;           /* of this reading */
    struct known_cgroup *known; /* [count] */
    size_t count, capacity;
    struct index index;
    struct cgroup_paths paths; /* paths.mount: where the hierarchy is mounted, or NULL */
};

/* Watches a cgroup by its id. `folder` is its directory, and `name` is shown. Returns also the
 * errors of camp_states_watch_cgroup(). */
int cause_cgroups_watch(struct cause_cgroups *cgroups, struct camp_states *session,
                        const char *folder, uint64_t id, const char *name,
                        struct camp_error *error);

/* Starts a reading. */
void cause_cgroups_start(struct cause_cgroups *cgroups);

/* Sets *ret to the group of the threads in a cgroup, or to CAUSE_GROUPS if it is not in the watched
 * one. `has_exited`: a thread has exited in the cgroup, so the kernel knows it; exits are read too
 * often to look for a known directory again. Returns false if there is no memory. */
bool cause_cgroups_find(struct cause_cgroups *cgroups, uint64_t id, bool has_exited, uint32_t *ret);

/* Sets the paths of the groups that are cgroups. Returns false if there is no memory. */
bool cause_cgroups_name(struct cause_cgroups *cgroups, struct causes *causes);

void cause_cgroups_release(struct cause_cgroups *cgroups);
