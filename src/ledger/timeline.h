/*
 * A timeline: a sequence of frames, stored as shares of time. In each frame an entity takes 16
 * bytes, plus 4 bytes for each state.
 *
 * The memory of a timeline is limited. When it is full, neighbouring frames are merged in pairs,
 * and later frames are merged in the same way. So the resolution of time halves, and no time is
 * dropped. The shares of a merged frame are means weighted by elapsed time. Missing time in one
 * frame and time accounted twice in another frame do not cancel out.
 *
 * Exited entities that were in only one frame are merged by name. Otherwise one day with 500 new
 * processes a second would not fit into memory.
 */
#pragma once

#include "registry.h"
#include "vertex.h"

struct timeline_frame {
    int64_t begin_ns, end_ns; /* wall clock, in ns since 1970 */
    size_t first, count;      /* the frame has `count` rows, from row `first` on */
    uint64_t merged;          /* number of the source's frames that were merged into this frame */
    struct losses losses;
};

struct timeline {
    const struct schema *schema;
    struct registry registry;
    size_t bytes_maximum; /* limit for the rows and the registry */
    /* Number of frames of the source that are merged into one frame of the timeline. */
    uint64_t merging;
    size_t frame_count, frame_capacity;
    struct timeline_frame *frames; /* [frame_count] */
    size_t row_count, row_capacity;
    uint32_t *entities; /* [row_count] number of the row's entity in the registry; an entity has one
                           row per frame */
    float *elapsed_s;
    float *missing; /* [row_count] share of elapsed_s that is in no state */
    /* [row_count] share of elapsed_s that is accounted twice; a row of merged frames can have both
     * `missing` and `over` */
    float *over;
    float *shares; /* [row_count x state_count] shares of elapsed_s; 0 if elapsed_s is 0 */
    size_t place_count;
    uint32_t *places; /* [place_count] the last row of each entity, indexed by its number in the
                         registry */
};

/* Creates an empty timeline. The schema must exist as long as the timeline. */
void timeline_init(struct timeline *timeline, const struct schema *schema, size_t bytes_maximum);
void timeline_release(struct timeline *timeline);

/* Adds a frame with the schema of the timeline. Several rows of one entity are added up. Returns
 * CAMP_OK or CAMP_E_NOMEM. */
int timeline_add(struct timeline *timeline, const struct frame *frame);

/* Merges every `count` neighbouring frames into one frame. If `count` is 0, merges all frames. */
void timeline_merge(struct timeline *timeline, uint64_t count);

/* Returns the index of the frame that contains a time, or of the nearest frame. There must be at
 * least one frame. */
size_t timeline_find(const struct timeline *timeline, int64_t wall_clock_ns);

/* Computes the weights of a row. Returns false if the row has no elapsed time. */
bool timeline_weigh(const struct timeline *timeline, size_t row, const struct vertices *vertices,
                    struct weights *ret);

/* Adds `more` to *weights, a mean weighted by elapsed time. *elapsed_s is the elapsed time of that
 * mean. Both must be 0 before the first call. */
void weights_add(struct weights *weights, double *elapsed_s, const struct weights *more,
                 double more_elapsed_s);
