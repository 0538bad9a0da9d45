/* The entities of both recordings, matched by name and labels. Their number is limited, because a
 * recording may have names without end, such as those of programs with a number in their name. */
#pragma once

#include "ledger/frame.h"
#include "ledger/index.h"

/* When there are so many entities, all further ones of both recordings are one entity. */
#define COMPARED_ENTITIES_MOST 10000
#define COMPARED_OTHERS "(others)" /* its name */

struct compared_entity {
    char *name;    /* any bytes */
    char *labels;  /* "user=bob, database=shop", or "" */
    bool is_in[2]; /* whether the first, and the second recording has it */
};

/* An all-zero struct is empty. compared_entities_release() frees the members. */
struct compared_entities {
    struct compared_entity *items; /* [count], in the order in which they were found */
    size_t count, capacity;
    struct index index;
    uint64_t others[2]; /* how many rows of intervals of each recording went to COMPARED_OTHERS */
};

/* Sets *ret to the index of the entity with this name and these labels, which is added if it is
 * new and there is space, or to that of COMPARED_OTHERS, and notes that the recording `side`, 0 or
 * 1, has it. Returns CAMP_OK or CAMP_E_NOMEM. */
int compared_entities_enter(struct compared_entities *entities, const char *name,
                            const char *labels, int side, size_t *ret);

/* Returns the index of the entity, or SIZE_MAX. */
size_t compared_entities_find(const struct compared_entities *entities, const char *name,
                              const char *labels);
void compared_entities_release(struct compared_entities *entities);
