/*
 * The ids of threads and processes, as the PID namespace of the session numbers them.
 *
 * A thread has an id in its PID namespace and in each namespace that contains this namespace
 * (struct pid in include/linux/pid.h of the kernel). A thread that has no id in the session's
 * namespace is outside. In the machine's own namespace the ids are those of task_struct, and no
 * thread is outside.
 *
 * A thread that exits loses its ids before its last switch, so the account keeps them.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <linux/bpf.h>

#include <bpf/bpf_helpers.h>

#include <bpf/bpf_core_read.h>

#include "kernel.h"

#define NAMESPACES_DEEP 33 /* MAX_PID_NS_LEVEL (32), and 1 for the machine's own namespace */

/* Inode number of the session's PID namespace, or 0 if this is the machine's own namespace. The
 * session sets it before it loads the programs. The verifier then leaves out the code for the other
 * case. */
const volatile uint32_t own_namespace = 0;

/* Returns the id in the session's namespace that is in the struct pid at `address`, or 0 if there
 * is none. A global function, which the verifier checks once and not at each call. */
__noinline int id_in_namespace(uint64_t address)
{
    const struct pid *pid = (const struct pid *)address;
    uint32_t level = BPF_CORE_READ(pid, level);

    for (uint32_t i = 0; i < NAMESPACES_DEEP && i <= level; i++) {
        const struct upid *id =
            (const void *)&pid->numbers[0] + (level - i) * bpf_core_type_size(struct upid);

        if (BPF_CORE_READ(id, ns, ns.inum) == own_namespace)
            return BPF_CORE_READ(id, nr);
    }
    return 0;
}

/* Return the id of a thread or of its process. 0 if the thread is outside, or if it has exited and
 * its parent has waited for it. */
static __always_inline int32_t thread_id(const struct task_struct *task)
{
    if (own_namespace == 0)
        return task->pid;
    return id_in_namespace((uint64_t)BPF_CORE_READ(task, thread_pid));
}

static __always_inline int32_t process_id(const struct task_struct *task)
{
    if (own_namespace == 0)
        return task->tgid;
    return id_in_namespace((uint64_t)BPF_CORE_READ(task, signal, pids[PIDTYPE_TGID]));
}

/* Returns the pid of the parent process. 0 if it is outside, or if it has exited and its parent has
 * waited for it. */
static __always_inline int32_t parent_id(const struct task_struct *task)
{
    if (own_namespace == 0)
        return untrusted(task)->real_parent->tgid;
    return id_in_namespace((uint64_t)BPF_CORE_READ(task, real_parent, signal, pids[PIDTYPE_TGID]));
}
