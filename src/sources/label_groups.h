/* Entities added up by one of their labels: of a frame, or of another source. */
#ifndef CAMP_SOURCES_LABEL_GROUPS_H
#define CAMP_SOURCES_LABEL_GROUPS_H

#include "ledger/registry.h"
#include "source.h"

struct label_groups {
    size_t label;             /* which of the schema's */
    struct frame frame;       /* the groups of the last frame, of the same schema */
    struct registry registry; /* of groups, whose ids there are the addresses of their tuples */
    struct label_place {
        uint64_t met; /* in which of the registry's frames */
        size_t row;   /* of `frame` */
    } * places;       /* [capacity] by the registry's numbers */
    size_t capacity;
};

void label_groups_init(struct label_groups *ret, const struct schema *schema, size_t label);
void label_groups_release(struct label_groups *groups); /* then it is all zero */

/* groups->frame: a row for each value, named as the value, "(none)" without one, and with that
 * label alone. Its id is the same in each frame. CAMP_OK or CAMP_E_NOMEM. */
int label_groups_fill(struct label_groups *groups, const struct frame *frame);

/* A source of such frames. Takes `whole` over: it is closed with *ret, and when this fails. */
int label_groups_open(struct source *whole, size_t label, struct source **ret);

#endif
