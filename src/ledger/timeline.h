/*
 * A timeline: frames kept as shares of time, in 4 + 4 bytes for an entity and 4 for a state. Pure
 * arithmetic.
 *
 * Its memory is bounded: when full, neighbouring frames are merged in pairs, and new frames are
 * merged as much from then on (the resolution of time halves, nothing is dropped). Shares of merged
 * frames are means weighted by elapsed time, as if the interval had always been that long; time
 * missing in one and accounted twice in another does not cancel out. Entities that are gone by then
 * and were in only one frame are merged by name: where 500 processes a second come and go, a day of
 * them would not fit into memory.
 */
#pragma once

#include "registry.h"
#include "vertex.h"

struct timeline_frame {
    int64_t begin_ns, end_ns; /* wall clock, since 1970 */
    size_t first, count;      /* rows of the frame, in the source's order */
    uint64_t merged;          /* number of frames of the source in it */
    struct losses losses;
};

struct timeline {
    const struct schema *schema;
    struct registry registry; /* the entities of all frames */
    size_t bytes_maximum;     /* limit for the rows and the registry */
    uint64_t merging;         /* number of frames of the source that are merged into one here */
    size_t frame_count, frame_capacity;
    struct timeline_frame *frames; /* [frame_count] */
    size_t row_count, row_capacity;
    uint32_t *entities; /* [row_count] number in the registry; once in a frame at most */
    float *elapsed_s;   /* [row_count] */
    float *missing;     /* share of elapsed_s in no state */
    float *over;        /* share of elapsed_s accounted twice: merged frames may have both */
    float *shares;      /* [row_count x state_count] shares of elapsed_s; 0 when it is 0 */
    size_t place_count;
    uint32_t *places; /* [place_count] by number in the registry: where the row may be */
};

/* Creates an empty timeline; the schema must exist as long as the timeline. */
void timeline_init(struct timeline *timeline, const struct schema *schema, size_t bytes_maximum);
void timeline_release(struct timeline *timeline);

/* Adds a frame of the schema. Rows of one entity are added up. CAMP_OK or CAMP_E_NOMEM. */
int timeline_add(struct timeline *timeline, const struct frame *frame);

/* Merges every `count` frames into one; 0: all into one. */
void timeline_merge(struct timeline *timeline, uint64_t count);

/* The frame that contains a time, or the nearest; frame_count must not be 0. */
size_t timeline_find(const struct timeline *timeline, int64_t wall_clock_ns);

/* Weighs a row as vertices_weigh() does. */
bool timeline_weigh(const struct timeline *timeline, size_t row, const struct vertices *vertices,
                    struct weights *ret);

/* Adds the shares of `more` to the weights, which start as zeros. The means are weighted by elapsed
 * time. */
void weights_add(struct weights *weights, double *elapsed_s, const struct weights *more,
                 double more_elapsed_s);
