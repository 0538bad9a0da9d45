/* What the plain form and the live form of camp top share. */
#pragma once

#include "program/from_options.h"
#include "program/options.h"
#include "program/process_selection.h"
#include "sources/machine/cgroup_paths.h"
#include "sources/source.h"
#include "sources/user_names.h"
#include "top_pea.h"
#include "top_workloads.h"
#include "views/frame_table.h"
#include "views/view.h"

/* How threads are grouped. For any other source, group 0 means that rows are not grouped, and a
 * higher group is 1 + the index of a label. */
enum top_group {
    TOP_THREAD,
    TOP_PROCESS,
    TOP_USER,
    TOP_COMMAND,
    TOP_CGROUP,
    TOP_CONTAINER, /* this and the next two are labels of sources/containers/containers.h */
    TOP_POD,
    TOP_UNIT,
    TOP_WORKLOAD
};
extern const char *const top_thread_groups[]; /* in the order of enum top_group; NULL-terminated */

/* The columns that --why has in text, and the largest number of rows. */
#define TOP_WHY_FIELDS 4
#define TOP_SESSION_FIELDS FRAME_MORE_MOST
#define TOP_WHY_ROWS 64

enum top_columns { TOP_COLUMNS_CAMP, TOP_COLUMNS_PRSTAT, TOP_COLUMNS_PEA, TOP_COLUMNS_COUNT };

struct top {
    uint64_t interval_ns, count, rows;
    int format, percent_of;
    int columns; /* enum top_columns */
    int group;   /* -1 until a group is chosen */
    bool no_syscalls, verbose, kernel_threads, why;
    const char *filter_text, *workload_file, *group_text, *sort_text;
    struct process_selection processes;
    regex_t filter;
    struct user_names users;
    struct pea pea; /* for TOP_COLUMNS_PEA */
    struct cgroup_paths cgroups;
    struct top_workloads workloads;
    /* how --group adds up rows of a source that is not threads; with several labels a group of its
     * own, after those of single labels */
    struct grouping labels;
    size_t label;           /* index in the schema, if the group is a container, pod or unit */
    int64_t *label_numbers; /* [entity_count of the last frame] its label alone, as a number */
    struct from_options from;
    struct from_facts facts;
    char note[sizeof((struct from_facts *)0)->note + sizeof PEA_UNKNOWN + 2]; /* note_of() */
    /* The speed of a replay in the live form, which itself waits for each interval. Below 0 if
     * --speed is not given; 0 shows the last interval at once. */
    double speed;
    struct source *source;
    bool has_threads; /* the rows are threads with microstates, so they can be added up */
    struct selection selection;
    struct frame_style style;
    struct frame_table table;
    const struct view *view;
    struct view_options view_options;
    /* With --why: the column of the state whose lengths are shown, their columns in text, the
     * heading of the first, and the largest cause of each row. */
    size_t why_state;
    struct field why_fields[TOP_WHY_FIELDS];
    struct field session_fields[TOP_SESSION_FIELDS];
    char why_heading[48], why_texts[TOP_WHY_ROWS][160];
};

int top_group_count(const struct top *top);
const char *top_group_name(const struct top *top, int group);

/* Selects a group, and prepares what the group needs. Returns OPTIONS_GO_ON, or an exit status;
 * *ret_problem then says what is missing. */
int top_select_group(struct top *top, int group, const char **ret_problem);

/* Returns whether rows can be a tree: threads grouped by process, or sessions of a database that
 * reports their blockers. Sets top->selection.tree_label. */
bool top_can_be_tree(struct top *top);

/* Returns the word for a row: "process", "session", or the name of a label. */
const char *top_row_noun(const struct top *top);

/* Returns whether a group of threads is a container, a pod or a unit. */
bool top_group_is_label(int group);

/* Uses the next base of percentages that the group has. */
void top_turn_percent(struct top *top);

/* Finds the cgroup, label or workload of each row, if the rows are added up by one of them.
 * Called after selection_pick(). Returns CAMP_OK or CAMP_E_NOMEM. */
int top_number_groups(struct top *top);

/* Returns whether the command line asks for the threads of this machine. The options for threads
 * are then checked before the source is opened. */
bool top_asks_for_threads(const struct top *top);

/* Copies the options for threads to top->from. Called before the source is opened. */
void top_prepare_from(struct top *top);

/* Resolves the options for threads. Called before the source is opened if
 * top_asks_for_threads(), otherwise after. Returns OPTIONS_GO_ON, or an exit status after an
 * error message. */
int top_resolve_thread_options(struct top *top);

/* Resolves --group and --sort, refuses options that exclude each other, and opens top->table.
 * Called when the source is open. Returns OPTIONS_GO_ON, or an exit status after an error
 * message. */
int top_resolve_options(struct top *top);

/* Returns how many rows fit on a screen of `lines` lines, below the headings, CPUs and notes. */
size_t top_rows_that_fit(const struct top *top, size_t lines);

/* Notes which processes of --pid are in an interval. If a running process is not in the first
 * interval, returns its pid; otherwise returns NO_PID. */
int32_t top_see_processes(struct top *top, const struct frame *frame, bool is_first);

/* Fills top->table with an interval and the CPUs of the interval. `cpus` may be NULL. Returns
 * OPTIONS_GO_ON, or an exit status after an error message. */
int top_fill(struct top *top, const struct frame *frame, const struct frame *cpus);

/* Shows the columns of top->columns from now on. */
void top_use_columns(struct top *top);

/* Runs the live form on a terminal that screen_open() has prepared. Returns an exit status. */
int top_live(struct top *top);
