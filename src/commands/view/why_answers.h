/*
 * What the page's view "Why" shows of one interval: for each group of threads, and for all threads,
 * the JSON that camp why writes.
 */
#pragma once

#include "commands/why/why_record.h"
#include "views/byte_buffer.h"

#include <camp/camp.h>

#define WHY_ANSWER_COUNT (CAUSE_GROUPS + 1) /* the last one is of all threads */

/* An all-zero struct has no interval. */
struct why_answers {
    /* [number of a group] an object of the schema camp.why/1, or NULL if there is no such group */
    char *records[WHY_ANSWER_COUNT];
    char *groups; /* an array with a member for each group, or NULL */
};

/* Makes the answers of one interval. `record` is memory that is reused. Returns CAMP_OK, or
 * CAMP_E_NOMEM, after which *ret has no interval. */
int why_answers_fill(struct why_answers *ret, const struct causes *causes,
                     struct why_record *record);
void why_answers_release(struct why_answers *answers);

/* Appends the answer about a group, or all threads (WHY_ALL), as an object: {"interval_ms": 1000,
 * "groups": [{"number": 4, "kind": "name", "name": "cc1", "threads": 3}, ...], "why": {...}}.
 * Without an interval, `groups` is empty and `why` is null. Returns false if the interval has no
 * such group. */
bool why_answers_put(const struct why_answers *answers, uint32_t group, uint64_t interval_ns,
                     struct bytes *out);
