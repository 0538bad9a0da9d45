/* The time of database sessions by wait event, and how long their waits lasted, as a table of `camp
 * why`. */
#pragma once

#include "ledger/frame.h"
#include "ledger/labels.h"
#include "views/document.h"

#define WHY_EVENT_FIELDS 15

extern const struct field why_event_fields[WHY_EVENT_FIELDS];

struct why_event;

/* All zero is empty. */
struct why_events {
    struct why_event *events; /* [count] after why_events_finish() those with most time first */
    size_t count, capacity;
    uint64_t elapsed_ns; /* of all sessions */
    bool are_divided;    /* the rows have a wait event each; otherwise there is one event, "" */
    bool has_lengths;    /* the frames say how long waits lasted */
    bool failed;
};

/* Starts with no interval. */
void why_events_start(struct why_events *events, bool are_divided);

/* Adds the rows of an interval, or if `is_wanted` is not NULL those for which it returns true. */
void why_events_add(struct why_events *events, const struct frame *frame,
                    bool (*is_wanted)(const void *context, const struct frame *frame, size_t row),
                    const void *context);

/* Returns CAMP_OK, or CAMP_E_NOMEM, also if there was no memory in why_events_add(). */
int why_events_finish(struct why_events *events);

/* Adds the rows of the table with this index: at most `most` events, and one for the others; all
 * events if `most` is 0. */
void why_events_add_rows(struct document *document, size_t table, const struct why_events *events,
                         size_t most);

void why_events_release(struct why_events *events);
