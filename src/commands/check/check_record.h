/* One interval of `camp check` as a record of the schema "camp.check/1". */
#pragma once

#include "ledger/accuracy.h"
#include "ledger/selection.h"
#include "sources/source.h"
#include "views/document.h"

#define HIDDEN_CHANGE "CAP_SYS_PTRACE shows them (root has it)"

struct check_context {
    struct selection selection; /* the sums are of all selected rows, so `most` is 0 */
    size_t top;                 /* the number of rows shown; 0 means all */
    size_t top_cpus;            /* the number of CPUs shown, those with the largest error; 0: all */
    enum tasks_tier tier;
    const char *accounting; /* of the kernel: "tick", "native" ... */
    size_t living;          /* processes at the end of the interval */
    bool hidden;            /* other users' processes are invisible */
    bool is_recorded; /* accounting, living and hidden are unknown; with measured_cpus, CPUs have
                       * only these columns (enum cpus_states_column), and no samples */
    const struct frame *measured_cpus; /* from tasks_source_cpus(); NULL: /proc/stat is read */
};

enum {
    CHECK_INTERVAL,
    CHECK_PROCESSES,
    CHECK_CPUS,
    CHECK_MACHINE,
    CHECK_TOTAL,
    CHECK_LOSSES,
    CHECK_TABLE_COUNT
};

/* Sums of the selected processes. */
struct check_summary {
    struct accuracy accuracy; /* in ns */
    size_t rows;
    uint64_t processes, new, ended;
};

/* check_record_release() frees it. All zero is an empty record. */
struct check_record {
    struct document document;
    const char *time; /* end of the interval, as the document has it */
    struct check_summary summary;
    struct selected selected;
    size_t *cpus;   /* [capacity] rows of the CPUs that are shown */
    uint64_t *keys; /* [capacity] |unaccounted time| of each CPU, in ns */
    size_t capacity;
};

/* Fills the record from a frame of "tasks" and one of "cpus" of the same interval. CAMP_E_NOMEM. */
int check_record_fill(struct check_record *check, const struct check_context *context,
                      const struct frame *tasks, const struct frame *cpus, const char *time);
void check_record_release(struct check_record *check);

extern const struct record check_layout;
extern const char *const check_table_names[]; /* NULL-terminated: for --table */

const char *tier_name(enum tasks_tier tier);
const char *tier_lacks(enum tasks_tier tier);  /* what the tier cannot see */
const char *tier_change(enum tasks_tier tier); /* how to get a better one; NULL: there is none */

/* Index of a column of the processes; SIZE_MAX: no such column. */
size_t check_process_column(const char *name);

/* All column names, "pid, name, ...", into ret[size]. */
void check_process_columns(char *ret, size_t size);

/* Do rows and totals include all processes? */
bool check_selects_all(const struct selection *selection);

/* Fills check->summary, and adds the selected processes, largest sampling error first. CAMP_OK or
 * CAMP_E_NOMEM. */
int check_add_processes(struct check_record *check, const struct check_context *context,
                        const struct frame *tasks);

/* The columns of a CPU, in percent of one CPU. */
struct cpu_percents {
    double measured, sampled, idle, iowait, steal, sum;
};

/* All CPUs together, in percent of one. */
struct check_machine {
    size_t cpus;
    struct cpu_percents percents;
    double unaccounted; /* measured busy time that belongs to no process */
    double resolution;  /* resolution of the busy time */
    bool timed; /* busy time is by switches and interrupts, not by the columns of /proc/stat */
};

void check_add_cpus(struct check_record *check, const struct check_context *context,
                    const struct frame *cpus);

/* tasks_percent: measured CPU time of all processes; NAN when not all are selected. */
struct check_machine check_machine_of(const struct check_context *context, const struct frame *cpus,
                                      double tasks_percent);

void check_add_machine(struct check_record *check, const struct check_machine *machine);

double percent_of(double part_ns, uint64_t whole_ns); /* NAN if whole_ns is 0 */

/* A tiny error is not emphasised: it must be large in percentage points of a CPU as well as in
 * percent. */
enum emphasis emphasis_of_error(double error, double points);
