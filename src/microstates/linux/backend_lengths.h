/* Reads the lengths of sleeps that the programs in the kernel counted, for backends.c. */
#pragma once

#include "../backend_lengths.h"

#include <stdbool.h>

/* The places of one session, between two readings. All zero means that there are none. */
struct lengths_reader {
    struct backend_lengths *shared;        /* [BACKEND_LENGTHS_MAX] */
    struct backend_lengths_places *places; /* in the variables of the programs */
    int index;                             /* descriptor of the map lengths_index */
    struct lengths_before *before;         /* [BACKEND_LENGTHS_MAX] */
    struct backend_lengths_growth *growth; /* [count], of capacity BACKEND_LENGTHS_MAX */
    size_t count;
};

/* Gives all places to the kernel. Called before the programs are loaded. */
void lengths_give_all(struct backend_lengths_places *places);

/* Allocates memory for readings. Returns false if there is none. */
bool lengths_reader_init(struct lengths_reader *reader, struct backend_lengths *shared,
                         struct backend_lengths_places *places, int index);
void lengths_reader_release(struct lengths_reader *reader);

/* Reads what was counted since the last reading, up to reading number `reading` and without it.
 * rows[slot] is the row of the account of a slot. The places of slots that have ended become free,
 * so that another backend may have the slot afterwards. */
void lengths_read(struct lengths_reader *reader, uint32_t reading, const uint32_t *rows,
                  const bool *ended);
