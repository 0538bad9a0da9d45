/* Parser: src/ledger/blockers/blocker_tree.c */
/* Parser: src/ledger/blockers/blocker_nodes.c */
/* Reads any bytes as rows of sessions with who blocks them, as a recording may have them: of each
 * row its id, its blocker, the root and the time. The trees have each wait once, and end. */
#include "ledger/blockers/blocker_tree.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define ROW_BYTES 4
#define ROWS_MOST 2000
#define TEXT_SIZE 24

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { CONTENTION, BLOCKED, BLOCKING, MEASURED };
static const struct column columns[] = {
    { "contention_ns", "", "", COLUMN_STATE, CAMP_MEASURED, CLASS_CONTENTION, NULL },
    { "blocked_ns", "", "", COLUMN_COUNTER, CAMP_SCALED, CLASS_NONE, NULL },
    { "blocking_ns", "", "", COLUMN_COUNTER, CAMP_SCALED, CLASS_NONE, NULL },
    { "blocked_measured_ns", "", "", COLUMN_COUNTER, CAMP_MEASURED, CLASS_NONE, NULL },
};
static const char *const label_names[] = { "root_blocker", "blocker" };
static const struct schema schema = { "fuzz", columns, 4, 1, label_names, 2 };

/* Ids are small, so that sessions meet. */
static const char *label_of(uint8_t byte, char ret[TEXT_SIZE])
{
    static const char *const others[] = { "prepared", "unknown", "",   "7x",
                                          "-1",       "007",     "99", "99999999999999999999" };

    if (byte >= 0xf8)
        return others[byte - 0xf8];
    snprintf(ret, TEXT_SIZE, "%d", byte);
    return ret;
}

static void add_row(struct frame *frame, const uint8_t *bytes)
{
    char blocker[TEXT_SIZE], root[TEXT_SIZE];
    const char *const values[] = { label_of(bytes[2], root), label_of(bytes[1], blocker) };
    struct entity *row = frame_add(frame);
    uint64_t *numbers;

    if (row == NULL)
        abort();
    row->id = bytes[0];
    row->labels = labels_intern(values, 2);
    numbers = frame_values(frame, frame->entity_count - 1);
    numbers[CONTENTION] = numbers[BLOCKED] = bytes[3];
    numbers[BLOCKING] = bytes[3] % 3;
    numbers[MEASURED] = bytes[0]; /* may be more than the whole */
}

static void check(const struct blocker_tree *tree)
{
    uint64_t sum_ns = 0, roots_ns = 0, measured_ns = 0;
    uint32_t depth = 0;

    for (size_t i = 0; i < tree->count; i++) {
        const struct blocker_node *node = &tree->nodes[i];

        if (node->session >= tree->session_count || node->depth > depth ||
            (i == 0 && node->depth != 0) || node->measured_ns > node->blocked_ns)
            abort();
        depth = node->depth + 1;
        sum_ns += node->blocked_ns;
        measured_ns += node->measured_ns;
        roots_ns += node->depth == 0 ? node->blocking_ns : 0;
    }
    if (sum_ns != tree->blocked_ns || measured_ns != tree->measured_ns ||
        roots_ns != tree->blocked_ns || tree->blocked_ns > tree->contention_ns)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct blocker_tree tree = { 0 };
    struct frame frame;

    frame_init(&frame, &schema);
    for (size_t at = 0; at + ROW_BYTES <= size && frame.entity_count < ROWS_MOST; at += ROW_BYTES)
        add_row(&frame, data + at);
    blocker_tree_start(&tree);
    blocker_tree_add(&tree, &frame);
    blocker_tree_add(&tree, &frame);
    if (blocker_tree_finish(&tree, NULL, NULL) != CAMP_OK)
        abort();
    check(&tree);
    blocker_tree_release(&tree);
    frame_release(&frame);
    return 0;
}
