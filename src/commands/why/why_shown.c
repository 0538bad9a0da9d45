#include "why_shown.h"

#include "views/document.h"

#include <stdlib.h>
#include <string.h>

/* What is known of the nodes that were passed, by depth. */
struct shown {
    const struct blocker_tree *tree;
    bool *is_shown;            /* [tree->count] */
    struct why_hidden *hidden; /* [tree->count + 1] by depth: the siblings of the last node */
    size_t *siblings;          /* [tree->count + 1] by depth: how many of these may be shown */
    size_t *rows;              /* [tree->count] nodes that may be shown */
    uint64_t *weights;         /* [tree->count] time of each node with that of all below it */
};

static bool reserve(struct shown *shown)
{
    const size_t count = shown->tree->count + 1;

    shown->is_shown = calloc(count, sizeof *shown->is_shown);
    shown->hidden = calloc(count, sizeof *shown->hidden);
    shown->siblings = calloc(count, sizeof *shown->siblings);
    shown->rows = calloc(count, sizeof *shown->rows);
    shown->weights = calloc(count, sizeof *shown->weights);
    return shown->is_shown != NULL && shown->hidden != NULL && shown->siblings != NULL &&
           shown->rows != NULL && shown->weights != NULL;
}

static void release(struct shown *shown)
{
    free(shown->is_shown);
    free(shown->hidden);
    free(shown->siblings);
    free(shown->rows);
    free(shown->weights);
}

/* Sets is_shown. A node has at least the time of each node below it, and comes before it. */
static void choose(struct shown *shown, size_t most)
{
    const struct blocker_tree *tree = shown->tree;
    uint32_t hidden_depth = UINT32_MAX; /* of the last node that is hidden for its siblings */
    size_t count = 0, chosen;

    for (size_t i = 0; i < tree->count; i++) {
        const struct blocker_node *node = &tree->nodes[i];

        shown->weights[i] = node->blocked_ns + node->blocking_ns;
        if (node->depth > hidden_depth)
            continue;
        shown->siblings[node->depth + 1] = 0;
        hidden_depth = UINT32_MAX;
        if (most > 0 && shown->siblings[node->depth]++ >= most)
            hidden_depth = node->depth;
        else
            shown->rows[count++] = i;
    }
    chosen = rows_with_most(shown->rows, count, WHY_SHOWN_TIMES * most, shown->weights);
    for (size_t i = 0; i < chosen; i++)
        shown->is_shown[shown->rows[i]] = true;
}

/* Ends the siblings of this depth and of larger ones. */
static void flush(struct shown *shown, uint32_t *deepest, uint32_t depth,
                  void (*hide)(void *context, const struct why_hidden *hidden), void *context)
{
    for (; *deepest + 1 > depth; --*deepest) {
        struct why_hidden *hidden = &shown->hidden[*deepest];

        hidden->depth = *deepest;
        if (hidden->count > 0)
            hide(context, hidden);
        *hidden = (struct why_hidden){ 0 };
        if (*deepest == 0)
            break;
    }
}

int why_shown_each(const struct blocker_tree *tree, size_t most,
                   void (*show)(void *context, size_t node),
                   void (*hide)(void *context, const struct why_hidden *hidden), void *context)
{
    struct shown shown = { .tree = tree };
    const bool good = reserve(&shown);
    uint32_t deepest = 0, hidden_depth = UINT32_MAX;

    if (good)
        choose(&shown, most);
    for (size_t i = 0; good && i < tree->count; i++) {
        const struct blocker_node *node = &tree->nodes[i];

        if (node->depth <= hidden_depth) {
            flush(&shown, &deepest, node->depth + 1, hide, context);
            deepest = node->depth;
            hidden_depth = shown.is_shown[i] ? UINT32_MAX : node->depth;
        }
        if (hidden_depth == UINT32_MAX) {
            show(context, i);
            continue;
        }
        shown.hidden[hidden_depth].count++;
        shown.hidden[hidden_depth].blocked_ns += node->blocked_ns;
        shown.hidden[hidden_depth].measured_ns += node->measured_ns;
    }
    if (good)
        flush(&shown, &deepest, 0, hide, context);
    release(&shown);
    return good ? CAMP_OK : CAMP_E_NOMEM;
}
