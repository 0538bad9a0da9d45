/*
 * The registry gives a number to each entity of successive frames. The entity keeps its number in
 * later frames.
 *
 * An entity is identified by its id. If the id is 0, it is identified by its name: exited threads
 * are added up by name. An entity with ENTITY_NEW gets a new number, even if an earlier entity had
 * the same id.
 */
#pragma once

#include "frame.h"
#include "index.h"

struct registry_entry {
    struct entity entity; /* the entity as it was in the last frame that had it */
    /* Number of the last frame that had the entity, counted from 1; 0 if the entry is free. */
    uint64_t last_seen;
};

struct registry {
    struct registry_entry *entities; /* [count], indexed by number; freed by registry_release() */
    size_t count, capacity;
    uint32_t *spare; /* [spare_count] free numbers; large enough for all numbers */
    size_t spare_count;
    struct index index;
    uint64_t frames;
    uint32_t next; /* the number after that of the last entity that was entered */
};

enum registry_match {
    REGISTRY_KNOWN,
    REGISTRY_NEW,
    REGISTRY_CHANGED,  /* the name, parent or another part of the identity */
    REGISTRY_RELABELED /* only the labels */
};

/* An empty registry is all zero. */
void registry_release(struct registry *registry);

void registry_start_frame(struct registry *registry);

/* Sets *ret_number to the number of an entity of the current frame. An unknown entity gets a new
 * number. Returns CAMP_OK or CAMP_E_NOMEM. */
int registry_enter(struct registry *registry, const struct entity *entity, uint32_t *ret_number,
                   enum registry_match *ret_match);

#define REGISTRY_NONE UINT32_MAX

/* Returns the number of the entity that was entered last with this id, or REGISTRY_NONE. */
uint32_t registry_find(const struct registry *registry, const struct entity *entity);

/* Frees the numbers of entities that were last seen before frame `since`. New entities may get
 * these numbers, so the caller must forget all frames before `since`. */
void registry_expire(struct registry *registry, uint64_t since);

/* Copies a registry to *ret. Entities that are marked in gone[count] and have the same name become
 * one entity, with id 0 and with `suffix` after the name. ret_numbers[count] gets the number of
 * each entity in *ret. Returns CAMP_OK or CAMP_E_NOMEM. After CAMP_E_NOMEM *ret is unchanged. */
int registry_fold(const struct registry *registry, const bool *gone, const char *suffix,
                  struct registry *ret, uint32_t *ret_numbers);

/* Counts an entity as one of the current frame, so that it does not expire. */
void registry_see(struct registry *registry, uint32_t number);

bool registry_is_present(const struct registry *registry, uint32_t number);
