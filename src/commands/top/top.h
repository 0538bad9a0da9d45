/* camp top: what its plain and its live form share. */
#pragma once

#include "program/from_options.h"
#include "program/options.h"
#include "program/process_selection.h"
#include "sources/machine/cgroup_paths.h"
#include "sources/machine/user_names.h"
#include "sources/source.h"
#include "top_workloads.h"
#include "views/frame_table.h"
#include "views/view.h"

/* What threads are added up by. For any other source, a group is 0 (each row by itself) or 1 + the
 * index of a label. */
enum top_group { TOP_THREAD, TOP_PROCESS, TOP_USER, TOP_COMMAND, TOP_CGROUP, TOP_WORKLOAD };
extern const char *const top_thread_groups[]; /* by enum top_group; NULL-terminated */

struct top {
    uint64_t interval_ns, count, rows;
    int format, columns, percent_of;
    int group; /* -1: not chosen yet */
    bool no_syscalls, verbose, kernel_threads;
    const char *filter_text, *workload_file, *group_text, *sort_text;
    struct process_selection processes;
    regex_t filter;
    struct user_names users;
    struct cgroup_paths cgroups;
    struct top_workloads workloads;
    struct from_options from;
    struct from_facts facts;
    double speed; /* of a replay in the live form, which waits for intervals itself */
    struct source *source;
    bool has_threads; /* rows are threads with microstates: they can be added up */
    struct selection selection;
    struct frame_style style;
    struct frame_table table;
    const struct view *view;
    struct view_options view_options;
};

/* ------------------------------------------------------------------------ Groups of rows -- */

/* How many groups there are, and their names. */
int top_group_count(const struct top *top);
const char *top_group_name(const struct top *top, int group);

/* Prepares what a group needs, and selects it. OPTIONS_GO_ON, or an exit status; *ret_problem then
 * says what is missing. */
int top_select_group(struct top *top, int group, const char **ret_problem);

/* What a row is now: "process", "session", a label's name. */
const char *top_row_noun(const struct top *top);

/* Resolves what the rows of an interval are added up by, after selection_pick(). CAMP_OK or
 * CAMP_E_NOMEM. */
int top_number_groups(struct top *top);

/* ------------------------------------------------------------------------------- Options -- */

/* Does the command line ask for the threads of this machine? Their options are checked before the
 * source is opened. */
bool top_asks_for_threads(const struct top *top);

/* Sets what the source shows if it has no microstates; called before the source is opened. */
void top_prepare_from(struct top *top);

/* Resolves the options about threads: before the source is opened if it is threads, otherwise
 * after. OPTIONS_GO_ON, or an exit status after a complaint. */
int top_resolve_thread_options(struct top *top);

/* Resolves --group and --sort, refuses options that do not go together, and opens top->table;
 * called once the source is open. OPTIONS_GO_ON, or an exit status after a complaint. */
int top_resolve_options(struct top *top);

/* -------------------------------------------------------------------------------- Showing -- */

/* How many of `lines` are left for rows, after headings, CPUs and notes. */
size_t top_rows_that_fit(const struct top *top, size_t lines);

/* Notes which processes of --pid are in an interval. Returns one that runs and is not in the first
 * interval, or NO_PID. */
int32_t top_see_processes(struct top *top, const struct frame *frame, bool is_first);

/* Fills top->table with an interval, and its CPUs (NULL: there are none). OPTIONS_GO_ON, or an exit
 * status after a complaint. */
int top_fill(struct top *top, const struct frame *frame, const struct frame *cpus);

/* Shows the columns of prstat, or those of camp. */
void top_use_prstat(struct top *top, bool used);

/* The live form, on a terminal that screen_open() has prepared. Returns an exit status. */
int top_live(struct top *top);
