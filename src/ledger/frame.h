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
    COLUMN_STATE,   /* a part of elapsed_ns, in ns; states are disjoint */
    COLUMN_COUNTER, /* growth since the start of the interval */
    COLUMN_GAUGE    /* a value at the end of the interval, which can go up and down */
};

/* What a state means for the entity that is in it. Views show the states in this order. */
enum column_class {
    CLASS_NONE, /* not a state, or a state whose meaning is unknown */
    CLASS_CPU,
    /* Ready to run, but without a CPU: in the run queue, or stolen by the hypervisor. */
    CLASS_READY,
    CLASS_IO,         /* waiting for a device: disks or page faults */
    CLASS_CONTENTION, /* waiting for something that another entity holds */
    CLASS_OTHER_WAIT, /* waiting within its work for another reason */
    CLASS_IDLE        /* nothing to do, waiting for its next work, or stopped */
};

struct column {
    const char *name;
    const char *title;
    const char *help;
    enum column_kind kind;
    enum camp_provenance provenance;
    enum column_class class;
    /* Static text of at most 6 characters, such as "flt"; NULL if the title is used. In text
     * output, states with the same short title share one column. */
    const char *short_title;
};

/* Return the class and the short title of a state, found by the name of its column. Tables, fleets
 * and recordings have only names. For an unknown name the results are CLASS_NONE and NULL. */
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
};

enum entity_flag { ENTITY_NEW = 1u << 0, ENTITY_ENDED = 1u << 1, ENTITY_KERNEL = 1u << 2 };

struct entity {
    int64_t id;     /* CPU number, pid, tid or uid */
    uint32_t flags; /* enum entity_flag */
    uint32_t count;
    int32_t pid;     /* of a thread: the pid of its process */
    int32_t parent;  /* of a thread or process: the pid of the parent process */
    uint32_t uid;    /* of a thread or process: its effective user id */
    uint64_t cgroup; /* of a thread or process: the id of its cgroup (version 2) */
    char name[CAMP_NAME_SIZE];
    /* In the order of the schema's label_names; NULL if the entity has no labels. */
    const struct labels *labels;
};

/* Returns entity->pid of a thread. Other entities have none, and their id is returned. */
int64_t entity_pid(const struct entity *entity);

/* Compares entities by process, and within a process by id. The first thread of a process (id ==
 * pid) comes first. */
int entity_compare_by_process(const struct entity *left, const struct entity *right);

/* What a frame could not count. Views show it with the frame. */
struct losses {
    /* Processes that started and exited between two snapshots, without a record. For threads,
     * `unseen` counts context switches without an event. */
    uint64_t unseen;
    /* Processes that exited, and whose record the kernel dropped for lack of space. */
    uint64_t lost;
    uint64_t unread_ns; /* upper limit of the CPU time of exited processes that is in no record */
    /* Processes that exited, and whose times since the last snapshot are unknown. For CPUs,
     * `partial` counts CPUs that came online or went offline. */
    uint64_t partial;
};

/* Enough for an error message of libcamp and some words of context. */
#define FRAME_NOTE_SIZE (CAMP_ERROR_SIZE + 256)

struct frame {
    const struct schema *schema;
    uint64_t start_ns, end_ns; /* CLOCK_MONOTONIC */
    int64_t wall_clock_ns;     /* wall clock at the end of the interval, in ns since 1970 */
    size_t entity_count;
    size_t capacity;         /* of the three arrays below, in entities */
    struct entity *entities; /* [entity_count] */
    uint64_t *elapsed_ns;    /* [entity_count] */
    uint64_t *values;        /* [entity_count x column_count] */
    struct losses losses;
    /* What the reader should know about this interval; NULL or "" if there is nothing. The source
     * owns the text until its next call. */
    const char *note;
};

/* A frame that is all zero except for its schema is empty. frame_release() frees the arrays. */
void frame_init(struct frame *frame, const struct schema *schema);
void frame_release(struct frame *frame);

void frame_clear(struct frame *frame);

/* Adds a zeroed entity, whose `count` is 1. Earlier pointers into the frame become invalid. Returns
 * NULL if there is no memory. */
struct entity *frame_add(struct frame *frame);

/* Adds a copy of a row of another frame, which has the same schema. Returns NULL if there is no
 * memory. */
struct entity *frame_add_row(struct frame *frame, const struct frame *from, size_t row);

/* Empties *ret and copies the schema, the times, the losses and the note of `from` into it. *ret
 * may be all zero. */
void frame_start_as(struct frame *ret, const struct frame *from);

/* Returns the values of one entity: column_count elements. */
uint64_t *frame_values(const struct frame *frame, size_t entity);

/* Returns elapsed_ns minus the sum of the states. It is negative if more time was accounted than
 * elapsed. */
int64_t frame_unaccounted_ns(const struct frame *frame, size_t entity);

/* Computes the time in each state between two readings. The earlier reading may be an estimate that
 * is too high for some states. These states get 0, and the states that grew most are reduced by the
 * same amount, so the sum stays right. `ret` may be `after`. */
void states_since(uint64_t *ret, const uint64_t *before, const uint64_t *after, size_t count);

/* Returns the growth of a cumulative counter between two readings, or 0 if it went backwards. */
uint64_t counted_since(uint64_t before, uint64_t after);
