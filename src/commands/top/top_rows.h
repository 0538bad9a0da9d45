/* The rows of an interval of camp top: which threads, added up to what, named how, in which order.
 */
#ifndef CAMP_COMMANDS_TOP_TOP_ROWS_H
#define CAMP_COMMANDS_TOP_TOP_ROWS_H

#include "ledger/frame.h"
#include "sources/machine/cgroup_paths.h"
#include "sources/machine/user_names.h"
#include "top_workloads.h"

#include <regex.h>

enum top_group { TOP_THREAD, TOP_PROCESS, TOP_USER, TOP_COMMAND, TOP_CGROUP, TOP_WORKLOAD };

extern const char *const top_group_names[]; /* by enum top_group; NULL-terminated */

#define TOP_SORT_CPU (-1)

/* The note of an interval in which --filter selects no row. */
#define TOP_UNMATCHED "no row: no name matches --filter"

struct top_selection {
    enum top_group group;
    const regex_t *filter; /* of names; NULL: all */
    const int32_t *pids;   /* [pid_count]; none: all */
    size_t pid_count;
    bool kernel_threads;
    bool tree;     /* of processes: under their parents */
    bool for_text; /* those that ended stand apart, below; what is long is cut, or put together */
    bool prstat;   /* text: the columns of prstat -mL */
    bool cpus;     /* text: with a line a CPU */
    size_t width;  /* text: columns of the terminal */
    size_t top;    /* 0: all */
    int sort;      /* index of a state; TOP_SORT_CPU: on a CPU */
    struct cgroup_paths *cgroups;    /* of TOP_CGROUP */
    struct top_workloads *workloads; /* of TOP_WORKLOAD */
    struct user_names *users;
};

struct top_rows {
    const struct frame *threads;   /* that were selected: all of the interval, or `selected` */
    struct frame selected, groups; /* owned: top_rows_release() */
    size_t *order;                 /* [count] rows of `groups`; those that ended apart come last */
    uint32_t *depths;              /* [count] of a tree, otherwise 0 */
    size_t count, living;          /* `living`: how many do not stand apart */
    size_t capacity;               /* of order and depths */
};

/* A frame of those that are selected; NULL: of all. *ret is empty, or was copied to before. CAMP_OK
 * or CAMP_E_NOMEM. */
int top_copy_frame(struct frame *ret, const struct frame *from,
                   const struct top_selection *selection);

/* CAMP_OK or CAMP_E_NOMEM. */
int top_rows_fill(struct top_rows *ret, const struct frame *threads,
                  const struct top_selection *selection);
void top_rows_release(struct top_rows *rows);

/* The name of a row of `groups`. */
const char *top_row_name(const struct top_selection *selection, const struct entity *row);

/* Of the states of a row: time on a CPU; time asleep for what has no column of its own. */
uint64_t top_on_cpu_ns(const uint64_t *values);
uint64_t top_sleep_ns(const uint64_t *values);

#endif
