/* The causes of waits that the rules of `camp explain` use: those of a recording that has them, and
 * with --why those of the interval that it measures. */
#pragma once

#include "explain/evidence.h"
#include "program/from_options.h"
#include "program/process_selection.h"
#include "sources/causes/cause_sum.h"

/* An all-zero struct is empty. */
struct explain_causes {
    struct cause_sum sum;
    uint64_t without; /* intervals without causes */
    bool is_damaged;  /* nothing more is read */
};

/* Adds what --why needs to the options of the source, and checks that it goes with the source and
 * with --pid. Returns OPTIONS_GO_ON, or an exit status after an error message. */
int explain_causes_ask(struct from *from, const struct process_selection *processes);

/* Adds the causes in the interval of the last frame. Returns CAMP_OK or CAMP_E_NOMEM. If the causes
 * in a recording are damaged, prints a line and returns CAMP_OK: the rows may be intact. */
int explain_causes_add(struct explain_causes *causes, struct source *source,
                       struct camp_error *error);

/* Gives the evidence the sum, or the reason why there is none. */
void explain_causes_finish(struct explain_causes *causes, struct evidence *evidence);

void explain_causes_release(struct explain_causes *causes);
