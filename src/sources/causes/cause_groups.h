/* The group of a thread, found as the programs in the kernel find it: by its process, by the
 * watched cgroup that it is in, by the name of its process, which is the name of its first thread,
 * or by its own cgroup. */
#pragma once

#include "cause_cgroups.h"
#include "causes.h"
#include "ledger/index.h"

struct named_process {
    int32_t pid;
    uint32_t group, version; /* the group in that version of the list; 0: not found yet */
    bool is_own;             /* the group is of this process alone */
    char name[CAMP_STATES_NAME_SIZE];
};

/* An all-zero struct is empty. */
struct cause_groups {
    struct camp_states_group groups[CAUSE_GROUPS]; /* [count] */
    size_t count;
    uint32_t version; /* of the list, from 1 on */
    bool renamed;     /* a process has got another name since the list was set */
    /* The watched process, or 0, or the watched name, or "". If a kernel thread has it, and no
     * process, `is_kernel` becomes true, because kernel threads have no groups of their own. */
    struct named_process watched;
    bool is_kernel, has_process;
    struct named_process *processes; /* [process_count], the processes that were seen */
    size_t process_count, process_capacity;
    struct index index;
    /* Returns the name of the first thread of a process that was not seen, or false. NULL: from
     * /proc/PID/comm. */
    bool (*read_name)(int32_t pid, char ret[CAMP_STATES_NAME_SIZE]);
};

/* Removes groups that have the same name, or process, as another group: two threads of a new
 * process that run at the same time on two CPUs may get two numbers, of which all threads then use
 * one. A group stays if its number is in the set `used` (1 << number); of unused groups the first
 * stays. Returns how many groups are left in groups[count]. */
size_t cause_groups_remove_doubles(struct camp_states_group *groups, size_t count, uint64_t used);

/* Sets groups->groups to a copy of list[count], of at most CAUSE_GROUPS. Returns whether threads
 * must find their groups again: the list has changed, or a process has another name. Also fills the
 * names in `list` of processes without a thread that has run since the session watches them. */
bool cause_groups_set(struct cause_groups *groups, struct camp_states_group *list, size_t count);

/* Sets *ret to the number of the thread's group; it is that of CAMP_GROUP_OTHER if the group is not
 * in the list. Returns false if there is no memory. */
bool cause_groups_find(struct cause_groups *groups, struct cause_cgroups *cgroups,
                       const struct camp_thread_states *thread, uint32_t *ret);

void cause_groups_release(struct cause_groups *groups);
