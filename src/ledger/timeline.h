/*
 * A timeline: frames kept, as shares of time in 4 + 4 bytes an entity and 4 a state. Pure
 * arithmetic.
 *
 * Its memory is bounded: where another frame would not fit, neighbours are added up two by two, and
 * from then on as many new ones (the resolution of time halves, nothing is forgotten). Shares of
 * what is added up are means weighted by elapsed time, as if the interval had been that long from
 * the beginning; what is missing in one and booked twice in another does not cancel. Who is gone by
 * then and was in one frame only is added up by name: where 500 processes a second come and go, a
 * day of them fits no memory.
 */
#ifndef CAMP_LEDGER_TIMELINE_H
#define CAMP_LEDGER_TIMELINE_H

#include "registry.h"
#include "vertex.h"

struct timeline_frame {
    int64_t begin_ns, end_ns; /* wall clock, since 1970 */
    size_t first, count;      /* its rows, in the order in which the source had them */
    uint64_t merged;          /* how many frames of the source are in it */
    struct losses losses;
};

struct timeline {
    const struct schema *schema;
    struct registry registry; /* who is who */
    size_t bytes_maximum;     /* of the rows, and of who is who */
    uint64_t merging;         /* so many frames of the source are one here; 1: each is its own */
    size_t frame_count, frame_capacity;
    struct timeline_frame *frames; /* [frame_count] */
    size_t row_count, row_capacity;
    uint32_t *entities; /* [row_count] number in the registry; at most once in a frame */
    float *elapsed_s;   /* [row_count] */
    float *missing;     /* [row_count] share of it in no state */
    float *over;        /* [row_count] share of it booked twice: frames added up may have both */
    float *shares;      /* [row_count x state_count] of it; 0 when it is 0 */
    size_t place_count;
    uint32_t *places; /* [place_count] by number: where its row may be */
};

/* An empty one; the schema must live as long. */
void timeline_init(struct timeline *timeline, const struct schema *schema, size_t bytes_maximum);
void timeline_release(struct timeline *timeline);

/* Keeps a frame of the schema. Rows of one entity are added up. CAMP_OK or CAMP_E_NOMEM. */
int timeline_add(struct timeline *timeline, const struct frame *frame);

/* Adds up each `count` frames to one; 0: all to one. */
void timeline_merge(struct timeline *timeline, uint64_t count);

/* The frame that a time lies in, or the nearest to it; frame_count must not be 0. */
size_t timeline_find(const struct timeline *timeline, int64_t wall_clock_ns);

/* As vertices_weigh() of a row. */
bool timeline_weigh(const struct timeline *timeline, size_t row, const struct vertices *vertices,
                    struct weights *ret);

/* Adds up: the shares of both, weighted by elapsed time. It begins with zeros. */
void weights_add(struct weights *weights, double *elapsed_s, const struct weights *more,
                 double more_elapsed_s);

#endif
