/* Finds the workload of each process. The rules of --workload are applied once to each process. */
#pragma once

#include "ledger/frame.h"
#include "ledger/workload.h"
#include "sources/user_names.h"

/* A process as it was when the rules were applied. The rules are applied again if the process
 * changes its name or user. */
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
    uint64_t frame_ns; /* the end of the last frame from which members were made */
    int64_t *numbers;  /* [entity_count of the last frame] workload of each thread */
};

/* Reads a file of rules. Returns OPTIONS_GO_ON, or an exit status after a complaint that names
 * the wrong line. */
int top_workloads_read(struct top_workloads *ret, const char *path);
void top_workloads_release(struct top_workloads *workloads);

/* Sets workloads->numbers to the workload of each thread's process. Returns CAMP_OK or
 * CAMP_E_NOMEM. */
int top_workloads_find(struct top_workloads *workloads, struct user_names *users,
                       const struct frame *threads);
