/*
 * A rule of camp explain: a row of a table, and a function that computes its figures from the sums
 * of a time (evidence.h).
 *
 * A rule fires if its value is at least its threshold. The function sets the value to 0 if another
 * condition of the rule does not hold.
 */
#pragma once

#include "evidence.h"
#include "finding_cause.h"
#include "measure.h"

enum figure_unit {
    FIGURE_NONE,
    FIGURE_TIME,    /* seconds, or seconds in each second: 0.25 is shown as "250 ms" */
    FIGURE_PERCENT, /* a share: 0.25 is shown as "25 %" */
    FIGURE_RATE,    /* events in each second */
    FIGURE_COUNT
};

#define RULE_WHO_SIZE (CAMP_NAME_SIZE + 32 + LABELS_VALUE_SIZE)
#define RULE_CLAUSE_SIZE (3 * CAUSE_NAME_SIZE + 16)

/* What a rule found. All texts are foreign. */
struct finding {
    double value;  /* compared with the threshold */
    double lost_s; /* time that is lost or misreported in each second, over all entities */
    double second; /* a further figure, in the rule's second_unit */
    uint64_t count;
    char who[RULE_WHO_SIZE];         /* the entity with most of it, or "" */
    char other[RULE_WHO_SIZE];       /* another entity or object that the sentence names, or "" */
    char clause[RULE_CLAUSE_SIZE];   /* a part of the sentence that depends on what was found */
    bool has_blockers;               /* it is known which sessions block others */
    int32_t pid;                     /* the process of `who`, if it is a living one; otherwise 0 */
    enum camp_provenance provenance; /* of `value` */
    struct finding_cause cause;      /* the cause of its wait, where that is known */
    /* What camp why takes to show `value`; "": it is a sum over all threads. */
    char sum_operand[CAMP_STATES_NAME_SIZE];
};

struct rule {
    const char *id;   /* such as "E07": never changes */
    const char *name; /* such as "CPUs are full" */
    const char *looks_at;
    /* The rows that the rule is about: bits 1 << enum evidence_kind. 0 means any rows. */
    uint32_t kinds;
    /* Columns that the rows, and the CPUs beside them, must have; NULL means none. "*" at the end
     * of a name stands for any rest. */
    const char *columns, *cpu_columns;
    const char *any_columns; /* the rows must have one of these columns at least; NULL means none */
    uint32_t classes; /* classes of which the rows must have a state: bits 1 << enum column_class */
    bool needs_load;  /* the busy time of the CPUs must be known */
    bool needs_each_cpu; /* there must be a row for each CPU */
    bool needs_pressure;
    bool needs_all;    /* the rows must be those of all processes */
    bool needs_causes; /* the causes of waits must be known */
    bool needs_open;   /* so must the sleeps that have not ended, which are by process */
    bool needs_own;    /* the rows must be those of the time in which this camp measures */
    double threshold;
    enum figure_unit unit;        /* of the value and the threshold */
    enum figure_unit second_unit; /* of finding.second */
    /* {who}, {other}, {clause}, {lost}, {value}, {second} and {count} stand for members of the
     * finding; {s} and {were} for the plural of {count}; {of} and {of_others} say whose threads the
     * rows are, if they are some processes only. Of its cause, {waiter}, {by} and {chain} stand for
     * members, {waited} for the time that the waiter waited for `by`, and {in} for its state. */
    const char *sentence;
    /* The sentence if the rows are sessions; NULL: the same. */
    const char *sentence_of_sessions;
    /* Follows the sentence if the finding has a cause; NULL: the sentence has all. */
    const char *cause_sentence;
    /* The command that shows more, live and of other sources. {pid} stands for " --pid PID", or for
     * nothing; {from} for the options that open the same source again; {waiter} and {sum} for the
     * operand of camp why that shows the waiter, or the value, or for nothing. */
    const char *command, *command_from;
    /* The command if the finding has_blockers; NULL: the same. */
    const char *command_of_blockers;
    void (*find)(const struct evidence *evidence, struct finding *ret);
};

extern const struct rule rules[];
extern const size_t rule_count;

/* Returns NULL if there is no rule with this id. Letters may have any case. */
const struct rule *rule_find(const char *id);

/* Waits of sessions for files, the log and pages. */
#define SESSION_DISK_COLUMNS                                                                       \
    "wait_disk_ns wait_file_* wait_wal_* wait_commit_ns wait_page_fault_ns wait_user_io_ns "       \
    "wait_system_io_ns"

/* The functions of the table, by file. Each sets *ret, which is all zero except for `provenance`,
 * which is CAMP_MEASURED. */
