/* Makes the nodes of a tree from its edges. */
#include "blocker_tree_inside.h"

#include "ledger/array.h"

#include <stdlib.h>
#include <string.h>

/* Orders edges by root and blocker, and of these by the session that waits. */
static int compare_pairs(const void *left, const void *right)
{
    const struct blocker_edge *a = left, *b = right;

    if (a->root != b->root)
        return a->root < b->root ? -1 : 1;
    if (a->blocker != b->blocker)
        return a->blocker < b->blocker ? -1 : 1;
    return a->waiting < b->waiting ? -1 : a->waiting > b->waiting;
}

/* Orders edges by root and blocker, and of these the one with most time first. */
static int compare_edges(const void *left, const void *right)
{
    const struct blocker_edge *a = left, *b = right;

    if (a->root != b->root || a->blocker != b->blocker)
        return compare_pairs(left, right);
    if (a->ns != b->ns)
        return a->ns > b->ns ? -1 : 1;
    return a->waiting < b->waiting ? -1 : a->waiting > b->waiting;
}

/* Adds up the times of equal edges. */
static void merge_edges(struct blocker_tree *tree)
{
    struct blocker_edge *edges = tree->edges;
    size_t kept = 0;

    if (tree->edge_count == 0)
        return;
    qsort(edges, tree->edge_count, sizeof *edges, compare_pairs);
    for (size_t i = 0; i < tree->edge_count; i++) {
        edges[i].is_shown = false;
        if (kept > 0 && compare_pairs(&edges[kept - 1], &edges[i]) == 0) {
            edges[kept - 1].ns += edges[i].ns;
            edges[kept - 1].measured_ns += edges[i].measured_ns;
        } else {
            edges[kept++] = edges[i];
        }
    }
    tree->edge_count = kept;
    qsort(edges, kept, sizeof *edges, compare_edges);
}

static size_t index_of(const struct blocker_tree *tree, int64_t id)
{
    const struct blocker_session wanted = { .id = id };

    return ARRAY_POSITION(&wanted, tree->sessions, tree->session_count, blocker_tree_compare);
}

/* Returns the first edge of a root and a blocker, or edge_count. */
static size_t first_edge(const struct blocker_tree *tree, int64_t root, int64_t blocker)
{
    const struct blocker_edge wanted = { .root = root, .blocker = blocker, .ns = UINT64_MAX };
    const size_t at = ARRAY_POSITION(&wanted, tree->edges, tree->edge_count, compare_edges);

    return at < tree->edge_count && tree->edges[at].root == root &&
                   tree->edges[at].blocker == blocker
               ? at
               : tree->edge_count;
}

static bool is_of(const struct blocker_tree *tree, size_t edge, int64_t root, int64_t blocker)
{
    return edge < tree->edge_count && tree->edges[edge].root == root &&
           tree->edges[edge].blocker == blocker;
}

static struct blocker_node *add_node(struct blocker_tree *tree, int64_t id, uint32_t depth,
                                     uint64_t blocked_ns)
{
    if (!ARRAY_RESERVE(tree->nodes, tree->capacity, tree->count + 1)) {
        tree->failed = true;
        return NULL;
    }
    tree->nodes[tree->count] = (struct blocker_node){ .session = index_of(tree, id),
                                                      .depth = depth,
                                                      .blocked_ns = blocked_ns };
    return &tree->nodes[tree->count++];
}

/* Adds what is below a session. `path` has for each depth the edge that is next; it has space for
 * all edges. Each session is entered once, because its edges are then marked as shown. */
static void add_below(struct blocker_tree *tree, int64_t root, int64_t from, uint32_t from_depth,
                      size_t *path)
{
    uint32_t depth = 0;

    path[0] = first_edge(tree, root, from);
    for (;;) {
        const size_t at = path[depth];
        int64_t blocker = from;

        if (depth > 0)
            blocker = tree->edges[path[depth - 1] - 1].waiting;
        if (!is_of(tree, at, root, blocker) || tree->edges[at].is_shown) {
            if (depth-- == 0)
                return;
            continue;
        }
        {
            struct blocker_edge *edge = &tree->edges[at];
            const size_t next = first_edge(tree, root, edge->waiting);
            struct blocker_node *node =
                add_node(tree, edge->waiting, from_depth + depth + 1, edge->ns);

            if (node == NULL)
                return;
            node->measured_ns = edge->measured_ns;
            edge->is_shown = true;
            path[depth]++;
            node->is_repeated = next < tree->edge_count && tree->edges[next].is_shown;
            if (next < tree->edge_count && !node->is_repeated)
                path[++depth] = next;
        }
    }
}

