/*
 * A frame: one interval of one source, as a table. Its rows are entities, such as threads, and its
 * columns are states, counters and gauges.
 *
 * Each entity has `elapsed_ns` of wall time in the interval. Its states are the first state_count
 * columns, and their times should add up to elapsed_ns. The difference is shown as unaccounted
 * time.
 */
#pragma once

#include "labels.h"

#include <camp/camp.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum column_kind {
    COLUMN_STATE,   /* time in ns, a part of elapsed_ns; states do not overlap */
    COLUMN_COUNTER, /* growth during the interval */
    COLUMN_GAUGE    /* a value at the end of the interval, which can go up and down */
};

/* What an entity does in a state. Views show the classes in this order. */
enum column_class {
    CLASS_NONE, /* not a state, or a state whose meaning is unknown */
    CLASS_CPU,
    /* Ready to run, but without a CPU: in the run queue, or stolen by the hypervisor. */
    CLASS_READY,
    CLASS_THROTTLED,  /* ready to run, but its quota of CPU time is used up */
    CLASS_IO,         /* waiting for a disk or for a page */
    CLASS_CONTENTION, /* waiting for something that another entity holds */
    CLASS_NETWORK,    /* waiting for another computer while the entity has work to do */
    CLASS_OTHER_WAIT, /* any other wait while the entity has work to do */
    CLASS_IDLE,       /* nothing to do, waiting for its next work, or stopped */
    CLASS_COUNT
};

/* Returns the name of a class for programs, such as "run_queue", and its title for readers, such as
 * "run queue". The name and the title of CLASS_NONE are "" and "unknown". */
const char *column_class_name(enum column_class class);
const char *column_class_title(enum column_class class);

struct column {
    const char *name;
    const char *title;
    const char *help;
    enum column_kind kind;
    enum camp_provenance provenance;
    enum column_class class;
    /* At most 6 characters, such as "flt"; NULL if the title is used instead. The text is static. A
     * text table adds up the states with the same short title in one column. */
    const char *short_title;
};

/* Find the class and the short title of a state by the name of its column, for sources that have
 * only names, such as recordings. Return CLASS_NONE and NULL if the name is unknown. */
enum column_class column_class_of(const char *name);
const char *column_short_title_of(const char *name);

/* The columns of a source. States come before all other columns. */
struct schema {
    const char *name;
    const struct column *columns;
    size_t column_count;
    size_t state_count;
    const char *const *label_names; /* [label_count] */
    size_t label_count;
    /* The first of the LONGEST_COLUMNS gauges of a row's longest wait, which is COLUMN_LONGEST: of
     * rows that are added up, those of the row with the longest stay. 0 if there are none. */
    size_t longest;
    /* A gauge of an age or of another maximum, COLUMN_AGE or COLUMN_MAXIMUM_ERROR: of rows that
     * are added up, the greatest stays. 0 if there is none. */
    size_t maximum;
};

#define LONGEST_COLUMNS 3
#define COLUMN_LONGEST "waits_max_ns"
#define COLUMN_AGE "blocking_activity_ns"
#define COLUMN_MAXIMUM_ERROR "maximum_error_millionths"

/* The state of sessions that are runnable while a quota of CPU time is used up. Where this is not
 * known there is no such column, and its time is in that of the run queue. */
#define COLUMN_THROTTLED "throttled_ns"

/* Return the index of a label, of a column, or of a column that is not a state, or SIZE_MAX. */
size_t schema_find_label(const struct schema *schema, const char *name);
size_t schema_find_column(const struct schema *schema, const char *name);
size_t schema_find_counter(const struct schema *schema, const char *name);

/* Sets schema->longest and schema->maximum, from the names of the columns. */
void schema_find_maxima(struct schema *schema);

/* The end of the name of an exited entity, in tables that mix living and exited entities. */
#define ENTITY_ENDED_SUFFIX " (ended)"