void find_full_cpus(const struct evidence *evidence, struct finding *ret); /* rules_cpu.c */
void find_uneven_cpus(const struct evidence *evidence, struct finding *ret);
void find_throttled(const struct evidence *evidence, struct finding *ret);
void find_stolen(const struct evidence *evidence, struct finding *ret);
void find_serial(const struct evidence *evidence, struct finding *ret);
void find_short_lived(const struct evidence *evidence, struct finding *ret);
void find_starved(const struct evidence *evidence, struct finding *ret);
void find_interrupts(const struct evidence *evidence, struct finding *ret);
void find_system_time(const struct evidence *evidence, struct finding *ret);
void find_system_calls(const struct evidence *evidence, struct finding *ret);
void find_small_slices(const struct evidence *evidence, struct finding *ret);
void find_page_faults(const struct evidence *evidence, struct finding *ret);

void find_disk(const struct evidence *evidence, struct finding *ret); /* rules_wait.c */
void find_fault_sleep(const struct evidence *evidence, struct finding *ret);
void find_text_faults(const struct evidence *evidence, struct finding *ret);
void find_memory_pressure(const struct evidence *evidence, struct finding *ret);
void find_convoy(const struct evidence *evidence, struct finding *ret);
void find_polling(const struct evidence *evidence, struct finding *ret);
void find_stopped(const struct evidence *evidence, struct finding *ret);

void find_sampling_error(const struct evidence *evidence, struct finding *ret); /* rules_truth.c */
void find_hidden_iowait(const struct evidence *evidence, struct finding *ret);
void find_inflated_iowait(const struct evidence *evidence, struct finding *ret);
void find_unaccounted(const struct evidence *evidence, struct finding *ret);
void find_lost(const struct evidence *evidence, struct finding *ret);
void find_unseen(const struct evidence *evidence, struct finding *ret);
void find_own_cost(const struct evidence *evidence, struct finding *ret);

void find_session_locks(const struct evidence *evidence,
                        struct finding *ret); /* rules_sessions.c */
void find_idle_in_transaction(const struct evidence *evidence, struct finding *ret);
void find_slow_client(const struct evidence *evidence, struct finding *ret);
void find_session_disk(const struct evidence *evidence, struct finding *ret);
void find_session_queue(const struct evidence *evidence, struct finding *ret);
void find_session_cpu(const struct evidence *evidence, struct finding *ret);
void find_wrong_report(const struct evidence *evidence, struct finding *ret);

void find_neighbour(const struct evidence *evidence, struct finding *ret); /* rules_causes.c */
void find_real_time(const struct evidence *evidence, struct finding *ret);
void find_interrupted(const struct evidence *evidence, struct finding *ret);
void find_late_wakeups(const struct evidence *evidence, struct finding *ret);
void find_lock_holder(const struct evidence *evidence, struct finding *ret);
void find_pipe_end(const struct evidence *evidence, struct finding *ret);
void find_socket_peer(const struct evidence *evidence, struct finding *ret);
void find_blocked(const struct evidence *evidence, struct finding *ret);
void find_timeouts(const struct evidence *evidence, struct finding *ret);

/* What these files share. */

/* Returns whether a row is of a process or a thread, or of exited ones with one name. The row
 * `outside` of a container is not, also in a recording, where it lacks ENTITY_OUTSIDE. */
bool row_is_task(const struct frame *frame, size_t row);

/* Returns the row for which row_is_task() with the largest measure, or SIZE_MAX. */
size_t measure_most_task(const struct measure *measure);

/* Names a row of a frame in *ret: "name (pid 12)", and "name (pid 12, thread 13)" for a thread of
 * `rows`. Also sets ret->pid. Does nothing if `row` is SIZE_MAX. */
void finding_name(struct finding *ret, const struct evidence *evidence, const struct frame *frame,
                  size_t row);

/* The same for ret->other; ret->pid stays. */
void finding_name_other(struct finding *ret, const struct evidence *evidence,
                        const struct frame *frame, size_t row);

/* Sets ret->cause to the largest cause of the waits in one of `states` (bits 1 << enum camp_state)
 * of the process that a row belongs to. Does nothing if `row` is SIZE_MAX, or without causes. */
void finding_explain(struct finding *ret, const struct evidence *evidence,
                     const struct frame *frame, size_t row, uint32_t states);

/* Sets the value and the lost time to the sum of the measure in all processes (or rows that are no
 * threads), and names the one with most. */
void finding_sum(struct finding *ret, const struct evidence *evidence,
                 const struct measure *measure);