/* Adds the tree of the root of edges[first]. Returns the first edge of the next root. */
static size_t add_tree(struct blocker_tree *tree, size_t first, size_t *path)
{
    const int64_t root = tree->edges[first].root;
    size_t end;

    add_node(tree, root, 0, 0);
    add_below(tree, root, root, 0, path);
    for (end = first; end < tree->edge_count && tree->edges[end].root == root; end++) {
        /* The chain to this blocker was not in the same interval, or not its longest. */
        if (!tree->edges[end].is_shown && !tree->failed) {
            const int64_t blocker = tree->edges[end].blocker;

            add_node(tree, blocker, 1, 0);
            add_below(tree, root, blocker, 1, path);
        }
    }
    return end;
}

static size_t end_of(const struct blocker_tree *tree, size_t node)
{
    size_t end = node + 1;

    while (end < tree->count && tree->nodes[end].depth > tree->nodes[node].depth)
        end++;
    return end;
}

/* `below` has a 0 for each depth, and two more. */
static void sum_nodes(struct blocker_tree *tree, uint64_t *below)
{
    /* below[depth] is the time of the nodes that were passed at this depth, and of those below. */
    for (size_t i = tree->count; i-- > 0;) {
        struct blocker_node *node = &tree->nodes[i];

        node->blocking_ns = below[node->depth + 1];
        below[node->depth + 1] = 0;
        below[node->depth] += node->blocking_ns + node->blocked_ns;
    }
}

/* Counts the different sessions below each root. */
static bool count_waiting(struct blocker_tree *tree)
{
    size_t *seen = calloc(tree->session_count + 1, sizeof *seen); /* 1 + the last root above it */
    size_t root = 0;

    for (size_t i = 0; seen != NULL && i < tree->count; i++) {
        const size_t session = tree->nodes[i].session;

        root = tree->nodes[i].depth == 0 ? i : root;
        if (seen[session] != root + 1 && i != root)
            tree->nodes[root].waiting++;
        seen[session] = root + 1;
    }
    free(seen);
    return seen != NULL;
}

/* A whole tree, and what it is sorted by. */
struct whole {
    size_t first, end;
    uint64_t ns;
};

static int compare_wholes(const void *left, const void *right)
{
    const struct whole *a = left, *b = right;

    if (a->ns != b->ns)
        return a->ns > b->ns ? -1 : 1;
    return a->first < b->first ? -1 : 1;
}

/* Which sessions the trees must have. */
struct wanted {
    bool (*is_wanted)(const void *context, const struct blocker_session *session);
    const void *context;
};

static bool has_wanted(const struct blocker_tree *tree, const struct whole *whole,
                       const struct wanted *wanted)
{
    for (size_t i = whole->first; i < whole->end; i++) {
        if (wanted->is_wanted(wanted->context, tree->sessions[tree->nodes[i].session]))
            return true;
    }
    return false;
}

/* Sorts the trees, and leaves out those without a wanted session. */
static bool sort_trees(struct blocker_tree *tree, const struct wanted *wanted)
{
    struct blocker_node *nodes = calloc(tree->count + 1, sizeof *nodes);
    struct whole *wholes = calloc(tree->count + 1, sizeof *wholes);
    const bool has_memory = nodes != NULL && wholes != NULL;
    size_t count = 0, kept = 0;

    for (size_t i = 0; has_memory && i < tree->count; i = wholes[count++].end)
        wholes[count] = (struct whole){ i, end_of(tree, i), tree->nodes[i].blocking_ns };
    if (has_memory)
        qsort(wholes, count, sizeof *wholes, compare_wholes);
    for (size_t i = 0; has_memory && i < count; i++) {
        const size_t size = wholes[i].end - wholes[i].first;

        if (wanted->is_wanted != NULL && !has_wanted(tree, &wholes[i], wanted))
            continue;
        memcpy(&nodes[kept], &tree->nodes[wholes[i].first], size * sizeof *nodes);
        kept += size;
    }
    free(wholes);
    if (!has_memory) {
        free(nodes);
        return false;
    }
    free(tree->nodes);
    tree->nodes = nodes;
    tree->capacity = tree->count + 1;
    tree->count = kept;
    return true;
}

int blocker_tree_finish(struct blocker_tree *tree,
                        bool (*is_wanted)(const void *context,
                                          const struct blocker_session *session),
                        const void *context)
{
    const struct wanted wanted = { is_wanted, context };
    uint64_t *below;
    size_t *path;

    tree->count = 0;
    merge_edges(tree);
    path = calloc(2 * tree->edge_count + 2, sizeof *path);
    if (path == NULL || tree->failed) {
        free(path);
        return CAMP_E_NOMEM;
    }
    for (size_t at = 0; at < tree->edge_count && !tree->failed;)
        at = add_tree(tree, at, path);
    free(path);
    below = calloc(tree->count + 2, sizeof *below);
    if (below != NULL)
        sum_nodes(tree, below);
    tree->failed |= below == NULL || !count_waiting(tree) || !sort_trees(tree, &wanted);
    free(below);
    return tree->failed ? CAMP_E_NOMEM : CAMP_OK;
}
