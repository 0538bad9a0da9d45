/* Sorts processes as trees: each process comes after its parent. Of sessions of a database, the one
 * that blocks a session is its parent. */
#include "selection.h"

#include <stdlib.h>

#define NOBODY SIZE_MAX

/* A process. first_child, next_sibling and parent are indexes in the array of places, or NOBODY. */
struct place {
    size_t row;
    size_t first_child, next_sibling, parent;
    bool done;
};

struct entry {
    int64_t id;
    size_t place;
};

static int compare_entries(const void *a, const void *b)
{
    const struct entry *left = a, *right = b;

    return left->id < right->id ? -1 : left->id > right->id;
}

static size_t find(const struct entry *entries, size_t count, int64_t id)
{
    const struct entry wanted = { id, 0 };
    const struct entry *found = bsearch(&wanted, entries, count, sizeof *entries, compare_entries);

    return found != NULL ? found->place : NOBODY;
}

/* Returns the id of the parent of a row, or 0. */
static int64_t parent_of(const struct entity *entity, size_t label)
{
    const char *text = label > 0 ? labels_value(entity->labels, label - 1) : "";

    return text[0] >= '1' && text[0] <= '9' ? entity_beside(entity->id, strtoll(text, NULL, 10))
                                            : entity->parent;
}

/* Goes from the last process to the first and puts each at the front of its parent's list, so that
 * children keep their order. */
static void link_children(const struct frame *frame, size_t label, struct place *places,
                          const struct entry *entries, size_t count)
{
    for (size_t i = count; i-- > 0;) {
        const size_t parent =
            find(entries, count, parent_of(&frame->entities[places[i].row], label));

        places[i].parent = parent != i ? parent : NOBODY;
        if (places[i].parent == NOBODY)
            continue;
        places[i].next_sibling = places[parent].first_child;
        places[parent].first_child = i;
    }
}

/* Returns the place that is written after `at`: a child, a sibling, or a sibling of an ancestor.
 * Returns NOBODY at the end of the tree. */
static size_t next_of(const struct place *places, size_t at, uint32_t *depth)
{
    if (places[at].first_child != NOBODY && !places[places[at].first_child].done) {
        ++*depth;
        return places[at].first_child;
    }
    while (places[at].next_sibling == NOBODY || places[places[at].next_sibling].done) {
        if (*depth == 0)
            return NOBODY;
        --*depth;
        at = places[at].parent;
    }
    return *depth > 0 ? places[at].next_sibling : NOBODY;
}

static size_t write_tree(struct place *places, size_t root, size_t *order, uint32_t *depths,
                         size_t written)
{
    uint32_t depth = 0;

    for (size_t at = root; at != NOBODY; at = next_of(places, at, &depth)) {
        places[at].done = true;
        depths[written] = depth;
        order[written++] = places[at].row;
    }
    return written;
}

static void write_forest(struct place *places, size_t count, size_t *order, uint32_t *depths)
{
    size_t written = 0;

    for (size_t i = 0; i < count; i++) {
        if (places[i].parent == NOBODY)
            written = write_tree(places, i, order, depths, written);
    }
    /* Processes were read at different moments, so two processes can be each other's parent. These
     * processes are below no root, and are written last. */
    for (size_t i = 0; i < count; i++) {
        if (!places[i].done)
            written = write_tree(places, i, order, depths, written);
    }
}

int tree_order(const struct frame *frame, size_t label, size_t *order, size_t count,
               uint32_t *depths)
{
    struct place *places = calloc(count + 1, sizeof *places);
    struct entry *entries = calloc(count + 1, sizeof *entries);
    int r = CAMP_E_NOMEM;

    if (places != NULL && entries != NULL) {
        for (size_t i = 0; i < count; i++) {
            places[i] = (struct place){ order[i], NOBODY, NOBODY, NOBODY, false };
            entries[i] = (struct entry){ frame->entities[order[i]].id, i };
        }
        qsort(entries, count, sizeof *entries, compare_entries);
        link_children(frame, label, places, entries, count);
        write_forest(places, count, order, depths);
        r = CAMP_OK;
    }
    free(places);
    free(entries);
    return r;
}
