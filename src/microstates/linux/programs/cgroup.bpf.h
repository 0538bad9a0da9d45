/*
 * The cgroup of a thread: that of version 2, or on a host that has the CPU controller in version 1,
 * if the session asks for it, that of this controller. Its id is the inode number of its directory.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "kernel.h"

#define CGROUP_ROOT 1u  /* the id of the root of each hierarchy */
#define CGROUPS_DEEP 32 /* of deeper cgroups, those around are not found */

/* The session sets it before it loads the programs. */
const volatile bool cpu_cgroups = false;

/* Returns NULL for a thread of an automatic group (sched(7)), which is in the root. */
static __always_inline struct cgroup *cgroup_of(const struct task_struct *task)
{
    return cpu_cgroups ? BPF_CORE_READ(task, sched_task_group, css.cgroup)
                       : BPF_CORE_READ(task, cgroups, dfl_cgrp);
}

static __always_inline uint64_t cgroup_id(const struct task_struct *task)
{
    const struct cgroup *cgroup = cgroup_of(task);
    uint64_t id;

    if (!cpu_cgroups)
        return untrusted(task)->cgroups->dfl_cgrp->kn->id;
    id = BPF_CORE_READ(cgroup, kn, id);
    return id != 0 ? id : CGROUP_ROOT;
}
