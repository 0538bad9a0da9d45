/* camp top: what its plain and its live form share, of threads and of any other source. */
#ifndef CAMP_COMMANDS_TOP_TOP_H
#define CAMP_COMMANDS_TOP_TOP_H

#include "program/from_options.h"
#include "program/options.h"
#include "program/process_selection.h"
#include "sources/source.h"
#include "top_any.h"
#include "top_record.h"
#include "views/view.h"

struct top {
    uint64_t interval_ns, count, rows;
    int format, columns;
    int group; /* of threads: enum top_group; of others: number of a label, or -1 */
    int sort;  /* of threads: index of top_sort_names; of others: top_any_rows.h */
    bool no_syscalls, verbose;
    const char *filter_text, *workload_file, *group_text, *sort_text;
    struct process_selection processes;
    struct camp_states_losses losses; /* as of the interval that is shown */
    regex_t filter;
    struct user_names users;
    struct cgroup_paths cgroups;
    struct top_workloads workloads;
    struct top_selection selection;
    struct from_options from;
    struct from_facts facts;
    double speed;           /* of a replay on the screen, which keeps the pace itself */
    struct source *threads; /* of this machine, or recorded; or any other */
    struct top_record record;
    bool is_any; /* it shows no threads by their states: `any` instead of `record` */
    struct top_any any;
    const struct view *view;
    struct view_options view_options;
};

/* The names of --sort of threads: cpu, then the states. NULL-terminated. */
extern const char *top_sort_names[];

/* Makes ready what a group takes, and selects it. OPTIONS_GO_ON, or an exit status; *ret_problem
 * then says what is missing. */
int top_select_group(struct top *top, int group, const char **ret_problem);

/* Does the command line ask for the threads of this machine? Their options are checked before the
 * source is opened. */
bool top_says_threads(const struct top *top);

/* Of threads: --group and --workload; once the source has microstates, --sort. Of any other source,
 * once it is open: --group and --sort; opens top->any. OPTIONS_GO_ON, or an exit status after a
 * complaint. */
int top_settle_threads(struct top *top);
int top_settle_sort(struct top *top);
int top_settle_any(struct top *top);

/* Of threads, before the source is opened: what it shows when it has no microstates. */
void top_settle_from(struct top *top);

/* How many rows of so many lines are left for the record's, beside its headings, CPUs and notes. */
size_t top_rows_that_fit(const struct top *top, size_t lines);

/* Counts what could not be seen in an interval, for the whole run: top->losses. */
void top_count_losses(struct top *top, const struct frame *threads, const struct frame *cpus);

/* Notes which processes of --pid are in an interval. Returns one that runs and is not in the first
 * interval, or NO_PID. */
int32_t top_meet_processes(struct top *top, const struct frame *threads, bool is_first);

/* Fills the record with an interval: its threads, and its CPUs (NULL where there are none).
 * OPTIONS_GO_ON, or an exit status after a complaint. */
int top_fill(struct top *top, const struct frame *threads, const struct frame *cpus);

/* The record that was filled. */
const struct record *top_shown(const struct top *top);

/* The live form, on a terminal that screen_open() took. Returns an exit status. */
int top_live(struct top *top);

#endif
