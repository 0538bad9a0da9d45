/* The group of a thread, found as the programs in the kernel find it: by its process, or by the
 * name of its process, which is the name of its first thread. */
#pragma once

#include "ledger/index.h"

#include <camp/states.h>

#include <stdbool.h>

struct named_process {
    int32_t pid;
    char name[CAMP_STATES_NAME_SIZE];
};

/* An all-zero struct is empty. */
struct cause_groups {
    const struct camp_states_group *groups; /* [count]; the caller's */
    size_t count;
    struct named_process *processes; /* [process_count], the processes that were seen */
    size_t process_count, process_capacity;
    struct index index;
    /* Returns the name of the first thread of a process that was not seen, or false. NULL: from
     * /proc/PID/comm. */
    bool (*read_name)(int32_t pid, char ret[CAMP_STATES_NAME_SIZE]);
};

/* Sets *ret to the number of the thread's group; it is that of CAMP_GROUP_OTHER if the group is not
 * in the list. Returns false if there is no memory. */
bool cause_groups_find(struct cause_groups *groups, const struct camp_thread_states *thread,
                       uint32_t *ret);

void cause_groups_release(struct cause_groups *groups);
