/*
 * Groups of the entities of a picture, in the order of their active time (ledger/active.h), the
 * group with most of it first. A group is a process, for threads; the entities with the same value
 * of a label; or those whose names differ only in the number at the end.
 */
#pragma once

#include "picture_parts.h"

/* A group with less active time than this share of all the time is idle. */
#define ACTIVE_GROUP_IDLE 1e-6

struct active_group {
    uint32_t entity; /* number of an entity of the group in the registry; of a process its main
                        thread */
    size_t members;
    struct active sum;
    size_t before; /* index before the groups were sorted */
};

struct active_groups {
    const struct picture *picture;
    bool by_process;
    struct active_group *groups; /* [count]; owned */
    size_t count;
    size_t active;      /* groups that are not idle; they come first */
    uint32_t *group_of; /* [registry.count] index in groups; owned */
    struct active sum;
    double length_s; /* of all frames, without the gaps between them */
    size_t parked;   /* most parked entities of a frame */
    struct sums sums;
};

/* Finds the groups by picture->colour, where PICTURE_COLOUR_USUAL is by name, or by process if
 * `by_process` is set, and adds up the rows of all frames. Returns CAMP_OK or CAMP_E_NOMEM; the
 * caller calls active_groups_release() in either case. */
int active_groups_find(struct active_groups *ret, const struct picture *picture, bool by_process);
void active_groups_release(struct active_groups *groups);

/* Writes the name of a group: "(none)" for entities without a value of the label, "(no name)" for
 * those without a name. */
#define ACTIVE_GROUP_NAME_SIZE (ENTITY_TEXT_SIZE + LABELS_VALUE_SIZE)
void active_group_name(const struct active_groups *groups, const struct active_group *group,
                       char ret[ACTIVE_GROUP_NAME_SIZE]);

/* Returns what the groups are by, such as "process" or the name of a label. */
const char *active_groups_by(const struct active_groups *groups);

/* Writes a name of at most `width` px. A longer one is cut, and ends with "...". */
void active_group_cut(const char *name, double width, char *ret, size_t size);
