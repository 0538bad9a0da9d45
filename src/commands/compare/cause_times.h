/* The causes of waits of one recording, interval by interval, beside the times of its entities in
 * their states. */
#pragma once

#include "compared_causes.h"
#include "compared_entities.h"
#include "ledger/timeline.h"
#include "sources/source.h"

struct comparison;

/* An all-zero struct is empty. cause_times_release() frees the members. */
struct cause_times {
    struct compared_causes *causes; /* of both recordings; set by the caller */
    /* Its entities have the id COMPARE_ID + index in `causes`, and COMPARE_CLOCK. Its frames are
     * those of the timeline of the recording. */
    struct timeline timeline;
    struct frame frame;      /* of the interval that is read */
    uint64_t with, without;  /* intervals with and without causes */
    bool is_damaged;         /* the rest of the causes was not read */
    bool is_of_other_groups; /* the rows are not processes by name, so causes cannot be matched */
};

void cause_times_start(struct cause_times *times, struct compared_causes *causes);

/* Adds the causes in the interval of `frame`, the last one of `source`. Waiters are found by name
 * in `entities`, states by name in `states`. Returns CAMP_OK or CAMP_E_NOMEM. If the causes are
 * damaged, prints a line, and returns CAMP_OK: the rows may be intact. */
int cause_times_add(struct cause_times *times, struct source *source, const struct frame *frame,
                    const struct compared_entities *entities, const struct comparison *states);
void cause_times_release(struct cause_times *times);

/* Returns whether each interval has causes, which can be compared. */
bool cause_times_are_whole(const struct cause_times *times);
