/*
 * The roster: who is who in frames that follow each other. Each entity gets a number when it is
 * first met, which stays its own. Pure arithmetic.
 *
 * An entity is told by its id, and by its name when its id is 0 (what ended, added up by name).
 * One that is flagged as new takes over nothing from who had its id before.
 */
#ifndef CAMP_LEDGER_ROSTER_H
#define CAMP_LEDGER_ROSTER_H

#include "frame.h"

struct roster_entity {
    struct entity entity; /* as it was last met */
    uint64_t met;         /* in which frame, counted from 1; 0: forgotten, the number is free */
};

struct roster {
    struct roster_entity *entities; /* [count] by number; owned: roster_release() */
    size_t count, capacity;
    uint32_t *spare; /* [spare_count]: numbers that are free; room for all */
    size_t spare_count;
    uint32_t *slots; /* [slot_count] 1 + number; 0: free */
    size_t slot_count;
    uint64_t frames; /* that were begun */
};

enum roster_news { ROSTER_KNOWN, ROSTER_NEW, ROSTER_CHANGED /* its name, parent, user, ... */ };

/* All zero is an empty roster. */
void roster_release(struct roster *roster);

/* A further frame begins. */
void roster_begin(struct roster *roster);

/* The number of an entity of the frame that was begun. CAMP_OK or CAMP_E_NOMEM. */
int roster_find(struct roster *roster, const struct entity *entity, uint32_t *ret_number,
                enum roster_news *ret_news);

/* Who was not met in frame `since` or later is forgotten: its number is given to somebody who is
 * met for the first time. For who keeps no earlier frames. */
void roster_forget(struct roster *roster, uint64_t since);

/* The same, but those of gone[count] are one entity for each name, "NAME" and the suffix, without
 * an id. ret_numbers[count]: who is who in *ret. CAMP_OK, or CAMP_E_NOMEM and *ret stays as it is.
 */
int roster_fold(const struct roster *roster, const bool *gone, const char *suffix,
                struct roster *ret, uint32_t *ret_numbers);

/* Met in the frame that was begun? */
bool roster_is_there(const struct roster *roster, uint32_t number);

#endif
