/* A cgroup as the subject of camp why: by its path, or by the name of a container, a pod or a unit.
 */
#pragma once

#include "sources/causes/causes.h"
#include "sources/containers/cgroup_folder.h"

#define WHY_LABELS (LABEL_UNIT + 1)

/* An all-zero struct is none. */
struct why_cgroup {
    const char *path;               /* of the operand or the option --cgroup, or NULL */
    const char *labels[WHY_LABELS]; /* names of the options, by enum container_label, or NULL */
    char name[CAUSE_CGROUP_SIZE];   /* as shown: the path, or such as "container web", or "" */
    struct cgroup_folder folder;    /* empty: the subject is no cgroup */
};

/* Finds the cgroup, if the subject is one. `operand` is the subject that the user named otherwise,
 * or NULL; a path, which starts with a slash, is that of a cgroup. Files of container runtimes are
 * read by a child that is confined. Returns OPTIONS_GO_ON, or an exit status after an error
 * message. */
int why_cgroup_find(struct why_cgroup *cgroup, const char *operand);

/* Returns the options of enum camp_states_option that the cgroup needs. */
uint32_t why_cgroup_options(const struct why_cgroup *cgroup, bool divides_by_cgroup);

/* Watches the cgroup, and names the cgroups that are causes. Returns the errors of
 * causes_watch_cgroup(). */
int why_cgroup_watch(const struct why_cgroup *cgroup, struct causes_source *source,
                     struct camp_error *error);

void why_cgroup_release(struct why_cgroup *cgroup);
