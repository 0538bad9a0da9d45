/*
 * A frame: one interval of one source, entities x columns. Pure arithmetic: no I/O, no clock.
 *
 * Each entity owns `elapsed_ns` of wall time in the interval; its states (the first state_count
 * columns) must add up to it. The difference is unaccounted, and shown.
 */
#pragma once

#include "labels.h"

#include <camp/camp.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum column_kind {
    COLUMN_STATE,   /* ns of the entity's elapsed time; states are disjoint */
    COLUMN_COUNTER, /* growth since the start of the interval */
    COLUMN_GAUGE    /* a level at the end of the interval */
};

/* What a state means to the entity that is in it. Classes are in the order in which states are
 * shown. */
enum column_class {
    CLASS_NONE,       /* no state, or a state whose meaning is unknown */
    CLASS_CPU,        /* on a CPU */
    CLASS_READY,      /* the entity could run, and has no CPU: run queue, stolen by a hypervisor */
    CLASS_IO,         /* the entity waits for a device: disks, page faults */
    CLASS_CONTENTION, /* the entity waits for what another one holds */
    CLASS_OTHER_WAIT, /* the entity waits within its work, for several of these or others */
    CLASS_IDLE        /* the entity has nothing to do, or waits for its next work; stopped */
};

struct column {
    const char *name;  /* "text_fault_ns" */
    const char *title; /* "text fault" */
    const char *help;  /* what it is, in a few words */
    enum column_kind kind;
    enum camp_provenance provenance;
    enum column_class class; /* of a state */
    /* "flt", of at most 6 characters. States of one short title share a column of text. NULL: the
     * title. Static. */
    const char *short_title;
};

/* The class, and the short title, of a state by its column's name, where a source has only names:
 * tables, fleets, recordings. CLASS_NONE and NULL: the name is unknown. */
enum column_class column_class_of(const char *name);
const char *column_short_title_of(const char *name);

/* The columns of a source, states first. */
struct schema {
    const char *name; /* "cpus" */
    const struct column *columns;
    size_t column_count;
    size_t state_count;
    const char *const *label_names; /* [label_count] such as "user" */
    size_t label_count;
};

enum entity_flag {
    ENTITY_NEW = 1u << 0,   /* started in the interval */
    ENTITY_ENDED = 1u << 1, /* exited in the interval */
    ENTITY_KERNEL = 1u << 2 /* a kernel thread */
};

struct entity {
    int64_t id;      /* CPU number, pid, tid, uid */
    uint32_t flags;  /* enum entity_flag */
    uint32_t count;  /* entities merged into this row: 1, or more exited ones of one name */
    int32_t pid;     /* of a thread: its process */
    int32_t parent;  /* of a thread or process: its parent process */
    uint32_t uid;    /* likewise: its effective user */
    uint64_t cgroup; /* likewise: the id of its cgroup (version 2) */
    char name[CAMP_NAME_SIZE];
    const struct labels *labels; /* in the order of the schema's label_names; NULL: none */
};

/* Orders by process, its first thread (id == pid) first, then by id: for qsort(3). */
int entity_compare_by_process(const struct entity *left, const struct entity *right);

/* Losses: shown with the result, never dropped. */
struct losses {
    uint64_t unseen; /* processes that started and exited between two snapshots, without a
                      * record; of threads: switches without an event */
    uint64_t lost; /* processes that exited, and the kernel dropped the record for lack of space */
    uint64_t unread_ns; /* upper bound of the exited processes' CPU time that is in no record */
    uint64_t partial;   /* processes that exited without numbers since the last snapshot; of CPUs:
                         * those that came online or went offline */
};

/* Space for a message of the library with some words of context. */
#define FRAME_NOTE_SIZE (CAMP_ERROR_SIZE + 256)

struct frame {
    const struct schema *schema;
    uint64_t start_ns, end_ns; /* CLOCK_MONOTONIC */
    int64_t wall_clock_ns;     /* end of the interval, in ns since 1970 */
    size_t entity_count;
    size_t capacity;         /* of the three arrays below, in entities */
    struct entity *entities; /* [entity_count] */
    uint64_t *elapsed_ns;    /* [entity_count] */
    uint64_t *values;        /* [entity_count x column_count] */
    struct losses losses;
    const char *note; /* what the reader should know about this interval; NULL or "": nothing.
                       * Owned by the source, until its next call */
};

/* frame_release() frees the arrays. A frame that is all zero except for the schema is empty. */
void frame_init(struct frame *frame, const struct schema *schema);
void frame_release(struct frame *frame);

/* Empties the frame, and keeps its memory. */
void frame_clear(struct frame *frame);

/* Adds an entity, zeroed. Earlier pointers into the frame become invalid. NULL: no memory. */
struct entity *frame_add(struct frame *frame);

/* Adds a copy of a row of another frame of the same schema. */
struct entity *frame_add_row(struct frame *frame, const struct frame *from, size_t row);

/* Empties *ret, which may be all zero, and gives it the schema, the times, the losses and the note
 * of `from`. */
void frame_start_as(struct frame *ret, const struct frame *from);

/* values[column_count] of one entity. */
uint64_t *frame_values(const struct frame *frame, size_t entity);

/* elapsed - the sum of the states: negative when more time was accounted than elapsed. */
int64_t frame_unaccounted_ns(const struct frame *frame, size_t entity);

/* The times by state between two readings. The earlier reading may have been estimated (unseen
 * switches): a state that has become less gets 0, and the state that grew most is reduced by that
 * much, so that the sum is right. `ret` may be `after`. */
void states_since(uint64_t *ret, const uint64_t *before, const uint64_t *after, size_t count);

/* Growth of a cumulative counter between two readings: 0 when it went backwards. */
uint64_t counted_since(uint64_t before, uint64_t after);
