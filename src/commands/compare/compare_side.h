/* One of the two recordings that are compared: any source with an end, or a range of it. */
#pragma once

#include "cause_times.h"
#include "commands/report/page_options.h"
#include "compared_entities.h"
#include "ledger/timeline.h"
#include "sources/user_names.h"

#include <regex.h>

/* More intervals than this are added up to fewer, so that the time of a comparison is bounded. */
#define COMPARE_INTERVALS_MOST 512

/* What the rows of a recording are added up by, before they are matched by name. */
enum compare_group {
    COMPARE_ROWS,    /* not at all: matched by name and labels; a row without a name by its id */
    COMPARE_PROCESS, /* threads: by the name of their process */
    COMPARE_USER,    /* threads: by the name of their user */
    COMPARE_THREAD,  /* threads: by their own name */
    COMPARE_LABEL
};

struct compare_side {
    struct page_options page; /* its source, the options to open it, and its facts */
    int number;               /* 0 or 1 */
    const char *name;         /* "A" or "B" */
    enum compare_group group;
    size_t label;           /* index in the schema, for COMPARE_LABEL */
    const char *group_name; /* what rows are added up by, such as "process"; NULL: not at all */
    const regex_t *filter;
    struct compared_entities *entities;
    struct user_names users;
    struct frame groups, renamed; /* the frame that is being read, grouped and with new ids */
    /* Its entities have the id COMPARE_ID + index in `entities`, and COMPARE_CLOCK. */
    struct timeline timeline;
    struct cause_times causes;
    const struct comparison *states; /* the states that are compared */
    size_t intervals;                /* of the source, before any were added up */
    char other_path[FROM_PATH_SIZE];
};

/* An entity of the timeline that was there all the time: its elapsed time is the wall time. */
#define COMPARE_CLOCK 1
#define COMPARE_ID 2

/* Returns whether `text` names a source with an end, for which `query` may be given. Returns
 * OPTIONS_GO_ON, or an exit status after an error message. */
int compare_side_check(const char *text, const char *query);

/* Gives each source those of the options --query, --host, --column, --unit and --interval in
 * `given` that it accepts: a table and a recording can be compared. Returns OPTIONS_GO_ON, or an
 * exit status after an error message if neither source accepts an option. */
int compare_sides_set_options(struct compare_side sides[2], const struct from *given);

/* Lets the command open the source of `other` after that of `side`, although it is then confined.
 * The sources of both must have passed compare_side_check(). */
void compare_side_allow(struct compare_side *side, const struct compare_side *other);

/* Opens a source, and resolves the group `group_text`, or the usual one if it is NULL. Returns
 * OPTIONS_GO_ON, or an exit status after an error message. */
int compare_side_open(struct compare_side *side, const char *group_text);

/* Reads the source to its end into the timelines. `states` and `causes` are those of both
 * recordings. Returns OPTIONS_GO_ON, or an exit status after an error message. If the source fails
 * after its first interval, the result is OPTIONS_GO_ON, and side->page.status is the exit status.
 */
int compare_side_read(struct compare_side *side, struct compared_entities *entities,
                      struct compared_causes *causes, const struct comparison *states,
                      const regex_t *filter);
void compare_side_release(struct compare_side *side);
