#include "why_tree.h"

#include "ledger/array.h"

#include <stdlib.h>
#include <string.h>

#define ALL_HUNDREDTHS 10000u

static bool is_of(uint32_t group, uint32_t subject)
{
    return subject == WHY_ALL || group == subject;
}

static struct why_node *add(struct why_tree *tree, const struct why_node *node)
{
    if (!ARRAY_RESERVE(tree->nodes, tree->capacity, tree->count + 1))
        return NULL;
    tree->nodes[tree->count] = *node;
    return &tree->nodes[tree->count++];
}

static int compare(const void *a, const void *b)
{
    const struct why_node *left = a, *right = b;

    if (left->time_ns != right->time_ns)
        return left->time_ns > right->time_ns ? -1 : 1;
    if (left->state != right->state)
        return left->state < right->state ? -1 : 1;
    if (left->kind != right->kind)
        return left->kind < right->kind ? -1 : 1;
    return left->id < right->id ? -1 : left->id > right->id;
}

void why_share_out(struct why_node *parts, size_t count, uint32_t hundredths, uint64_t total_ns)
{
    uint32_t left = hundredths;

    for (size_t i = 0; i < count && total_ns > 0; i++) {
        parts[i].hundredths =
            (uint32_t)((long double)parts[i].time_ns * hundredths / (long double)total_ns);
        if (parts[i].hundredths > left)
            parts[i].hundredths = left;
        left -= parts[i].hundredths;
    }
    while (left > 0 && count > 0 && total_ns > 0) {
        size_t next = 0;
        long double most = -1e30L;

        for (size_t i = 0; i < count; i++) {
            const long double missing =
                (long double)parts[i].time_ns * hundredths / (long double)total_ns -
                parts[i].hundredths;

            if (missing > most) {
                most = missing;
                next = i;
            }
        }
        parts[next].hundredths++;
        left--;
    }
}

/* A list of parts in which each (kind, id) comes once. */
struct parts {
    struct why_node *items; /* [count] */
    size_t count, capacity;
};

static bool add_part(struct parts *parts, const struct why_node *node)
{
    for (size_t i = 0; i < parts->count; i++) {
        struct why_node *part = &parts->items[i];

        if (part->kind == node->kind && part->id == node->id) {
            part->time_ns += node->time_ns;
            return true;
        }
    }
    if (!ARRAY_RESERVE(parts->items, parts->capacity, parts->count + 1))
        return false;
    parts->items[parts->count++] = *node;
    return true;
}

static void sort(struct parts *parts)
{
    if (parts->count > 1)
        qsort(parts->items, parts->count, sizeof *parts->items, compare);
}

/* Puts all parts from number `most` on into the last one that is shown. */
static void merge(struct parts *parts, size_t most)
{
    if (most == 0 || parts->count <= most)
        return;
    for (size_t i = most; i < parts->count; i++) {
        parts->items[most - 1].time_ns += parts->items[i].time_ns;
        parts->items[most - 1].merged++;
    }
    parts->items[most - 1].merged++;
    parts->count = most;
}

static bool has_who(uint32_t kind)
{
    return kind == CAMP_CAUSE_GROUP || kind == CAMP_CAUSE_DEVICE;
}

static bool collect(struct parts *ret, const struct causes *causes, uint32_t subject,
                    const struct why_node *parent, enum why_level level)
{
    ret->count = 0;
    for (size_t i = 0; i < causes->rows.count; i++) {
        const struct cause *row = &causes->rows.items[i];
        const struct why_node node = { .level = level,
                                       .state = row->state,
                                       .kind = row->kind,
                                       .id = level == WHY_WHO ? row->id : 0,
                                       .time_ns = row->wait_ns };

        if (is_of(row->group, subject) && row->state == parent->state &&
            (level == WHY_CAUSE || row->kind == parent->kind) && !add_part(ret, &node))
            return false;
    }
    sort(ret);
    return true;
}

static bool add_who(struct why_tree *tree, const struct causes *causes, uint32_t subject,
                    const struct why_node *cause, size_t most)
{
    struct parts parts = { 0 };
    bool done = collect(&parts, causes, subject, cause, WHY_WHO);

    if (done) {
        merge(&parts, most);
        why_share_out(parts.items, parts.count, cause->hundredths, cause->time_ns);
    }
    for (size_t i = 0; i < parts.count && done; i++)
        done = add(tree, &parts.items[i]) != NULL;
    free(parts.items);
    return done;
}

static bool add_causes(struct why_tree *tree, const struct causes *causes, uint32_t subject,
                       const struct why_node *state, size_t most)
{
    struct parts parts = { 0 };
    bool done = collect(&parts, causes, subject, state, WHY_CAUSE);

    if (done)
        why_share_out(parts.items, parts.count, state->hundredths, state->time_ns);
    for (size_t i = 0; i < parts.count && done; i++) {
        done = add(tree, &parts.items[i]) != NULL;
        if (done && has_who(parts.items[i].kind))
            done = add_who(tree, causes, subject, &parts.items[i], most);
    }
    free(parts.items);
    return done;
}

/* Fills states[CAMP_STATE_COUNT + 1] with the time on a CPU and the waits. Returns their number. */
static size_t fill_states(struct why_node *states, struct why_tree *tree,
                          const struct causes *causes, uint32_t subject)
{
    size_t count = 1;

    states[0] = (struct why_node){ .on_cpu = true };
    tree->total_ns = tree->threads = 0;
    for (uint32_t group = 0; group < CAUSE_GROUPS; group++) {
        if (!is_of(group, subject))
            continue;
        states[0].time_ns += causes_on_cpu_ns(causes, group);
        tree->threads += causes->threads[group];
    }
    for (uint32_t state = 0; state < CAMP_STATE_COUNT; state++) {
        struct why_node node = { .state = state };

        for (uint32_t group = 0; causes_is_wait(state) && group < CAUSE_GROUPS; group++)
            node.time_ns += is_of(group, subject) ? causes->state_ns[group][state] : 0;
        if (node.time_ns > 0)
            states[count++] = node;
    }
    for (size_t i = 0; i < count; i++)
        tree->total_ns += states[i].time_ns;
    qsort(states, count, sizeof *states, compare);
    return count;
}

bool why_tree_fill(struct why_tree *ret, const struct causes *causes, uint32_t group, size_t most)
{
    struct why_node states[CAMP_STATE_COUNT + 1];
    const size_t count = fill_states(states, ret, causes, group);

    ret->count = 0;
    why_share_out(states, count, ALL_HUNDREDTHS, ret->total_ns);
    for (size_t i = 0; i < count; i++) {
        if (states[i].time_ns == 0)
            continue;
        if (add(ret, &states[i]) == NULL ||
            (!states[i].on_cpu && !add_causes(ret, causes, group, &states[i], most)))
            return false;
    }
    return true;
}

void why_tree_release(struct why_tree *tree)
{
    free(tree->nodes);
    *tree = (struct why_tree){ 0 };
}

uint64_t why_inflicted_ns(const struct causes *causes, uint32_t culprit, uint32_t victim)
{
    uint64_t sum = 0;

    for (size_t i = 0; i < causes->rows.count; i++) {
        const struct cause *row = &causes->rows.items[i];

        if (row->state == CAMP_STATE_RUN_QUEUE && row->kind == CAMP_CAUSE_GROUP &&
            row->id == culprit && row->group != culprit && is_of(row->group, victim))
            sum += row->wait_ns;
    }
    return sum;
}