enum entity_flag {
    ENTITY_NEW = 1u << 0,
    ENTITY_ENDED = 1u << 1,
    ENTITY_KERNEL = 1u << 2,
    ENTITY_OUTSIDE = 1u << 3, /* a row for all threads outside of this PID namespace */
    /* The measured or the sampled CPU time of this process is unknown, and its value is 0. */
    ENTITY_UNMEASURED = 1u << 4,
    ENTITY_UNSAMPLED = 1u << 5,
    /* A row for `count` threads of one process, user, group and parent that stayed in the same
     * state (IDLE_BY_PROCESS). Its id and its name are those of the process's first thread, if that
     * is known. */
    ENTITY_ALIKE = 1u << 6,
    /* A row without time: the entity is no longer there, and its last times are not known yet. Only
     * in frames with IDLE_OMITTED. */
    ENTITY_GONE = 1u << 7,
    /* A further row of an entity, for another part of its time: source_set_division(). */
    ENTITY_PART = 1u << 8,
    /* The throttled part of the session's time without a CPU is unknown, and its value is 0. */
    ENTITY_UNTHROTTLED = 1u << 9
};

/* Which rows a frame has of entities that stayed in their state for the whole interval. */
enum idle_rows {
    IDLE_EACH,       /* a row for each */
    IDLE_BY_PROCESS, /* a row for all threads of a process in one state (ENTITY_ALIKE) */
    /* A row only for an entity that was active in the previous interval, or whose last row was not
     * about as long as its interval. The others stay in the state of their last row, and are
     * counted in frame.omitted. */
    IDLE_OMITTED
};

struct entity {
    int64_t id;     /* CPU number, pid, tid or uid; 0 if the name identifies the entity */
    uint32_t flags; /* bits of enum entity_flag */
    uint32_t count;
    int32_t pid;     /* of a thread: the pid of its process */
    int32_t parent;  /* of a thread or process: the pid of the parent process */
    uint32_t uid;    /* of a thread or process: its effective user id */
    uint64_t cgroup; /* of a thread or process: the id of its cgroup (docs/top.md) */
    /* In the order of the schema's label_names; LABELS_NONE if the entity has no labels. */
    labels_id labels;
    char name[CAMP_NAME_SIZE];
};

/* Frames of several database servers have the label LABEL_SERVER, which is the first one. The id of
 * a session has the number of its server, from 1 on, in the bits from ENTITY_SERVER_SHIFT on, and
 * below them the number that the server gives it. With one server there are only the lower bits. An
 * id of 0 stays 0. */
#define LABEL_SERVER "server"
#define ENTITY_SERVER_SHIFT 40
#define ENTITY_NUMBER_MASK (((int64_t)1 << ENTITY_SERVER_SHIFT) - 1)

static inline int64_t entity_of_server(size_t server, int64_t number)
{
    return number != 0 ? (int64_t)server << ENTITY_SERVER_SHIFT | (number & ENTITY_NUMBER_MASK) : 0;
}

/* Returns whether the rows are of several database servers. */
bool schema_has_servers(const struct schema *schema);

/* Returns the id that session `number` of the same server has as the session `id`. */
static inline int64_t entity_beside(int64_t id, int64_t number)
{
    return (id & ~ENTITY_NUMBER_MASK) | (number & ENTITY_NUMBER_MASK);
}

/* Returns the pid of a thread's process. For an entity without a pid, returns its id. */
int64_t entity_pid(const struct entity *entity);

/* Compares by pid, then by id. The first thread of a process (id == pid) comes before its other
 * threads. A row of several threads (ENTITY_ALIKE) comes after a row of one with the same id. */
int entity_compare_by_process(const struct entity *left, const struct entity *right);

struct losses {
    /* Processes that started and exited between two snapshots and left no exit record. In a frame
     * of threads: context switches that no event reported. */
    uint64_t unseen;
    /* Exited processes whose exit record the kernel dropped for lack of space. */
    uint64_t lost;
    uint64_t unread_ns; /* upper bound of the unaccounted CPU time of exited processes */
    /* Exited processes whose times since the previous snapshot are unknown. In a frame of CPUs:
     * CPUs that came online or went offline. In a frame with labels: also rows whose labels had no
     * space (LABELS_LOST). */
    uint64_t partial;
};

/* Adds each count of `losses` to *sum. */
void losses_add(struct losses *sum, const struct losses *losses);

/* Enough for an error message of libcamp and some words of context. */
#define FRAME_NOTE_SIZE (CAMP_ERROR_SIZE + 256)

