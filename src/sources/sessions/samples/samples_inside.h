/* What samples.c and sample_frames.c share. */
#pragma once

#include "sample_times.h"
#include "samples.h"
#include "sources/sessions/session.h"

struct samples_source {
    struct source source; /* must be the first member */
    struct sample_rows rows;
    struct sample_times times;
    struct session_frame sessions;
    const char *label_names[SAMPLE_LABEL_END - SAMPLE_FIRST_LABEL];
    enum sample_role label_roles[SAMPLE_LABEL_END - SAMPLE_FIRST_LABEL]; /* [label_count] */
    size_t label_count;
    char only[CAMP_NAME_SIZE]; /* the name of rows that no text identifies */
    size_t at, end;   /* times.order[at] is the next row, and times.order[end - 1] the last */
    uint32_t moment;  /* number of the next moment */
    uint32_t before;  /* the last row of the moment before; UINT32_MAX at first */
    uint32_t *living; /* [living_count] sessions between their first and last sample */
    size_t living_count, living_capacity;
    struct session_time *kinds; /* [kind_capacity] */
    char (*texts)[SESSION_KEYS][LABELS_VALUE_SIZE];
    size_t kind_capacity;
    double speed;
    uint64_t due_ns; /* with --speed: when the newest frame is due; 0 before the first frame */
    const volatile sig_atomic_t *stop;
};

/* Fills source->sessions.frame with the next moment. If `is_skipped`, only notes which sessions
 * live. Returns CAMP_OK or CAMP_E_NOMEM. */
int sample_frame_fill(struct samples_source *source, bool is_skipped);

/* Returns the length of the frame of the moment that ends at position `end`. `before` is the last
 * row of the moment before it, or UINT32_MAX. */
uint64_t sample_frame_length(const struct samples_source *source, uint32_t before, size_t end);
