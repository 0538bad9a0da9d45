/* What `camp explain` reads beside the frames of this machine: CPUs, pressure, waits for disks. */
#pragma once

#include "commands/wait/wait_tasks.h"
#include "explain/evidence.h"
#include "sources/from.h"

#include <camp/system.h>

/* An all-zero struct is empty. explain_live_close() frees its members. */
struct explain_live {
    struct source *cpus; /* the CPUs of /proc/stat, if the source of rows has none; or NULL */
    struct wait_tasks waits;
    bool has_waits; /* the session of microstates has CAMP_STATES_DISKS */
    struct camp_system before;
};

/* Reads the start of the interval. `source` has been opened for this machine. `has_disks` says that
 * it has been opened with CAMP_STATES_DISKS. What cannot be read stays unknown. Returns CAMP_OK,
 * CAMP_E_NOMEM or an error of reading the CPUs. */
int explain_live_start(struct explain_live *live, struct source *source,
                       const struct from_facts *facts, bool has_disks, struct camp_error *error);

/* Reads the end of the interval whose frame is `rows`, and adds pressure and disks to the evidence.
 * Sets *ret_cpus to the CPUs beside the rows. Returns as explain_live_start(). */
int explain_live_end(struct explain_live *live, struct source *source, const struct frame *rows,
                     struct evidence *evidence, const struct frame **ret_cpus,
                     struct camp_error *error);

void explain_live_close(struct explain_live *live);
