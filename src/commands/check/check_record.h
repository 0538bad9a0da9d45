/* One interval of `camp check` as a record of the schema "camp.check/1". */
#pragma once

#include "ledger/accuracy.h"
#include "ledger/selection.h"
#include "sources/source.h"
#include "views/document.h"
#include "views/summary_text.h"

struct check_context {
    struct selection selection; /* selection.most is 0 (no limit), because the sums need all rows */
    size_t top;                 /* number of processes shown; 0 means all */
    size_t top_cpus;            /* number of CPUs shown; 0 means all */
    enum tasks_tier tier;
    bool final_clocks;      /* result of tasks_source_has_final_clocks(); false for a recording */
    const char *accounting; /* how the kernel gets user and system time, such as "tick" */
    size_t living;          /* number of processes at the end of the interval */
    size_t unmeasured;      /* result of tasks_source_unmeasured() */
    uint64_t cpu_step_ns;   /* resolution_ns of struct camp_cpu; 0 if it is unknown */
    bool hidden;            /* this user cannot see the processes of other users */
    bool in_namespace;      /* this program sees the processes of its own PID namespace only */
    bool is_recorded;       /* `accounting`, `living` and `hidden` are unknown */

    /* The CPU times of tier bpf (enum cpus_states_column), or NULL if only /proc/stat was read. If
     * a recording has these times, then it has no columns of /proc/stat. */
    const struct frame *measured_cpus;
};

enum {
    CHECK_INTERVAL,
    CHECK_SUMMARY,
    CHECK_PROCESSES,
    CHECK_CPUS,
    CHECK_MACHINE,
    CHECK_TOTAL,
    CHECK_LOSSES,
    CHECK_TABLE_COUNT
};

struct check_summary {
    struct accuracy accuracy; /* in ns */
    size_t rows;
    size_t worst; /* the row with the largest error of one process; SIZE_MAX if there is none */
    uint64_t processes, new, ended;
    uint64_t unmeasured, unsampled; /* those of `processes` whose time is unknown */
};

/* An all-zero record is empty. check_record_release() frees the members. */
struct check_record {
    struct document document;
    const char *time; /* end of the interval; the document owns the text */
    struct check_summary summary;
    char sentence[SUMMARY_TEXT_SIZE]; /* of the interval */
    struct selected selected;
    size_t *cpus;   /* [capacity] indices of CPU rows */
    uint64_t *keys; /* [capacity] |unaccounted time| of each CPU row, in ns */
    size_t capacity;
};

/* Fills the record from frames of the sources "tasks" and "cpus" for the same interval. Returns
 * CAMP_OK or CAMP_E_NOMEM. */
int check_record_fill(struct check_record *check, const struct check_context *context,
                      const struct frame *tasks, const struct frame *cpus, const char *time);
void check_record_release(struct check_record *check);

extern const struct record check_layout;
extern const char *const check_table_names[]; /* the choices of --table, NULL-terminated */

const char *tier_name(enum tasks_tier tier);
/* Return what the tier cannot see, and how to see more, or NULL. final_clocks is the result of
 * tasks_source_has_final_clocks(). */
const char *tier_lacks(enum tasks_tier tier, bool final_clocks);
const char *tier_change(enum tasks_tier tier, bool final_clocks);

/* Returns whether the measured or the sampled time of the processes in the rows is known. If it is
 * known of some of them, the sums are theirs. */
bool check_is_measured(const struct check_record *check, const struct check_context *context);
bool check_is_sampled(const struct check_record *check, const struct check_context *context);

/* Returns the index of a process column, or SIZE_MAX if no column has the name. */
size_t check_process_column(const char *name);

/* Writes the names of all process columns, "pid, name, ...", into ret[size]. */
void check_process_columns(char *ret, size_t size);

bool check_selects_all(const struct selection *selection);

/* Fills check->summary and adds rows for the selected processes, the largest sampling error in
 * percentage points first. Returns CAMP_OK or CAMP_E_NOMEM. */
int check_add_processes(struct check_record *check, const struct check_context *context,
                        const struct frame *tasks);

/* The times of one CPU or of all CPUs, in percent of one CPU. */
struct cpu_percents {
    double measured, sampled, idle, iowait, steal, sum;
};

/* All CPUs together, in percent of one CPU. */
struct check_machine {
    size_t cpus;
    struct cpu_percents percents;
    double unaccounted; /* measured busy time that belongs to no process */
    double outside;    /* busy time of threads outside of the PID namespace; NAN if it is unknown */
    double resolution; /* the smallest busy time that can be measured */
    bool timed;        /* busy time was measured at context switches, not read from /proc/stat */
    bool idle_sampled; /* busy time is the wall time minus sampled idle time */
};

void check_add_cpus(struct check_record *check, const struct check_context *context,
                    const struct frame *cpus);

/* `tasks_percent` is the measured CPU time of all processes, or NAN if not all are selected. */
struct check_machine check_machine_of(const struct check_context *context, const struct frame *cpus,
                                      double tasks_percent);

void check_add_machine(struct check_record *check, const struct check_machine *machine);

/* Emphasises an error only if it is large both in percent and in percentage points of a CPU. */
enum emphasis emphasis_of_error(double error, double points);
