/* Entities added up by one of their labels: of a frame, or of another source. */
#pragma once

#include "ledger/registry.h"
#include "source.h"

struct label_groups {
    size_t label;             /* index in the schema */
    struct frame frame;       /* the groups of the last frame, with the same schema */
    struct registry registry; /* of groups, identified by the address of their tuple */
    struct label_place {
        uint64_t last_frame; /* number of the last registry frame that has it */
        size_t row;          /* of `frame` */
    } * places;              /* [capacity] by registry number */
    size_t capacity;
};

void label_groups_init(struct label_groups *ret, const struct schema *schema, size_t label);
void label_groups_release(struct label_groups *groups); /* leaves all zero */

/* Fills groups->frame: a row for each value, named by it, "(none)" without one, with that label
 * alone. Its id is the same in each frame. CAMP_OK or CAMP_E_NOMEM. */
int label_groups_fill(struct label_groups *groups, const struct frame *frame);

/* A source of such frames. Takes ownership of `whole`: it is closed with *ret, and on failure. */
int label_groups_open(struct source *whole, size_t label, struct source **ret);
