/*
 * The registry: numbers for the entities of successive frames. An entity gets a number when it is
 * first seen and keeps it. Pure arithmetic.
 *
 * An entity is identified by its id, and by its name when its id is 0 (exited threads, added up by
 * name). An entity flagged as new inherits nothing from an earlier one with the same id.
 */
#pragma once

#include "frame.h"
#include "index.h"

struct registry_entry {
    struct entity entity; /* the entity as last seen */
    uint64_t last_seen;   /* frame number, counted from 1; 0: expired, the number is free */
};

struct registry {
    struct registry_entry *entities; /* [count] by number; owned: registry_release() */
    size_t count, capacity;
    uint32_t *spare; /* [spare_count] free numbers; there is space for all numbers */
    size_t spare_count;
    struct index index; /* index of the entities */
    uint64_t frames;    /* number of frames started so far */
};

enum registry_match {
    REGISTRY_KNOWN,
    REGISTRY_NEW,
    REGISTRY_CHANGED /* its name, parent, user or another fact changed */
};

/* All zero is an empty registry. */
void registry_release(struct registry *registry);

void registry_start_frame(struct registry *registry);

/* Returns in *ret_number the number of an entity of the current frame, a new number if the entity
 * is unknown. CAMP_OK or CAMP_E_NOMEM. */
int registry_enter(struct registry *registry, const struct entity *entity, uint32_t *ret_number,
                   enum registry_match *ret_match);

/* Frees the numbers of entities last seen before frame `since`, for reuse. For callers that keep no
 * earlier frames. */
void registry_expire(struct registry *registry, uint64_t since);

/* Makes a copy in which the entities marked in gone[count] are merged by name: each name, with the
 * suffix, is one entity without an id. ret_numbers[count]: the number of each entity in *ret.
 * CAMP_OK, or CAMP_E_NOMEM and *ret is unchanged. */
int registry_fold(const struct registry *registry, const bool *gone, const char *suffix,
                  struct registry *ret, uint32_t *ret_numbers);

/* Is the entity in the current frame? */
bool registry_is_present(const struct registry *registry, uint32_t number);
