/* --from of `camp check`: a recording of the source "check" as its two frames, or sessions of a
 * database (check_sessions.h). */
#ifndef CAMP_COMMANDS_CHECK_CHECK_RECORDED_H
#define CAMP_COMMANDS_CHECK_CHECK_RECORDED_H

#include "check_record.h"
#include "program/from_options.h"

/* All zero: no source. */
struct check_recorded {
    struct source *source; /* NULL: not open */
    struct from_facts facts;
    bool is_sessions;   /* of a database: then only `source` is set */
    bool is_sampled;    /* false: sampled time of processes is unknown */
    struct frame tasks; /* then: the rows with all columns */
};
void check_recorded_release(struct check_recorded *recorded);

/* Opens the source; context gets the tier, and that only recorded facts are known. OPTIONS_GO_ON,
 * or an exit status after a complaint. `options` must outlive it. */
int check_recorded_open(struct check_recorded *recorded, struct from_options *options,
                        struct check_context *context);

/* The next interval, and in context its CPUs if timed. CAMP_OK, SOURCE_END, CAMP_E_*. */
int check_recorded_next(struct check_recorded *recorded, struct check_context *context,
                        const struct frame **ret_tasks, const struct frame **ret_cpus,
                        struct camp_error *error);

#endif
