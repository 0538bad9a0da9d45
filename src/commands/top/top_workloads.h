/* The workload of each process: the rules of --workload, applied once to each process. */
#pragma once

#include "ledger/frame.h"
#include "ledger/workload.h"
#include "sources/machine/user_names.h"

/* A process as it was when the rules were applied to it. They are applied again when its name or
 * user changes. */
struct workload_member {
    int32_t pid;
    uint32_t uid;
    char name[CAMP_NAME_SIZE];
    size_t workload;
};

struct top_workloads {
    struct workloads rules;
    struct workload_member *members; /* [count], ascending by pid */
    size_t count;
    uint64_t frame_ns; /* end of the frame in which the members were last seen */
    int64_t *numbers;  /* [entity_count of that frame] */
};

/* Reads a file of rules. OPTIONS_GO_ON, or an exit status after a complaint that names the line. */
int top_workloads_read(struct top_workloads *ret, const char *path);
void top_workloads_release(struct top_workloads *workloads);

/* Fills workloads->numbers: for each thread, the workload of its process. CAMP_OK or CAMP_E_NOMEM.
 */
int top_workloads_find(struct top_workloads *workloads, struct user_names *users,
                       const struct frame *threads);