struct frame {
    const struct schema *schema;
    uint64_t start_ns, end_ns; /* CLOCK_MONOTONIC */
    int64_t wall_clock_ns;     /* wall clock at the end of the interval, in ns since 1970 */
    size_t entity_count;
    size_t capacity;         /* of the four arrays below, in entities */
    struct entity *entities; /* [entity_count] */
    uint64_t *elapsed_ns;    /* [entity_count] */
    uint64_t *values;        /* [entity_count x column_count] */
    /* [entity_count] 1 + the index of the state that has all of an entity's elapsed time, if all
     * its other values are 0. 0 if this is not so, or if the source does not report it. `values`
     * has the state, too. A function that changes a value or the elapsed time of such a row sets
     * this to 0.
     */
    uint32_t *only_states;
    uint64_t omitted;  /* entities without a row, which stay in a state: see IDLE_OMITTED */
    uint64_t repeated; /* by how much the counts of all rows exceed the number of entities, because
                        * parts of an entity's time are in several rows (ENTITY_PART) */
    /* If the rows are sums of parts of entities: the number of entities. 0: each row is one. */
    uint64_t size;
    struct losses losses;
    /* A text for the user about this interval; NULL or "" if there is none. It belongs to the
     * source, and is valid until the next call of the source. */
    const char *note;
};

/* An empty frame is all zero except for its schema. frame_release() makes a frame empty. */
void frame_init(struct frame *frame, const struct schema *schema);
void frame_release(struct frame *frame);

void frame_clear(struct frame *frame);

/* Adds an entity that is all zero except for `count`, which is 1. Pointers to earlier entities and
 * values become invalid. Returns NULL if there is no memory. */
struct entity *frame_add(struct frame *frame);

/* Adds a copy of a row of `from`, which has the same schema. Returns NULL if there is no memory. */
struct entity *frame_add_row(struct frame *frame, const struct frame *from, size_t row);

/* Empties *ret, then copies the schema, the times, the losses and the note of `from`. *ret may be
 * all zero. */
void frame_start_as(struct frame *ret, const struct frame *from);

/* Does the same, but *ret keeps its own schema. */
void frame_start_at(struct frame *ret, const struct frame *from);

/* Adds the rows with LABELS_LOST to losses.partial. */
void frame_count_lost_labels(struct frame *frame);

/* Returns the [column_count] values of one entity. */
static inline uint64_t *frame_values(const struct frame *frame, size_t entity)
{
    return &frame->values[entity * frame->schema->column_count];
}

/* The values of the columns from `first` to `end - 1`. */
struct filled_columns {
    size_t first, end;
    const uint64_t *values; /* [end - first] */
};

/* Return the columns, or the states, of an entity that may be above 0. All others are 0. The value
 * of an only state is in elapsed_ns, so readers need not load the row of `values`. */
struct filled_columns frame_filled_columns(const struct frame *frame, size_t entity);
struct filled_columns frame_filled_states(const struct frame *frame, size_t entity);

/* Adds the values and the elapsed time of an entity of `from` to those of an entity of `frame`,
 * which has the same schema. */
void frame_add_values(struct frame *frame, size_t entity, const struct frame *from, size_t row);

/* Returns elapsed_ns / wall_ns, rounded, or 0 if elapsed_ns differs by more than 1 % from a
 * multiple of wall_ns. */
uint32_t frame_times(uint64_t elapsed_ns, uint64_t wall_ns);

/* Returns how many entities a frame has, including omitted ones, and without ENTITY_PART. A row
 * with ENTITY_ALIKE counts as its `count` threads, any other row as one. */
uint64_t frame_size(const struct frame *frame);

/* Returns the number of CPUs in a frame of CPUs, without their total. Returns `unknown` if `cpus`
 * is NULL or has no rows. */
size_t frame_cpu_count(const struct frame *cpus, size_t unknown);

/* Returns elapsed_ns minus the sum of the states, which is negative if states overlap. */
int64_t frame_unaccounted_ns(const struct frame *frame, size_t entity);

/* Returns the same without its sign. */
uint64_t frame_unaccounted_size_ns(const struct frame *frame, size_t entity);

/* Sets ret[count] to the growth of each state from `before` to `after`. A state seems to fall if
 * `before` is an estimate that is too high. Such a state gets 0, and its fall is subtracted from
 * the state that grew most, so that the sum of all states is still right. `ret` may be `after`. */
void states_since(uint64_t *ret, const uint64_t *before, const uint64_t *after, size_t count);

/* Returns the growth of a cumulative counter between two readings, or 0 if it went backwards. */
uint64_t counted_since(uint64_t before, uint64_t after);
