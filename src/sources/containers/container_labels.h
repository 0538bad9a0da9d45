/* A source that gives each row of another source the labels of containers.h, by the cgroup or the
 * process of the row. */
#pragma once

#include "containers.h"
#include "sources/source.h"

/* `tasks` has threads or processes of this machine, and no labels. Takes ownership of it: closes it
 * after a failure, and otherwise *ret closes it. Returns CAMP_OK or an error of
 * containers_open(). */
int container_labels_open(struct source *tasks, struct source **ret, struct camp_error *error);
